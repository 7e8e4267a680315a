# SPDX-License-Identifier: MIT
"""Robust weights of residuals, compiled; ``registration.robust`` says what they do to information.

Every kernel that weighs residuals has them from here, so that all agree.
"""

import numpy as np

from svnicp.kernels.njit import njit

GEMAN_MCCLURE, CAUCHY_NORM, NO_WEIGHT = 0, 1, 2
"""Robust weights: of the normalised square, the reference release's (of the norm), or none."""


@njit()
def robust_weight(kind, squared, width):
    """Weight of a residual whose (normalised) square is given."""
    if kind == GEMAN_MCCLURE:
        ratio = width * width / (width * width + squared)
        return ratio * ratio
    if kind == CAUCHY_NORM:
        ratio = width / (width + np.sqrt(squared))
        return ratio * ratio
    return 1.0
