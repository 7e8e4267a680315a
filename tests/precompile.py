# SPDX-License-Identifier: MIT
"""Compile what most tests use, once, before several processes run them.

Each of them would otherwise compile the same functions at the same time; and two compilations of
the same source need not round alike, so that a run in one process could differ from its repetition
in another by the last bit. Several processes share the work.
"""

import subprocess
import sys
from pathlib import Path

ROBOT = """
from svnicp.cli.__main__ import main
main(["warmup", "--quiet"])
"""
SIMULATION = """
import svnicp
list(svnicp.simulate("room", duration_s=0.5).measurements())
list(svnicp.simulate("street", duration_s=0.5).measurements())
"""


def precompile(cache: Path) -> None:
    """Fill the folder that compiled code is kept in, unless that was done before."""
    stamp = cache / "precompiled"
    if stamp.exists():
        return
    processes = [
        subprocess.Popen([sys.executable, "-c", program]) for program in (ROBOT, SIMULATION)
    ]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise RuntimeError("compiling failed, see above")
    stamp.touch()
