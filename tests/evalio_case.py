# SPDX-License-Identifier: MIT
"""A small dataset of evalio, made of a simulated drive; evalio imports it by ``-M evalio_case``."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from evalio.datasets import Dataset, DatasetIterator
from evalio.datasets.loaders import RawDataIter
from evalio.types import SE3, ImuMeasurement, ImuParams, LidarMeasurement, LidarParams, Stamp
from evalio.types import Trajectory as EvalioTrajectory

from odometry_cases import SMALL, drive
from svnicp.peers.evalio_scans import evalio_scan, find_rings

DURATION_S = 2.0


def dataset():
    return drive(DURATION_S, 0.8)


class SimulatedRoom(Dataset):
    """One sequence in a room."""

    ride = "ride"

    def data_iter(self) -> DatasetIterator:
        """Scans and readings, merged by evalio."""
        recording = dataset()
        return RawDataIter(_scans(), _readings(), recording.num_scans)

    def ground_truth_raw(self) -> EvalioTrajectory:
        """Poses of the IMU."""
        truth = dataset().ground_truth
        stamps = [Stamp.from_nsec(int(stamp_ns)) for stamp_ns in truth.stamps_ns]
        poses = [SE3.from_mat(np.asfortranarray(pose)) for pose in truth.T_world_body]
        return EvalioTrajectory(stamps=stamps, poses=poses)

    def imu_T_lidar(self) -> SE3:
        """Where the LiDAR sits."""
        return SE3.from_mat(np.asfortranarray(dataset().T_body_lidar))

    def imu_T_gt(self) -> SE3:
        """The truth is the IMU's."""
        return SE3.identity()

    def imu_params(self) -> ImuParams:
        """Noise of an Xsens MTi-30."""
        return ImuParams(gyro=5.2e-4, accel=5.9e-4, gyro_bias=9e-6, accel_bias=1.5e-5)

    def lidar_params(self) -> LidarParams:
        """Grid of the LiDAR."""
        return LidarParams(
            num_rows=24, num_columns=300, min_range=SMALL.min_range_m, max_range=SMALL.max_range_m
        )

    def files(self) -> Sequence[str | Path]:
        """Nothing has to be downloaded."""
        return [Path(__file__)]

    def quick_len(self) -> int:
        """Number of scans."""
        return dataset().num_scans


def _scans() -> Iterator[LidarMeasurement]:
    for scan in dataset().scans():
        yield evalio_scan(scan, find_rings(scan.points.astype(np.float64)))


def _readings() -> Iterator[ImuMeasurement]:
    for one in dataset().imu_samples():
        stamp = Stamp.from_nsec(one.stamp_ns)
        yield ImuMeasurement(stamp, one.angular_velocity, one.linear_acceleration)
