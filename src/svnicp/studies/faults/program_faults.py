# SPDX-License-Identifier: MIT
"""Jobs that end ``svnicp run`` from outside: kill -9 at random times, and a disk that is full.

In: a scenario. Out: how often the run was ended, how often what it left behind could be read, and
whether the run that went on in the end equals one that was never disturbed, byte by byte.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.errors import SvnicpError
from svnicp.evaluation import read_run
from svnicp.recording.run_files import STATE, TRAJECTORY
from svnicp.studies.job import Job

COMPARED = (
    "trajectory.tum", "trajectory.kitti", "relative.tum", "covariance.csv", "scans.csv",
)  # fmt: skip
"""Files that must come out the same."""
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from svnicp.cli.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
"""A disk that takes files up to so many bytes."""
KILLED, DISK_FULL = "kill -9", "disk full"


def program_job(kind: str, scenario: str, seed: int, duration_s: float, times: int) -> Job:
    """Job that ends a run so many times."""
    function = {KILLED: "killed", DISK_FULL: "disk_full"}[kind]
    inputs = {"scenario": scenario, "seed": seed, "duration_s": duration_s, "times": times}
    words = f"{kind} {scenario} {seed}"
    return Job(f"svnicp.studies.faults.program_faults.{function}", inputs, words)


def killed(scenario: str, seed: int, duration_s: float, times: int) -> dict[str, Any]:
    """Kill a run at random times, each time going on with it; the function of a job."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        place, words = Path(name), _words(scenario, seed, duration_s)
        start = time.monotonic()
        _run(words, place / "whole")
        seconds = time.monotonic() - start
        left: list[str] = []
        while len(left) < times:
            # Each try gets a little further, and compiling and loading are hit as well.
            after_s = float(rng.uniform(0.3, 0.5 + len(left) / times)) * seconds
            code = _ended_after(after_s, words, place / "run")
            if code != 0:
                left.append(_what_is_left(place / "run") if code < 0 else f"exit code {code}")
            if code >= 0:  # it came to its end before: begin anew
                shutil.rmtree(place / "run")
        _run(words, place / "run")
        return _result(left, place)


def disk_full(scenario: str, seed: int, duration_s: float, times: int) -> dict[str, Any]:
    """Let the disk be full at several sizes, then make room and go on; the function of a job."""
    with tempfile.TemporaryDirectory() as name:
        place, words = Path(name), _words(scenario, seed, duration_s)
        _run(words, place / "whole")
        largest = max((place / "whole" / file).stat().st_size for file in (*COMPARED, STATE))
        left: list[str] = []
        for limit in np.geomspace(2_000, 0.9 * largest, times).astype(int):
            ended = _run(words, place / "run", limit=int(limit))
            said = ended.stderr.strip().splitlines()[-1:] or [""]
            fits = ended.returncode == 2 and said[0].startswith("svnicp: ")
            told = fits and "Traceback" not in ended.stderr
            left.append(_what_is_left(place / "run") if told else f"said: {said[0]}")
        _run(words, place / "run")
        return _result(left, place)


def _words(scenario: str, seed: int, duration_s: float) -> list[str]:
    """Words of the command, without where it writes."""
    return ["run", scenario, "--seed", str(seed), "--duration", str(duration_s),
            "--save-every", "5", "--quiet"]  # fmt: skip


def _run(
    words: Sequence[str], out: Path, limit: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, going on with what is there."""
    program = ["-m", "svnicp.cli"] if limit is None else ["-c", LIMITED, str(limit)]
    command = [sys.executable, *program, *words, "--out", str(out), "--resume"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _ended_after(seconds: float, words: Sequence[str], out: Path) -> int:
    """Start the command and kill it; returns its exit code, negative if it was still running."""
    command = [sys.executable, "-m", "svnicp.cli", *words, "--out", str(out), "--resume"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _what_is_left(out: Path) -> str:
    """Read what an ended run has left; empty if all is well, or what is wrong with it."""
    trajectory = out / TRAJECTORY
    if not trajectory.is_file() or trajectory.stat().st_size == 0:
        return ""
    try:
        read_run(out)
    except SvnicpError as error:
        return str(error)
    return ""


def _result(left: list[str], place: Path) -> dict[str, Any]:
    """Counts, what was wrong, and which files differ from those of the undisturbed run."""
    different = [
        name for name in COMPARED
        if (place / "whole" / name).read_bytes() != (place / "run" / name).read_bytes()
    ]  # fmt: skip
    return {
        "injected": len(left), "readable": left.count(""), "wrong": sorted(set(left) - {""}),
        "different": different, "num_scans": len(read_run(place / "run")),
    }  # fmt: skip
