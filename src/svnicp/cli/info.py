# SPDX-License-Identifier: MIT
"""``svnicp info``: its options; the work is in ``info_run``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from svnicp.cli.arguments import option, parse
from svnicp.cli.data_flags import DataFlags

DESCRIPTION = """\
What was understood about a recording: sensors, rates, gaps, times of points, units, extrinsics,
and the flag that overrides each. Nothing is changed.

examples:
  svnicp info corridor.mcap
  svnicp info drive_0.bag drive_1.bag --lidar-topic /points
  svnicp info sequences/00 --json - | jq .findings
"""


@dataclass(frozen=True, kw_only=True)
class InfoCommand(DataFlags):
    """What ``svnicp info`` is asked to do."""

    json: Annotated[str | None, option("FILE")] = None
    """Write everything to this file; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(InfoCommand, "svnicp info", DESCRIPTION, words)
    from svnicp.cli.info_run import run  # noqa: PLC0415

    return run(command)
