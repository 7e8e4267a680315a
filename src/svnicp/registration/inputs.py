# SPDX-License-Identifier: MIT
"""Checks of what a user hands in: one clear sentence for each thing that can be wrong."""

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Points, Transform
from svnicp.errors import InputError
from svnicp.lie import orthonormalise

MAX_COORDINATE_M = 1e6
"""Coordinates beyond a thousand kilometres are not a LiDAR cloud in metres."""


def check_cloud(name: str, cloud: npt.ArrayLike, min_points: int) -> Points:
    """Return an (n, 3) float64 cloud, or say what is wrong with it."""
    try:
        points = np.asarray(cloud, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an (n, 3) array of numbers in metres: {error}") from error
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(
            f"{name} must be an (n, 3) array of points in metres, got shape {points.shape}; "
            "drop extra columns such as intensity"
        )
    if len(points) < min_points:
        raise InputError(f"{name} has {len(points)} points; at least {min_points} are needed")
    bad = int((~np.isfinite(points)).any(axis=1).sum())
    if bad:
        raise InputError(
            f"{name} has {bad} points with NaN or infinite coordinates; remove them first, e.g. "
            "cloud[np.isfinite(cloud).all(axis=1)]"
        )
    if np.abs(points).max() > MAX_COORDINATE_M:
        raise InputError(
            f"{name} has coordinates up to {np.abs(points).max():.3g} m; convert it to metres in a "
            "local frame"
        )
    return np.ascontiguousarray(points)


def _numbers(name: str, wanted: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """A copy as float64, or a sentence about what it should be."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be {wanted} of numbers: {error}") from error


def check_transform(name: str, transform: npt.ArrayLike | None) -> Transform:
    """Return a (4, 4) rigid transform (identity for None), or say what is wrong with it."""
    if transform is None:
        return np.eye(4)
    T = _numbers(name, "a finite 4 x 4 transform", transform)
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise InputError(f"{name} must be a finite 4 x 4 transform, got shape {T.shape}")
    skewed = np.abs(T[:3, :3] @ T[:3, :3].T - np.eye(3)).max()
    if skewed > 1e-3 or np.linalg.det(T[:3, :3]) < 0 or np.abs(T[3] - [0, 0, 0, 1]).max() > 1e-9:
        raise InputError(
            f"{name} is not a rigid transform: its upper left 3 x 3 block must be a rotation and "
            "its last row 0 0 0 1"
        )
    if np.abs(T[:3, 3]).max() > MAX_COORDINATE_M:
        raise InputError(f"{name} moves by more than {MAX_COORDINATE_M:.0f} m; use a local frame")
    return orthonormalise(T)


def check_covariance(name: str, covariance: npt.ArrayLike) -> Covariance:
    """Return a symmetric positive definite (6, 6) covariance, or say what is wrong with it."""
    matrix = _numbers(name, "a finite 6 x 6 matrix", covariance)
    if matrix.shape != (6, 6) or not np.isfinite(matrix).all():
        raise InputError(f"{name} must be a finite 6 x 6 matrix, got shape {matrix.shape}")
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)).clip(min=0.0))
    if np.any(np.diag(matrix) <= 0) or np.abs(matrix - matrix.T).max() > 1e-6 * scale.max():
        raise InputError(f"{name} must be symmetric with positive variances")
    if np.linalg.eigvalsh(matrix / np.where(scale > 0, scale, 1.0))[0] < 1e-12:
        raise InputError(f"{name} must be positive definite; widen the directions you know exactly")
    return 0.5 * (matrix + matrix.T)
