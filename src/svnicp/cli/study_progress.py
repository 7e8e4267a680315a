# SPDX-License-Identifier: MIT
"""How a study is going: jobs that are done, the last one, and how long the others will take.

A terminal gets a bar, a file one line for every tenth of the jobs, and everybody a line for each
job that failed.
"""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from svnicp.cli.run_loop import Stop
from svnicp.studies.job import Job
from svnicp.studies.store import Record


class StudyProgress:
    """Shows how far a study is, and knows of Ctrl-C; used in a ``with`` statement."""

    def __init__(self, console: Console, num_jobs: int, stop: Stop) -> None:
        self._console, self._num_jobs, self._stop = console, num_jobs, stop
        self._done = 0
        self._since = time.monotonic()
        self._bar = Progress(
            BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"), TextColumn("{task.description}"),
            console=console, transient=True, disable=console.quiet or not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=num_jobs, left="")

    def __enter__(self) -> "StudyProgress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def stopped(self) -> bool:
        """Whether Ctrl-C was pressed, or SIGTERM came."""
        return self._stop.asked

    def on_job(self, job: Job, record: Record | None, failure: str) -> None:
        """Count a job."""
        self._done += 1
        if record is None:
            self._console.print(f"failed: {job.words}: {failure}", style="yellow")
        self._bar.update(self._task, advance=1, description=job.words, left=self.left())
        tenth = max(1, self._num_jobs // 10)
        if not self._console.is_terminal and self._done % tenth == 0:
            self._console.print(f"{self._done} of {self._num_jobs} jobs, {self.left()}")

    def left(self) -> str:
        """Time that the other jobs will take if they are like those before."""
        each_s = (time.monotonic() - self._since) / max(self._done, 1)
        minutes, seconds = divmod(round((self._num_jobs - self._done) * each_s), 60)
        return f"about {minutes}:{seconds:02d} left"
