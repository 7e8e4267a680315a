# SPDX-License-Identifier: MIT
"""``svnicp scenarios``: the simulated scenarios as a table, and a map of each."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.table import Table

from svnicp.cli import show
from svnicp.cli.arguments import UsageError, option, parse
from svnicp.cli.json_target import JsonTarget

if TYPE_CHECKING:
    from svnicp.simulation.scenarios import Scenario

DESCRIPTION = """\
List the scenarios that `svnicp simulate` can make: what degrades the LiDAR there, who carries it,
which sensors, and how long a run is (the short one, and the full one as in the paper).

examples:
  svnicp scenarios
  svnicp scenarios long_corridor cave --picture out/maps
  svnicp scenarios --json - | jq .[].name
"""

ONE_LINE = 110
"""Columns from which on a scenario is a line of the table."""


@dataclass(frozen=True, kw_only=True)
class ScenariosCommand:
    """What ``svnicp scenarios`` is asked to do."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional, option("NAME")] = ()
    """Only these scenarios; all if left out."""
    picture: Annotated[Path | None, option("DIR")] = None
    """Folder for a map of each scenario with the way through it, as SVG."""
    full: Annotated[bool, option()] = False
    """Draw the full runs instead of the short ones."""
    seed: Annotated[int, option("N")] = 0
    """Seed of the worlds that are drawn."""
    json: Annotated[str | None, option("FILE")] = None
    """Write the list to this file; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print only the pictures that were drawn."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(ScenariosCommand, "svnicp scenarios", DESCRIPTION, words)
    if command.seed < 0:
        raise UsageError(f"--seed must not be negative, got {command.seed}.")
    from svnicp.simulation.scenarios import SCENARIOS, scenario  # noqa: PLC0415

    chosen = [scenario(name) for name in command.names or SCENARIOS]
    target = JsonTarget(command.json)
    target.write(json.dumps([_plain(one) for one in chosen], indent=1) + "\n")
    console = show.console(target.words_to, quiet=command.quiet)
    console.print(_table(chosen, narrow=console.width < ONE_LINE))
    if command.picture is not None:
        console.print()
        for path in _draw(command.picture, command, chosen):
            print(path, file=target.words_to)
    return 0


def _plain(scenario: "Scenario") -> dict[str, object]:
    """Return a scenario as plain values."""
    return {
        "name": scenario.name,
        "suite": scenario.suite,
        "degrades": scenario.degrades,
        "platform": scenario.platform.name,
        "lidar": scenario.sensor,
        "imu": scenario.imu,
        "duration_s": scenario.duration_s,
        "length_m": scenario.length_m,
        "full_duration_s": scenario.full_duration_s,
        "full_length_m": scenario.full_length_m,
    }


def _table(scenarios: list["Scenario"], *, narrow: bool) -> Table:
    """Return the scenarios below the names of their suites: a line each, or several if narrow."""
    table = show.plain_table()
    table.add_column("scenario", no_wrap=True)
    table.add_column("what degrades", min_width=20)
    wide_heads = ("carried by", "LiDAR", "IMU", "short run", "full run")
    for head in ("carried by, with", "runs") if narrow else wide_heads:
        table.add_column(head, justify="right" if "run" in head else "left", no_wrap=True)
    for suite, rows in groupby(scenarios, key=lambda scenario: scenario.suite):
        table.add_row(f"[{suite}]")
        for scenario in rows:
            sensors = (scenario.platform.name, scenario.sensor, scenario.imu)
            runs = (
                f"{scenario.length_m:.0f} m, {scenario.duration_s:.0f} s",
                f"{scenario.full_length_m:.0f} m, {scenario.full_duration_s:.0f} s",
            )
            cells = (f"{sensors[0]}\n{sensors[1]}, {sensors[2]}", "\n".join(runs))
            table.add_row(scenario.name, scenario.degrades, *(cells if narrow else sensors + runs))
    return table


def _draw(folder: Path, command: ScenariosCommand, chosen: list["Scenario"]) -> Iterator[Path]:
    """Write a map of each chosen scenario into a folder; yields the files."""
    from svnicp.cli.output_files import make_folder, write_text  # noqa: PLC0415
    from svnicp.cli.progress import patience  # noqa: PLC0415
    from svnicp.simulation.picture import picture  # noqa: PLC0415
    from svnicp.simulation.simulate import stage  # noqa: PLC0415

    make_folder(folder)
    with patience(show.console(sys.stderr, quiet=command.quiet), "drawing"):
        for one in chosen:
            path = folder / f"{one.name}.svg"
            write_text(path, picture(stage(one.name, command.seed, full=command.full)))
            yield path
