# SPDX-License-Identifier: MIT
"""Patience: say why it takes so long when it does, and how much of that was compiling.

Numba compiles each function the first time it is used on a machine and keeps the result. That takes
a minute or two, once, during which a silent program looks broken.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event
from rich.console import Console

from svnicp.cli.interrupts import end_on_signals

COMPILING = "compiling for this machine, once (a minute or two)"
PATIENCE_S = 2.0
"""Nobody minds waiting this long in silence [s]."""


class CompileWatch(event.Listener):
    """Counts the time that Numba spends compiling; functions compile others on the way."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._since = 0.0

    @property
    def busy(self) -> bool:
        """Whether something is being compiled now."""
        return self._depth > 0

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002
        """Note that a compilation begins."""
        if self._depth == 0:
            self._since = time.perf_counter()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002
        """Note that it is over."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._since


@contextmanager
def patience(console: Console, doing: str) -> Iterator[CompileWatch]:
    """Tell what is going on once it has taken too long; yields the watch on the compiler.

    Parameters
    ----------
    console
        Where to tell it; a terminal gets a spinner, a file at most one line.
    doing
        What is going on when nothing is compiled, such as ``"registering"``.
    """
    watch = CompileWatch()
    finished = threading.Event()
    teller = threading.Thread(target=_tell, args=(console, watch, doing, finished), daemon=True)
    event.register("numba:compile", watch)
    teller.start()
    try:
        with end_on_signals(console):
            yield watch
    finally:
        event.unregister("numba:compile", watch)
        finished.set()
        teller.join()


def _tell(console: Console, watch: CompileWatch, doing: str, finished: threading.Event) -> None:
    """Wait, then show what is going on until it is finished."""
    if finished.wait(PATIENCE_S):
        return
    if console.is_terminal:
        with console.status(doing) as status:
            while not finished.wait(0.2):
                status.update(COMPILING if watch.busy else doing)
        return
    while not finished.wait(0.2):
        if watch.busy:
            console.print(f"{COMPILING} ...")
            return
