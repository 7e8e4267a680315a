# SPDX-License-Identifier: MIT
"""The rows of a comparison as Markdown, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from svnicp.peers.process import OK
from svnicp.peers.row import Row


@dataclass(frozen=True)
class Origin:
    """Where the figures come from."""

    command: str
    """The command line that makes them again."""
    versions: dict[str, str]
    """Packages that took part, and Python."""
    cpus: int


def markdown(rows: Sequence[Row], origin: Origin) -> str:
    """Tables for all datasets, with what is needed to make them again."""
    parts = ["# Comparison", "", "```", origin.command, "```", ""]
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    parts += [
        f"{origin.cpus} CPUs; {versions}. APE after an SE(3) alignment of all poses without scale, "
        "RPE from pose to pose, error at the end with the first pose aligned; all by evo and "
        "svnicp's evaluation, against the truth interpolated at the time of each pose. Time per "
        "scan without reading files and without the first five scans; memory is the peak of the "
        "process.",
        "",
    ]
    for name in dict.fromkeys(row.dataset for row in rows):
        of_dataset = [row for row in rows if row.dataset == name]
        parts += [f"## {name}", "", about_dataset(of_dataset), ""]
        parts += [*_table(of_dataset, COLUMNS), ""]
        stated = [row for row in of_dataset if row.sigma_end_m is not None]
        if stated:
            parts += ["What was stated, and whether it held (1, and 68, 95 and 99.7 %, are right):"]
            parts += ["", *_table(stated, STATED), ""]
    return "\n".join(parts)


def about_dataset(rows: Sequence[Row]) -> str:
    """Number of scans and length of the path, in words."""
    scans = max((row.num_scans for row in rows), default=0)
    path_m = max((row.path_m for row in rows if row.path_m is not None), default=None)
    return f"{scans} scans" if path_m is None else f"{scans} scans, {path_m:.1f} m"


def csv_text(rows: Sequence[Row]) -> str:
    """All figures of all rows, SI units, nothing rounded."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [field.name for field in fields(Row) if field.name != "coverage"]
    writer.writerow([*names, "within_1_sigma", "within_2_sigma", "within_3_sigma"])
    for row in rows:
        values = ["" if (value := getattr(row, name)) is None else value for name in names]
        writer.writerow([*values, *(row.coverage or ("", "", ""))])
    return stream.getvalue()


def json_text(rows: Sequence[Row], origin: Origin) -> str:
    """Everything as one JSON document."""
    document: dict[str, Any] = {
        "command": origin.command,
        "cpus": origin.cpus,
        "versions": origin.versions,
        "rows": [row.to_dict() for row in rows],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def words(row: Row) -> str:
    """Return what there is to say about a row beside its figures."""
    if row.status == OK:
        return row.note
    return f"{row.status}: {row.note}" if row.note else row.status


def metres(value: float | None) -> str:
    """Return a length with as many digits as are worth reading."""
    if value is None:
        return ""
    digits = 3 if abs(value) < 10.0 else 2 if abs(value) < 1000.0 else 0
    return f"{value:.{digits}f}"


def _number(value: float | None, factor: float, digits: int = 1, unit: str = "") -> str:
    return "" if value is None else f"{factor * value:.{digits}f}{unit}"


def _shares(shares: tuple[float, float, float] | None) -> str:
    return "" if shares is None else ", ".join(f"{100.0 * share:.0f}" for share in shares) + " %"


def _table(rows: Sequence[Row], columns: dict[str, Callable[[Row], str]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(columns) + " |"]
    left = {"method", "IMU", "note"}
    lines.append("|" + "|".join("---" if name in left else "---:" for name in columns) + "|")
    for row in rows:
        cells = (cell(row).replace("|", "/").replace("\n", " ") for cell in columns.values())
        lines.append("| " + " | ".join(cells) + " |")
    return lines


COLUMNS: dict[str, Callable[[Row], str]] = {
    "method": lambda row: row.label,
    "IMU": lambda row: "yes" if row.uses_imu else "no",
    "APE [m]": lambda row: metres(row.ape_m),
    "RPE [mm]": lambda row: _number(row.rpe_m, 1e3),
    "RPE [deg]": lambda row: _number(row.rpe_deg, 1.0, 3),
    "end [m]": lambda row: metres(row.end_m),
    "of path": lambda row: _number(row.end_share, 1e2, 2, " %"),
    "mean [ms]": lambda row: _number(row.mean_s, 1e3),
    "95 % [ms]": lambda row: _number(row.p95_s, 1e3),
    "memory [MB]": lambda row: _number(row.peak_bytes, 1e-6, 0),
    "note": words,
}
"""What the table of a dataset shows."""

STATED: dict[str, Callable[[Row], str]] = {
    "method": lambda row: row.label,
    "sigma at the end [m]": lambda row: metres(row.sigma_end_m),
    "error at the end [m]": lambda row: metres(row.end_m),
    "ANEES of steps": lambda row: _number(row.anees_step, 1.0, 2),
    "ANEES since start": lambda row: _number(row.anees, 1.0, 2),
    "within 1, 2, 3 sigma": lambda row: _shares(row.coverage),
}
"""What it shows of those that state an uncertainty."""
