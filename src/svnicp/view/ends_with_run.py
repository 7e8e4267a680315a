# SPDX-License-Identifier: MIT
"""Rerun's program, run so that it ends with whoever started it, even if that is killed.

Its standard input is a pipe that nobody writes to. The other end is closed when the program that
holds it ends, however that happens; then everything in this process's group is killed. This file is
run by its path, because the package would take seconds to import.
"""

import os
import runpy
import signal
import sys
import threading


def end_when_input_ends() -> None:
    """Wait for the end of standard input, and then end this process and its children."""
    sys.stdin.buffer.read()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=end_when_input_ends, daemon=True).start()
    runpy.run_module("rerun_cli", run_name="__main__", alter_sys=True)
