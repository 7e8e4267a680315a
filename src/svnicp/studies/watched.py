# SPDX-License-Identifier: MIT
"""Odometry that is looked at: what its registrations and its filter said about every scan.

Estimates do not carry all of it. The watch stands where a registration becomes a measurement of the
filter, sees both, and changes nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance
from svnicp.config import Config
from svnicp.data.dataset import Dataset
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.odometry import Odometry
from svnicp.odometry.measurement import MeasurementNoise
from svnicp.odometry.motion import PoseMeasurement, Prediction
from svnicp.odometry.run import odometry_for
from svnicp.registration import RegistrationResult

ALL_OPEN = np.full((6, 6), np.nan)


class Watched(NamedTuple):
    """One scan."""

    estimate: Estimate
    result: RegistrationResult | None
    """The registration; None for the first scan, and for scans with hardly any point."""
    filter_covariance: Covariance
    """(6, 6) of the pose relative to the map, after the correction."""
    drift_covariance: Covariance
    """(6, 6) of the map itself; with the other one it is ``estimate.covariance``."""


class _Watch(MeasurementNoise):
    """Passes everything on and remembers the last registration."""

    def __init__(self, inner: MeasurementNoise) -> None:
        self._inner = inner
        self.last: RegistrationResult | None = None

    def measure(
        self, result: RegistrationResult, prediction: Prediction, map_age: int
    ) -> PoseMeasurement:
        """Measure as the other does."""
        self.last = result
        return self._inner.measure(result, prediction, map_age)


def watched_run(
    dataset: Dataset, config: Config, *, uses_imu: bool, seed: int = 0
) -> Iterator[Watched]:
    """Yield what is known about every scan that odometry gives an estimate of."""
    imu = None if uses_imu else False
    odometry = odometry_for(dataset, config, imu=imu, rng=np.random.default_rng(seed))
    watch = _Watch(odometry.noise)
    odometry.noise = watch
    for measurement in dataset.measurements():
        if isinstance(measurement, Scan):
            watch.last = None
            estimate = odometry.process(measurement)
            if estimate is not None:
                yield _seen(odometry, estimate, watch.last)
        else:
            odometry.add_imu(
                measurement.stamp_ns, measurement.angular_velocity, measurement.linear_acceleration
            )


def _seen(odometry: Odometry, estimate: Estimate, result: RegistrationResult | None) -> Watched:
    drift = odometry.drift.covariance.copy()
    return Watched(estimate, result, odometry.motion.pose_covariance.copy(), drift)


def covariance_or_open(result: RegistrationResult | None, *, alone: bool) -> Covariance:
    """Posterior (6, 6) of a registration, or what its scan says alone; NaN without one."""
    if result is None:
        return ALL_OPEN
    return result.likelihood_covariance if alone else result.covariance
