# SPDX-License-Identifier: MIT
"""Headerless float32 files, as KITTI and nuScenes use: the bytes of a file to points.

Nothing in such a file says what it holds. So that a wrong guess is not silent, values that no
sensor writes are refused, and the number of values per point is checked against the data.
"""

import numpy as np

from svnicp.arrays import Points
from svnicp.cloud_files.table import stack
from svnicp.errors import InputError

COLUMNS = (3, 4, 5, 6)

FARTHEST_M = 1e6
"""Coordinates beyond this are not metres from a LiDAR."""

SMALLEST_M = 1e-20
"""Coordinates below this, other than zero, are integers or other bytes read as float32."""

MAX_IMPLAUSIBLE = 0.05


def parse_bin(data: bytes, columns: int = 4) -> Points:
    """First three of every ``columns`` float32 values, (n, 3).

    Raises
    ------
    InputError
        If the size does not fit or the values cannot be coordinates.
    """
    if columns not in COLUMNS:
        raise InputError(f"bin_columns must be 3, 4, 5 or 6, not {columns}.")
    if len(data) % (4 * columns):
        fitting = [str(number) for number in COLUMNS if len(data) % (4 * number) == 0]
        remedy = f"try bin_columns={' or '.join(fitting)}" if fitting else "it may be cut off"
        raise InputError(
            f"{len(data)} bytes are not a whole number of points of {columns} float32 values; "
            f"{remedy}, or save the cloud as .npy or .ply."
        )
    values = np.frombuffer(data, "<f4").reshape(-1, columns)
    points = stack([values[:, axis] for axis in range(3)])
    implausible = _implausible_share(points)
    if implausible > MAX_IMPLAUSIBLE:
        raise InputError(
            f"{implausible:.0%} of the coordinates are not numbers or are no possible distance, "
            f"so these are not points of {columns} float32 values; check bin_columns, or save the "
            "cloud as .npy or .ply."
        )
    return points


def _implausible_share(points: Points) -> float:
    """Share of the coordinates that no sensor writes."""
    if points.size == 0:
        return 0.0
    size = np.abs(points)
    plausible = (size <= FARTHEST_M) & ((size >= SMALLEST_M) | (size == 0.0))
    return float(1.0 - plausible.mean())


def value_period(data: bytes, columns: int) -> int:
    """Values per point that the data suggest, or ``columns`` if they suggest nothing else.

    Neighbours in a file are neighbours in space, so values change least from one point to the
    next, which is to say over the right number of columns. Another number is reported only if
    values change less than half as much over it.
    """
    values = np.frombuffer(data, "<f4")[:60_000]
    if len(values) < 100 * max(COLUMNS):
        return columns
    with np.errstate(invalid="ignore"):  # a signalling NaN warns when it is cast
        values = np.clip(np.nan_to_num(values.astype(np.float64)), -100.0, 100.0)
    change = {lag: float(np.abs(values[lag:] - values[:-lag]).mean()) for lag in COLUMNS}
    best = min(COLUMNS, key=lambda lag: change[lag])
    if best == 6 and (columns == 3 or change[3] < 0.5 * change[columns]):
        best = 3  # every second point of three values, as two interleaved rings give
    return best if change[best] < 0.5 * change[columns] else columns
