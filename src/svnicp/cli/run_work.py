# SPDX-License-Identifier: MIT
"""The work of ``svnicp run``: set up, go through the data, sum up, compare with the truth.

The loop is in ``run_loop``, what is printed in ``run_summary`` and ``evaluate_tables``. The exit
code is 3 when most scans could not be used, 130 after Ctrl-C, and 143 after SIGTERM.
"""

import dataclasses
import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from svnicp import __version__
from svnicp.cli import exit_codes, show
from svnicp.cli.evaluate_tables import show_evaluation
from svnicp.cli.first_use import compile_first
from svnicp.cli.json_target import JsonTarget
from svnicp.cli.run import RunCommand
from svnicp.cli.run_folder_state import can_go_on
from svnicp.cli.run_inputs import RunInputs, default_folder, run_inputs
from svnicp.cli.run_loop import Listener, Session, stop_on_interrupt
from svnicp.cli.run_progress import RunProgress
from svnicp.cli.run_summary import RunSummary, summarise, summary_table
from svnicp.cli.run_view import hold, viewing
from svnicp.errors import DatasetError, SvnicpError
from svnicp.evaluation import Evaluation, RunRecord, evaluate, read_run
from svnicp.evaluation.truth_file import write_truth
from svnicp.recording import RunDescription, read_description
from svnicp.recording.run_description import FINISHED, INTERRUPTED


@dataclass(frozen=True, eq=False)
class Ran:
    """A run that has ended, by itself or by a signal; its files are closed."""

    path: Path
    """Its folder."""
    finished: bool
    stop_code: int
    """Exit code if it is not finished."""
    num_scans: int
    """Scans that were read."""
    num_estimates: int
    without_estimate: dict[str, int]
    """Scans without one, by the reason."""
    voxel_size_m: float
    slowed_ns: Collection[int]
    """Stamps of the scans during which something was compiled [ns]."""
    compile_s: float


def run(command: RunCommand, command_line: str) -> int:
    """Run odometry over the data; returns the exit code."""
    target = JsonTarget(command.json)
    told = show.console(sys.stderr, quiet=command.quiet)
    inputs = run_inputs(command)
    with viewing(command, inputs, told) as listeners:
        ran = perform(command, inputs, command_line, told, listeners)
        if not ran.finished:
            told.print(f"interrupted; go on with: {command_line} --resume", style="yellow")
        if ran.num_estimates == 0:
            return nothing_to_show(inputs, ran)
        code = _tell(command, inputs, ran, told, target)
        if code != exit_codes.TERMINATED:
            hold(listeners, told)
        return code


def _tell(
    command: RunCommand, inputs: RunInputs, ran: Ran, told: Console, target: JsonTarget
) -> int:
    """Sum up a run, compare it with the truth, and write what was asked for."""
    record = read_run(ran.path)
    summary = summarise(record, ran.slowed_ns, ran.without_estimate)
    out = show.console(target.words_to, quiet=command.quiet)
    chosen = " (chosen by the first scan)" if inputs.config.odometry.auto_voxel else ""
    voxels = f"voxels of {ran.voxel_size_m:.2g} m{chosen}"
    out.print(summary_table(summary, inputs.imu_words, voxels, ran.compile_s))
    evaluation = _compare(inputs, record, out, told)
    out.print(f"\n{ran.path}: {', '.join(sorted(_files(ran.path)))}", soft_wrap=False)
    if target.wanted:
        target.write(document(ran.path, summary, evaluation))
    return exit_code(ran, summary, told)


def perform(
    command: RunCommand,
    inputs: RunInputs,
    command_line: str,
    told: Console,
    listeners: Sequence[Listener] = (),
) -> Ran:
    """Go through the data, with a bar, and write the files of the run."""
    path = command.out if command.out is not None else default_folder(inputs.dataset)
    compile_first(told, command.preset)
    description = inputs.description(command, command_line)
    with stop_on_interrupt() as stop, _session(path, command, inputs, description, told) as session:
        session.listeners = listeners
        if session.progress.num_scans == 0:
            write_truth(path, inputs.truth)
        bar = RunProgress(told, inputs, command.max_scans, session.progress.num_scans)
        with bar:
            finished = session.go(inputs, bar, stop, command.max_scans, command.save_every)
        session.close(FINISHED if finished else INTERRUPTED)
    return Ran(
        path=path,
        finished=finished,
        stop_code=stop.code,
        num_scans=session.progress.num_scans,
        num_estimates=session.progress.num_estimates,
        without_estimate=session.odometry.without_estimate,
        voxel_size_m=session.odometry.config.map.voxel_size_m,
        slowed_ns=bar.slowed_ns,
        compile_s=bar.watch.seconds,
    )


def exit_code(ran: Ran, summary: RunSummary, told: Console) -> int:
    """Return how a run ended; a lost one is told about."""
    if not ran.finished:
        return ran.stop_code
    if summary.lost:
        told.print("lost: most scans could not be used; scans.csv says why", style="bold red")
    return exit_codes.NOT_OK if summary.lost else 0


def document(path: Path, summary: RunSummary, evaluation: Evaluation | None) -> str:
    """Return the JSON text of a run in a folder."""
    described = read_description(path)
    content = {
        "svnicp": __version__,
        "data": described.data,
        "command": described.command,
        "folder": str(path),
        "state": described.state,
        **dataclasses.asdict(summary),
        "evaluation": None if evaluation is None else dataclasses.asdict(evaluation),
        "seed": described.seed,
        "imu": described.more.get("imu"),
        "config": described.config,
        "files": sorted(_files(path)),
    }
    return json.dumps(content, allow_nan=False, indent=1) + "\n"


def _session(
    path: Path,
    command: RunCommand,
    inputs: RunInputs,
    description: RunDescription,
    told: Console,
) -> Session:
    """Begin a run, or go on with one."""
    if command.resume:
        if can_go_on(path, description):
            return Session.resume(
                path, inputs, description, with_map=command.map, imu_rate=command.imu_rate
            )
        told.print(f"nothing to resume in {path}: starting from the beginning")
    return Session.start(
        path, inputs, description, overwrite=command.overwrite or command.resume,
        particles=command.keep_particles, with_map=command.map, imu_rate=command.imu_rate,
    )  # fmt: skip


def _compare(
    inputs: RunInputs, record: RunRecord, out: Console, told: Console
) -> Evaluation | None:
    """Compare with the truth where it is known; what keeps from it is told, and no failure."""
    if inputs.truth is None:
        return None
    try:
        evaluation = evaluate(record, inputs.truth.trajectory, inputs.truth.T_body_truth)
    except SvnicpError as error:
        told.print(f"not compared with the ground truth: {error}", style="yellow")
        return None
    out.print()
    show_evaluation(out, evaluation)
    return evaluation


def nothing_to_show(inputs: RunInputs, ran: Ran) -> int:
    """End a run that gave no estimate."""
    if not ran.finished:
        return ran.stop_code
    name = inputs.dataset.name
    if ran.num_scans == 0:
        raise DatasetError(f"{name}: there is no scan in it; svnicp info shows what there is.")
    if ran.without_estimate.get("without_points", 0) == ran.num_scans:
        config = inputs.config.preprocess
        raise DatasetError(
            f"{name}: none of its {ran.num_scans} scans has enough points from "
            f"{config.min_range_m:g} to {config.max_range_m:g} m to begin a map; svnicp info shows "
            "their ranges, and --set preprocess.max_range_m another limit."
        )
    raise DatasetError(
        f"{name}: the filter did not start within its {ran.num_scans} scans, because the IMU's "
        "readings do not reach far enough; use more scans or --no-imu."
    )


def _files(path: Path) -> list[str]:
    """Names of the files in the folder of a run."""
    return [file.name for file in path.iterdir() if not file.name.startswith(".")]
