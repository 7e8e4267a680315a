# SPDX-License-Identifier: MIT
"""Stated against true covariance, direction by direction.

The generalised eigenvalues of the pair are the ratios of stated to true variance along the
directions in which they differ most: all 1 is perfect, below 1 over-confident, above 1 too wide.
One number such as ANEES or a trace hides it when both happen at once.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from svnicp.arrays import Covariance, Floats
from svnicp.errors import InputError
from svnicp.scores.blocks import Part, covariance_block


@dataclass(frozen=True)
class Mismatch:
    """Worst over- and worst under-confidence of one covariance."""

    smallest: float
    """Smallest ratio of stated to true variance: how over-confident, below 1."""
    largest: float
    """Largest ratio of stated to true variance: how much too wide, above 1."""
    angle_rad: float
    """Angle between the longest axes of both ellipsoids [rad], 0 to π/2."""


def variance_ratios(stated: Covariance, truth: Covariance, part: Part = "pose") -> Floats:
    """Generalised eigenvalues (d,), ascending, of a stated and a true covariance (6, 6).

    Raises
    ------
    InputError
        If the truth is singular: there is nothing to compare with along some direction.
    """
    S, C = covariance_block(stated, part), covariance_block(truth, part)
    # Metres and radians: scaled to unit variances, which leaves the eigenvalues as they are.
    scale = np.sqrt(np.maximum(np.diagonal(C), np.finfo(float).tiny))
    units = np.outer(scale, scale)
    try:
        return np.asarray(eigh(S / units, C / units, eigvals_only=True))
    except np.linalg.LinAlgError:
        raise InputError(
            "The true covariance is singular, so that there is nothing to compare with along some "
            "direction; draw more samples, or add noise to every run."
        ) from None


def mismatch(stated: Covariance, truth: Covariance, part: Part = "pose") -> Mismatch:
    """Summary of one stated and one true covariance (6, 6).

    The angle is that of the longest axes; for the whole pose, where metres and radians meet, that
    of the ellipsoids in units of the true sigmas.
    """
    ratios = variance_ratios(stated, truth, part)
    S, C = covariance_block(stated, part), covariance_block(truth, part)
    if part == "pose":
        scale = np.sqrt(np.diagonal(C))
        S, C = S / np.outer(scale, scale), C / np.outer(scale, scale)
    longest, true_longest = np.linalg.eigh(S)[1][:, -1], np.linalg.eigh(C)[1][:, -1]
    angle = float(np.arccos(np.clip(abs(longest @ true_longest), 0.0, 1.0)))
    return Mismatch(float(ratios[0]), float(ratios[-1]), angle)
