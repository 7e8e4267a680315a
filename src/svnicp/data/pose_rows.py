# SPDX-License-Identifier: MIT
"""Rows of poses, collected from a file and turned into a trajectory.

What all formats with quaternions share: quaternions must have length one or nearly so, rows are
sorted by time, repeated stamps are dropped, and positions without rotations are recognised.
"""

import logging
from pathlib import Path

import numpy as np

from svnicp.arrays import Floats
from svnicp.data.quaternions import quat_to_rotation
from svnicp.data.text_rows import Row
from svnicp.data.trajectory import Trajectory
from svnicp.errors import DatasetError
from svnicp.lie import make_transform

MAX_LENGTH_ERROR = 0.02
"""How far from one the length of a quaternion may be; files round to two digits or more."""

log = logging.getLogger(__name__)


class PoseRows:
    """Poses in the order of a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[Row] = []
        self._stamps_ns: list[int] = []
        self._positions: list[Floats] = []
        self._quats: list[Floats] = []

    def add(self, row: Row, stamp_ns: int, position: Floats, quat_xyzw: Floats) -> None:
        """Append one pose: (3,) position [m] and (4,) quaternion, zero where there is none."""
        self._rows.append(row)
        self._stamps_ns.append(stamp_ns)
        self._positions.append(position)
        self._quats.append(quat_xyzw)

    def trajectory(self, position_only: bool | None = None) -> Trajectory:
        """Poses sorted by time; see `svnicp.data.trajectory_files.read_trajectory`."""
        if not self._rows:
            raise DatasetError(f"{self._path}: there are no poses; record the trajectory again.")
        positions, quats = np.array(self._positions), np.array(self._quats)
        if position_only is None:
            position_only = _rotations_are_unknown(positions, quats)
        rotations = np.broadcast_to(np.eye(3), (len(quats), 3, 3))
        if not position_only:
            self._check_lengths(quats)
            rotations = quat_to_rotation(quats)
        stamps_ns, keep = np.unique(np.array(self._stamps_ns, dtype=np.int64), return_index=True)
        if len(keep) < len(quats):
            log.warning(
                "%s: %d of %d poses repeat a stamp; the first of each is kept.",
                *(self._path, len(quats) - len(keep), len(quats)),
            )
        T_world_body = make_transform(rotations, positions)[keep]
        return Trajectory(stamps_ns, T_world_body, position_only)

    def _check_lengths(self, quats: Floats) -> None:
        lengths = np.linalg.norm(quats, axis=1)
        bad = np.flatnonzero(np.abs(lengths - 1.0) > MAX_LENGTH_ERROR)
        if len(bad):
            raise self._rows[bad[0]].error(
                f"the quaternion has length {lengths[bad[0]]:.3g} instead of 1; "
                "correct or remove the line."
            )


def _rotations_are_unknown(positions: Floats, quats: Floats) -> bool:
    """Whether all quaternions are zero, or the body moves and all are the same identity."""
    if not quats.any():
        return True
    identity = bool(np.all(np.abs(quats) == [0.0, 0.0, 0.0, 1.0]))
    return identity and bool(np.ptp(positions, axis=0).max() > 0.0)
