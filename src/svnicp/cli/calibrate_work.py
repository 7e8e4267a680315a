# SPDX-License-Identifier: MIT
"""The work of ``svnicp calibrate``: fit step by step, write the YAML file, show what changed."""

import sys
from collections.abc import Sequence

from rich.console import Console

from svnicp import __version__
from svnicp.cli import exit_codes, show
from svnicp.cli.calibrate import CalibrateCommand
from svnicp.cli.output_files import check_writable, make_folder, write_text
from svnicp.cli.study_work import run_all
from svnicp.config import Config
from svnicp.extras import require
from svnicp.simulation.scenarios import scenario
from svnicp.simulation.seeds import seeds
from svnicp.studies import calibrate as fits
from svnicp.studies.job import Job
from svnicp.studies.source import Source
from svnicp.studies.split import TRAINING_SCENARIOS
from svnicp.studies.store import Results, Store


def calibrate(command: CalibrateCommand, command_line: str) -> int:
    """Calibrate; returns the exit code."""
    require("evo", "studies", "A calibration")
    check_writable(command.out)
    told = show.console(sys.stderr, quiet=command.quiet)
    folder = command.jobs or command.out.with_name(f"{command.out.name}.jobs")
    make_folder(folder)
    store = Store(folder)
    start = Config.preset("default") if command.config is None else Config.from_yaml(command.config)
    sources = sources_of(command)

    def run(jobs: Sequence[Job]) -> Results:
        return Results(store, run_all(jobs, store, told, command.scheduler, command_line))

    try:
        fitted, steps = fits.calibrate(start, sources, run)
        after = fits.training_anees(fitted, sources, run)
    except exit_codes.Stopped as stopped:
        return stopped.code
    write_text(command.out, yaml_text(fitted, steps, command_line))
    _show(show.console(sys.stdout, quiet=command.quiet), steps, after)
    told.print(f"\n{command.out}: for --config of svnicp run and svnicp study")
    return 0


def sources_of(command: CalibrateCommand) -> list[Source]:
    """Training seeds of the scenarios."""
    names = command.scenarios or TRAINING_SCENARIOS
    return [
        Source(
            name=name, seed=seed, sparse=command.sparse,
            duration_s=command.duration or scenario(name).duration_s,
        )
        for name in names for seed in seeds("training", command.seeds)
    ]  # fmt: skip


def yaml_text(config: Config, steps: Sequence[fits.Fitted], command_line: str) -> str:
    """All parameters as YAML, with what was fitted in comments above."""
    lines = [f"# Made by svnicp {__version__}: {command_line}"]
    for step in steps:
        lines.append(
            f"# {step.parameter}: {step.before:g} -> {step.after:g} "
            f"(score {step.score_before:.3f} -> {step.score_after:.3f})"
        )
    return "\n".join(lines) + "\n" + config.to_yaml()


def _show(
    out: Console, steps: Sequence[fits.Fitted], after: dict[str, tuple[float, float]]
) -> None:
    """Print what was fitted, and how calibrated the steps are with it on the training seeds."""
    table = show.plain_table()
    for name in ("parameter", "before", "after", "score before", "score after"):
        table.add_column(name, justify="left" if name == "parameter" else "right")
    for step in steps:
        scores = f"{step.score_before:.3f}", f"{step.score_after:.3f}"
        table.add_row(step.parameter, f"{step.before:g}", f"{step.after:g}", *scores)
    out.print(table)
    out.print("\nANEES of steps on the training seeds, translation and rotation (1 is right):")
    for name, (translation, rotation) in after.items():
        out.print(f"  {name}: {translation:.2f}, {rotation:.2f}")
