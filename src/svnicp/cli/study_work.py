# SPDX-License-Identifier: MIT
"""The work of ``svnicp study``: run what is missing, write tables and figures, say where they are.

The exit code is 3 when a job failed, whose cells are empty then, and 130 after Ctrl-C or 143 after
SIGTERM, after which the same command goes on.
"""

import sys
from collections.abc import Sequence

from rich.console import Console

from svnicp.cli import exit_codes, show
from svnicp.cli.output_files import make_folder
from svnicp.cli.run_loop import stop_on_interrupt
from svnicp.cli.study import StudyCommand
from svnicp.cli.study_progress import StudyProgress
from svnicp.config import Config
from svnicp.extras import require
from svnicp.simulation.scenarios import scenario
from svnicp.studies.engine import run_jobs
from svnicp.studies.job import Job
from svnicp.studies.output import write_study
from svnicp.studies.peer_drive import installed_peers
from svnicp.studies.plan import Plan
from svnicp.studies.registry import STUDIES
from svnicp.studies.results_page import results_page
from svnicp.studies.source import recording
from svnicp.studies.store import Results, Store
from svnicp.studies.tables import Table, cell_text

WIDEST = 8
"""Columns of a table that are shown on the screen at most."""


def study(command: StudyCommand, command_line: str) -> int:
    """Run a study; returns the exit code."""
    require("evo", "studies", "A study")
    require("matplotlib", "studies", "A study")
    told = show.console(sys.stderr, quiet=command.quiet)
    plan, chosen = plan_of(command), STUDIES[command.study]
    make_folder(command.out)
    store = Store(command.out / "jobs")
    jobs = list({job.key: job for job in chosen.jobs(plan)}.values())
    if command.again:
        for job in jobs:
            store.path(job).unlink(missing_ok=True)
    try:
        failed = run_all(jobs, store, told, command.scheduler, command_line)
    except exit_codes.Stopped as stopped:
        return stopped.code
    results = Results(store, failed)
    tables, paths = write_study(command.out / chosen.name, chosen, plan, results, command_line)
    out = show.console(sys.stdout, quiet=command.quiet)
    for table in tables:
        show_table(out, table)
    told.print(f"\n{command.out / chosen.name}: {', '.join(path.name for path in paths)}")
    return exit_codes.NOT_OK if failed else 0


def run_all(
    jobs: Sequence[Job], store: Store, told: Console, scheduler: str | None, command_line: str
) -> dict[str, str]:
    """Run the jobs that are missing; returns those that failed, or raises Stopped."""
    missing = store.missing(jobs)
    told.print(f"{len(jobs)} jobs, {len(jobs) - len(missing)} of them finished")
    with stop_on_interrupt() as stop, StudyProgress(told, len(missing), stop) as bar:
        try:
            return run_jobs(missing, store, bar, scheduler)
        except KeyboardInterrupt:
            told.print(f"interrupted; go on with: {command_line}", style="yellow")
            raise exit_codes.Stopped(stop.code) from None


def plan_of(command: StudyCommand) -> Plan:
    """What the options ask for."""
    presets = ("default", "paper") if command.preset == "both" else (command.preset,)
    for name in command.scenarios:
        scenario(name)
    return Plan(
        presets=presets, quick=command.quick, num_seeds=command.seeds,
        recordings=tuple(recording(path) for path in command.data),
        own=None if command.config is None else Config.from_yaml(command.config),
        peers=() if command.no_peers else tuple(installed_peers()),
        scenarios=command.scenarios,
    )  # fmt: skip


def report(command: StudyCommand) -> int:
    """Write the page of all studies in a folder; returns the exit code."""
    assert command.folder is not None
    to = command.to if command.to is not None else command.folder / "results.md"
    names = results_page(command.folder, to)
    told = show.console(sys.stderr, quiet=command.quiet)
    told.print(f"{to}: {', '.join(names)}")
    return 0


def show_table(out: Console, table: Table) -> None:
    """Print a table, or the first columns of a wide one."""
    out.print(f"\n{table.title}", style="bold")
    shown = show.plain_table()
    columns = table.columns[:WIDEST]
    for name in columns:
        numbers = not any(isinstance(row.get(name), str) for row in table.rows)
        shown.add_column(name, justify="right" if numbers else "left")
    for row in table.rows:
        shown.add_row(*(_ascii(cell_text(row.get(name))) for name in columns))
    out.print(shown)


def _ascii(text: str) -> str:
    return text.replace("–", "-").replace("σ", " sigma")
