# SPDX-License-Identifier: MIT
"""``scans.csv`` and ``timing.csv`` of a run as arrays with a row for every pose.

The tables are checked here cell by cell: what is not a number where one belongs is told with its
file and line. A killed run may have a row more than poses, and an unfinished last line.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.errors import DatasetError
from svnicp.recording.scan_tables import SCAN_COLUMNS

TIMING_COLUMNS = ("stamp_ns", "stage", "seconds")
TEXT_COLUMNS = ("status", "weak_directions")
"""Columns of scans.csv that hold no numbers."""

Timing = dict[str, dict[int, float]]
"""Time that each stage took [s], by its name and by the stamp of the scan [ns]."""


@dataclass(frozen=True, eq=False)
class ScanTable:
    """Columns of scans.csv as text, and where each row is from."""

    path: Path
    rows: dict[int, dict[str, str]]
    """Cells by the name of their column, by stamp [ns]."""

    def words(self, stamps_ns: Integers, name: str) -> tuple[str, ...]:
        """One column of text at (n,) stamps."""
        return tuple(row[name] for row in self._at(stamps_ns))

    def numbers(self, stamps_ns: Integers, name: str, axes: tuple[str, ...] = ()) -> Floats:
        """A column (n,), or one per axis (n, axes); NaN where a cell is empty."""
        names = [f"{name}_{axis}" for axis in axes] or [name]
        rows = self._at(stamps_ns)
        cells = [[_number(row[column]) for column in names] for row in rows]
        values = np.array(cells, dtype=np.float64).reshape(len(rows), len(names))
        return values if axes else values[:, 0]

    def _at(self, stamps_ns: Integers) -> list[dict[str, str]]:
        try:
            return [self.rows[stamp_ns] for stamp_ns in stamps_ns.tolist()]
        except KeyError:
            raise DatasetError(
                f"{self.path}: it does not have a row for every pose of the run; run it again."
            ) from None


def read_scan_table(path: Path) -> ScanTable:
    """Read a scans.csv.

    Raises
    ------
    DatasetError
        If it cannot be read, or is not what a run writes.
    """
    found: dict[int, dict[str, str]] = {}
    for line, row in _rows(path, SCAN_COLUMNS):
        try:
            found[int(row["stamp_ns"])] = row
            for name in SCAN_COLUMNS:
                if name not in TEXT_COLUMNS:
                    _number(row[name])
        except ValueError:
            raise _broken(path, line) from None
    return ScanTable(path, found)


def read_timing(path: Path) -> Timing:
    """Read a timing.csv; a run without one has no times.

    Raises
    ------
    DatasetError
        If it cannot be read, or is not what a run writes.
    """
    found: Timing = {}
    if not path.exists():
        return found
    for line, row in _rows(path, TIMING_COLUMNS):
        try:
            found.setdefault(row["stage"], {})[int(row["stamp_ns"])] = float(row["seconds"])
        except ValueError:
            raise _broken(path, line) from None
    return found


def stage_seconds(timing: Timing, stamps_ns: Integers) -> dict[str, Floats]:
    """Time (n,) that each stage took at (n,) stamps [s], by its name; NaN where it did not run."""
    return {
        stage: np.array([seconds.get(stamp_ns, np.nan) for stamp_ns in stamps_ns.tolist()])
        for stage, seconds in timing.items()
    }


def _rows(path: Path, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a table with their line numbers; an unfinished last line is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise DatasetError(
            f"{path}: the file cannot be read ({reason}); is this the folder of a run?"
        ) from None
    lines = text[: text.rfind("\n") + 1].splitlines()
    numbered = [
        (number, line) for number, line in enumerate(lines, start=1) if not line.startswith("#")
    ]
    try:
        cells = list(csv.reader(line for _, line in numbered))
    except csv.Error:
        raise DatasetError(f"{path}: this is not a table of a run; run it again.") from None
    if not cells or not set(columns) <= set(cells[0]) or len(cells) != len(numbered):
        raise DatasetError(f"{path}: this is not a table of a run; run it again.")
    found = []
    for (number, _), row in zip(numbered[1:], cells[1:], strict=True):
        if len(row) != len(cells[0]):
            raise _broken(path, number)
        found.append((number, dict(zip(cells[0], row, strict=True))))
    return found


def _number(cell: str) -> float:
    """Value of a cell; NaN if it is empty."""
    return float(cell or "nan")


def _broken(path: Path, number: int) -> DatasetError:
    return DatasetError(f"{path}, line {number}: this is no row of a run; correct or remove it.")
