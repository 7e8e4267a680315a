# SPDX-License-Identifier: MIT
"""Odometry that is looked at: what its registrations and its filter said about every scan.

Estimates do not carry all of it. The watch stands where a registration becomes a measurement of the
filter, sees both, and changes nothing. It may ask others about the same scan in a copy of the map.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance
from svnicp.baselines import ScanInMap
from svnicp.config import Config
from svnicp.data.dataset import Dataset
from svnicp.data.measurements import Scan
from svnicp.estimate import Estimate
from svnicp.odometry import Odometry
from svnicp.odometry.matching import matching
from svnicp.odometry.measurement import MeasurementNoise
from svnicp.odometry.motion import PoseMeasurement, Prediction
from svnicp.odometry.run import odometry_for
from svnicp.preprocess import body_points
from svnicp.registration import RegistrationResult

ALL_OPEN = np.full((6, 6), np.nan)
Baselines = Mapping[str, Callable[[ScanInMap], Covariance]]
"""Other people's covariances by name."""


class Watched(NamedTuple):
    """One scan."""

    estimate: Estimate
    result: RegistrationResult | None
    """The registration; None for the first scan, and for scans with hardly any point."""
    filter_covariance: Covariance
    """(6, 6) of the pose relative to the map, after the correction."""
    drift_covariance: Covariance
    """(6, 6) of the map itself; with the other one it is ``estimate.covariance``."""
    others: dict[str, Covariance]
    """(6, 6) what others state about the registration; empty if nobody was asked."""


class _Watch(MeasurementNoise):
    """Passes everything on, remembers the last registration, and asks others about it."""

    def __init__(self, odometry: Odometry, baselines: Baselines) -> None:
        self._inner = odometry.noise
        self._odometry = odometry
        self._baselines = baselines
        self._scan: Scan | None = None
        self.last: RegistrationResult | None = None
        self.others: dict[str, Covariance] = {}

    def begin(self, scan: Scan) -> None:
        """Forget the scan before."""
        self._scan, self.last, self.others = scan, None, {}

    def measure(
        self, result: RegistrationResult, prediction: Prediction, map_age: int
    ) -> PoseMeasurement:
        """Measure as the other does."""
        self.last = result
        if self._baselines:
            scan = self._in_map(result, prediction)
            self.others = {name: ask(scan) for name, ask in self._baselines.items()}
        return self._inner.measure(result, prediction, map_age)

    def believed(self, measurement: PoseMeasurement, prediction: Prediction) -> None:
        """Take note as the other does."""
        self._inner.believed(measurement, prediction)

    @property
    def knew_its_place(self) -> bool:
        """Find as the other does."""
        return self._inner.knew_its_place

    @property
    def readings_push(self) -> bool:
        """Find as the other does."""
        return self._inner.readings_push

    def prediction_was_wrong(self) -> None:
        """Take note as the other does."""
        self._inner.prediction_was_wrong()

    def _in_map(self, result: RegistrationResult, prediction: Prediction) -> ScanInMap:
        """The scan as it was registered, in a copy of the map, which baselines fit planes in."""
        odometry, scan = self._odometry, self._scan
        assert scan is not None
        config = odometry.config
        return ScanInMap(
            body_points(scan, prediction.track, odometry.T_body_lidar, config.preprocess).points,
            copy.deepcopy(odometry.local_map), result.T_target_source, prediction.T_world_body,
            prediction.covariance,
            matching(config, odometry.surroundings.views.count, odometry.motion),
        )  # fmt: skip


def watched_run(
    dataset: Dataset,
    config: Config,
    *,
    uses_imu: bool,
    seed: int = 0,
    baselines: Baselines | None = None,
) -> Iterator[Watched]:
    """Yield what is known about every scan that odometry gives an estimate of.

    ``baselines`` are asked about every registration.
    """
    imu = None if uses_imu else False
    odometry = odometry_for(dataset, config, imu=imu, rng=np.random.default_rng(seed))
    watch = _Watch(odometry, baselines or {})
    odometry.noise = watch
    for measurement in dataset.measurements():
        if isinstance(measurement, Scan):
            watch.begin(measurement)
            estimate = odometry.process(measurement)
            if estimate is not None:
                yield _seen(odometry, estimate, watch)
        else:
            odometry.add_imu(
                measurement.stamp_ns, measurement.angular_velocity, measurement.linear_acceleration
            )


def _seen(odometry: Odometry, estimate: Estimate, watch: _Watch) -> Watched:
    drift = odometry.surroundings.drift.covariance.copy()
    filtered = odometry.motion.pose_covariance.copy()
    return Watched(estimate, watch.last, filtered, drift, watch.others)


def covariance_or_open(result: RegistrationResult | None, *, alone: bool) -> Covariance:
    """Posterior (6, 6) of a registration, or what its scan says alone; NaN without one."""
    if result is None:
        return ALL_OPEN
    return result.likelihood_covariance if alone else result.covariance
