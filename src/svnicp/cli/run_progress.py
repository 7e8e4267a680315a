# SPDX-License-Identifier: MIT
"""How a run is going, while it goes: a bar with the time left, the current sigma, what is weak.

A terminal gets the bar; a file gets at most one line, when the compiler takes long.
"""

import time
from collections import deque

import numpy as np
from numba.core import event
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from svnicp.arrays import Covariance
from svnicp.cli.progress import COMPILING, PATIENCE_S, CompileWatch
from svnicp.cli.run_inputs import RunInputs
from svnicp.cli.wording import AXES, angle_in_words, length_in_words, time_in_words
from svnicp.estimate import Estimate
from svnicp.lie import ROTATION, TRANSLATION
from svnicp.registration.posterior import WeakDirection

RECENT_SCANS = 20
"""Scans whose typical time is shown."""
NEARLY_ALONG = float(np.cos(np.radians(15.0)))


class RunProgress:
    """A listener that shows how far the run is; used in a ``with`` statement."""

    def __init__(
        self, console: Console, inputs: RunInputs, max_scans: int | None, done: int
    ) -> None:
        self.watch = TellingWatch(console)
        self.slowed_ns: set[int] = set()
        """Stamps of the scans during which something was compiled [ns]."""
        self._compiled_s = 0.0
        self._recent: deque[float] = deque(maxlen=RECENT_SCANS)
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(),
            TimeRemainingColumn(compact=True), StatusColumn(self.watch),
            console=console, transient=True, disable=console.quiet or not console.is_terminal,
        )  # fmt: skip
        totals = [total for total in (inputs.info.num_scans, max_scans) if total is not None]
        self._task = self._bar.add_task(
            inputs.dataset.name, total=min(totals, default=None), completed=done, words=""
        )

    def __enter__(self) -> "RunProgress":
        event.register("numba:compile", self.watch)
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        event.unregister("numba:compile", self.watch)

    def on_scan(self, estimate: Estimate | None) -> None:
        """Count one scan, and show what it gave."""
        words = "waiting for the filter to start"
        if estimate is not None:
            if self.watch.seconds > self._compiled_s:
                self.slowed_ns.add(estimate.stamp_ns)
            self._compiled_s = self.watch.seconds
            self._recent.append(sum(estimate.timing_s.values()))
            typical_s = float(np.median(self._recent))
            words = f"{time_in_words(typical_s)}/scan  {estimate_in_words(estimate)}"
        self._bar.update(self._task, advance=1, words=words)

    def say(self, words: str) -> None:
        """Show other words until the next scan."""
        self._bar.update(self._task, words=words)


class TellingWatch(CompileWatch):
    """Says once, where there is no bar, that the compiler takes long."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._first: float | None = None
        self._told = console.is_terminal

    def on_start(self, event: event.Event) -> None:
        """Note that a compilation begins."""
        super().on_start(event)
        now = time.perf_counter()
        self._first = now if self._first is None else self._first
        if not self._told and now - self._first > PATIENCE_S:
            self._told = True
            self._console.print(f"{COMPILING} ...")


class StatusColumn(ProgressColumn):
    """Words about the last scan, or about the compiler while it works."""

    max_refresh = 0.2

    def __init__(self, watch: CompileWatch) -> None:
        super().__init__()
        self._watch = watch

    def render(self, task: Task) -> Text:
        """Return the words."""
        return Text(COMPILING if self._watch.busy else task.fields["words"], overflow="ellipsis")


def largest_sigmas(covariance: Covariance) -> tuple[float, float]:
    """Return the largest standard deviation of the translation [m] and of the rotation [rad]."""
    blocks = (covariance[TRANSLATION, TRANSLATION], covariance[ROTATION, ROTATION])
    translation, rotation = (
        float(np.sqrt(max(np.linalg.eigvalsh(block)[-1], 0.0))) for block in blocks
    )
    return translation, rotation


def estimate_in_words(estimate: Estimate) -> str:
    """Return the largest sigmas and what is weak, or why the scan was not used."""
    translation, rotation = largest_sigmas(estimate.covariance)
    words = [f"sigma {length_in_words(translation)}, {angle_in_words(rotation)}"]
    if not estimate.ok:
        words.append(f"not used: {estimate.message.split(':')[0]}")
    elif estimate.weak_directions:
        words.append(weak_in_words(estimate.weak_directions[0]))
    return "  ".join(words)


def weak_in_words(weak: WeakDirection) -> str:
    """Return a weak direction in the body's axes, such as ``weak along x``."""
    verb = "along" if weak.kind == "translation" else "about"
    main = int(np.argmax(np.abs(weak.direction)))
    if abs(weak.direction[main]) >= NEARLY_ALONG:
        return f"weak {verb} {AXES[main]}"
    return f"weak {verb} ({', '.join(f'{value:.1f}' for value in weak.direction)})"
