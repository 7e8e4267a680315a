# SPDX-License-Identifier: MIT
"""The 90 % cut: which of many values are left in when the extremes are taken out.

The paper leaves out what lies beyond "the 90th quantile" without saying of what, and on which side.
Code that its numbers are compared with keeps the ranks from 10 to 90 %; dropping only the largest
tenth fits the paper's own ratios better. Both are here, and none.
"""

from typing import Literal

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.errors import InputError

Cut = Literal["none", "upper", "two_sided"]
"""Keep all; drop the largest tenth; drop the largest and the smallest tenth."""

KEPT: dict[Cut, tuple[float, float]] = {
    "none": (0.0, 1.0), "upper": (0.0, 0.9), "two_sided": (0.1, 0.9),
}  # fmt: skip
"""Ranks that are kept, as shares."""


def kept_indices(values: Floats, cut: Cut) -> Integers:
    """Indices of the values (..., n) that a cut along the last axis keeps, smallest first.

    Raises
    ------
    InputError
        If nothing would be left.
    """
    count = values.shape[-1]
    low, high = KEPT[cut]
    # Rounded before it is floored: 0.9 * 10 must be 9, whatever binary fractions make of it.
    first, last = int(round(low * count, 9)), int(round(high * count, 9))
    if last <= first:
        raise InputError(f"The cut '{cut}' leaves nothing of {count} values; give more of them.")
    return np.argsort(values, axis=-1, kind="stable")[..., first:last]


def cut_mean(values: Floats, cut: Cut = "none") -> Floats:
    """Mean (...) over the last axis of values (..., n), of those that the cut keeps."""
    values = np.asarray(values, dtype=np.float64)
    return np.take_along_axis(values, kept_indices(values, cut), axis=-1).mean(axis=-1)
