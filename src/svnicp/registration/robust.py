# SPDX-License-Identifier: MIT
"""What a robust weight does to information, and the scale of a scan's residuals.

Down-weighting large residuals costs some information even when all is Gaussian. The posterior
accounts for it: with ψ(z) = w(z) z, a Gaussian z and A the residual's row, the estimate's precision
is E[ψ']² / E[ψ²] times Σ AA'/V. Gradients are scaled so that the particles feel that precision.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import NoiseConfig
from svnicp.kernels.weights import CAUCHY_NORM, GEMAN_MCCLURE, NO_WEIGHT

WEIGHT_KINDS = {
    "geman_mcclure": GEMAN_MCCLURE, "cauchy_norm": CAUCHY_NORM, "none": NO_WEIGHT,
}  # fmt: skip

_GAUSSIAN_MEDIAN = 0.6744897501960817


class Efficiency(NamedTuple):
    """Factors that turn the weighted sums into the estimate's real precision."""

    gradient: float
    """Multiplies Σ w A r / V."""
    hessian: float
    """Multiplies Σ w A A' / V."""


@lru_cache
def gaussian_efficiency(width: float) -> Efficiency:
    """Factors of the Geman-McClure weight of this width for Gaussian residuals."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(101)
    masses = masses / masses.sum()
    ratio = width**2 / (width**2 + nodes**2)
    weight = ratio**2
    influence = weight * nodes
    slope = weight * (1.0 - 4.0 * nodes**2 / (width**2 + nodes**2))
    mean_weight = float(masses @ weight)
    mean_square = float(masses @ influence**2)
    mean_slope = float(masses @ slope)
    return Efficiency(
        gradient=mean_slope / mean_square, hessian=mean_slope**2 / (mean_square * mean_weight)
    )


def efficiency(config: NoiseConfig, num_points: int) -> Efficiency:
    """Factors for this noise model and this many matched points.

    Errors of the map are shared by many points and do not average out: N points are worth
    N / (1 + N / effective_points). The paper's unit-variance likelihood is left as it is.
    """
    if config.variance == "unit":
        return Efficiency(1.0, 1.0)
    shared = 1.0 / (1.0 + num_points / config.effective_points)
    if config.weight == "geman_mcclure":
        white = gaussian_efficiency(config.weight_width)
    else:
        white = Efficiency(1.0, 1.0)
    return Efficiency(white.gradient * shared, white.hessian * shared)


def residual_scale(normalised: Floats) -> float:
    """Scale of residuals (n,) already divided by their standard deviation, from their median."""
    middle = len(normalised) // 2
    return scale_of_median(float(np.partition(np.abs(normalised), middle)[middle]))


def scale_of_median(median: float) -> float:
    """Scale of normalised residuals by the median of their absolute values."""
    return max(median / _GAUSSIAN_MEDIAN, 0.1)


def robust_weights(normalised: Floats, kind: int, width: float) -> Floats:
    """Weights (n,) of residuals given in standard deviations."""
    if kind == GEMAN_MCCLURE:
        return (width**2 / (width**2 + normalised**2)) ** 2
    if kind == CAUCHY_NORM:
        return (width / (width + np.abs(normalised))) ** 2
    return np.ones_like(normalised)
