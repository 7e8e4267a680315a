# SPDX-License-Identifier: MIT
"""A table with intervals, as Markdown, CSV and JSON, and where its numbers come from."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from svnicp.scores import Interval

Value = str | float | int | Interval | None
"""A cell: words, a number, a number with its interval, or nothing."""
NOTHING = "–"


@dataclass(frozen=True)
class Origin:
    """Where the numbers come from."""

    command: str
    """The command line that makes them again."""
    versions: dict[str, str]
    cpus: int
    quick: bool
    job_seconds: float
    """Time that all jobs took together, each on one core [s]."""
    num_jobs: int
    codes: dict[str, int]
    """How many jobs each state of the code has made: one, unless results are mixed."""
    seeds: tuple[int, ...] = ()


@dataclass
class Table:
    """Rows of cells under named columns."""

    name: str
    """Of its files; unique within a study."""
    title: str
    columns: list[str]
    rows: list[dict[str, Value]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Value]) -> None:
        """Append a row."""
        self.rows.append(row)

    def find(self, **wanted: Value) -> dict[str, Value] | None:
        """Return the first row with these values, None if there is none."""
        for row in self.rows:
            if all(row.get(name) == value for name, value in wanted.items()):
                return row
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not finite is None."""
        rows = [{name: _plain(value) for name, value in row.items()} for row in self.rows]
        return {
            "name": self.name, "title": self.title, "columns": self.columns, "rows": rows,
            "notes": self.notes,
        }  # fmt: skip

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Table":
        """Return the table that ``to_dict`` was called on."""
        rows = [
            {n: Interval(**v) if isinstance(v, dict) else v for n, v in row.items()}
            for row in values["rows"]
        ]
        return Table(values["name"], values["title"], values["columns"], rows, values["notes"])


def value_of(cell: Value) -> float | None:
    """Return the number in a cell; None for words, nothing, and what is not finite."""
    number = cell.value if isinstance(cell, Interval) else cell
    if isinstance(number, str) or number is None or not math.isfinite(number):
        return None
    return float(number)


def number_text(value: float) -> str:
    """Return a number with three digits, without exponents where they can be avoided."""
    if not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if isinstance(value, int) and size < 1e5:
        return str(value)
    if size >= 1e5 or 0.0 < size < 1e-3:
        return f"{value:.1e}"
    digits = 0 if size >= 1000.0 else 1 if size >= 100.0 else 2 if size >= 10.0 else 3
    return f"{value:.{digits}f}"


def cell_text(cell: Value) -> str:
    """Return a cell as people read it: ``1.02 [0.95, 1.10]``."""
    if cell is None or cell == "":
        return NOTHING
    if isinstance(cell, str):
        return cell
    if not isinstance(cell, Interval):
        return number_text(cell)
    if not math.isfinite(cell.low) or cell.low == cell.high:
        return number_text(cell.value)
    return f"{number_text(cell.value)} [{number_text(cell.low)}, {number_text(cell.high)}]"


def markdown_table(table: Table) -> list[str]:
    """Lines of the table alone."""
    words = {name for row in table.rows for name, cell in row.items() if isinstance(cell, str)}
    lines = ["| " + " | ".join(table.columns) + " |"]
    lines.append("|" + "|".join("---" if c in words else "---:" for c in table.columns) + "|")
    for row in table.rows:
        cells = (cell_text(row.get(name)).replace("|", "/") for name in table.columns)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def markdown(table: Table, origin: Origin) -> str:
    """The table with its notes and its origin."""
    parts = [f"# {table.title}", "", *markdown_table(table), ""]
    for note in table.notes:
        parts += [note, ""]
    return "\n".join([*parts, *origin_lines(origin), ""])


def origin_lines(origin: Origin) -> list[str]:
    """Lines that say how numbers were made."""
    versions = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    size = "quick: few scenarios, few seconds; " if origin.quick else ""
    seeds = f"seeds {origin.seeds[0]} to {origin.seeds[-1]}; " if origin.seeds else ""
    lines = [
        "```", origin.command, "```", "",
        f"{size}{seeds}{origin.num_jobs} jobs of {origin.job_seconds / 60.0:.1f} minutes together "
        f"on one core each, {origin.cpus} cores; {versions}. Intervals hold 95 of 100 block-"
        "bootstrap resamples.",
    ]  # fmt: skip
    if len(origin.codes) > 1:
        counts = ", ".join(f"{code} ({count} jobs)" for code, count in origin.codes.items())
        lines += ["", f"Mixed: the code changed while the jobs ran: {counts}."]
    return lines


def csv_text(table: Table) -> str:
    """All numbers, not rounded, with columns for the ends of intervals."""
    with_interval = {
        n for row in table.rows for n, cell in row.items() if isinstance(cell, Interval)
    }
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header: list[str] = []
    for name in table.columns:
        header += [name, f"{name} low", f"{name} high"] if name in with_interval else [name]
    writer.writerow(header)
    for row in table.rows:
        writer.writerow(
            [cell for name in table.columns for cell in _cells(row, name, with_interval)]
        )
    return stream.getvalue()


def json_text(tables: Sequence[Table], origin: Origin) -> str:
    """Tables of a study and their origin as one JSON document."""
    document = {"origin": asdict(origin), "tables": [table.to_dict() for table in tables]}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _cells(row: dict[str, Value], name: str, with_interval: set[str]) -> list[Any]:
    cell = row.get(name)
    if isinstance(cell, Interval):
        return [cell.value, cell.low, cell.high]
    single = "" if cell is None else cell
    return [single, "", ""] if name in with_interval else [single]


def _plain(cell: Value) -> Any:  # noqa: ANN401
    if isinstance(cell, Interval):
        ends = (cell.value, cell.low, cell.high)
        return asdict(cell) if all(map(math.isfinite, ends)) else None
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell
