# SPDX-License-Identifier: MIT
"""One scan of a recording: the points of a cloud file with the times of those points.

Unlike ``read_cloud``, which wants something to register, a scan may be empty or all NaN: a
recording goes on after it. Points that are not finite are dropped together with their times.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Points
from svnicp.cloud_files.kitti_bin import parse_bin
from svnicp.cloud_files.pcd import open_pcd
from svnicp.cloud_files.ply import open_ply
from svnicp.cloud_files.read import PARSERS, file_bytes
from svnicp.cloud_files.table import Rows
from svnicp.errors import InputError

OPENERS = {".pcd": open_pcd, ".ply": open_ply}


class ScanCloud(NamedTuple):
    """What one file of a recording holds."""

    points: Points
    """(n, 3) finite positions [m]; n may be 0."""
    times: np.ndarray | None = None
    """(n,) times of the points as the file has them, None if it has none."""
    time_field: str = ""
    """Name of the field that they come from."""
    dropped: int = 0
    """How many points were not finite."""


def read_scan_cloud(
    path: Path, *, bin_columns: int = 4, time_fields: Sequence[str] = ()
) -> ScanCloud:
    """Points of a cloud file, and their times.

    Parameters
    ----------
    path
        A .ply, .pcd, .bin, .npy or .npz file.
    bin_columns
        Values per point in a .bin file, 3 to 6.
    time_fields
        Names under which a .ply or .pcd file may hold times, in any case; the first one that it
        has is read.

    Raises
    ------
    InputError
        If the file cannot be read as a cloud.
    """
    data = file_bytes(path)
    try:
        suffix = path.suffix.lower()
        if suffix in OPENERS:
            return _from_rows(OPENERS[suffix](data), time_fields)
        if suffix == ".bin":
            return _from_bin(data, bin_columns)
        return finite_scan(PARSERS[suffix](data))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def finite_scan(points: Points, times: np.ndarray | None = None, time_field: str = "") -> ScanCloud:
    """Scan without the points that are not finite, nor their times."""
    finite = np.isfinite(points).all(axis=1)
    if times is not None:
        finite &= np.isfinite(times)
    dropped = int(len(points) - finite.sum())
    if dropped:
        points, times = points[finite], None if times is None else times[finite]
    return ScanCloud(points, times, time_field, dropped)


def _from_rows(rows: Rows, time_fields: Sequence[str]) -> ScanCloud:
    single = {field.name.lower(): field.name for field in rows.fields if field.num_values == 1}
    field = next((single[name] for name in time_fields if name in single), None)
    if field is None:
        return finite_scan(rows.points())
    return finite_scan(rows.points(), rows.columns([field])[0], field)


def _from_bin(data: bytes, columns: int) -> ScanCloud:
    """Points without a return are left out first: they say nothing about the format."""
    try:
        values = np.frombuffer(data, "<f4").reshape(-1, columns)
    except ValueError:
        return finite_scan(parse_bin(data, columns))
    returned = np.isfinite(values[:, :3]).any(axis=1)
    scan = finite_scan(parse_bin(values[returned].tobytes(), columns))
    return scan._replace(dropped=scan.dropped + int(len(values) - returned.sum()))
