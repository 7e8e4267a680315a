# SPDX-License-Identifier: MIT
"""Patience: say why it takes so long when it does, and how much of that was compiling.

Numba compiles each function the first time it is used on a machine and keeps the result. That takes
a minute or two, once, during which a silent program looks broken.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from numba.core import event
from rich.console import Console

from svnicp.cli.exit_codes import INTERRUPTED

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
        with _stop_on_interrupt(console):
            yield watch
    finally:
        event.unregister("numba:compile", watch)
        finished.set()
        teller.join()


@contextmanager
def _stop_on_interrupt(console: Console) -> Iterator[None]:
    """End the program on Ctrl-C, at once.

    A KeyboardInterrupt that falls into one of LLVM's callbacks is swallowed there and the
    compilation goes on. No file is being written here, so there is nothing to tidy up but the
    cursor that a spinner hides.
    """

    def stop(*_: object) -> None:
        cursor = b"\x1b[?25h\n" if console.is_terminal else b""
        os.write(sys.stderr.fileno(), cursor + b"svnicp: interrupted\n")
        os._exit(INTERRUPTED)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
