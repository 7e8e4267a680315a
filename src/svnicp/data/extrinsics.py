# SPDX-License-Identifier: MIT
"""Where the LiDAR sits on the body: read from a YAML file, and checked to be a rigid motion.

Published calibrations are rounded, and some are wrong. A rotation that is nearly one is replaced by
the nearest rotation, and that is said; anything farther off is refused.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from svnicp.arrays import Floats, Transform
from svnicp.config.build import load_yaml
from svnicp.data.dataset import Finding
from svnicp.data.quaternions import quat_to_rotation
from svnicp.errors import DatasetError
from svnicp.lie import make_transform, orthonormalise, se3_inverse, so3_log

ROUNDING = 1e-6
"""Largest entry of R R^T - I that is nothing but rounding."""

MAX_ERROR = 0.02
"""Largest one that is corrected: a hundredth of a radian, or one per cent of scale."""

DIRECT = ("T_body_lidar", "T_imu_lidar", "T_lidar_to_imu", "T_lidar_to_body")
INVERSE = ("T_lidar_body", "T_lidar_imu", "T_imu_to_lidar", "T_body_to_lidar")
TO_BASE = ("T_lidar_to_base", "T_imu_to_base")
TRANSLATION_KEYS = ("translation", "t", "xyz", "position")
QUATERNION_KEYS = ("quaternion_xyzw", "quat_xyzw", "quaternion", "quat", "q")
ROTATION_KEYS = ("rotation", *QUATERNION_KEYS, "R", "orientation")

log = logging.getLogger(__name__)


def checked_extrinsics(T: npt.ArrayLike, where: str) -> tuple[Transform, Finding]:
    """Rigid transform nearest to a matrix that should be one, and what was done to it.

    Parameters
    ----------
    T
        (4, 4) matrix that maps LiDAR coordinates into the body.
    where
        Where it comes from, for the sentence: a file, a flag.

    Raises
    ------
    DatasetError
        If it is not (4, 4), not finite, or too far from a rigid motion.
    """
    matrix = np.asarray(T, dtype=np.float64)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise DatasetError(
            f"{where}: extrinsics must be a (4, 4) matrix of finite numbers that maps LiDAR "
            f"coordinates into the body, not an array of shape {matrix.shape}."
        )
    R = matrix[:3, :3]
    error = float(np.abs(R @ R.T - np.eye(3)).max())
    rigid = error <= MAX_ERROR and np.linalg.det(R) > 0.0
    if not rigid or np.abs(matrix[3] - [0.0, 0.0, 0.0, 1.0]).max() > ROUNDING:
        raise DatasetError(
            f"{where}: the extrinsics are not a rigid motion (R R^T is off the identity by "
            f"{error:.2g}, the determinant is {np.linalg.det(R):.3f}, the last row is "
            f"{matrix[3].tolist()}); check the numbers, and that they are stored row by row."
        )
    T_body_lidar = orthonormalise(matrix)
    projected = error > ROUNDING
    if projected:
        log.warning(
            "%s: the rotation was not orthonormal (off by %.2g); the nearest one is used.",
            *(where, error),
        )
    return T_body_lidar, Finding(
        "extrinsics", _in_words(T_body_lidar, error if projected else 0.0), where, "--extrinsics"
    )


def read_extrinsics(path: str | os.PathLike[str]) -> tuple[Transform, Finding]:
    """Extrinsics in a YAML file: (4, 4) rows, or a translation and a quaternion (x, y, z, w).

    The key says the direction: ``T_body_lidar`` or ``T_imu_lidar`` maps LiDAR coordinates into the
    body, ``T_lidar_imu`` the other way; ``T_lidar_to_base`` and ``T_imu_to_base`` go together.

    Raises
    ------
    DatasetError
        If the file is not such YAML, or the numbers are not a rigid motion.
    """
    path = Path(path)
    try:
        content = load_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetError(f"{path}: the file cannot be read ({reason}); check it.") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise DatasetError(f"{path}: this is not readable YAML ({reason}); correct it.") from None
    if not isinstance(content, Mapping):
        raise _unknown(path)
    for key in DIRECT:
        if key in content:
            return checked_extrinsics(_transform(content[key], path, key), f"{path}, {key}")
    for key in INVERSE:
        if key in content:
            matrix, _ = checked_extrinsics(_transform(content[key], path, key), f"{path}, {key}")
            return checked_extrinsics(se3_inverse(matrix), f"{path}, {key} inverted")
    if all(key in content for key in TO_BASE):
        lidar, imu = (
            checked_extrinsics(_transform(content[key], path, key), f"{path}, {key}")[0]
            for key in TO_BASE
        )
        return checked_extrinsics(se3_inverse(imu) @ lidar, f"{path}, {' and '.join(TO_BASE)}")
    if any(key in content for key in TRANSLATION_KEYS):
        return checked_extrinsics(_transform(content, path, "the file"), str(path))
    raise _unknown(path)


def _transform(value: object, path: Path, key: str) -> Floats:
    """(4, 4) matrix of whatever stands under a key."""
    if isinstance(value, Mapping):
        translation = next((value[name] for name in TRANSLATION_KEYS if name in value), [0, 0, 0])
        rotation = next((value[name] for name in ROTATION_KEYS if name in value), None)
        if rotation is None:  # to take none for the identity would be a guess
            raise DatasetError(
                f"{path}, {key}: there is no rotation; give quaternion_xyzw, 0 0 0 1 if the LiDAR "
                "is not turned."
            )
    else:
        numbers = _numbers(value, path, key)
        if numbers.size == 16:
            return numbers.reshape(4, 4)
        if numbers.size != 7:
            raise DatasetError(
                f"{path}, {key}: {numbers.size} numbers are there; give 16 (the 4x4 matrix, row by "
                "row) or 7 (x y z qx qy qz qw)."
            )
        translation, rotation = numbers[:3], numbers[3:]
    shift, turn = _numbers(translation, path, key), _numbers(rotation, path, key)
    if shift.size != 3 or turn.size not in (4, 9):
        raise DatasetError(
            f"{path}, {key}: give a translation of 3 numbers and a quaternion of 4 (x y z w) or a "
            f"rotation of 9, not {shift.size} and {turn.size}."
        )
    if turn.size == 9:
        return make_transform(turn.reshape(3, 3), shift)
    if abs(np.linalg.norm(turn) - 1.0) > MAX_ERROR:
        raise DatasetError(
            f"{path}, {key}: the quaternion has length {np.linalg.norm(turn):.3g} instead of 1."
        )
    return make_transform(quat_to_rotation(turn), shift)


def _numbers(value: object, path: Path, key: str) -> Floats:
    if isinstance(value, Mapping):
        value = [value[axis] for axis in "xyzw" if axis in value]
    try:
        return np.asarray(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise DatasetError(f"{path}, {key}: these are not rows of numbers; correct them.") from None


def _unknown(path: Path) -> DatasetError:
    return DatasetError(
        f"{path}: no extrinsics are in it; give T_body_lidar (which maps LiDAR coordinates into "
        "the IMU) as a 4x4 matrix, or as translation and quaternion (x y z w)."
    )


def _in_words(T_body_lidar: Transform, error: float) -> str:
    shift = " ".join(f"{value:.4g}" for value in T_body_lidar[:3, 3])
    angle = float(np.rad2deg(np.linalg.norm(so3_log(T_body_lidar[:3, :3]))))
    words = f"LiDAR at ({shift}) m in the body, turned by {angle:.2f} degrees"
    if error:
        words += f"; projected to the nearest rotation (R R^T was off by {error:.2g})"
    return words
