# SPDX-License-Identifier: MIT
"""Odometry over a whole dataset: one estimate per scan, as they come."""

import logging
from collections.abc import Iterator

import numpy as np

from svnicp.config import Config
from svnicp.data.dataset import Dataset
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.imu_noise_of_dataset import imu_noise_of
from svnicp.data.measurements import Scan
from svnicp.errors import InputError
from svnicp.estimate import Estimate
from svnicp.odometry.inputs import check_imu_noise
from svnicp.odometry.odometry import Odometry

log = logging.getLogger(__name__)


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
        Noise of the IMU; None uses the dataset's IMU if it has one, False leaves it out. What is
        not known of its noise is measured in the rest at the start, or taken from a generic one.
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
    if not hasattr(dataset, "measurements"):
        raise InputError(
            f"Odometry runs over a dataset, not over a {type(dataset).__name__}; open it with "
            "svnicp.open_dataset(path) first, or hand single scans to Odometry.add_scan."
        )
    noise = None if isinstance(imu, bool) else check_imu_noise(imu)
    info = dataset.info()
    if (imu is None and info.imu_period_s is not None) or imu is True:
        noise, words = imu_noise_of(dataset)
        log.info("%s: IMU with %s.", dataset.name, words)
    return Odometry(config, noise, dataset.T_body_lidar, rng)
