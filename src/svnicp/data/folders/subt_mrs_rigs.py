# SPDX-License-Identifier: MIT
"""Where the LiDAR sits on the IMU in each sequence of SubT-MRS.

The numbers are those that the authors of SVN-ICP published for the sequences they ran. They are
rounded, one of them so coarsely that its matrix is not a rotation: all are projected when read.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Transform
from svnicp.lie import make_transform

HANDHELD_M = [0.08, 0.029, 0.03]


class Rig(NamedTuple):
    """Sensors of a group of sequences."""

    words: tuple[str, ...]
    """Parts of the sequences' names, in lower case."""
    T_imu_lidar: Transform
    """(4, 4) as published, not necessarily orthonormal."""
    simulated: bool = False
    """Whether scans are simultaneous and IMU and truth are in TartanAir's axes."""
    note: str = ""


def _published(rows: list[list[float]], translation: list[float]) -> Transform:
    return make_transform(np.array(rows), np.array(translation))


RIGS = (
    Rig(
        ("tartanair", "tartan_air"),
        _published([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], [0.0, 0.0, 0.0]),
        simulated=True,
        note="the IMU's axes are north, east, down",
    ),
    Rig(
        ("long_corridor",),
        _published(
            [
                [0.999212900, -0.000519121, 0.004],
                [0.000516111, 0.999218492, -0.000939132],
                [-0.004, 0.000802565, 0.999993652],
            ],
            HANDHELD_M,
        ),
    ),
    Rig(
        ("multi_floor",),
        _published(
            [
                [0.999945562, 0.009074807, 0.005149763],
                [-0.009060897, 0.999955255, -0.002718066],
                [-0.005174199, 0.002671256, 0.999983046],
            ],
            HANDHELD_M,
        ),
    ),
    Rig(
        ("block_lidar", "mill19"),
        _published(
            [
                [0.999987674, 0.003771516, 0.005229183],
                [-0.003775845, 0.999991979, -0.001335715],
                [-0.005224119, 0.001347892, 0.999993894],
            ],
            HANDHELD_M,
        ),
    ),
    Rig(
        ("ugv",),
        _published(
            [[0.9998875, 0.0, 0.002], [0.0, 1.0, 0.0], [-0.002, 0.0, 0.9998875]],
            [-0.0351814, -0.0147287, 0.06434955],
        ),
        note="published for UGV1 and taken for the others",
    ),
    Rig(("laurel", "handheld", "hawkins"), _published(np.eye(3).tolist(), HANDHELD_M)),
)

UNKNOWN = Rig((), np.eye(4), note="the sequence is not in the table, so give the extrinsics")
"""For sequences that are not in the table."""


def rig_of(words: str) -> Rig:
    """Rig of a sequence, told from its name or path."""
    lower = words.lower().replace("-", "_").replace(" ", "_")
    return next((rig for rig in RIGS if any(word in lower for word in rig.words)), UNKNOWN)
