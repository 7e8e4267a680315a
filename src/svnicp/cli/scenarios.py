# SPDX-License-Identifier: MIT
"""``svnicp scenarios``: the simulated scenarios as a table, and a map of each."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.table import Table

from svnicp.cli import show
from svnicp.cli.arguments import UsageError, option, parse

if TYPE_CHECKING:
    from svnicp.simulation.scenarios import Scenario

DESCRIPTION = """\
List the scenarios that `svnicp simulate` can make: what degrades the LiDAR there, who carries it,
which sensors, and how long a run is (the short one, and the full one as in the paper).
"""


@dataclass(frozen=True, kw_only=True)
class ScenariosCommand:
    """What ``svnicp scenarios`` is asked to do."""

    picture: Annotated[Path | None, option("DIR")] = None
    """Folder for a map of each scenario with the way through it, as SVG."""
    full: Annotated[bool, option()] = False
    """Draw the full runs instead of the short ones."""
    seed: Annotated[int, option("N")] = 0
    """Seed of the worlds that are drawn."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(ScenariosCommand, "svnicp scenarios", DESCRIPTION, words)
    if command.seed < 0:
        raise UsageError(f"--seed must not be negative, got {command.seed}.")
    from svnicp.simulation.scenarios import SCENARIOS  # noqa: PLC0415

    console = show.console(sys.stdout)
    console.print(_table(list(SCENARIOS.values())))
    if command.picture is not None:
        console.print()
        _draw(command.picture, command)
    return 0


def _table(scenarios: list["Scenario"]) -> Table:
    """Return one row per scenario."""
    table = show.plain_table()
    for head in ("scenario", "suite", "what degrades", "carried by", "LiDAR", "IMU"):
        table.add_column(head)
    for head in ("short run", "full run"):
        table.add_column(head, justify="right")
    for scenario in scenarios:
        table.add_row(
            scenario.name,
            scenario.suite,
            scenario.degrades,
            scenario.platform.name,
            scenario.sensor,
            scenario.imu,
            f"{scenario.length_m:.0f} m, {scenario.duration_s:.0f} s",
            f"{scenario.full_length_m:.0f} m, {scenario.full_duration_s:.0f} s",
        )
    return table


def _draw(folder: Path, command: ScenariosCommand) -> None:
    """Write a map of each scenario into a folder."""
    from svnicp.cli.output_files import make_folder, write_text  # noqa: PLC0415
    from svnicp.cli.progress import patience  # noqa: PLC0415
    from svnicp.simulation.picture import picture  # noqa: PLC0415
    from svnicp.simulation.scenarios import SCENARIOS  # noqa: PLC0415
    from svnicp.simulation.simulate import stage  # noqa: PLC0415

    make_folder(folder)
    with patience(show.console(sys.stderr), "drawing"):
        for name in SCENARIOS:
            path = folder / f"{name}.svg"
            write_text(path, picture(stage(name, command.seed, full=command.full)))
            print(path)
