# SPDX-License-Identifier: MIT
"""When the scans of a folder were taken: from a times file, from their names, or assumed.

The stamps of all scans are known before the first one is read. Scans whose stamp does not go
forward are left out, which is said once.
"""

import logging
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Integers
from svnicp.data.dataset import Finding
from svnicp.data.stamps import (
    NS_PER_S,
    SCAN_PERIOD_S,
    increasing,
    parse_date_ns,
    parse_number,
    time_unit,
    to_ns,
)
from svnicp.data.text_rows import COMMENT, Row, read_lines
from svnicp.errors import DatasetError, InputError

log = logging.getLogger(__name__)


class TimedFiles(NamedTuple):
    """Scans and when they were taken, in the order of time."""

    paths: list[Path]
    stamps_ns: Integers
    findings: tuple[Finding, ...]
    assumed: bool = False
    """Whether nothing said when, and a rate was assumed."""


def timed_files(
    paths: list[Path], times_file: Path | None, scan_rate_hz: float | None = None
) -> TimedFiles:
    """Scans with their stamps.

    Parameters
    ----------
    paths
        Cloud files in natural order.
    times_file
        File with one stamp per line (s, ms, us, ns or dates), or name and stamp; None if there is
        none.
    scan_rate_hz
        Rate that holds where neither a file nor the names tell [Hz].

    Raises
    ------
    DatasetError
        If the times file does not fit the scans.
    """
    source = "the file names" if times_file is None else str(times_file)
    known = _from_names(paths) if times_file is None else _from_file(paths, times_file)
    if known is not None:
        if scan_rate_hz is not None:
            log.warning(
                "scan_rate_hz=%g has no effect, as the times of the scans are known from %s.",
                *(scan_rate_hz, source),
            )
        return _forward(known, source)
    period_s = 1.0 / scan_rate_hz if scan_rate_hz else SCAN_PERIOD_S
    stamps_ns = np.array([round(k * period_s * NS_PER_S) for k in range(len(paths))], np.int64)
    said = "as given" if scan_rate_hz else "assumed, because nothing says when they were taken"
    finding = Finding("scan times", f"{1.0 / period_s:g} Hz {said}", "", "--scan-rate-hz")
    return TimedFiles(paths, stamps_ns, (finding,), assumed=True)


def read_stamps(path: Path) -> tuple[list[str], Integers, str]:
    """Names (empty if the file has none), stamps [ns] and the unit in words of a times file."""
    rows = [row for row in read_lines(path) if not row.words[0].startswith(COMMENT)]
    if not rows:
        raise DatasetError(f"{path}: there are no times in it; restore or delete the file.")
    dates = [parse_date_ns(" ".join(row.words)) for row in rows]
    if dates[0] is not None:
        bad = [row for row, date in zip(rows, dates, strict=True) if date is None]
        if bad:
            raise bad[0].error("this is not a date and time; correct or remove the line.")
        return [], np.array(dates, dtype=np.int64), "dates"
    if parse_number(rows[0].words[-1]) is None and len(rows) > 1:
        rows = rows[1:]
    values = [_value(row) for row in rows]
    unit = time_unit(sorted(values), SCAN_PERIOD_S)
    named = [row.words[0] for row in rows if len(row.words) == 2]
    stamps_ns = np.array([row.stamp_ns(len(row.words) - 1, unit.ns) for row in rows], np.int64)
    return named, stamps_ns, f"{unit.name} ({unit.evidence})"


def _value(row: Row) -> Decimal:
    if len(row.words) > 2:
        raise row.error(
            f"{len(row.words)} words are there; give one time per line, or a file name and a time."
        )
    return row.time(len(row.words) - 1)


def _from_file(paths: list[Path], times_file: Path) -> TimedFiles:
    """Stamps of a times file, matched to the scans by name, by order, or by number."""
    names, stamps_ns, unit = read_stamps(times_file)
    finding = Finding("scan times", unit, str(times_file))
    if len(names) == len(stamps_ns):
        by_name = dict(zip((Path(name).stem for name in names), stamps_ns, strict=True))
        if all(path.stem in by_name for path in paths):
            matched = np.array([by_name[path.stem] for path in paths], dtype=np.int64)
            return TimedFiles(paths, matched, (finding,))
    if len(stamps_ns) == len(paths):
        return TimedFiles(paths, stamps_ns, (finding,))
    numbers = [int(path.stem) for path in paths if path.stem.isdecimal()]
    if len(numbers) == len(paths) and max(numbers) < len(stamps_ns):
        # KITTI leaves out scans that were lost and keeps their stamps.
        gap = Finding("missing scans", f"{len(stamps_ns) - len(paths)}", "stamps without a file")
        return TimedFiles(paths, stamps_ns[numbers], (finding, gap))
    raise DatasetError(
        f"{times_file}: there are {len(stamps_ns)} times for {len(paths)} scans in "
        f"{paths[0].parent}; give one per scan, or remove the file to have 10 Hz assumed."
    )


def _from_names(paths: list[Path]) -> TimedFiles | None:
    """Stamps that are the names of the files, None if those are something else."""
    values = [parse_number(path.stem) for path in paths]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(paths) or len(paths) < 2:
        return None
    order = sorted(range(len(paths)), key=lambda place: numbers[place])
    numbers = [numbers[place] for place in order]
    unit = time_unit(numbers, SCAN_PERIOD_S)
    since_1970 = "since 1970" in unit.evidence
    step = float(np.median(np.diff([float(number) for number in numbers])))
    if not since_1970 and (float(numbers[0]) < 1e6 or step <= 10.0):
        return None  # a running number
    try:
        stamps_ns = np.array([to_ns(number, unit.ns) for number in numbers], dtype=np.int64)
    except InputError:
        return None  # no times at all
    evidence = f"{unit.evidence}; a times.txt beside them would be taken instead"
    finding = Finding("scan times", f"file names in {unit.name}", evidence)
    return TimedFiles([paths[place] for place in order], stamps_ns, (finding,))


def _forward(files: TimedFiles, source: str) -> TimedFiles:
    """Leave out the scans whose stamp is not after all before it."""
    forward = increasing(files.stamps_ns)
    left_out = int(len(forward) - forward.sum())
    if not left_out:
        return files
    if 2 * left_out > len(forward):
        raise DatasetError(
            f"{source}: {left_out} of {len(forward)} times do not go forward; correct them, or "
            "remove the file to have 10 Hz assumed."
        )
    log.warning(
        "%s: %d of %d scans are left out, because their time is not after the one before.",
        *(source, left_out, len(forward)),
    )
    finding = Finding("left out", f"{left_out} scans whose time does not go forward", source)
    paths = [path for path, keep in zip(files.paths, forward, strict=True) if keep]
    return TimedFiles(paths, files.stamps_ns[forward], (*files.findings, finding))
