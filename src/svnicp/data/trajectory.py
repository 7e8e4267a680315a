# SPDX-License-Identifier: MIT
"""Poses over time: ground truth that comes with a dataset, or a trajectory read from a file."""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats, Integers, Transform
from svnicp.errors import InputError


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Poses of a body in a world, ordered by time."""

    stamps_ns: Integers
    """(n,) strictly increasing [ns]."""
    T_world_body: Transform
    """(n, 4, 4) poses; maps body coordinates into the world."""
    position_only: bool = False
    """Whether the rotations are not known (a prism, GPS) and are the identity here."""

    def __post_init__(self) -> None:
        if self.T_world_body.shape != (len(self.stamps_ns), 4, 4):
            raise InputError(
                f"A trajectory of {len(self.stamps_ns)} stamps needs as many (4, 4) poses, "
                f"not an array of shape {self.T_world_body.shape}."
            )
        if np.any(np.diff(self.stamps_ns) <= 0):
            raise InputError("The stamps of a trajectory must increase; sort it and drop repeats.")

    def __len__(self) -> int:
        return len(self.stamps_ns)

    @property
    def positions(self) -> Floats:
        """(n, 3) positions of the body in the world [m]."""
        return self.T_world_body[:, :3, 3]

    @property
    def length_m(self) -> float:
        """Length of the path [m]."""
        return float(np.linalg.norm(np.diff(self.positions, axis=0), axis=1).sum())

    @property
    def duration_s(self) -> float:
        """Time from the first to the last pose [s]."""
        return float(self.stamps_ns[-1] - self.stamps_ns[0]) * 1e-9 if len(self) else 0.0
