# SPDX-License-Identifier: MIT
"""How the program ends when it is not let finish: signals, and a disk that is full."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from svnicp.cli.exit_codes import INTERRUPTED, TERMINATED, WRONG_INPUT

RUN = [sys.executable, "-m", "svnicp.cli"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)]
)
def test_a_signal_ends_simulate_without_traceback_or_leftovers(tmp_path, number, code):
    """Ctrl-C and SIGTERM leave no file, not even a hidden one, and say one word."""
    words = ["simulate", "room", "--full", "--out", str(tmp_path / "room.mcap")]
    run = subprocess.Popen([*RUN, *words], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60.0
    while not list(tmp_path.glob(".*/bag/room/*.mcap")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert run.poll() is None
    run.send_signal(number)
    _, said = run.communicate(timeout=60.0)
    assert (run.returncode, said) == (code, "svnicp: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_signal_tidies_up_even_inside_a_foreign_callback(tmp_path):
    """What is half written is removed where an exception would be swallowed, as in the compiler."""
    script = """
import ctypes, os, pathlib, signal, sys
from svnicp.cli import show
from svnicp.cli.interrupts import end_on_signals
from svnicp.recording.appear_whole import appear_whole, remove_unfinished
callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT))
with end_on_signals(show.console(sys.stderr), remove_unfinished):
    with appear_whole(pathlib.Path(sys.argv[1]) / "a.txt") as place:
        place.write_text("half")
        callback()
print("survived")
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (INTERRUPTED, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["--help"], ["scenarios"], ["simulate", "--help"]])
def test_a_full_disk_behind_stdout_is_one_sentence(words):
    """When what is printed cannot be stored, that is said in one line and the code is not 0."""
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*RUN, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert run.returncode == WRONG_INPUT
    assert run.stderr.startswith("svnicp: error: the output cannot be written (")
    assert run.stderr.count("\n") == 1
