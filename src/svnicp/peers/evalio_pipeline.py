# SPDX-License-Identifier: MIT
"""Ours as a pipeline of evalio: ``evalio run -p svnicp -d ...``.

evalio finds it with ``EVALIO_CUSTOM=svnicp.peers.evalio_pipeline`` in the environment. A scan is
handed over when it starts, and processed once the IMU's readings reach its end. The poses are those
of the IMU at the mean time of a scan's points, and are stamped with that time.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from evalio.pipelines import Pipeline  # pyright: ignore[reportMissingImports]
from evalio.types import (  # pyright: ignore[reportMissingImports]
    SE3,
    ImuMeasurement,
    ImuParams,
    LidarMeasurement,
    LidarParams,
    Stamp,
)

from svnicp import __version__
from svnicp.arrays import Transform
from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.odometry import Odometry

Value = bool | int | float | str

DEFAULTS: dict[str, Value] = {
    "preset": "default",
    "use_imu": True,
    "algorithm": "svn",
    "num_particles": Config.preset("default").stein.num_particles,
    "seed": 0,
}
"""What can be set in an evalio experiment."""


class Svnicp(Pipeline):
    """LiDAR or LiDAR-inertial odometry, one pose per scan."""

    def __init__(self) -> None:
        super().__init__()
        self._params = dict(DEFAULTS)
        self._imu: ImuNoise = ImuNoise.model("generic")
        self._T_body_lidar: Transform = np.eye(4)
        self._odometry: Odometry | None = None
        self._waiting: deque[Scan] = deque()

    @staticmethod
    def name() -> str:
        """Name after ``-p``."""
        return "svnicp"

    @staticmethod
    def version() -> str:
        """Version of svnicp."""
        return __version__

    @staticmethod
    def url() -> str:
        """Where to find more."""
        return "https://pypi.org/project/svnicp"

    @staticmethod
    def default_params() -> dict[str, Value]:
        """All parameters with their defaults."""
        return dict(DEFAULTS)

    def set_params(self, params: Mapping[str, Value]) -> dict[str, Value]:
        """Take the parameters that are known; returns the others, as evalio wants it."""
        self._params.update({name: params[name] for name in params if name in DEFAULTS})
        return {name: params[name] for name in params if name not in DEFAULTS}

    def set_imu_params(self, params: ImuParams) -> None:
        """Take the noise of the IMU; densities of zero are not believed."""
        if min(params.gyro, params.accel) > 0.0:
            self._imu = ImuNoise(params.gyro, params.accel, params.gyro_bias, params.accel_bias)

    def set_lidar_params(self, params: LidarParams) -> None:
        """Nothing about the LiDAR has to be known."""

    def set_imu_T_lidar(self, T: SE3) -> None:  # noqa: N802
        """Take the place of the LiDAR on the IMU."""
        self._T_body_lidar = np.array(T.to_mat())

    def initialize(self) -> None:
        """Begin, with all parameters set."""
        params = self._params
        config = Config.preset(str(params["preset"]))
        stein = config.to_dict()["stein"]
        stein.update(algorithm=params["algorithm"], num_particles=params["num_particles"])
        config = replace(config, stein=Config.from_dict({"stein": stein}).stein)
        self._odometry = Odometry(
            config, self._imu if params["use_imu"] else None, self._T_body_lidar,
            np.random.default_rng(int(params["seed"])),
        )  # fmt: skip

    def add_imu(self, mm: ImuMeasurement) -> None:
        """Take a reading, and process the scans that it completes."""
        if self._odometry is None or not self._params["use_imu"]:
            return
        stamp_ns = mm.stamp.to_nsec()
        self._odometry.add_imu(stamp_ns, np.array(mm.gyro), np.array(mm.accel))
        while self._waiting and self._waiting[0].end_ns <= stamp_ns:
            self._process(self._waiting.popleft())

    def add_lidar(self, mm: LidarMeasurement) -> None:
        """Take a scan; with the IMU it waits for the readings until its end."""
        if self._params["use_imu"]:
            self._waiting.append(scan_of(mm))
        else:
            self._process(scan_of(mm))

    def map(self) -> dict[str, Any]:
        """No map is handed to evalio's viewer."""
        return {}

    def _process(self, scan: Scan) -> None:
        """Process a scan and save its pose."""
        assert self._odometry is not None
        estimate = self._odometry.process(scan)
        if estimate is not None:
            pose = SE3.from_mat(np.asfortranarray(estimate.T_world_body))
            self.save(Stamp.from_nsec(estimate.stamp_ns), pose)


def scan_of(mm: LidarMeasurement) -> Scan:
    """Scan of one of evalio's measurements, without the places where there is no return."""
    stamp_ns = mm.stamp.to_nsec()
    points = np.array(mm.to_vec_positions(), dtype=np.float64).reshape(-1, 3)
    offsets_ns = np.rint(1e9 * np.array(mm.to_vec_stamps(), dtype=np.float64)).astype(np.int64)
    kept = np.isfinite(points).all(axis=1) & np.any(points != 0.0, axis=1)
    times_ns = stamp_ns + offsets_ns[kept]
    moving = len(times_ns) > 0 and np.ptp(times_ns) > 0
    return Scan(stamp_ns, points[kept], times_ns if moving else None)
