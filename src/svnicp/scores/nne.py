# SPDX-License-Identifier: MIT
"""Normalised norm error: length of the errors over the length that the covariance expects.

The square root of the mean of |e|² / tr(P), translation and rotation separately: 1 is right, more
is over-confident. It knows only traces: one bad axis decides it, and it can be 1 with a completely
wrong ellipsoid. It is here because published tables have it.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.scores.blocks import Part, check_half, covariance_block, error_block
from svnicp.scores.cut import Cut, cut_mean


def nne_squares(errors: Floats, covariances: Covariance, part: Part) -> Floats:
    """|e|² / tr(P): (n,) of errors (n, 6), or (n, m) of m samples (n, m, 6) for each covariance.

    ``covariances`` are (n, 6, 6), or one (6, 6) for all.
    """
    check_half(part)
    traces = np.trace(covariance_block(covariances, part), axis1=-2, axis2=-1)
    squares = np.sum(error_block(errors, part) ** 2, axis=-1)
    if squares.ndim == 2 and np.ndim(traces) == 1:
        traces = traces[:, None]
    return squares / traces


def nne(errors: Floats, covariances: Covariance, part: Part, cut: Cut = "none") -> float:
    """Normalised norm error of errors (n, 6), or of m Monte-Carlo samples (n, m, 6) for each scan.

    With one error for each scan the cut takes out scans; with samples it takes out samples of every
    scan, and all scans count.
    """
    return float(np.sqrt(np.mean(cut_mean(nne_squares(errors, covariances, part), cut))))
