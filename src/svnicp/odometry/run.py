# SPDX-License-Identifier: MIT
"""Odometry over a whole dataset: one estimate per scan, as they come."""

from collections.abc import Iterator

import numpy as np

from svnicp.config import Config
from svnicp.data.dataset import Dataset
from svnicp.data.imu_noise import IMU_NOISES, ImuNoise
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.odometry.odometry import Odometry


def run(
    dataset: Dataset,
    config: Config | None = None,
    *,
    imu: ImuNoise | bool | None = None,
    rng: np.random.Generator | None = None,
) -> Iterator[Estimate]:
    """Yield the estimates of all scans of a dataset.

    Parameters
    ----------
    dataset
        Where measurements come from: ``open_dataset``, ``simulate``, or your own.
    config
        ``Config.preset("default")`` when left out.
    imu
        Noise of the IMU; None uses the dataset's IMU if it has one, False leaves it out.
    rng
        Draws the particles; seeded with 0 when left out.
    """
    odometry = odometry_for(dataset, config, imu=imu, rng=rng)
    for measurement in dataset.measurements():
        if isinstance(measurement, Scan):
            estimate = odometry.process(measurement)
            if estimate is not None:
                yield estimate
        else:
            odometry.add_imu(
                measurement.stamp_ns, measurement.angular_velocity, measurement.linear_acceleration
            )


def odometry_for(
    dataset: Dataset,
    config: Config | None = None,
    *,
    imu: ImuNoise | bool | None = None,
    rng: np.random.Generator | None = None,
) -> Odometry:
    """Odometry with the IMU and extrinsics of a dataset; arguments as in ``run``."""
    noise = imu if isinstance(imu, ImuNoise) else None
    info = dataset.info()
    if (imu is None and info.imu_period_s is not None) or imu is True:
        noise = ImuNoise.model(info.imu if info.imu in IMU_NOISES else GENERIC)
    return Odometry(config, noise, dataset.T_body_lidar, rng)


GENERIC = "generic"
"""The model of an IMU about which nothing is known."""
