# SPDX-License-Identifier: MIT
"""Checks of what a user hands in: one clear sentence for each thing that can be wrong."""

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import Config
from svnicp.errors import InputError
from svnicp.lie import orthonormalise
from svnicp.local_map import VoxelMap
from svnicp.local_map.cloud_check import MAX_COORDINATE_M, as_numbers


def check_config(config: Config | None) -> Config:
    """Return the configuration, the default one for None, or say how to get one."""
    if config is None:
        return Config.preset("default")
    if not isinstance(config, Config):
        raise InputError(
            f"config must be a svnicp.Config, got {_shown(config)}; use Config.preset('default'), "
            "Config.preset('paper') or Config.from_yaml(path)"
        )
    return config


def check_rng(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator, one seeded with 0 for None, or say how to get one."""
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise InputError(
            f"rng must be a numpy.random.Generator, got {_shown(rng)}; a seed becomes one with "
            "numpy.random.default_rng(seed)"
        )
    return rng


def check_map(local_map: VoxelMap) -> VoxelMap:
    """Return the map, or say how to get one."""
    if not isinstance(local_map, VoxelMap):
        raise InputError(
            f"local_map must be a svnicp.VoxelMap, got {_shown(local_map)}; insert the points into "
            "one, or call register(source, target)"
        )
    return local_map


def check_point_seconds(point_seconds: npt.ArrayLike, num_points: int) -> Floats:
    """Return (n,) finite times [s], one for each source point, or say what is wrong with them."""
    seconds = as_numbers("point_seconds", "an (n,) array", point_seconds)
    if seconds.shape != (num_points,) or not np.isfinite(seconds).all():
        raise InputError(
            f"point_seconds must be {num_points} finite numbers, one for each source point, got "
            f"shape {seconds.shape}"
        )
    return seconds


def check_transform(name: str, transform: npt.ArrayLike | None) -> Transform:
    """Return a (4, 4) rigid transform (identity for None), or say what is wrong with it."""
    if transform is None:
        return np.eye(4)
    T = _finite_matrix(name, "a finite 4 x 4 transform", transform, 4)
    skewed = np.abs(T[:3, :3] @ T[:3, :3].T - np.eye(3)).max()
    if skewed > 1e-3 or np.linalg.det(T[:3, :3]) < 0 or np.abs(T[3] - [0, 0, 0, 1]).max() > 1e-9:
        raise InputError(
            f"{name} is not a rigid transform: its upper left 3 x 3 block must be a rotation and "
            "its last row 0 0 0 1"
        )
    if np.abs(T[:3, 3]).max() > MAX_COORDINATE_M:
        raise InputError(
            f"{name} moves by more than {MAX_COORDINATE_M:,.0f} m; subtract an origin near the "
            "sensor from guess and target"
        )
    return orthonormalise(T)


def check_covariance(name: str, covariance: npt.ArrayLike) -> Covariance:
    """Return a symmetric positive definite (6, 6) covariance, or say what is wrong with it."""
    matrix = _finite_matrix(name, "a finite 6 x 6 matrix", covariance, 6)
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)).clip(min=0.0))
    if np.any(np.diag(matrix) <= 0) or np.abs(matrix - matrix.T).max() > 1e-6 * scale.max():
        raise InputError(f"{name} must be symmetric with positive variances")
    if np.linalg.eigvalsh(matrix / np.where(scale > 0, scale, 1.0))[0] < 1e-12:
        raise InputError(f"{name} must be positive definite; widen the directions you know exactly")
    return 0.5 * (matrix + matrix.T)


def _finite_matrix(name: str, wanted: str, values: npt.ArrayLike, size: int) -> Floats:
    """A (size, size) array of finite numbers, or which of the two it is not."""
    matrix = as_numbers(name, wanted, values)
    if matrix.shape != (size, size):
        raise InputError(f"{name} must be {wanted}, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        unknown = "; where nothing is known, give a large finite variance" if size == 6 else ""
        raise InputError(f"{name} must be {wanted}, and this one has NaN or infinity{unknown}")
    return matrix


def _shown(value: object) -> str:
    """A short value as it is written, anything else by its type."""
    text = repr(value)
    return text if len(text) <= 20 else f"a {type(value).__name__}"
