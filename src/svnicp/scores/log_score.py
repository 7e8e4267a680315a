# SPDX-License-Identifier: MIT
"""Gaussian negative log likelihood of the truth: the score that a too wide answer loses as well.

½ (e' P⁻¹ e + ln det P + d ln 2π), smaller is better. On average no covariance beats the true one,
which makes it a proper score; a covariance r times the true one costs ½ d (1/r - 1 + ln r) more.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.scores.blocks import Part, covariance_block
from svnicp.scores.nees import SMALLEST_VARIANCE, nees


def negative_log_likelihood(errors: Floats, covariances: Covariance, part: Part = "pose") -> Floats:
    """Negative log density (n,) [nats] of errors (n, 6) under N(0, covariances (n, 6, 6))."""
    squares = nees(errors, covariances, part)
    blocks = covariance_block(covariances, part)
    size = blocks.shape[-1]
    _, log_determinants = np.linalg.slogdet(blocks + SMALLEST_VARIANCE * np.eye(size))
    return 0.5 * (squares + log_determinants + size * np.log(2.0 * np.pi))
