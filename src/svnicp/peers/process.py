# SPDX-License-Identifier: MIT
"""Run one peer over a spool in a process of its own, with a time limit, and say how it ended.

A peer that crashes or hangs is an outcome like any other: with the signal, or the scan at which it
was when its time was up. What it prints goes to a file, whose last line explains a failure.
"""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from svnicp.peers.memory import peak_bytes
from svnicp.peers.peer import Peer, PeerRun
from svnicp.peers.spool import HANDED_OUT
from svnicp.peers.worker import NOT_FOR_IT, read_run

OK = "ok"
CRASHED = "crashed"
FAILED = "failed"
TIMED_OUT = "timed out"
NO_POSE = "no pose"

LOOK_EVERY_S = 0.05
"""Time between two looks at a worker [s]."""
LONGEST_NOTE = 160
"""Characters of a last line that are kept."""
ERROR = re.compile(r"[A-Za-z_.]*(Error|Exception|error)\b")
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True, eq=False)
class Outcome:
    """How it went."""

    status: str
    """One of the words above."""
    note: str = ""
    """Why it is not ok, in a few words."""
    run: PeerRun | None = None
    peak_bytes: int | None = None
    """Most memory of the process [bytes], Python and the scan in hand included."""
    num_scans: int = 0
    """Scans that the peer was given."""


def run_peer(
    peer: Peer,
    configuration: str,
    spool: Path,
    time_limit_s: float,
    on_scans: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Run a peer; returns how it ended, whatever that is.

    Parameters
    ----------
    peer, configuration
        What to run, and with which of its configurations.
    spool
        Folder of the spooled dataset.
    time_limit_s
        After this time the process is killed [s].
    on_scans
        Called now and then with the number of scans that the peer has been given.
    """
    with TemporaryDirectory(prefix="svnicp-peer-") as name:
        folder = Path(name)
        out, printed = folder / "run.npz", folder / "printed.txt"
        words = [str(spool), peer.module, peer.name, configuration, str(out)]
        with printed.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "svnicp.peers.worker", *words],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
            )  # fmt: skip
        counter = folder / HANDED_OUT
        try:
            peak, in_time = _watch(process, counter, time_limit_s, on_scans)
        finally:
            process.kill()  # after Ctrl-C, too; nothing happens to one that has ended
            code = process.wait()
        num_scans = _size(counter)
        if not in_time:
            note = f"killed after {time_limit_s:g} s, at scan {num_scans}"
            return Outcome(TIMED_OUT, note, None, peak, num_scans)
        if code == 0 and out.is_file():
            run, exact = read_run(out)
            status, note = (OK, "") if len(run.stamps_ns) else (NO_POSE, "it gave no pose at all")
            return Outcome(status, note, run, exact or peak, num_scans)
        return Outcome(*_ending(code, num_scans, printed), None, peak, num_scans)


def _watch(
    process: subprocess.Popen[bytes],
    counter: Path,
    time_limit_s: float,
    on_scans: Callable[[int], None],
) -> tuple[int | None, bool]:
    """Wait for the end or for the limit; returns the peak memory seen, and whether it ended."""
    end, peak = time.monotonic() + time_limit_s, None
    while process.poll() is None:
        peak = peak_bytes(process.pid) or peak
        on_scans(_size(counter))
        if time.monotonic() > end:
            return peak, False
        time.sleep(LOOK_EVERY_S)
    on_scans(_size(counter))
    return peak, True


def _ending(code: int, num_scans: int, printed: Path) -> tuple[str, str]:
    """Status and words for a process that gave nothing."""
    where = f"at scan {num_scans}"
    last = last_line(printed)
    said = f": {last}" if last else ""
    if code == NOT_FOR_IT:
        return FAILED, last
    if code < 0:
        return CRASHED, f"{signal.Signals(-code).name} {where}{said}"
    return FAILED, f"exit code {code} {where}{said}"


def last_line(printed: Path) -> str:
    """Return the last words that a program printed, without colours and not too many."""
    text = COLOURS.sub("", printed.read_text(encoding="utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.match(line)]  # packages print tables after them
    last = next(reversed(errors or lines), "")
    return last if len(last) <= LONGEST_NOTE else f"{last[:LONGEST_NOTE]}..."


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
