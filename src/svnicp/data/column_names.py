# SPDX-License-Identifier: MIT
"""What the columns of a csv file hold, told from their names.

Every project has its own: ``p_RS_R_x [m]``, ``q_w_b_w``, ``ang_vel_x``, ``linear_acceleration.x``,
``wx``. They agree in this: the last letter is the axis, and a word before it the quantity.
"""

import re
from typing import NamedTuple

TIME = {"t", "time", "timestamp", "timestamps", "stamp", "stamps", "sec", "nsec", "ns"}
POSITION = {"p", "t", "pos", "position", "translation", "trans"}
QUATERNION = {"q", "quat", "quaternion", "orientation", "rotation", "rot"}
GYRO = {"w", "g", "gyro", "gyr", "gyroscope", "omega", "ang", "angular", "angvel", "rate"}
ACCELERATION = {"a", "acc", "accel", "acceleration", "accelerometer", "lin", "linear", "linacc"}


class ColumnName(NamedTuple):
    """A name taken apart: ``p_RS_R_x [m]`` is ({"p", "rs", "r"}, "x", first word "p")."""

    words: frozenset[str]
    axis: str
    first: str


def split_name(name: str) -> ColumnName:
    """Words, axis (x, y, z, w or nothing) and first word of a column name, its unit left out."""
    plain = re.sub(r"[\[(].*", "", name).strip().lower()
    words = [word for word in re.split(r"[^a-z0-9]+", plain) if word]
    if not words:
        return ColumnName(frozenset(), "", "")
    axis = words[-1] if words[-1] in "xyzw" and len(words[-1]) == 1 else ""
    if axis:
        words = words[:-1]
    elif len(words[-1]) > 1 and words[-1][-1] in "xyzw" and words[-1][:-1] in SHORT_NAMES:
        axis, words = words[-1][-1], [*words[:-1], words[-1][:-1]]
    return ColumnName(frozenset(words), axis, words[0] if words else "")


SHORT_NAMES = POSITION | QUATERNION | GYRO | ACCELERATION


def is_time(name: str) -> bool:
    """Whether a column holds times: ``timestamp [ns]``, ``#t``, ``time_ns``, ``header.stamp``."""
    parts = split_name(name.lstrip("#% "))
    return not parts.axis and bool(parts.words & TIME) and "offset" not in parts.words


def pose_role(name: str) -> str:
    """``time``; ``x``, ``y``, ``z``; ``qx`` to ``qw``; or nothing for other columns."""
    parts = split_name(name)
    if is_time(name):
        return "time"
    if parts.axis and (parts.first == "q" or parts.words & (QUATERNION - {"q"})):
        return f"q{parts.axis}"
    position = not parts.words or parts.first in POSITION or parts.words & (POSITION - {"p", "t"})
    return parts.axis if parts.axis in ("x", "y", "z") and position else ""


def imu_role(name: str) -> str:
    """``time``; ``gx`` to ``gz`` for the gyroscope, ``ax`` to ``az``; or nothing."""
    parts = split_name(name)
    if is_time(name):
        return "time"
    if parts.axis not in ("x", "y", "z"):
        return ""
    if parts.first in GYRO or parts.words & (GYRO - {"w", "g"}):
        return f"g{parts.axis}"
    if parts.first in ACCELERATION or parts.words & (ACCELERATION - {"a"}):
        return f"a{parts.axis}"
    return ""
