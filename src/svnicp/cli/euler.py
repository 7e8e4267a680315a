# SPDX-License-Identifier: MIT
"""Roll, pitch and yaw, for people: they enter and leave the command line and exist nowhere else.

R = Rz(yaw) Ry(pitch) Rx(roll), as in ROS; angles in radians here, in degrees on the screen.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats


def rotation_from_rpy(rpy: Floats) -> Floats:
    """Rotation (3, 3) from roll, pitch, yaw (3,) [rad]."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(rotation: Floats) -> Floats:
    """Roll, pitch, yaw (3,) [rad] of a rotation (3, 3), pitch within ±90 degrees."""
    roll = np.arctan2(rotation[2, 1], rotation[2, 2])
    pitch = np.arctan2(-rotation[2, 0], np.hypot(rotation[2, 1], rotation[2, 2]))
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    return np.array([roll, pitch, yaw])


def rpy_covariance(rpy: Floats, fixed_axes: Covariance) -> Covariance:
    """Covariance (3, 3) of roll, pitch, yaw from that of rotations about the fixed axes (3, 3).

    Near a pitch of ±90 degrees roll and yaw are not defined apart, and their variances grow
    without limit.
    """
    _, sp, sy = np.sin(rpy)
    _, cp, cy = np.cos(rpy)
    cp = np.copysign(max(abs(cp), 1e-6), cp)
    to_rpy = np.array(
        [
            [cy / cp, sy / cp, 0.0],
            [-sy, cy, 0.0],
            [cy * sp / cp, sy * sp / cp, 1.0],
        ]
    )
    return to_rpy @ fixed_axes @ to_rpy.T
