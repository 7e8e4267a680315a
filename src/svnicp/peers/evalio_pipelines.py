# SPDX-License-Identifier: MIT
"""The pipelines that come compiled in evalio: CT-ICP, LIO-SAM, DLIO, MAD-ICP, LOAM and FORM.

evalio stamps every pose with the start of its scan, whatever time it is for. What that time is was
found by experiment, as the moment of the scan at which the poses fit the truth best, and is stated
here for each.
"""

import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.measurements import Scan
from svnicp.errors import DatasetError
from svnicp.extras import require
from svnicp.peers.evalio_scans import Rings, evalio_scan, find_rings
from svnicp.peers.peer import DEFAULT, Peer, PeerRun, Recorder
from svnicp.peers.spool import Spool

PoseTime = Callable[[Scan], int]
"""The time [ns] that a pose given after this scan is for."""


@dataclass(frozen=True)
class Pipeline:
    """How one of evalio's pipelines is used."""

    evalio_name: str
    pose_time: PoseTime
    needs_rings: bool = False
    """Whether it looks for edges along the rings of the sensor."""
    uses_imu: bool = False
    delay_scans: int = 0
    """How many scans it is behind: the pose after a scan is that of an earlier one."""
    params: Mapping[str, bool | int | float | str] | None = None
    """What differs from evalio's defaults."""
    without_times: Mapping[str, bool | int | float | str] | None = None
    """What differs beyond that when the points have no times: there is nothing to deskew."""


def run_pipeline(spool: Spool, pipeline: Pipeline) -> PeerRun:
    """Odometry by one of evalio's pipelines.

    Raises
    ------
    DatasetError
        If it needs rings and the sensor has none.
    """
    types = require("evalio.types", "peers", "This peer")
    rings = _rings(spool) if pipeline.needs_rings else None
    odometry, recorder = _made(spool, pipeline, rings), Recorder()
    times_ns = deque[int](maxlen=pipeline.delay_scans + 1)
    last = np.empty(0)
    for one in spool.measurements() if pipeline.uses_imu else spool.scans():
        if not isinstance(one, Scan):
            reading = types.ImuMeasurement(
                types.Stamp.from_nsec(one.stamp_ns), one.angular_velocity, one.linear_acceleration
            )
            with recorder.timed():
                odometry.add_imu(reading)
            continue
        scan = evalio_scan(one, rings)
        with recorder.timed():
            odometry.add_lidar(scan)
        recorder.end_scan()
        times_ns.append(pipeline.pose_time(one))
        for _, pose in odometry.saved_estimates():
            if len(times_ns) > pipeline.delay_scans and not np.array_equal(last, pose.to_mat()):
                recorder.pose(times_ns[0], pose.to_mat())
            last = pose.to_mat()
        odometry.saved_features()
    return recorder.of_body()


def _made(spool: Spool, pipeline: Pipeline, rings: Rings | None) -> Any:  # noqa: ANN401
    """The pipeline, told about the sensors, with its own defaults."""
    types = require("evalio.types", "peers", "This peer")
    pipelines = require("evalio.pipelines", "peers", "This peer")
    about, kind = spool.about, pipelines.get_pipeline(pipeline.evalio_name)
    made = kind()
    params = kind.default_params() | dict(pipeline.params or {})
    if not about.point_times:
        params |= dict(pipeline.without_times or {})
    made.set_params(params)
    made.set_lidar_params(
        types.LidarParams(
            num_rows=rings.num_rows if rings else 1,
            num_columns=rings.num_columns if rings else 1,
            min_range=max(0.1, np.floor(10.0 * about.shortest_m) / 10.0),
            max_range=float(np.ceil(about.longest_m)),
            rate=1.0 / about.scan_period_s,
        )
    )
    noise = spool.imu_noise
    if noise is not None and about.imu_period_s is not None:
        made.set_imu_params(
            types.ImuParams(
                gyro=noise.gyroscope, accel=noise.accelerometer,
                gyro_bias=noise.gyroscope_bias_walk, accel_bias=noise.accelerometer_bias_walk,
                gravity=np.array([0.0, 0.0, -9.81]), rate=1.0 / about.imu_period_s,
            )
        )  # fmt: skip
    made.set_imu_T_lidar(_evalio_pose(spool.T_body_lidar))
    made.initialize()
    return made


def _evalio_pose(T: Transform) -> Any:  # noqa: ANN401
    return require("evalio.types", "peers", "This peer").SE3.from_mat(np.asfortranarray(T))


def _rings(spool: Spool) -> Rings:
    """Rings of the sensor by the first scan that shows them."""
    for number, scan in enumerate(Spool(spool.folder).scans()):
        rings = find_rings(scan.points.astype(np.float64))
        if rings is not None:
            return rings
        if number == 9:
            break
    raise DatasetError("it needs the rings of a spinning LiDAR, and the points show none.")


def at_start(scan: Scan) -> int:
    """Poses for the start of the scan."""
    return scan.stamp_ns


def at_mean(scan: Scan) -> int:
    """Poses for the mean time of the points."""
    return scan.mean_ns


def at_end(scan: Scan) -> int:
    """Poses for the end of the scan."""
    return scan.end_ns


THREADS = os.cpu_count() or 1

PIPELINES = {
    "ct-icp": Pipeline(
        "ct", at_start, params={"ls_num_threads": THREADS},
        without_times={"motion_compensation": "NONE"},
    ),
    "lio-sam": Pipeline("liosam", at_mean, needs_rings=True, uses_imu=True, delay_scans=2),
    "dlio": Pipeline("dlio", at_mean, uses_imu=True, without_times={"deskew": False}),
    "loam": Pipeline("loam", at_mean, needs_rings=True),
    "form": Pipeline("form", at_mean, needs_rings=True),
}  # fmt: skip
"""Every pipeline that is not a peer of its own already."""

TIMES: dict[PoseTime, str] = {
    at_start: "start of the scan",
    at_mean: "mean time of the scan's points",
    at_end: "end of the scan",
}


def evalio_peer(name: str, module: str, pipelines: Mapping[str, Pipeline]) -> Peer:
    """A peer made of one of evalio's pipelines, by the names of its configurations."""
    first = pipelines[DEFAULT]
    return Peer(
        name=name, module=module, imports="evalio", package="evalio", uses_imu=first.uses_imu,
        pose_time=TIMES[first.pose_time],
        run=lambda spool, configuration: run_pipeline(spool, pipelines[configuration]),
    )  # fmt: skip


PEERS = tuple(
    evalio_peer(name, __name__, {DEFAULT: pipeline}) for name, pipeline in PIPELINES.items()
)
