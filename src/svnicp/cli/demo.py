# SPDX-License-Identifier: MIT
"""``svnicp demo``: its options; the work is in ``demo_run``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from svnicp.cli.arguments import UsageError, option, parse

DESCRIPTION = """\
Simulate a LiDAR in a room and in a bare corridor, register a scan in each, compare the error with
the uncertainty that the registration states, and write a report to open in a browser.

examples:
  svnicp demo
  svnicp demo --seed 3 --out out/demo
"""


@dataclass(frozen=True, kw_only=True)
class DemoCommand:
    """What ``svnicp demo`` is asked to do."""

    out: Annotated[Path, option("DIR")] = Path("svnicp-demo")
    """Folder for report.html and scene.svg; svnicp-demo if left out."""
    seed: Annotated[int, option("N")] = 0
    """Seed of the noise and of the guesses."""
    quiet: Annotated[bool, option()] = False
    """Print only where the report is."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(DemoCommand, "svnicp demo", DESCRIPTION, words)
    if command.seed < 0:
        raise UsageError(f"--seed must not be negative, got {command.seed}.")
    from svnicp.cli.demo_run import run  # noqa: PLC0415

    return run(command)
