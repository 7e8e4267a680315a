# SPDX-License-Identifier: MIT
"""From a registration to what a filter may fuse: the scan's own word, without the prior.

The registration's posterior already holds the prediction. Fused as it is, the prediction would
count twice. With S the prediction's covariance, R the likelihood's and ξ the posterior's distance
from the prediction, the prior-free innovation is z = ξ + R S⁻¹ ξ: a filter that fuses z with R ends
at ξ again. Where R is far larger than S, ξ is what sampling leaves of zero, and z would blow it up:
there the scan is taken to say nothing.
"""

from collections import deque

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.config import OdometryConfig
from svnicp.lie import se3_inverse, se3_log
from svnicp.odometry.matching import youth
from svnicp.odometry.motion import PoseMeasurement, Prediction
from svnicp.odometry.persistence import Persistence
from svnicp.odometry.slipping import Slipping
from svnicp.odometry.surprises import Surprises
from svnicp.registration import RegistrationResult

KNOWN_RAD = 0.2
"""A turn that a scan knows no better than this is not known [rad]."""
LEAST_TOLD = 1e-6
"""Information about what a scan says nothing about, over the least that counts."""
SILENT = 100.0
"""A scan says nothing in directions in which its variance is this many times the prediction's."""


class MeasurementNoise:
    """How sure a scan is taken to be: adaptive, fixed or smoothed."""

    def __init__(self, config: OdometryConfig, *, prior_used: bool, carried: bool) -> None:
        self._config = config
        self._prior_used = prior_used
        self._persistence = Persistence(config.persistent_scans)
        self._slipping = Slipping()
        self._surprises = Surprises(config.surprising_scans)
        self._expected: Covariance = np.eye(6)
        self._adapts = carried and config.noise == "adaptive"
        self._asks_others = self._adapts and config.persistent_scans > 1
        self._learns = self._adapts and config.surprising_scans > 0
        self._recent: deque[Covariance] = deque(maxlen=config.smoothed_scans)
        floor = np.repeat(np.square([config.map_floor_m, config.map_floor_rad]), 3)
        self._floor = np.diag(floor) if self._adapts else np.zeros((6, 6))

    def measure(
        self, result: RegistrationResult, prediction: Prediction, map_age: int
    ) -> PoseMeasurement:
        """Turn a posterior into a measurement; a map of few scans is trusted less."""
        told = by_itself(result, prediction, prior_used=self._prior_used)
        moved, lag = _moved(result, prediction), told.lag
        if self._config.noise == "fixed":
            variances = self._config.fixed_translation_var, self._config.fixed_rotation_var
            fixed = np.diag(np.repeat(variances, 3))
            return PoseMeasurement(moved, fixed, lag, fixed)
        innovation, alone = told.innovation, told.covariance
        innovation, alone = self._slipping.corrected(
            innovation, alone, moved, result.slips, prediction.T_world_body
        )
        if self._config.noise == "smoothed":
            self._recent.append(alone)
            alone = np.mean(np.array(self._recent), axis=0)
        if self._adapts and self._config.known_m > 0.0:
            alone = without_hints(alone, self._config.known_m)
        if self._asks_others:
            alone = self._persistence.confirmed(
                alone, prediction.covariance, prediction.T_world_body
            )
        alone = self._tempered(alone)
        doubted = alone * youth(self._config, map_age)
        doubted = doubted + self._slant(alone, prediction.covariance) + self._floor
        noise = doubted + prediction.scan_noise + prediction.map_doubt
        if self._learns:
            self._expected = noise + prediction.covariance
            missing = self._surprises.excess(self._expected, prediction.T_world_body)
            noise, alone = noise + missing, alone + missing
        return PoseMeasurement(innovation, noise, lag, alone + prediction.scan_noise)

    def believed(self, measurement: PoseMeasurement, prediction: Prediction) -> None:
        """Learn from the last scan that was measured, which was fused, how sure scans are."""
        if self._learns:
            self._surprises.add(
                measurement.innovation, self._expected, prediction.T_world_body
            )  # fmt: skip

    @property
    def knew_its_place(self) -> bool:
        """Whether the last scans, each by itself, knew every direction."""
        return self._asks_others and self._persistence.knew_its_place

    @property
    def readings_push(self) -> bool:
        """Whether the last believed scans were pushed off, as only wrong readings do."""
        return self._surprises.are_a_push

    def prediction_was_wrong(self) -> None:
        """Do not hold against scans what bad readings did."""
        self._surprises.forget()

    def _slant(self, alone: Covariance, predicted: Covariance) -> Covariance:
        """What walls that are not quite straight add while the place along them is not known.

        The directions of normals are a little wrong, scan after scan alike. Seen from a place that
        is known to a decimetre along a corridor, its walls are then off by a share of that, and a
        filter must not learn the place from it.
        """
        posterior = predicted - predicted @ np.linalg.solve(predicted + alone, predicted)
        unknown_var = float(np.linalg.eigvalsh(posterior[:3, :3])[-1])
        shares = self._config.slant, self._config.slant_turn_per_m
        return np.diag(np.repeat(np.square(shares) * unknown_var, 3))

    def _tempered(self, alone: Covariance) -> Covariance:
        """Covariance (6, 6) of the scan alone with the calibrated factors on its variances."""
        factors = self._config.temperature_translation, self._config.temperature_rotation
        roots = np.sqrt(np.repeat(factors, 3))
        return alone * np.outer(roots, roots)


def by_itself(
    result: RegistrationResult, prediction: Prediction, *, prior_used: bool
) -> PoseMeasurement:
    """What a registration says without the prior, if that was in it, and before any doubt.

    Of a scan that was deskewed by another twist than the predicted one, as if by that one.
    """
    moved, alone = _moved(result, prediction), result.likelihood_covariance
    lag = result.lag if result.lag is not None else np.zeros((6, 6))
    innovation = prior_free(moved, alone, prediction.covariance) if prior_used else moved
    return PoseMeasurement(innovation + lag @ prediction.twist_change, alone, lag, alone)


def _moved(result: RegistrationResult, prediction: Prediction) -> Floats:
    """(6,) where a scan was found, from the prediction."""
    return se3_log(se3_inverse(prediction.T_world_body) @ result.T_target_source)


def prior_free(moved: Floats, alone: Covariance, predicted: Covariance) -> Floats:
    """Innovation (6,) of the scan alone, from the posterior's distance (6,) from the prediction."""
    root = np.linalg.cholesky(predicted)
    whitened = np.linalg.solve(root, np.linalg.solve(root, alone).T)
    ratios, directions = np.linalg.eigh(0.5 * (whitened + whitened.T))
    parts = directions.T @ np.linalg.solve(root, moved)
    heard = np.where(ratios < SILENT, (1.0 + ratios) * parts, 0.0)
    return np.asarray(root @ directions @ heard, dtype=np.float64)


def without_hints(alone: Covariance, known_m: float) -> Covariance:
    """Covariance (6, 6) of a scan that says nothing where it is not sure to ``known_m`` [m].

    Of the information, in units of that, one is taken away: what is well known stays as it is.
    """
    scales = np.repeat([known_m, KNOWN_RAD], 3)
    values, vectors = np.linalg.eigh(alone / np.outer(scales, scales))
    told = np.maximum(1.0 / values - 1.0, LEAST_TOLD)
    half = scales[:, None] * vectors
    return (half / told) @ half.T
