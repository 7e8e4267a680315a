# SPDX-License-Identifier: MIT
"""How many values a point has in headerless .bin files, and whether they are float32 at all.

KITTI has four float32 values per point, others three to six. The number is told from the first
file that is long enough; float64 values, which would pass as nonsense, are recognised and refused.
"""

from pathlib import Path

import numpy as np

from svnicp.cloud_files.kitti_bin import value_period
from svnicp.cloud_files.read import file_bytes
from svnicp.cloud_files.scan_cloud import ScanCloud, read_scan_cloud
from svnicp.data.dataset import Finding
from svnicp.errors import DatasetError, InputError

KITTI_COLUMNS = 4
LONG_ENOUGH = 2400
"""Bytes from which neighbouring points tell the number of columns."""
PLAUSIBLE_M = (1e-4, 1e4)
"""Coordinates of a LiDAR, apart from zero [m]."""


def bin_columns(paths: list[Path], given: int | None) -> tuple[int, Finding]:
    """Values per point of the .bin files of a folder, as given or told from the first ones."""
    if given is not None:
        return given, Finding("values per point", f"{given}, as given", "", "--bin-columns")
    for path in paths[:5]:
        try:
            data = file_bytes(path)
        except InputError:  # said when the scan is read
            continue
        if len(data) >= LONG_ENOUGH:
            whole = data[: len(data) // 4 * 4]  # of a file that is cut off
            columns = value_period(whole, KITTI_COLUMNS)
            evidence = f"how values repeat in {path.name}"
            return columns, Finding("values per point", str(columns), evidence, "--bin-columns")
    finding = Finding("values per point", f"{KITTI_COLUMNS}, as KITTI has", "", "--bin-columns")
    return KITTI_COLUMNS, finding


def read_bin_scan(path: Path, columns: int) -> ScanCloud:
    """Scan of a .bin file; refuses float64 values with a sentence of their own."""
    try:
        if looks_like_float64(file_bytes(path)):
            raise DatasetError(
                f"{path}: these are float64 values, and .bin files must hold float32; "
                "convert them, or save the scans as .npy."
            )
        return read_scan_cloud(path, bin_columns=columns)
    except InputError as error:
        raise DatasetError(str(error)) from None


def looks_like_float64(data: bytes) -> bool:
    """Whether nearly all values are possible coordinates if read as float64.

    Two float32 values that are read as one float64 seldom are: the exponent is three bits longer.
    Zeros, which stand for no return, say nothing.
    """
    size = np.abs(np.frombuffer(data, "<f8", count=min(len(data) // 8, 4096)))
    size = size[size != 0.0]
    possible = (size >= PLAUSIBLE_M[0]) & (size <= PLAUSIBLE_M[1])
    return len(size) >= 100 and bool(possible.mean() > 0.95)
