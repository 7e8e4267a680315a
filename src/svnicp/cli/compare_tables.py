# SPDX-License-Identifier: MIT
"""A comparison on the screen: one table per dataset, and what was stated by those who state it."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

from svnicp.cli import show
from svnicp.peers.row import Row
from svnicp.peers.tables import COLUMNS, STATED, about_dataset

NOTE = "note"
"""The column whose words stand below the table."""


def show_rows(console: Console, rows: Sequence[Row]) -> None:
    """Print the tables of all datasets."""
    for name in dict.fromkeys(row.dataset for row in rows):
        of_dataset = [row for row in rows if row.dataset == name]
        console.print(f"\n{name}: {about_dataset(of_dataset)}", style="bold")
        console.print(_table(of_dataset, {k: v for k, v in COLUMNS.items() if k != NOTE}))
        for row in of_dataset:
            if note := COLUMNS[NOTE](row):
                console.print(f"{COLUMNS['method'](row)}: {note}")
        stated = [row for row in of_dataset if row.sigma_end_m is not None]
        if stated:
            console.print()
            console.print(_table(stated, STATED))


def _table(rows: Sequence[Row], columns: dict[str, Callable[[Row], str]]) -> Table:
    """Return a table whose heads fold in narrow terminals; figures and names stay whole."""
    table = show.plain_table()
    table.collapse_padding = True
    for name, cell in columns.items():
        side = "left" if name in {"method", "IMU"} else "right"
        table.add_column(name, justify=side, min_width=max(len(cell(row)) for row in rows))
    for row in rows:
        table.add_row(*(cell(row) for cell in columns.values()))
    return table
