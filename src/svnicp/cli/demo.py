# SPDX-License-Identifier: MIT
"""``svnicp demo``: its options; the work is in ``demo_run``."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from svnicp.cli.arguments import UsageError, option, parse

SEED = 200
"""The first of the test seeds: nothing was fitted on it."""
SCENARIO = "long_corridor"

DESCRIPTION = """\
Simulate a minute in a long corridor with LiDAR and IMU, run odometry over it, compare it with the
truth (and with kiss-icp on the same scans, if that is installed), and write a report to look at.
The folder is that of a run, so all that reads runs reads it. Needs: pip install "svnicp[report]".

examples:
  svnicp demo
  svnicp demo --out out/demo --seed 3 --duration 20
"""


@dataclass(frozen=True, kw_only=True)
class DemoCommand:
    """What ``svnicp demo`` is asked to do."""

    out: Annotated[Path, option("DIR")] = Path("svnicp-demo")
    """Folder for the files of the run and report.html; svnicp-demo if left out."""
    seed: Annotated[int, option("N")] = SEED
    """Seed of clutter, motion, biases, noise and particles."""
    duration: Annotated[float, option("S")] = 60.0
    """Seconds to simulate."""
    overwrite: Annotated[bool, option()] = False
    """Replace a run that is in the folder."""
    resume: Annotated[bool, option()] = False
    """Go on with a demo that was interrupted."""
    json: Annotated[str | None, option("FILE")] = None
    """Write what `svnicp run --json` would; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print only where the report is."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(DemoCommand, "svnicp demo", DESCRIPTION, words)
    if command.seed < 0:
        raise UsageError(f"--seed must not be negative, got {command.seed}.")
    if command.resume and command.overwrite:
        raise UsageError("give either --resume or --overwrite, not both.")
    from svnicp.cli.demo_run import run  # noqa: PLC0415

    kept = [word for word in words if word not in {"--resume", "--overwrite"}]
    return run(command, shlex.join(["svnicp", "demo", *kept]))
