# SPDX-License-Identifier: MIT
"""``scans.csv`` and ``timing.csv``: what else is known about every scan of a run.

Both start with comment lines and a line of names; pandas.read_csv(path, comment="#") reads them.
What does not exist (a bias without an IMU) is an empty cell.
"""

import csv
import io
from collections.abc import Iterable, Sequence

from svnicp.arrays import Floats
from svnicp.estimate import Estimate

_XYZ = ("x", "y", "z")
_TANGENT = ("tx", "ty", "tz", "rx", "ry", "rz")


def _names(name: str, axes: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}_{axis}" for axis in axes)


SCAN_COLUMNS = (
    *("stamp_ns", "status", "ok", "num_points", "num_matches", "nis"),
    *_names("velocity_world", _XYZ),
    *_names("twist", _TANGENT),
    *_names("gyroscope_bias", _XYZ),
    *_names("accelerometer_bias", _XYZ),
    *_names("kalman_gain", _TANGENT),
    *_names("innovation", _TANGENT),
    "weak_directions",
)
"""Names of the columns of scans.csv."""

SCAN_HEADER = f"""\
# One row per pose in trajectory.tum; written by svnicp, format 1.
# SI units. velocity_world in world axes; twist, biases and innovation in body axes.
# nis: squared innovation in standard deviations, six axes. kalman_gain: 1 trusts the scan.
# weak_directions: what the scan hardly tells, weakest first, in words.
{",".join(SCAN_COLUMNS)}
"""

TIMING_HEADER = """\
# Time that each stage took for each scan [s]; written by svnicp, format 1.
stamp_ns,stage,seconds
"""


def scan_row(estimate: Estimate) -> str:
    """Return one line of scans.csv, with its line end."""
    cells: list[object] = [
        estimate.stamp_ns,
        estimate.status,
        int(estimate.ok),
        estimate.num_points,
        estimate.num_matches,
        "" if estimate.nis is None else repr(float(estimate.nis)),
        *_cells(estimate.velocity_world, 3),
        *_cells(estimate.twist, 6),
        *_cells(estimate.gyroscope_bias, 3),
        *_cells(estimate.accelerometer_bias, 3),
        *_cells(estimate.kalman_gain, 6),
        *_cells(estimate.innovation, 6),
        "; ".join(map(str, estimate.weak_directions)),
    ]
    return _csv_line(cells)


def timing_rows(estimate: Estimate) -> str:
    """Return the lines of timing.csv for one scan, a line for each stage."""
    return "".join(
        _csv_line([estimate.stamp_ns, stage, repr(float(seconds))])
        for stage, seconds in estimate.timing_s.items()
    )


def _cells(values: Floats | None, count: int) -> list[str]:
    """Return numbers with all their digits, or empty cells."""
    return [""] * count if values is None else [repr(float(value)) for value in values]


def _csv_line(cells: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
