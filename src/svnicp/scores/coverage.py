# SPDX-License-Identifier: MIT
"""How many errors lie where the covariance says they should.

The k-sigma ellipsoid of d components holds the share P(χ²_d < k²) of a Gaussian: 68.3, 95.4 and
99.7 % for one component, but 19.9, 73.9 and 97.1 % for three and 1.4, 32.3 and 82.6 % for six. A
share that is smaller than nominal means over-confidence.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from svnicp.arrays import Covariance, Floats
from svnicp.scores.blocks import Part, check_pairs, covariance_block, error_block
from svnicp.scores.nees import SMALLEST_VARIANCE, nees

SIGMAS = (1.0, 2.0, 3.0)
"""Radii of the ellipsoids, in standard deviations."""

LEVELS = np.linspace(0.05, 0.95, 19)
"""Probabilities at which a reliability curve is taken."""


@dataclass(frozen=True)
class Coverage:
    """Shares inside 1, 2 and 3 sigma, and what a Gaussian has there."""

    shares: tuple[float, ...]
    nominal: tuple[float, ...]

    @property
    def differences(self) -> tuple[float, ...]:
        """Share minus nominal: negative where the covariance is over-confident."""
        return tuple(a - b for a, b in zip(self.shares, self.nominal, strict=True))


def nominal_coverage(size: int, sigmas: tuple[float, ...] = SIGMAS) -> tuple[float, ...]:
    """Share of a Gaussian of so many components within each k-sigma ellipsoid."""
    return tuple(float(stats.chi2.cdf(sigma**2, size)) for sigma in sigmas)


def ellipsoid_coverage(
    errors: Floats, covariances: Covariance, part: Part = "pose", sigmas: tuple[float, ...] = SIGMAS
) -> Coverage:
    """Share of errors (n, 6) inside the k-sigma ellipsoids of covariances (n, 6, 6)."""
    squares = nees(errors, covariances, part)
    shares = tuple(float(np.mean(squares < sigma**2)) for sigma in sigmas)
    return Coverage(shares, nominal_coverage(error_block(errors, part).shape[-1], sigmas))


def component_coverage(
    errors: Floats, covariances: Covariance, part: Part = "pose", sigmas: tuple[float, ...] = SIGMAS
) -> Coverage:
    """Share of single components of errors (n, 6) within k of their own sigma."""
    errors, covariances = error_block(errors, part), covariance_block(covariances, part)
    check_pairs(errors, covariances)
    return Coverage(component_shares(errors, covariances, sigmas), nominal_coverage(1, sigmas))


def component_shares(
    errors: Floats, covariances: Covariance, sigmas: tuple[float, ...] = SIGMAS
) -> tuple[float, ...]:
    """Shares of the components of errors (n, d) within k sigma of covariances (n, d, d)."""
    variances = np.diagonal(covariances, axis1=-2, axis2=-1) + SMALLEST_VARIANCE
    sigmas_away = np.abs(errors) / np.sqrt(variances)
    return tuple(float(np.mean(sigmas_away < sigma)) for sigma in sigmas)


def reliability(
    errors: Floats, covariances: Covariance, part: Part = "pose", levels: Floats = LEVELS
) -> Floats:
    """Shares (m,) of errors inside the ellipsoids that should hold these probabilities (m,)."""
    squares = nees(errors, covariances, part)
    radii = stats.chi2.ppf(levels, error_block(errors, part).shape[-1])
    return np.mean(squares[:, None] < radii, axis=0)


def calibration_error(
    errors: Floats, covariances: Covariance, part: Part = "pose", levels: Floats = LEVELS
) -> float:
    """Mean distance of the reliability curve from the diagonal: 0 is calibrated, 0.5 the worst."""
    return float(np.mean(np.abs(reliability(errors, covariances, part, levels) - levels)))
