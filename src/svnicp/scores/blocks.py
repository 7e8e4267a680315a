# SPDX-License-Identifier: MIT
"""Which components of a tangent a score looks at, and the check that arrays fit together.

Every score takes errors (n, 6) and covariances (n, 6, 6) in body tangents, translation [m] before
rotation [rad], and the part that is meant; metres and radians are mixed only where the covariance
says how.
"""

from typing import Literal

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.errors import InputError
from svnicp.lie import ROTATION, TRANSLATION

Part = Literal["pose", "translation", "rotation"]
"""The whole tangent, or one of its halves."""

BLOCKS: dict[Part, slice] = {
    "pose": slice(0, 6), "translation": TRANSLATION, "rotation": ROTATION,
}  # fmt: skip
"""Components of a tangent."""


def error_block(errors: Floats, part: Part) -> Floats:
    """Part of errors (..., 6)."""
    return np.asarray(errors, dtype=np.float64)[..., BLOCKS[part]]


def covariance_block(covariances: Covariance, part: Part) -> Covariance:
    """Part of covariances (..., 6, 6); correlations with the other half are left out."""
    block = BLOCKS[part]
    return np.asarray(covariances, dtype=np.float64)[..., block, block]


def check_half(part: Part) -> None:
    """Raise an InputError where lengths are taken and the part mixes metres with radians."""
    if part == "pose":
        raise InputError(
            "Metres and radians have no common length; name the part 'translation' or 'rotation'."
        )


def check_pairs(errors: Floats, covariances: Covariance) -> None:
    """Raise an InputError unless there is one covariance (n, d, d) for each error (n, d)."""
    fits = errors.ndim == 2 and covariances.shape == (*errors.shape, errors.shape[-1])
    if not fits or len(errors) == 0:
        raise InputError(
            f"Errors of shape {errors.shape} need as many covariances, at least one, not an array "
            f"of shape {covariances.shape}."
        )
