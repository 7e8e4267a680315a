# SPDX-License-Identifier: MIT
"""A short run from the command line, for the tests of what it leaves and of how it goes on."""

import subprocess
import sys

ROOM = ["run", "room", "--duration", "1.6", "--seed", "2", "--save-every", "3", "--map"]
SAME = ("trajectory.tum", "covariance.csv", "relative.tum", "trajectory.kitti", "scans.csv")
"""Files that a resumed run must have in common with one that was not interrupted."""


def svnicp(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    command = [sys.executable, "-m", "svnicp.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
