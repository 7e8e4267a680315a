# SPDX-License-Identifier: MIT
"""The score that calibration minimises, and its minimum over one factor.

The score is the Gaussian negative log likelihood, a proper one, with a guard against single
disasters: squared errors enter through a trimmed mean, made right for Gaussian errors. Every
scenario counts the same, however many scans it has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from svnicp.arrays import Covariance, Floats
from svnicp.errors import InputError
from svnicp.scores import BLOCKS, Part

TRIMMED = 0.02
"""Share of the largest squared errors that do not count."""
FACTOR_RANGE = (1e-3, 1e3)
"""Factors on variances that are looked at."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Errors of one scenario with their covariances."""

    errors: Floats
    """(n, 6)."""
    fixed: Covariance
    """(n, 6, 6) part of the covariance that the factor leaves as it is."""
    scaled: Covariance
    """(n, 6, 6) part that it multiplies."""


def robust_nll(errors: Floats, covariances: Covariance, part: Part) -> float:
    """Mean negative log likelihood of errors (n, 6), the largest squares left out.

    ½ (trimmed mean of e' P⁻¹ e, over what the trim leaves of a Gaussian's, + mean of ln det P), up
    to a constant.
    """
    block = BLOCKS[part]
    e, P = errors[:, block], covariances[:, block, block]
    squares = np.sum(e * np.linalg.solve(P, e[..., None])[..., 0], axis=1)
    _, log_determinants = np.linalg.slogdet(P)
    return 0.5 * (trimmed_mean(squares, e.shape[1]) + float(log_determinants.mean()))


def trimmed_mean(squares: Floats, size: int, trimmed: float = TRIMMED) -> float:
    """Mean of squares (n,) of so many components, robust, and right where they are chi-square."""
    kept = np.sort(squares)[: max(1, round((1.0 - trimmed) * len(squares)))]
    share = len(kept) / len(squares)
    if share >= 1.0:
        return float(kept.mean())
    # The mean of a chi-square below its quantile is that of one with two more degrees of freedom.
    limit = stats.chi2.ppf(share, size)
    left = stats.chi2.cdf(limit, size + 2) / share
    return float(kept.mean() / left)


def fit_factor(samples: Sequence[Sample], part: Part) -> float:
    """Factor on the scaled parts of the covariances with the best score over all scenarios.

    Raises
    ------
    InputError
        If there is no error to be fitted to.
    """
    samples = [sample for sample in samples if len(sample.errors) >= 4]
    if not samples:
        raise InputError("There are no errors to fit to; use more seeds or longer runs.")

    def score(log_factor: float) -> float:
        factor = np.exp(log_factor)
        return float(
            np.mean([robust_nll(s.errors, s.fixed + factor * s.scaled, part) for s in samples])
        )

    low, high = np.log(FACTOR_RANGE)
    return float(np.exp(lowest(score, low, high)))


def lowest(score: Callable[[float], float], low: float, high: float) -> float:
    """Where a score is lowest: the best of a grid, then refined between its neighbours."""
    grid = np.linspace(low, high, 41)
    best = int(np.argmin([score(float(x)) for x in grid]))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    return float(optimize.minimize_scalar(score, bounds=bounds, method="bounded").x)  # pyright: ignore
