# SPDX-License-Identifier: MIT
"""From a registration to what a filter may fuse: the scan's own word, without the prior.

The registration's posterior already holds the prediction. Fused as it is, the prediction would
count twice. With S the prediction's covariance, R the likelihood's and ξ the posterior's distance
from the prediction, the prior-free innovation is z = ξ + R S⁻¹ ξ: a filter that fuses z with R ends
at ξ again.
"""

from collections import deque

import numpy as np

from svnicp.arrays import Covariance
from svnicp.config import OdometryConfig
from svnicp.lie import se3_inverse, se3_log
from svnicp.odometry.motion import PoseMeasurement, Prediction
from svnicp.registration import RegistrationResult


class MeasurementNoise:
    """How sure a scan is taken to be: adaptive, fixed or smoothed."""

    def __init__(self, config: OdometryConfig) -> None:
        self._config = config
        self._recent: deque[Covariance] = deque(maxlen=config.smoothed_scans)

    def measure(
        self, result: RegistrationResult, prediction: Prediction, map_age: int
    ) -> PoseMeasurement:
        """Turn a posterior into a measurement; a map of few scans is trusted less."""
        moved = se3_log(se3_inverse(prediction.T_world_body) @ result.T_target_source)
        lag = result.lag if result.lag is not None else np.zeros((6, 6))
        if self._config.noise == "fixed":
            variances = self._config.fixed_translation_var, self._config.fixed_rotation_var
            return PoseMeasurement(moved, np.diag(np.repeat(variances, 3)), lag)
        alone = result.likelihood_covariance
        innovation = moved + alone @ np.linalg.solve(prediction.covariance, moved)
        if self._config.noise == "smoothed":
            self._recent.append(alone)
            alone = np.mean(np.array(self._recent), axis=0)
        alone = self._tempered(alone)
        youth = 1.0 + (self._config.warm_up_scans / max(map_age, 1)) ** 2
        return PoseMeasurement(innovation, alone * youth + prediction.scan_noise, lag)

    def _tempered(self, alone: Covariance) -> Covariance:
        """Covariance (6, 6) of the scan alone with the calibrated factors on its variances."""
        factors = self._config.temperature_translation, self._config.temperature_rotation
        roots = np.sqrt(np.repeat(factors, 3))
        return alone * np.outer(roots, roots)
