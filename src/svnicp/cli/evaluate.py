# SPDX-License-Identifier: MIT
"""``svnicp evaluate``: a run against the truth: errors by evo, and whether its sigmas hold."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from svnicp import __version__
from svnicp.cli.arguments import UsageError, option, parse

DESCRIPTION = """\
Compare a run with the truth: absolute and relative pose errors by evo (the numbers of evo_ape and
evo_rpe on the same files), the error at the end, and how the errors compare with the sigmas that
the run stated. Needs evo: pip install "svnicp[evaluation]".

examples:
  svnicp evaluate out/corridor
  svnicp evaluate out/corridor --ground-truth truth.tum --json -
  svnicp evaluate poses.tum --ground-truth truth.tum
"""


@dataclass(frozen=True, kw_only=True)
class EvaluateCommand:
    """What ``svnicp evaluate`` is asked to do."""

    run: Annotated[Path, tyro.conf.Positional, option("RUN")]
    """Folder of a run, or a bare TUM file."""
    ground_truth: Annotated[Path | None, option("FILE")] = None
    """True trajectory of the body: TUM or csv; the one in the run's folder if left out."""
    json: Annotated[str | None, option("FILE")] = None
    """Write everything to this file; - is standard output, with nothing else on it."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    return _run(parse(EvaluateCommand, "svnicp evaluate", DESCRIPTION, words))


def _run(command: EvaluateCommand) -> int:
    """Read, compare, write and print."""
    from svnicp.cli import show  # noqa: PLC0415
    from svnicp.cli.evaluate_tables import show_evaluation  # noqa: PLC0415
    from svnicp.cli.json_target import JsonTarget  # noqa: PLC0415
    from svnicp.data.trajectory_files import read_trajectory  # noqa: PLC0415
    from svnicp.evaluation import evaluate, read_run  # noqa: PLC0415
    from svnicp.evaluation.truth_file import read_truth  # noqa: PLC0415

    target = JsonTarget(command.json)
    record = read_run(command.run)
    if command.ground_truth is not None:
        evaluation = evaluate(record, read_trajectory(command.ground_truth))
    else:
        truth = read_truth(command.run) if command.run.is_dir() else None
        if truth is None:
            raise UsageError(f"{command.run} has no ground truth with it; give --ground-truth.")
        evaluation = evaluate(record, truth.trajectory, truth.T_body_truth)
    if target.wanted:
        content = {"svnicp": __version__, "run": str(command.run), **asdict(evaluation)}
        target.write(json.dumps(content, allow_nan=False, indent=1) + "\n")
    show_evaluation(show.console(target.words_to, quiet=command.quiet), evaluation)
    return 0
