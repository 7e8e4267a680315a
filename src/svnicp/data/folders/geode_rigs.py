# SPDX-License-Identifier: MIT
"""The three rigs of GEODE, and how their ground truth lies to them.

Numbers as published with the dataset. Ground truth was measured once for all three rigs on a common
rack: by GNSS/INS in the frame of beta's LiDAR, or by a total station at the place of alpha's.
"""

import re
from typing import Literal, NamedTuple

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.quaternions import quat_to_rotation
from svnicp.lie import make_transform

Reference = Literal["gnss", "leica", "own"]
"""Who measured the truth: GNSS/INS, a total station, or the rig's own scans in a survey map."""


class Rig(NamedTuple):
    """One of the three rigs."""

    lidar_topic: str
    imu_topic: str
    T_imu_lidar: Transform
    """(4, 4) as published, rounded."""
    sensor: str
    imu: str = "Xsens MTi-30"


def _matrix(*rows: list[float]) -> Transform:
    return np.array([*rows, [0.0, 0.0, 0.0, 1.0]])


def _from_wxyz(quat_wxyz: list[float], translation: list[float]) -> Transform:
    quat_xyzw = np.array([*quat_wxyz[1:], quat_wxyz[0]])
    return make_transform(quat_to_rotation(quat_xyzw), np.array(translation))


RIGS = {
    "alpha": Rig(
        "/velodyne_points",
        "/imu/data",
        _matrix(
            [0.9999, 0.0049, 0.0153, 0.0961],
            [-0.0050, 1.0000, 0.0021, -0.1338],
            [-0.0153, -0.0022, 0.9999, 0.3032],
        ),
        "VLP-16",
    ),
    "beta": Rig(
        "/ouster/points",
        "/imu/data",
        _matrix(
            [0.998638, 0.052001, -0.004278, -0.027172],
            [-0.051937, 0.998554, 0.013900, -0.034873],
            [0.004994, -0.013659, 0.999894, 0.062643],
        ),
        "OS1-64",
    ),
    "gamma": Rig(
        "/livox/lidar",
        "/imu/data",
        _matrix(
            [0.999620, 0.027463, 0.002445, 0.049258],
            [-0.027517, 0.999299, 0.025398, -0.012500],
            [-0.001746, -0.025456, 0.999674, 0.026946],
        ),
        "Livox Avia",
    ),
}

# From the LiDAR of a rig to the frame of the truth: T_world_truth = T_world_lidar @ inverse(this).
T_TRUTH_LIDAR: dict[tuple[str, Reference], Transform] = {
    ("alpha", "gnss"): _from_wxyz(
        [0.9999909, -0.0009, -0.00355, 0.0022], [0.0090, -0.2925, 0.4533]
    ),
    ("gamma", "gnss"): _from_wxyz(
        [0.9998828, -0.0057758, 0.0022253, 0.0140019], [0.0305, -0.5959, 0.0902]
    ),
    ("beta", "leica"): _from_wxyz(
        [0.999991, 0.000903519, 0.0035434, -0.00220342], [-0.0108864, 0.293397, -0.452674]
    ),
    ("gamma", "leica"): _from_wxyz(
        [0.999901, -0.00492765, 0.00575961, 0.0117651], [0.00947221, -0.308202, -0.365733]
    ),
}

REFERENCES: tuple[tuple[str, Reference], ...] = (
    (r"off[-_ ]?road|inland|water[-_ ]?way", "gnss"),
    (r"tunnel+ing", "leica"),
)


def reference_of(path: str) -> Reference:
    """Who measured the truth of a sequence, told from the names in its path."""
    for words, reference in REFERENCES:
        if re.search(words, path.lower()):
            return reference
    return "own"
