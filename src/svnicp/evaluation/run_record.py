# SPDX-License-Identifier: MIT
"""What a run has left on disk, as arrays: poses, covariances, what became of each scan.

The input is the folder of a run, finished or killed, or a bare TUM file; the output is what
``evaluate`` compares with the truth and what summaries count.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers, Transform
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_tum
from svnicp.errors import DatasetError
from svnicp.lie import se3_adjoint, se3_inverse
from svnicp.recording import read_covariances
from svnicp.recording.run_files import RELATIVE, TRAJECTORY

Row = TypeVar("Row")


class ScanRow(NamedTuple):
    """What became of one scan."""

    stamp_ns: int
    status: str
    """One word of ``Fate``, in small letters."""
    ok: bool
    nis: float
    """Squared innovation in standard deviations; NaN where nothing was fused."""
    weak_directions: str
    """In words; empty if there are none."""


@dataclass(frozen=True, eq=False)
class RunRecord:
    """Estimates of a run; all but the poses are None or empty for a bare trajectory."""

    trajectory: Trajectory
    absolute: Covariance | None = None
    """(n, 6, 6) of the poses, in their body tangents."""
    T_previous_body: Transform | None = None
    """(n, 4, 4) each body in the body of the estimate before."""
    relative: Covariance | None = None
    """(n, 6, 6) of these steps."""
    scans: tuple[ScanRow, ...] = ()
    seconds: Floats | None = None
    """(n,) time that each scan took to process [s]."""

    def __len__(self) -> int:
        return len(self.trajectory)

    def of_another_point(self, T_body_point: Transform) -> "RunRecord":
        """The same run of another frame (4, 4) on the body: a prism, an antenna, another sensor."""
        if np.array_equal(T_body_point, np.eye(4)):
            return self
        A = se3_adjoint(se3_inverse(T_body_point))
        trajectory = replace(
            self.trajectory, T_world_body=self.trajectory.T_world_body @ T_body_point
        )
        steps = self.T_previous_body
        return replace(
            self,
            trajectory=trajectory,
            absolute=None if self.absolute is None else A @ self.absolute @ A.T,
            T_previous_body=(
                None if steps is None else se3_inverse(T_body_point) @ steps @ T_body_point
            ),
            relative=None if self.relative is None else A @ self.relative @ A.T,
        )


def read_run(path: Path) -> RunRecord:
    """Read the folder of a run, or a TUM file.

    Raises
    ------
    DatasetError
        If there is no run, it has no pose, or its files do not fit each other.
    """
    if not path.is_dir():
        return RunRecord(read_tum(path))
    if not (path / TRAJECTORY).is_file():
        raise DatasetError(
            f"{path}: there is no {TRAJECTORY}, so this is not the folder of a run; check the path."
        )
    if (path / TRAJECTORY).stat().st_size == 0:
        raise DatasetError(f"{path}: the run has no pose yet; let it go on.")
    trajectory = read_tum(path / TRAJECTORY, position_only=False)
    stamps_ns = trajectory.stamps_ns
    record = RunRecord(trajectory)
    if (path / "covariance.csv").is_file():
        found = read_covariances(path / "covariance.csv")
        rows = _rows_of(stamps_ns, found.stamps_ns, path / "covariance.csv")
        record = replace(record, absolute=found.absolute[rows], relative=found.relative[rows])
    if (path / RELATIVE).is_file():
        steps = read_tum(path / RELATIVE, position_only=False)
        rows = _rows_of(stamps_ns, steps.stamps_ns, path / RELATIVE)
        record = replace(record, T_previous_body=steps.T_world_body[rows])
    return replace(record, scans=_scans(path, stamps_ns), seconds=_seconds(path, stamps_ns))


def _rows_of(stamps_ns: Integers, of_file: Integers, path: Path) -> Integers:
    """Rows (n,) of a file that belong to the poses; a killed run may have one more."""
    rows = np.minimum(np.searchsorted(of_file, stamps_ns), len(of_file) - 1)
    if len(of_file) < len(stamps_ns) or np.any(of_file[rows] != stamps_ns):
        raise DatasetError(f"{path}: it does not have a row for every pose of {TRAJECTORY}.")
    return rows


def _scans(folder: Path, stamps_ns: Integers) -> tuple[ScanRow, ...]:
    """Rows of scans.csv that belong to the poses; none if there is no such file."""
    wanted = set(stamps_ns.tolist())
    rows = _table(folder / "scans.csv", _scan_row)
    return tuple(row for row in rows if row.stamp_ns in wanted)


def _scan_row(row: dict[str, str]) -> ScanRow:
    return ScanRow(
        int(row["stamp_ns"]), row["status"], row["ok"] == "1", float(row["nis"] or np.nan),
        row["weak_directions"],
    )  # fmt: skip


def _seconds(folder: Path, stamps_ns: Integers) -> Floats | None:
    """Time (n,) that each scan took, all stages together; None without timing.csv."""
    sums = dict.fromkeys(stamps_ns.tolist(), 0.0)
    times = _table(folder / "timing.csv", lambda row: (int(row["stamp_ns"]), float(row["seconds"])))
    for stamp_ns, seconds in times:
        if stamp_ns in sums:
            sums[stamp_ns] += seconds
    return np.array(list(sums.values())) if any(sums.values()) else None


def _table(path: Path, convert: Callable[[dict[str, str]], Row]) -> Iterator[Row]:
    """Rows of one of a run's tables, converted from words by the names of the columns."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as stream:
        lines = (line for line in stream if line.endswith("\n") and not line.startswith("#"))
        try:
            yield from map(convert, csv.DictReader(lines))
        except (csv.Error, KeyError, TypeError, ValueError):
            raise DatasetError(f"{path}: this is not a table of a run; run it again.") from None
