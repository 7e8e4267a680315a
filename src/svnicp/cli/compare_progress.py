# SPDX-License-Identifier: MIT
"""How a comparison is going: a bar for the present run, how many are left, and for how long.

A terminal gets the bar; a file gets one line for every row that is finished.
"""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from svnicp.cli.wording import time_in_words
from svnicp.peers.row import Row
from svnicp.peers.tables import metres, words


class CompareProgress:
    """Shows how far a comparison is; used in a ``with`` statement.

    Parameters
    ----------
    console
        Where to show it.
    num_rows
        Rows that have to be computed.
    """

    def __init__(self, console: Console, num_rows: int) -> None:
        self._console = console
        self._num_rows = num_rows
        self._done = 0
        self._since = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
            console=console, transient=True, disable=console.quiet or not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None, left="")

    def __enter__(self) -> "CompareProgress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, what: str, total: int | None) -> None:
        """Start a bar for something with this many scans."""
        self._bar.reset(self._task, total=total, description=what, left=self._left())

    def at(self, num_scans: int) -> None:
        """Show how many scans are done."""
        self._bar.update(self._task, completed=num_scans)

    def advance(self) -> None:
        """Count one scan."""
        self._bar.update(self._task, advance=1)

    def on_row(self, row: Row) -> None:
        """Tell that a row is finished."""
        self._done += 1
        said = words(row)
        figures = []
        if row.ape_m is not None:
            figures.append(f"APE {metres(row.ape_m)} m")
        if row.mean_s is not None:
            figures.append(f"{time_in_words(row.mean_s)}/scan")
        text = ", ".join([*figures, *([said] if said else [])])
        self._console.print(f"{row.dataset}: {row.label}: {text}")

    def _left(self) -> str:
        """Rows that are left, and the time that they will take if they are like those before."""
        left = self._num_rows - self._done
        words = f"{left} of {self._num_rows} runs left"
        if self._done == 0:
            return words
        each_s = (time.monotonic() - self._since) / self._done
        minutes, seconds = divmod(round(left * each_s), 60)
        return f"{words}, about {minutes}:{seconds:02d}"
