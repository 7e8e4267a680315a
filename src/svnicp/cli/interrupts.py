# SPDX-License-Identifier: MIT
"""Ctrl-C and SIGTERM while the compiler may be at work: the program ends, at once and tidily.

A KeyboardInterrupt that falls into one of LLVM's callbacks is swallowed there, or comes out as an
error of Numba's; so none is raised. What is half written is removed by the handler itself.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from svnicp.cli.exit_codes import INTERRUPTED, TERMINATED

CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}


@contextmanager
def end_on_signals(console: Console, tidy: Callable[[], None] = lambda: None) -> Iterator[None]:
    """End the program on Ctrl-C or SIGTERM, after tidying up.

    Parameters
    ----------
    console
        Where a spinner or a bar may hide the cursor, which is then shown again.
    tidy
        Removes what would be left half made.
    """

    def end(number: int, _: object) -> None:
        tidy()
        cursor = b"\x1b[?25h\n" if console.is_terminal else b""
        os.write(sys.stderr.fileno(), cursor + b"svnicp: interrupted\n")
        os._exit(CODES[signal.Signals(number)])

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    before = {number: signal.signal(number, end) for number in CODES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
