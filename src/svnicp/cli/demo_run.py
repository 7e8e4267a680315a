# SPDX-License-Identifier: MIT
"""The work of ``svnicp demo``: the run of a minute, a peer on the same scans, a table, a report.

It is ``svnicp run``, ``svnicp compare`` and ``svnicp report`` one after the other, with a table
that is short enough for a first look. The exit code is that of the run.
"""

import shlex
import sys
from pathlib import Path

from rich.console import Console

from svnicp.cli import show
from svnicp.cli.demo import SCENARIO, DemoCommand
from svnicp.cli.demo_peer import peer_row
from svnicp.cli.demo_table import demo_table
from svnicp.cli.json_target import JsonTarget
from svnicp.cli.output_files import write_text
from svnicp.cli.progress import patience
from svnicp.cli.report import opener
from svnicp.cli.run import RunCommand
from svnicp.cli.run_inputs import run_inputs
from svnicp.cli.run_summary import summarise
from svnicp.cli.run_work import document, exit_code, nothing_to_show, perform
from svnicp.evaluation import read_run
from svnicp.extras import require
from svnicp.peers.row import Row
from svnicp.recording.run_files import REPORT
from svnicp.report.page import page, plotly_script
from svnicp.report.run_series import RunSeries, read_series
from svnicp.report.summary import summary
from svnicp.report.timing_section import total_seconds, usual_scans


def run(command: DemoCommand, command_line: str) -> int:
    """Simulate, run, compare, print and write; returns the exit code."""
    plotly, target = plotly_script(), JsonTarget(command.json)
    require("evo", "report", "The demo")
    told = show.console(sys.stderr, quiet=command.quiet)
    running, line = run_command(command)
    inputs = run_inputs(running)
    told.print(f"a simulated corridor, LiDAR and IMU; the same as: {line}")
    ran = perform(running, inputs, line, told)
    if not ran.finished:
        told.print(f"interrupted; go on with: {command_line} --resume", style="yellow")
    if ran.num_estimates == 0:
        return nothing_to_show(inputs, ran)
    if not ran.finished:
        return ran.stop_code
    beside = peer_row(inputs, told)
    with patience(told, "writing the report"):
        series = read_series(ran.path)
        write_text(ran.path / REPORT, page(series, plotly))
    ours = summarise(read_run(ran.path), ran.slowed_ns, ran.without_estimate)
    if target.wanted:
        target.write(document(ran.path, ours, series.evaluation))
    _print(show.console(target.words_to, quiet=command.quiet), series, beside)
    look = f"look at it with: {opener()} {shlex.quote(str(ran.path / REPORT))}"
    print(look, file=target.words_to)
    return exit_code(ran, ours, told)


def run_command(command: DemoCommand) -> tuple[RunCommand, str]:
    """Return the run of a demo, and the line that makes the same run without the demo."""
    running = RunCommand(
        data=(Path(SCENARIO),), out=command.out, seed=command.seed, duration=command.duration,
        map=True, overwrite=command.overwrite, resume=command.resume, quiet=command.quiet,
    )  # fmt: skip
    words = ["svnicp", "run", SCENARIO, "--seed", str(command.seed)]
    words += ["--duration", f"{command.duration:g}", "--map", "--out", str(command.out)]
    return running, shlex.join(words)


def _print(console: Console, series: RunSeries, beside: Row) -> None:
    """Print the table, what is weak, and what is missing."""
    console.print()
    console.print(demo_table(series, beside, _mean_seconds(series)))
    console.print()
    console.print(summary(series).verdict)
    if beside.note:
        console.print(f"{beside.label} is {beside.status}: {beside.note}", style="dim")
    console.print()


def _mean_seconds(series: RunSeries) -> float | None:
    """Mean time per scan [s], without those during which something was compiled."""
    if not series.scans.stages:
        return None
    whole = total_seconds(series.scans)
    return float(whole[usual_scans(whole)].mean())
