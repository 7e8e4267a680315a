# SPDX-License-Identifier: MIT
"""Whether a stated sigma is large where errors are large: order, not scale.

Spearman's correlation of sigma against error, and the area under the curve of sigma as a detector
of known degenerate scans. A constant sigma says nothing: 0 and ½. Even a perfect sigma does not
reach 1, because an error is drawn; ``calibrated_spearman`` says how far it gets.
"""

import numpy as np
import numpy.typing as npt
from scipy import stats

from svnicp.arrays import Floats
from svnicp.errors import InputError


def spearman(sigmas: Floats, errors: Floats) -> float:
    """Rank correlation of sigmas (n,) and the sizes of errors (n,); 0 if either is constant."""
    if sigmas.shape != errors.shape or sigmas.ndim != 1 or len(sigmas) < 2:
        raise InputError(
            f"A rank correlation needs two sigmas or more with an error each, got shapes "
            f"{sigmas.shape} and {errors.shape}."
        )
    ranks = stats.rankdata(np.stack([sigmas, np.abs(errors)]), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(ranks, axis=1)
    if not np.all(norms > 0.0):
        return 0.0
    return float(ranks[0] @ ranks[1] / (norms[0] * norms[1]))


def calibrated_spearman(sigmas: Floats, rng: np.random.Generator, num_draws: int = 200) -> float:
    """Mean rank correlation that sigmas (n,) get with errors drawn from them."""
    draws = sigmas * rng.standard_normal((num_draws, len(sigmas)))
    return float(np.mean([spearman(sigmas, errors) for errors in draws]))


def degeneracy_auc(sigmas: Floats, degenerate: npt.NDArray[np.bool_]) -> float:
    """Chance that a degenerate scan has the larger sigma than one that is not; ties are halves.

    ``sigmas`` (n,) may be anything that grows with degeneracy; ``degenerate`` (n,) is the truth. 1
    finds all of them, ½ is a coin, less than that points the wrong way.

    Raises
    ------
    InputError
        If all scans are degenerate, or none is.
    """
    num_degenerate = int(np.count_nonzero(degenerate))
    num_others = len(degenerate) - num_degenerate
    if num_degenerate == 0 or num_others == 0:
        raise InputError(
            "A detector can only be judged with degenerate scans and others, and all "
            f"{len(degenerate)} are {'degenerate' if num_degenerate else 'not degenerate'}."
        )
    ranks = stats.rankdata(sigmas)
    wins = ranks[degenerate].sum() - 0.5 * num_degenerate * (num_degenerate + 1)
    return float(wins / (num_degenerate * num_others))
