# SPDX-License-Identifier: MIT
"""``svnicp warmup`` compiles what a robot uses, and nothing else."""

import subprocess
import sys

import pytest

from svnicp.cli.__main__ import main

PROGRAM = """
import sys
from svnicp.cli.__main__ import main
code = main(["warmup"])
print([name for name in sys.modules if name.startswith("svnicp.simulation")])
sys.exit(code)
"""


@pytest.fixture(scope="module")
def first() -> list[str]:
    """What a new process prints that warms up, and then which parts of the simulator it has."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_every_part_is_timed(first: list[str]) -> None:
    """The map, registration and both kinds of odometry have a line with their seconds."""
    names = [line.split("  ")[0] for line in first[:4]]
    assert names == ["map", "registration", "LiDAR odometry", "LiDAR-inertial odometry"]
    assert all(" s, of which compiling " in line for line in first[:4])


def test_the_simulator_is_not_loaded(first: list[str]) -> None:
    """A robot does not compile what only simulations use."""
    assert first[-1] == "[]"


def test_the_second_time_nothing_is_compiled(first: list[str], capsys) -> None:
    """After a warm-up another process finds everything compiled."""
    assert main(["warmup"]) == 0
    assert "everything was compiled already" in capsys.readouterr().out, first
