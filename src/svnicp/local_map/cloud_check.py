# SPDX-License-Identifier: MIT
"""Checks of a cloud that a user hands in, before compiled code trusts its shape.

In comes anything that NumPy can make an array of; out comes an (n, 3) float64 array, or one clear
sentence about what is wrong. The map and the registration share it.
"""

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats, Points
from svnicp.errors import InputError

MAX_COORDINATE_M = 1e6
"""Farther than a thousand kilometres from the origin nothing is stored or registered."""


def as_numbers(name: str, wanted: str, values: npt.ArrayLike) -> Floats:
    """Any array as float64, or a sentence about what it should be; a mask is never passed over."""
    if np.ma.is_masked(values):
        raise InputError(
            f"{name} has {np.ma.count_masked(values)} masked values; remove their rows first, e.g. "
            "cloud[~np.ma.getmaskarray(cloud).any(axis=1)], because a mask has no meaning here"
        )
    if values is None:
        raise InputError(f"{name} must be {wanted}, got None")
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be {wanted} of numbers: {error}") from error


def as_points(name: str, cloud: npt.ArrayLike) -> Points:
    """Contiguous (n, 3) float64 points, or what to do about another shape."""
    points = as_numbers(name, "an (n, 3) array", cloud)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(
            f"{name} must be an (n, 3) array of points in metres, got shape {points.shape}"
            f"{_remedy(points.shape)}"
        )
    return np.ascontiguousarray(points)


def check_cloud(name: str, cloud: npt.ArrayLike, min_points: int) -> Points:
    """Return an (n, 3) float64 cloud, or say what is wrong with it."""
    points = as_points(name, cloud)
    if len(points) < min_points:
        turned = ", one in each row" if len(points) == 3 else ""
        raise InputError(
            f"{name} has {points_in_words(len(points))}; at least {min_points} are needed{turned}"
        )
    farthest = max(points.max(initial=0.0), -points.min(initial=0.0))  # NaN if there is one
    if not np.isfinite(farthest):
        bad = int((~np.isfinite(points)).any(axis=1).sum())
        raise InputError(
            f"{name} has {points_in_words(bad)} with NaN or infinite coordinates; remove them "
            "first, e.g. cloud[np.isfinite(cloud).all(axis=1)]"
        )
    if farthest > MAX_COORDINATE_M:
        raise InputError(
            f"{name} has coordinates up to {farthest:.3g} m, and the limit is "
            f"{MAX_COORDINATE_M:,.0f} m; subtract an origin near the sensor (UTM, ECEF), or divide "
            "by 1000 if the unit is millimetres"
        )
    return points


def points_in_words(count: int) -> str:
    """Return a number of points, with the right plural."""
    return f"{count} point{'' if count == 1 else 's'}"


def _remedy(shape: tuple[int, ...]) -> str:
    """What makes points of an array of another shape, if that can be guessed."""
    if len(shape) != 2:
        return ""
    if shape[0] in {3, 4} and shape[1] not in {3, 4}:
        return "; transpose it, cloud.T, so that each row is a point"
    if shape[1] > 3:
        return "; drop extra columns such as intensity, e.g. cloud[:, :3]"
    return ""
