# SPDX-License-Identifier: MIT
"""Unit quaternions, as files hold them, to rotation matrices and back.

Files differ in the place of w; here a quaternion is always (x, y, z, w). Both signs of a
quaternion mean the same rotation; the one with w >= 0 is given back.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.lie import so3_log


def quat_to_rotation(quat_xyzw: Floats) -> Floats:
    """Rotation matrices of quaternions of any length but zero; (..., 4) to (..., 3, 3)."""
    quat = np.asarray(quat_xyzw, dtype=np.float64)
    quat = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
    vector, w = quat[..., :3], quat[..., 3, None, None]
    outer = vector[..., :, None] * vector[..., None, :]
    x, y, z = np.moveaxis(vector, -1, 0)
    zero = np.zeros_like(x)
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*x.shape, 3, 3)
    square = np.sum(vector * vector, axis=-1)[..., None, None]
    return np.eye(3) * (1.0 - 2.0 * square) + 2.0 * outer + 2.0 * w * skew


def rotation_to_quat(rotation: Floats) -> Floats:
    """Unit quaternions (x, y, z, w), w >= 0, of rotation matrices; (..., 3, 3) to (..., 4)."""
    phi = so3_log(rotation)
    half_angle = 0.5 * np.linalg.norm(phi, axis=-1, keepdims=True)
    return np.concatenate([0.5 * phi * np.sinc(half_angle / np.pi), np.cos(half_angle)], axis=-1)
