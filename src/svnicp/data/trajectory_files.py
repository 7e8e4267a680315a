# SPDX-License-Identifier: MIT
"""Trajectories from text files, and back: TUM and KITTI.

``read_trajectory`` looks at a file and picks the reader; csv files with a header are read by
`svnicp.data.trajectory_csv`. A bad row is refused with its file and line, but a last line that a
killed writer left unfinished is passed over with a warning; rows out of order are sorted, and
repeated stamps are dropped with a warning.
"""

import logging
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from svnicp.arrays import Floats, Integers, Transform
from svnicp.data.pose_rows import PoseRows
from svnicp.data.quaternions import rotation_to_quat
from svnicp.data.stamps import NS_PER_S, parse_number, seconds_text
from svnicp.data.text_rows import Row, open_table
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_csv import read_pose_csv
from svnicp.errors import DatasetError
from svnicp.lie import orthonormalise

MAX_ROTATION_ERROR = 1e-2
"""How far R R^T of a KITTI pose may be from the identity; files have six digits or more."""

CUT_OFF = 1e-4
"""A last line without its end whose quaternion's length is farther from one lacks digits."""

log = logging.getLogger(__name__)


def read_trajectory(
    path: str | os.PathLike[str],
    *,
    stamps_ns: Integers | None = None,
    position_only: bool | None = None,
) -> Trajectory:
    """Trajectory in a TUM, KITTI, EuRoC or SubT-MRS file, whichever it is.

    Parameters
    ----------
    path
        The file.
    stamps_ns
        (n,) stamps of the poses of a KITTI file, which has none [ns].
    position_only
        Whether rotations are to be ignored; None to tell from the file: there are no quaternions,
        or all are the same identity or zero although the body moves.

    Raises
    ------
    DatasetError
        If the file cannot be read, or is in none of these formats.
    """
    path = Path(path)
    table = open_table(path)
    first = next(table.rows(), None)
    if first is None:
        raise DatasetError(f"{path}: there are no rows of numbers; record the trajectory again.")
    if len(first.words) == 12:
        if stamps_ns is None:
            raise DatasetError(
                f"{path}: this is a KITTI trajectory, which has no stamps; give those of its poses."
            )
        return read_kitti(path, stamps_ns)
    if first.commas:
        return read_pose_csv(path, position_only=position_only)
    if len(first.words) in (4, 8):
        return read_tum(path, position_only=position_only)
    raise first.error(
        f"{len(first.words)} numbers are in no known format; a trajectory has 8 (TUM: t x y z qx "
        "qy qz qw), 4 (t x y z), 12 (KITTI), or a csv header that names its columns."
    )


def read_tum(path: str | os.PathLike[str], *, position_only: bool | None = None) -> Trajectory:
    """Trajectory in a TUM file: rows ``t x y z qx qy qz qw``, or ``t x y z``, t in seconds."""
    table = open_table(path)
    poses = PoseRows(table.path)
    width = 0
    for row in table.rows():
        if not row.finished and not _is_whole(row, width):
            log.warning(
                "%s, line %d: the last line is not finished and is passed over.",
                *(table.path, row.line),
            )
            continue
        if len(row.words) not in (4, 8):
            raise row.error(
                f"8 numbers are expected (t x y z qx qy qz qw) and {len(row.words)} are there; "
                "correct or remove the line."
            )
        quat = row.numbers([4, 5, 6, 7]) if len(row.words) == 8 else np.zeros(4)
        poses.add(row, _seconds(row), row.numbers([1, 2, 3]), quat)
        width = len(row.words)
    return poses.trajectory(position_only)


def read_kitti(path: str | os.PathLike[str], stamps_ns: Integers) -> Trajectory:
    """Trajectory in a KITTI file: 12 numbers a row, the upper three rows of the pose.

    Parameters
    ----------
    path
        The file.
    stamps_ns
        (n,) strictly increasing stamps of the poses, which the file does not have [ns].
    """
    table = open_table(path)
    poses = []
    for row in table.rows():
        if len(row.words) != 12:
            raise row.error(f"12 numbers are expected and {len(row.words)} are there.")
        poses.append(_checked_pose(row))
    if len(poses) != len(stamps_ns):
        raise DatasetError(
            f"{table.path}: there are {len(poses)} poses for {len(stamps_ns)} stamps; "
            "give the stamps that belong to it."
        )
    return Trajectory(np.asarray(stamps_ns, dtype=np.int64), orthonormalise(np.array(poses)))


def tum_line(stamp_ns: int, T_world_body: Transform) -> str:
    """One row of a TUM file, with its line end; nothing is lost to rounding."""
    values = [*T_world_body[:3, 3], *rotation_to_quat(T_world_body[:3, :3])]
    return f"{seconds_text(stamp_ns)} {_joined(values)}\n"


def kitti_line(T_world_body: Transform) -> str:
    """One row of a KITTI file, with its line end."""
    return f"{_joined(T_world_body[:3].ravel())}\n"


def write_tum(path: str | os.PathLike[str], trajectory: Trajectory) -> None:
    """Write a TUM file; positions without rotations get the identity, as evo expects."""
    poses = zip(trajectory.stamps_ns, trajectory.T_world_body, strict=True)
    _write(path, (tum_line(int(stamp_ns), T_world_body) for stamp_ns, T_world_body in poses))


def write_kitti(path: str | os.PathLike[str], trajectory: Trajectory) -> None:
    """Write a KITTI file; the stamps are not in it."""
    _write(path, (kitti_line(T_world_body) for T_world_body in trajectory.T_world_body))


def _seconds(row: Row) -> int:
    """Stamp in the first column [ns]."""
    value = row.time(0)
    if abs(value) > 10**11:
        raise row.error(
            f"the time {row.words[0]} is too large for seconds; a TUM file needs seconds."
        )
    return row.stamp_ns(0, NS_PER_S)


def _is_whole(row: Row, width: int) -> bool:
    """Whether a line without its end has all its numbers, as many as the lines before, if any."""
    numbers = [parse_number(word) for word in row.words]
    if None in numbers or len(numbers) not in ((width,) if width else (4, 8)):
        return False
    length = float(np.linalg.norm(np.array(numbers[4:], dtype=np.float64)))
    return width == 4 or length == 0.0 or abs(length - 1.0) < CUT_OFF


def _checked_pose(row: Row) -> Transform:
    pose = np.vstack([row.numbers(list(range(12))).reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
    R = pose[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > MAX_ROTATION_ERROR or np.linalg.det(R) < 0.0:
        raise row.error(
            "the first three columns are not a rotation; a KITTI row has the upper three rows of "
            "a pose, row by row."
        )
    return pose


def _joined(values: Iterable[float] | Floats) -> str:
    return " ".join(repr(float(value)) for value in values)


def _write(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    try:
        with Path(path).open("w", encoding="ascii", newline="\n") as stream:
            stream.writelines(lines)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetError(f"{path}: the file cannot be written ({reason}).") from None
