# SPDX-License-Identifier: MIT
"""Particles in Euler angles, as Stein ICP has them, seen as rotation vectors.

Offsets are (x, y, z, roll, pitch, yaw) with R = Rz(yaw) Ry(pitch) Rx(roll).
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.lie import so3_log, so3_right_jacobian_inverse


def rotation_chart(offsets: Floats) -> tuple[Floats, Floats]:
    """Offsets (K, 6) in the rotation-vector chart, and the derivative (K, 6, 6) of the change."""
    roll, pitch, yaw = offsets[:, 3], offsets[:, 4], offsets[:, 5]
    zero, one = np.zeros_like(roll), np.ones_like(roll)
    sr, cr, sp, cp, sy, cy = (f(a) for a in (roll, pitch, yaw) for f in (np.sin, np.cos))
    rotation = np.stack([
        np.stack([cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr], -1),
        np.stack([sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], -1),
        np.stack([-sp, cp * sr, cp * cr], -1),
    ], -2)  # fmt: skip
    rates = np.stack([
        np.stack([one, zero, -sp], -1),
        np.stack([zero, cr, cp * sr], -1),
        np.stack([zero, -sr, cp * cr], -1),
    ], -2)  # fmt: skip
    phi = so3_log(rotation)
    chain = np.zeros((len(offsets), 6, 6))
    chain[:, :3, :3] = np.eye(3)
    chain[:, 3:, 3:] = so3_right_jacobian_inverse(phi) @ rates
    return np.concatenate([offsets[:, :3], phi], axis=1), chain
