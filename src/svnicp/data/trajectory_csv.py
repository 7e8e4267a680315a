# SPDX-License-Identifier: MIT
"""Trajectories in csv files whose header names the columns: EuRoC and SubT-MRS.

EuRoC writes ``q_RS_w`` first, SubT-MRS ``q_w_b_w`` last, both with spaces around the names; so the
names say which column is which. Without a header, EuRoC's order is assumed.
"""

import os
from itertools import islice

import numpy as np

from svnicp.data.column_names import pose_role
from svnicp.data.pose_rows import PoseRows
from svnicp.data.stamps import SCAN_PERIOD_S, time_unit
from svnicp.data.text_rows import TextTable, open_table
from svnicp.data.trajectory import Trajectory
from svnicp.errors import DatasetError

EUROC_COLUMNS = {"time": 0, "x": 1, "y": 2, "z": 3, "qw": 4, "qx": 5, "qy": 6, "qz": 7}
ROLES = ("time", "x", "y", "z", "qx", "qy", "qz", "qw")


def read_pose_csv(path: str | os.PathLike[str], *, position_only: bool | None = None) -> Trajectory:
    """Trajectory in a EuRoC or SubT-MRS ground-truth csv, in ns (or another unit that is told).

    Raises
    ------
    DatasetError
        If a column is missing, or a row is not numbers.
    """
    table = open_table(path)
    columns = _columns(table)
    quat_columns = [columns[role] for role in ROLES[4:] if role in columns]
    named = table.header[columns["time"]] if table.header else ""
    first = [row.time(columns["time"]) for row in islice(table.rows(), 200)]
    unit_ns = time_unit(sorted(first), SCAN_PERIOD_S, named).ns
    poses = PoseRows(table.path)
    for row in table.rows():
        row.expect(1 + max(columns.values()))
        quat = row.numbers(quat_columns) if quat_columns else np.zeros(4)
        position = row.numbers([columns[axis] for axis in "xyz"])
        poses.add(row, row.stamp_ns(columns["time"], unit_ns), position, quat)
    return poses.trajectory(position_only)


def _columns(table: TextTable) -> dict[str, int]:
    """Place of the time, the position and the quaternion among the columns."""
    if not table.header:
        return EUROC_COLUMNS
    columns: dict[str, int] = {}
    for place, name in enumerate(table.header):
        columns.setdefault(pose_role(name), place)
    missing = [role for role in ROLES if role not in columns]
    if missing and missing != list(ROLES[4:]):
        raise DatasetError(
            f"{table.path}: the header has no column for {', '.join(missing)} (it has: "
            f"{', '.join(table.header)}); name them timestamp, x, y, z, qx, qy, qz, qw."
        )
    columns.pop("", None)
    return columns
