# SPDX-License-Identifier: MIT
"""A comparison on the screen: one table per dataset, and what was stated by those who state it."""

import textwrap
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
        figures = {name: cell for name, cell in COLUMNS.items() if name != NOTE}
        console.print(_table(of_dataset, figures, head_width=4))
        for row in of_dataset:
            if note := COLUMNS[NOTE](row):
                console.print(f"{COLUMNS['method'](row)}: {note}")
        stated = [row for row in of_dataset if row.sigma_end_m is not None]
        if stated:
            console.print()
            console.print(_table(stated, STATED, head_width=8))


def _table(rows: Sequence[Row], columns: dict[str, Callable[[Row], str]], head_width: int) -> Table:
    """Return a table that fits 80 columns: heads fold, then methods, while figures stay whole."""
    table = show.plain_table()
    table.collapse_padding = True
    for name, cell in columns.items():
        width = max(len(word) for word in (*name.split(), *(cell(row) for row in rows)))
        head = textwrap.fill(name, max(width, head_width))
        if name == "method":
            table.add_column(head)
        else:
            table.add_column(head, justify="left" if name == "IMU" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(cell(row) for cell in columns.values()))
    return table
