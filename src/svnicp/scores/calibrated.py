# SPDX-License-Identifier: MIT
"""What a perfectly calibrated estimate would get: the yardstick for scores after the 90 % cut.

A cut takes the largest errors out and leaves the covariances, so that a perfect answer no longer
scores 1 (NNE) or 0 (KL). The errors of a perfect answer are drawn here from the stated covariances
themselves: a fixed low-discrepancy sequence, so that the value is always the same.
"""

from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.stats import qmc

from svnicp.arrays import Covariance, Floats
from svnicp.scores.blocks import Part, covariance_block
from svnicp.scores.cut import Cut, cut_mean, kept_indices
from svnicp.scores.kl import gaussian_kl

LOG2_DRAWS = 13
"""Two to this power is the number of draws for each covariance; eight times more if it is one."""


def calibrated_nne(
    covariances: Covariance, part: Part, cut: Cut, *, samples_of_scans: bool = False
) -> float:
    """NNE that errors drawn from these covariances (n, 6, 6), or (6, 6), have after the cut.

    ``samples_of_scans``: the cut takes out Monte-Carlo samples of every scan, as ``nne`` does with
    (n, m, 6); otherwise it takes out scans.
    """
    blocks = covariance_block(covariances, part)
    blocks = blocks.reshape(-1, *blocks.shape[-2:])
    variances = np.linalg.eigvalsh(blocks)
    shares = variances / variances.sum(axis=-1, keepdims=True)
    draws = _normals(blocks.shape[-1], LOG2_DRAWS + (3 if len(blocks) == 1 else 0))
    squares = shares @ (draws**2).T
    if not samples_of_scans:
        squares = squares.reshape(1, -1)
    return float(np.sqrt(np.mean(cut_mean(squares, cut))))


def calibrated_kl(covariance: Covariance, part: Part, cut: Cut) -> float:
    """KL of a perfect covariance (6, 6) when the cut narrows the Monte-Carlo samples before it.

    With the cut on scans (``mean_kl``) a perfect answer gets 0.
    """
    variances: Floats = np.linalg.eigvalsh(covariance_block(covariance, part)).astype(np.float64)
    draws = _normals(len(variances), LOG2_DRAWS + 3) * np.sqrt(np.maximum(variances, 0.0))
    kept = draws[kept_indices(np.sum(draws**2, axis=1), cut)]
    return float(gaussian_kl(np.diag(variances), np.diag(np.mean(kept**2, axis=0))))


@lru_cache
def _normals(size: int, log2_count: int) -> Floats:
    """Standard normal points (2^log2_count, size) of Sobol's sequence, centred in its cells."""
    uniform = qmc.Sobol(size, scramble=False).random_base2(log2_count)
    return np.asarray(stats.norm.ppf(uniform + 0.5 / len(uniform)), dtype=np.float64)
