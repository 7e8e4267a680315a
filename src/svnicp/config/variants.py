# SPDX-License-Identifier: MIT
"""The rows of the paper's tables by name: an algorithm, with or without a filter; and an IMU alone.

``Config.variant`` puts one on top of a preset. The paper compares all with 30 particles and at most
100 iterations; what its preset says of them stays.
"""

import difflib
from dataclasses import dataclass, field
from typing import Literal

from svnicp.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One row of the paper's tables."""

    words: str
    """What it is."""
    algorithm: Literal["svn", "svgd", "stein_icp"]
    """How particles move."""
    uses_imu: bool
    """Whether an IMU's filter takes the poses; otherwise it is LiDAR alone."""
    noise: Literal["adaptive", "fixed", "none"] = "adaptive"
    """What the filter believes of a scan."""
    frame_to_frame: bool = False
    """Whether a scan is matched with the one before it instead of a map."""
    slower: dict[str, float | int] = field(default_factory=dict)
    """Parameters of ``SteinConfig`` that replace those of the default preset."""


FIRST_ORDER: dict[str, float | int] = {"learning_rate": 0.001, "max_iterations": 50}
"""Adam moves by its learning rate whatever the slope: the paper's 0.03 [m, rad] is ten times as
wide as what the default likelihood leaves open, and ten iterations do not come back from there."""

VARIANTS: dict[str, Variant] = {
    "svn": Variant(words="SVN-ICP, LiDAR alone", algorithm="svn", uses_imu=False),
    "svgd": Variant(
        words="SVGD-ICP: the same with first-order steps, LiDAR alone", algorithm="svgd",
        uses_imu=False, slower=FIRST_ORDER,
    ),
    "stein_icp": Variant(
        words="Stein ICP of 2021 (Euler angles, mini-batches), scan to scan, LiDAR alone",
        algorithm="stein_icp", uses_imu=False, slower=FIRST_ORDER, frame_to_frame=True,
    ),
    "svn+fixed": Variant(
        words="SVN-ICP in the IMU's filter with fixed noise", algorithm="svn", uses_imu=True,
        noise="fixed",
    ),
    "svn+adaptive": Variant(
        words="SVN-ICP in the IMU's filter with its posterior as noise", algorithm="svn",
        uses_imu=True,
    ),
    "inertial": Variant(
        words="the IMU alone, after scans have told the start", algorithm="svn", uses_imu=True,
        noise="none",
    ),
}  # fmt: skip
"""Variants by name."""


def variant(name: str) -> Variant:
    """Return the variant of a name.

    Raises
    ------
    ConfigError
        If there is none.
    """
    if name not in VARIANTS:
        near = difflib.get_close_matches(name, VARIANTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(VARIANTS)}."
        raise ConfigError(f"there is no variant '{name}'; {hint}")
    return VARIANTS[name]
