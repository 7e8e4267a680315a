# SPDX-License-Identifier: MIT
"""The work of ``svnicp demo --one-scan``: two registrations, a table and a picture."""

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from svnicp.cli import show
from svnicp.cli.demo import DemoCommand
from svnicp.cli.demo_picture import picture
from svnicp.cli.demo_scenes import (
    NUM_RINGS,
    PRIOR_STD_DEG,
    PRIOR_STD_M,
    RANGE_NOISE_M,
    SCENE_NAMES,
    Experiment,
    perform,
)
from svnicp.cli.exit_codes import NOT_OK
from svnicp.cli.output_files import make_folder, write_text
from svnicp.cli.progress import patience
from svnicp.cli.wording import (
    NEES_RANGE,
    TANGENT_AXES,
    tangent_in_words,
    time_in_words,
    weak_direction_in_words,
)


def run(command: DemoCommand) -> int:
    """Simulate, register, print and draw; returns the exit code."""
    make_folder(command.out)
    with patience(show.console(sys.stderr, quiet=command.quiet), "simulating and registering"):
        experiments = [perform(name, command.seed) for name in SCENE_NAMES]
    file = command.out / "one_scan.svg"
    write_text(file, picture(experiments))
    _print(show.console(sys.stdout, quiet=command.quiet), experiments)
    print(file)
    return 0 if all(experiment.result.status.ok for experiment in experiments) else NOT_OK


def _print(console: Console, experiments: list[Experiment]) -> None:
    """Print errors against sigmas, and what each result says of itself."""
    console.print(
        f"simulated LiDAR with {NUM_RINGS} rings and {1e3 * RANGE_NOISE_M:.0f} mm range noise; "
        f"guess good to {1e3 * PRIOR_STD_M:.0f} mm and {PRIOR_STD_DEG:.0f} deg"
    )
    console.print()
    console.print(_table(experiments))
    low, high = NEES_RANGE
    console.print(f"NEES: 6 is expected, and {low} to {high} in 95 of 100 runs")
    console.print()
    for experiment in experiments:
        status = experiment.result.status
        console.print(f"{experiment.title}: {status.name}", style="green" if status.ok else "red")
        for weak in experiment.result.weak_directions:
            console.print(f"  weak: {weak_direction_in_words(weak)}", style="yellow")
    console.print()


def _table(experiments: list[Experiment]) -> Table:
    """Return a row per axis, and error and sigma for each scene."""
    table = show.plain_table()
    table.add_column("")
    for experiment in experiments:
        table.add_column(f"{experiment.title}: error", justify="right")
        table.add_column("sigma", justify="right")
    for index, axis in enumerate(TANGENT_AXES):
        cells: list[str] = []
        for experiment in experiments:
            cells.append(tangent_in_words(index, experiment.error[index]))
            cells.append(tangent_in_words(index, experiment.result.sigmas[index]))
        table.add_row(axis, *cells)
    table.add_row("NEES", *_spread(f"{experiment.nees:.1f}" for experiment in experiments))
    table.add_row("time", *_spread(time_in_words(experiment.seconds) for experiment in experiments))
    return table


def _spread(values: Iterable[str]) -> list[str]:
    """Return one value per scene, each followed by an empty cell."""
    return [cell for value in values for cell in (value, "")]
