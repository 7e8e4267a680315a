# SPDX-License-Identifier: MIT
"""The verb ``read_cloud``: from a path to finite points.

The extension picks the parser. What all formats share is done here: files that cannot be read,
the name of the file in every sentence, points with non-finite coordinates, clouds without points.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from svnicp.arrays import Points
from svnicp.cloud_files.kitti_bin import parse_bin, value_period
from svnicp.cloud_files.numpy_files import parse_npy, parse_npz
from svnicp.cloud_files.pcd import parse_pcd
from svnicp.cloud_files.ply import parse_ply
from svnicp.errors import InputError

PARSERS: dict[str, Callable[[bytes], Points]] = {
    ".npy": parse_npy,
    ".npz": parse_npz,
    ".pcd": parse_pcd,
    ".ply": parse_ply,
}
SUPPORTED = ", ".join(sorted([*PARSERS, ".bin"]))

log = logging.getLogger(__name__)


def read_cloud(path: str | os.PathLike[str], *, bin_columns: int = 4) -> Points:
    """Points of a cloud file, in the frame and unit that the file has.

    Points with a non-finite coordinate are left out; how many is logged as a warning.

    Parameters
    ----------
    path
        A .ply, .pcd, .bin, .npy or .npz file.
    bin_columns
        Values per point in a .bin file, 3 to 6, of which the first three are x, y, z. KITTI has 4,
        nuScenes 5. Other formats say so themselves.

    Returns
    -------
    (n, 3) positions, n > 0, in the order of the file.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be read as a cloud.
    """
    path = Path(path)
    data = file_bytes(path)
    try:
        points = _parse(path, data, bin_columns)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return _finite(path, points)


def file_bytes(path: Path) -> bytes:
    """Content of a file with a supported extension."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: this is a folder; name one cloud file in it.")
        if path.suffix.lower() not in (*PARSERS, ".bin"):
            kind = f"{path.suffix!r} files are" if path.suffix else "a file without an extension is"
            raise InputError(f"{path}: {kind} not supported; convert it to one of {SUPPORTED}.")
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: the file cannot be read ({reason}); check the path.") from None


def _parse(path: Path, data: bytes, bin_columns: int) -> Points:
    """Points of the file's content, including non-finite ones."""
    extension = path.suffix.lower()
    if extension != ".bin":
        return PARSERS[extension](data)
    points = parse_bin(data, bin_columns)
    period = value_period(data, bin_columns)
    if period != bin_columns:
        log.warning(
            "%s: read as %d values per point, but the values look like %d; "
            "if the cloud is scrambled, pass bin_columns=%d.",
            *(path, bin_columns, period, period),
        )
    return points


def _finite(path: Path, points: Points) -> Points:
    """Leave out non-finite points; refuse a cloud in which nothing is left."""
    if len(points) == 0:
        raise InputError(f"{path}: the cloud has no points; check how it was exported.")
    finite = np.isfinite(points).all(axis=1)
    if finite.all():
        return points
    dropped = int(len(points) - finite.sum())
    if dropped == len(points):
        raise InputError(
            f"{path}: all {dropped} points have non-finite coordinates; check how it was exported."
        )
    log.warning(
        "%s: dropped %d of %d points with non-finite coordinates.", path, dropped, len(points)
    )
    return points[finite]
