# SPDX-License-Identifier: MIT
"""Ours, as LiDAR odometry and as LiDAR-inertial odometry, run like every other.

The poses are for the mean time of a scan's points, and come with their covariances.
"""

import numpy as np

from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.odometry import Odometry
from svnicp.peers.peer import Peer, PeerRun, Recorder
from svnicp.peers.spool import Spool

LO = "svnicp-lo"
LIO = "svnicp-lio"
WARM_UP = "warm up"
"""Not a configuration: the first scans only, so that everything is compiled before it counts."""
WARM_UP_SCANS = 40


def run(spool: Spool, name: str, configuration: str) -> PeerRun:
    """Odometry over a spooled dataset, with the IMU if the name is that of the LIO."""
    max_scans = WARM_UP_SCANS if configuration == WARM_UP else spool.about.num_scans
    config = spool.about.config
    odometry = Odometry(
        Config.preset("default") if config is None else Config.from_dict(config),
        spool.imu_noise if name == LIO else None,
        spool.T_body_lidar,
        np.random.default_rng(spool.about.seed),
    )
    recorder, estimates = Recorder(), list[Estimate]()
    for one in spool.measurements() if name == LIO else spool.scans():
        if isinstance(one, Scan):
            with recorder.timed():
                estimate = odometry.process(one)
            recorder.end_scan()
            if estimate is not None:
                estimates.append(estimate)
            if recorder.num_scans == max_scans:
                break
        else:
            with recorder.timed():
                odometry.add_imu(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
    return _gathered(estimates, recorder)


def _gathered(estimates: list[Estimate], recorder: Recorder) -> PeerRun:
    """Everything that was said, as arrays."""
    return PeerRun(
        np.array([one.stamp_ns for one in estimates], dtype=np.int64),
        np.array([one.T_world_body for one in estimates]).reshape(-1, 4, 4),
        recorder.of_body().seconds,
        absolute=np.array([one.covariance for one in estimates]).reshape(-1, 6, 6),
        T_previous_body=np.array([one.T_previous_body for one in estimates]).reshape(-1, 4, 4),
        relative=np.array([one.relative_covariance for one in estimates]).reshape(-1, 6, 6),
    )


def _peer(name: str, *, uses_imu: bool) -> Peer:
    return Peer(
        name=name, module=__name__, imports="", package="svnicp", uses_imu=uses_imu,
        pose_time="mean time of the scan's points",
        run=lambda spool, configuration: run(spool, name, configuration),
    )  # fmt: skip


PEERS = (_peer(LO, uses_imu=False), _peer(LIO, uses_imu=True))
