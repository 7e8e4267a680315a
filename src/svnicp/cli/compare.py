# SPDX-License-Identifier: MIT
"""``svnicp compare``: its options; the work is in ``compare_work``."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from svnicp.cli.arguments import UsageError, option, parse
from svnicp.cli.data_flags import DataFlags

DESCRIPTION = """\
Ours beside other odometry on the same scans and IMU readings: errors, time per scan and memory of
each, and for ours whether its sigmas hold. Every one runs in its own process with its own
defaults, and with the configuration that it ships for the scene, if any; one that crashes or hangs
is a row that says so. Rows that are finished are not computed again, so an interrupted comparison
goes on when the same command is given again. Needs: pip install "svnicp[peers]".

examples:
  svnicp compare long_corridor --duration 20 --out out/compare
  svnicp compare drive.mcap --with kiss-icp,genz-icp --out out/drive
  svnicp compare room street tunnel --with small-gicp --seed 3
  svnicp compare room --with none --json - | jq .rows
"""


@dataclass(frozen=True, kw_only=True)
class CompareCommand(DataFlags):
    """What ``svnicp compare`` is asked to do."""

    data: Annotated[tuple[Path, ...], tyro.conf.Positional, option("DATA")]
    """Bags, folders or names of scenarios; each is a dataset of its own."""
    peers: Annotated[
        str | None, tyro.conf.arg(name="with", metavar="NAMES", help_behavior_hint="")
    ] = None
    """Who else, separated by commas: kiss-icp, genz-icp, mad-icp, rko-lio, small-gicp, ct-icp,
    lio-sam, dlio, loam, form, or none; if left out, the first eight as far as installed."""
    out: Annotated[Path, option("DIR")] = Path("svnicp-compare")
    """Folder for tables, pictures and finished rows."""
    scene: Annotated[
        Literal["long_corridor", "corridor", "indoor", "outdoor", "kitti", "newer_college"] | None,
        option("KIND"),
    ] = None
    """Kind of surroundings, for peers with a configuration for it: long_corridor, corridor,
    indoor, outdoor, kitti or newer_college; scenarios have theirs."""
    seed: Annotated[int, option("N")] = 0
    """Seed of our particles, and of simulated scenarios."""
    duration: Annotated[float | None, option("S")] = None
    """Seconds to simulate of a scenario; its short run if left out."""
    max_scans: Annotated[int | None, option("N")] = None
    """Use only this many scans of each dataset."""
    preset: Annotated[str | None, option("NAME")] = None
    """Our parameters: default or paper."""
    config: Annotated[Path | None, option("FILE")] = None
    """Our parameters from a YAML file, instead of a preset."""
    imu_model: Annotated[str | None, option("NAME")] = None
    """Noise of the IMU by its model, such as xsens_mti30."""
    time_limit: Annotated[float | None, option("S")] = None
    """Time for one method on one dataset; a minute and a second per scan if left out."""
    again: Annotated[bool, option()] = False
    """Compute rows again that are finished."""
    json: Annotated[str | None, option("FILE")] = None
    """Write the rows to this file, too; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(CompareCommand, "svnicp compare", DESCRIPTION, words)
    for message in contradictions(command):
        raise UsageError(message)
    from svnicp.cli.compare_work import compare  # noqa: PLC0415

    return compare(command, shlex.join(["svnicp", "compare", *words]))


def contradictions(command: CompareCommand) -> list[str]:
    """Sentences about options that do not go together, or cannot be."""
    checks = {
        "name a recording or a scenario, such as room.": not command.data,
        "give either --preset or --config, not both.": (
            command.preset is not None and command.config is not None
        ),
        f"--seed must not be negative, got {command.seed}.": command.seed < 0,
        "--max-scans must be at least 1.": command.max_scans is not None and command.max_scans < 1,
        "--time-limit must be positive.": (
            command.time_limit is not None and not command.time_limit > 0.0
        ),
    }
    return [message for message, wrong in checks.items() if wrong]
