# SPDX-License-Identifier: MIT
"""Normalised squared errors: how many standard deviations an error is, squared.

NEES is e' P⁻¹ e; ANEES is its mean over the number of components, and 1 if the covariances are
right, more if they are over-confident. The band says how far from 1 chance alone can bring it when
the errors are independent; for correlated scans use ``bootstrap``.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from svnicp.arrays import Covariance, Floats
from svnicp.errors import InputError
from svnicp.scores.blocks import Part, check_pairs, covariance_block, error_block

SMALLEST_VARIANCE = 1e-12
"""Added to every variance [m², rad²]: what is exact by definition would divide by zero."""


@dataclass(frozen=True)
class Anees:
    """Average normalised squared error, per component."""

    value: float
    """1 is calibrated, more is over-confident, less is too wide."""
    low: float
    high: float
    """Between ``low`` and ``high`` lie 95 of 100 values, if errors are independent."""
    count: int
    """Number of errors."""


def normalised_squares(errors: Floats, covariances: Covariance) -> Floats:
    """Squares (n,) of errors (n, d) in standard deviations, by covariances (n, d, d)."""
    covariances = covariances + SMALLEST_VARIANCE * np.eye(errors.shape[1])
    solved = np.linalg.solve(covariances, errors[..., None])[..., 0]
    return np.sum(errors * solved, axis=1)


def nees(errors: Floats, covariances: Covariance, part: Part = "pose") -> Floats:
    """NEES (n,) of errors (n, 6) by covariances (n, 6, 6); chi-squared with d components."""
    errors, covariances = error_block(errors, part), covariance_block(covariances, part)
    check_pairs(errors, covariances)
    return normalised_squares(errors, covariances)


def anees(errors: Floats, covariances: Covariance, part: Part = "pose") -> Anees:
    """Average NEES per component of errors (n, 6) by covariances (n, 6, 6), with its band."""
    squares = nees(errors, covariances, part)
    size = error_block(errors, part).shape[-1]
    low, high = chi_square_band(len(squares), size)
    return Anees(float(squares.mean()) / size, low, high, len(squares))


def chi_square_band(count: int, size: int = 1, level: float = 0.95) -> tuple[float, float]:
    """Band of the mean of ``count`` normalised squares of this size, per component."""
    freedom, tail = count * size, 0.5 * (1.0 - level)
    low, high = stats.chi2.ppf([tail, 1.0 - tail], freedom) / freedom
    return float(low), float(high)


def anees_of_sampled_covariance(num_samples: int, size: int) -> float:
    """ANEES that an exact sampler gets because K samples estimate a covariance only roughly.

    (K - 1) / (K - d - 2) for the unbiased covariance of K Gaussian samples in d dimensions.

    Raises
    ------
    InputError
        If there are so few samples that the mean is infinite.
    """
    if num_samples <= size + 2:
        raise InputError(
            f"{num_samples} samples in {size} dimensions have no finite mean NEES; use at least "
            f"{size + 3}."
        )
    return (num_samples - 1) / (num_samples - size - 2)
