# SPDX-License-Identifier: MIT
"""From a registration to what a filter may fuse: the scan's own word, without the prior.

The registration's posterior already holds the prediction. Fused as it is, the prediction would
count twice. With S the prediction's covariance, R the likelihood's and ξ the posterior's distance
from the prediction, the prior-free innovation is z = ξ + R S⁻¹ ξ: a filter that fuses z with R ends
at ξ again.
"""

from collections import deque

import numpy as np

from svnicp.arrays import Covariance, Floats
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
        if self._config.noise == "fixed":
            translation, rotation = (
                self._config.fixed_translation_var, self._config.fixed_rotation_var,
            )  # fmt: skip
            covariance = np.diag([translation] * 3 + [rotation] * 3)
            return _measurement(moved, covariance, result.lag, prediction.covariance)
        alone = result.likelihood_covariance
        if self._config.noise == "smoothed":
            self._recent.append(alone)
            alone = np.mean(np.array(self._recent), axis=0)
        pull = np.linalg.solve(prediction.covariance, moved)
        innovation = moved + result.likelihood_covariance @ pull
        youth = 1.0 + (self._config.warm_up_scans / max(map_age, 1)) ** 2
        return _measurement(innovation, alone * youth, result.lag, prediction.covariance)


def _measurement(
    innovation: Floats, covariance: Covariance, lag: Floats | None, predicted: Covariance
) -> PoseMeasurement:
    """Measurement with its distance from the prediction."""
    squared = float(innovation @ np.linalg.solve(predicted + covariance, innovation))
    # A chi-square with six degrees of freedom, brought to one by matching mean and variance.
    distance = max(0.0, (squared - 6.0) / np.sqrt(12.0))
    return PoseMeasurement(
        innovation, covariance, lag if lag is not None else np.zeros((6, 6)), distance
    )
