# SPDX-License-Identifier: MIT
"""``svnicp simulate``: write a simulated scenario to disk as a recording, with its ground truth."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.progress import Progress

from svnicp.cli import show
from svnicp.cli.arguments import UsageError, option, parse

DESCRIPTION = """\
Simulate a scenario (see `svnicp scenarios`) and write its scans and IMU samples as a recording,
with the ground truth beside it as TUM. The name of the file decides the format unless --format
does.

examples:
  svnicp simulate long_corridor --out corridor.mcap
  svnicp simulate room --seed 3 --duration 10 --out room.bag
  svnicp simulate street --format kitti --out street
"""


@dataclass(frozen=True, kw_only=True)
class SimulateCommand:
    """What ``svnicp simulate`` is asked to do."""

    name: Annotated[str, tyro.conf.Positional, option("NAME")]
    """Which scenario, such as long_corridor."""
    out: Annotated[Path, option("FILE")]
    """Recording to write: .mcap, .bag (ROS 1), or a folder, which needs --format."""
    seed: Annotated[int, option("N")] = 0
    """Decides clutter, motion, biases and noise."""
    duration: Annotated[float | None, option("S")] = None
    """Seconds to simulate; the scenario's short run if left out."""
    full: Annotated[bool, option()] = False
    """Simulate the whole length of the paper's sequence."""
    rig: Annotated[str | None, option("RIG")] = None
    """Other sensors than the scenario's own, such as beta (OS1-64) or gamma (Livox Avia)."""
    format: Annotated[str | None, option("FORMAT")] = None
    """Format, if the name does not tell: mcap, ros1, or a folder: ros2, ros2-mcap, kitti."""
    overwrite: Annotated[bool, option()] = False
    """Replace a recording that is there; never a folder with anything else in it."""
    quiet: Annotated[bool, option()] = False
    """Print only what was written."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(SimulateCommand, "svnicp simulate", DESCRIPTION, words)
    if command.seed < 0:
        raise UsageError(f"--seed must not be negative, got {command.seed}.")
    return _run(command)


def _run(command: SimulateCommand) -> int:
    """Simulate and write, with a bar on stderr in a terminal."""
    from svnicp.cli.interrupts import end_on_signals  # noqa: PLC0415
    from svnicp.recording import write_dataset  # noqa: PLC0415
    from svnicp.recording.appear_whole import remove_unfinished  # noqa: PLC0415
    from svnicp.simulation.simulate import simulate  # noqa: PLC0415

    console = show.console(sys.stderr, quiet=command.quiet)
    bar = Progress(console=console, transient=True, disable=not console.is_terminal)
    with end_on_signals(console, remove_unfinished), bar:
        dataset = simulate(
            command.name, command.seed, command.duration, full=command.full, rig=command.rig
        )
        task = bar.add_task(f"simulating {command.name}", total=None)
        written = write_dataset(
            dataset,
            command.out,
            format=command.format,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            overwrite=command.overwrite,
        )
    for path in written:
        print(path)
    return 0
