# SPDX-License-Identifier: MIT
"""Kullback-Leibler divergence from a Monte-Carlo truth to a stated covariance.

KL(N(0, truth) || N(0, stated)), translation and rotation separately; means are ignored. It is very
lopsided: a hundredth of the variance costs 142, a hundred times the variance 5.4, so that a small
value alone does not mean calibrated.
"""

import numpy as np
from scipy.special import digamma

from svnicp.arrays import Covariance, Floats
from svnicp.errors import InputError
from svnicp.scores.blocks import Part, check_half, covariance_block, error_block
from svnicp.scores.cut import Cut, cut_mean, kept_indices


def kl_divergence(stated: Covariance, truth: Covariance, part: Part = "pose") -> Floats:
    """Divergence (...) [nats] of this part of covariances (..., 6, 6), see ``gaussian_kl``."""
    return gaussian_kl(covariance_block(stated, part), covariance_block(truth, part))


def gaussian_kl(stated: Floats, truth: Floats) -> Floats:
    """½ [tr(S⁻¹ C) + ln(det S / det C) - d] of stated S and true C (..., d, d); (...) [nats].

    Infinite where either covariance is singular.
    """
    S, C = np.broadcast_arrays(stated, truth)
    size = S.shape[-1]
    sign, log_det = np.linalg.slogdet(S)
    sign_true, log_det_true = np.linalg.slogdet(C)
    proper = (sign > 0) & (sign_true > 0)
    regular = np.where(proper[..., None, None], S, np.eye(size))
    traces = np.trace(np.linalg.solve(regular, C), axis1=-2, axis2=-1)
    log_ratios = np.where(proper, log_det, 0.0) - np.where(proper, log_det_true, 0.0)
    return np.where(proper, 0.5 * (traces + log_ratios - size), np.inf)


def mean_kl(stated: Covariance, truth: Covariance, part: Part = "pose", cut: Cut = "none") -> float:
    """Mean divergence over scans, covariances (n, 6, 6) each, of the scans that the cut keeps."""
    return float(cut_mean(kl_divergence(stated, truth, part), cut))


def covariance_after_cut(errors: Floats, part: Part, cut: Cut = "none") -> Covariance:
    """Unbiased covariance (3, 3) of the samples (n, 6) whose length the cut keeps.

    The other reading of the paper's cut: unstable samples go before the truth is made of them. It
    narrows the truth, so that even a perfect answer is a little away (``calibrated_kl``).
    """
    check_half(part)
    samples = error_block(errors, part)
    kept = samples[kept_indices(np.sum(samples**2, axis=-1), cut)]
    if len(kept) <= 3:
        raise InputError(f"{len(kept)} samples make no covariance of 3 axes.")
    return np.cov(kept, rowvar=False)


def expected_kl(size: int, stated_from: int | None = None, truth_from: int | None = None) -> float:
    """Mean divergence of perfect answers, because few samples make a rough covariance.

    Parameters
    ----------
    size
        Number of components d.
    stated_from
        Number of exact samples behind the stated covariance; None if it is exact.
    truth_from
        Number of exact samples behind the Monte-Carlo truth; None if it is exact.

    Raises
    ------
    InputError
        If there are too few samples for a finite mean: more than d + 2 are needed for the stated
        covariance, more than d for the truth.
    """
    enough = (stated_from is None or stated_from > size + 2) and (
        truth_from is None or truth_from > size
    )
    if not enough:
        raise InputError(
            f"Covariances of {size} components from {stated_from} and {truth_from} samples have no "
            f"finite mean divergence; use at least {size + 3} and {size + 1}."
        )
    trace = float(size)
    if stated_from is not None:
        trace *= (stated_from - 1) / (stated_from - size - 2)
    log_ratio = _mean_log_determinant(stated_from, size) - _mean_log_determinant(truth_from, size)
    return 0.5 * (trace + log_ratio - size)


def _mean_log_determinant(num_samples: int | None, size: int) -> float:
    """Mean of ln det of the unbiased covariance of so many standard normal samples."""
    if num_samples is None:
        return 0.0
    halves = 0.5 * (num_samples - np.arange(1, size + 1))
    return float(np.sum(digamma(halves)) + size * np.log(2.0 / (num_samples - 1)))
