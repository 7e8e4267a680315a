# SPDX-License-Identifier: MIT
"""LAS, the exchange format of surveying: the bytes of a file to points and their GPS times.

Uncompressed files of versions 1.0 to 1.4, point formats 0 to 3 and 6 to 8. Coordinates are integers
that a scale and an offset in the header turn into metres.
"""

import struct
from pathlib import Path

import numpy as np

from svnicp.cloud_files.scan_cloud import ScanCloud, finite_scan
from svnicp.errors import DatasetError

TIME_OFFSETS = {0: None, 1: 20, 2: None, 3: 20, 6: 22, 7: 22, 8: 22}
"""Where the GPS time of a point is in its record, by point format."""

MINIMUM_SIZES = {0: 20, 1: 28, 2: 26, 3: 34, 6: 30, 7: 36, 8: 38}
HEADER_SIZE = 227
COMPRESSED = 0x80
"""Bit of the point format that LAZ sets."""


def read_las_scan(path: Path) -> ScanCloud:
    """Scan of a .las file, with times where its point format has them and they differ.

    Raises
    ------
    DatasetError
        If the file is not LAS, is compressed, or is cut off.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetError(f"{path}: the file cannot be read ({reason}); check it.") from None
    if data[:4] != b"LASF" or len(data) < HEADER_SIZE:
        raise DatasetError(f"{path}: this is not a LAS file, or its header is cut off.")
    start, point_format, record_size, num_points = _layout(path, data)
    available = max(len(data) - start, 0) // record_size
    if available < num_points:
        raise DatasetError(
            f"{path}: the header promises {num_points} points and the file holds {available}; "
            "it was cut off, so copy it again."
        )
    names, formats, offsets = ["xyz"], ["(3,)<i4"], [0]
    time_offset = TIME_OFFSETS[point_format]
    if time_offset is not None:
        names, formats, offsets = [*names, "time"], [*formats, "<f8"], [*offsets, time_offset]
    record = np.dtype(
        {"names": names, "formats": formats, "offsets": offsets, "itemsize": record_size}
    )
    if num_points == 0:
        return ScanCloud(np.empty((0, 3)))
    records = np.frombuffer(data, record, count=num_points, offset=start)
    scale, shift = np.array(struct.unpack_from("<6d", data, 131)).reshape(2, 3)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is left out below
        points = records["xyz"] * scale + shift
    if time_offset is None:
        return finite_scan(points)
    return finite_scan(points, records["time"].copy(), "gps_time")


def _layout(path: Path, data: bytes) -> tuple[int, int, int, int]:
    """Where the points start, their format, the size of a record, and how many there are."""
    minor = data[25]
    start, _, point_format, record_size, num_points = struct.unpack_from("<IIBHI", data, 96)
    if point_format & COMPRESSED or point_format not in TIME_OFFSETS:
        kind = (
            "compressed (LAZ)" if point_format & COMPRESSED else f"of point format {point_format}"
        )
        raise DatasetError(
            f"{path}: the points are {kind}; convert the file to uncompressed LAS of point "
            "format 0 to 3 or 6 to 8."
        )
    if record_size < MINIMUM_SIZES[point_format]:
        raise DatasetError(
            f"{path}: records of {record_size} bytes are too short for point format "
            f"{point_format}; the file is damaged, so copy it again."
        )
    if minor >= 4 and len(data) >= 255 and num_points == 0:
        (num_points,) = struct.unpack_from("<Q", data, 247)
    return start, point_format, record_size, num_points
