# SPDX-License-Identifier: MIT
"""``svnicp study``: its options; the work is in ``study_work``."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from svnicp.cli.arguments import UsageError, option, parse

DESCRIPTION = """\
The paper's experiments on simulated scenarios, or on recordings. Work is cut into small jobs that
run on all cores and are kept one by one, so that an interrupted study goes on when the same command
is given again, and studies share what they have in common. Tables come as Markdown, CSV and JSON
with intervals, figures as PNG and SVG. Needs: pip install "svnicp[studies]".

studies:
  table1       SubT-MRS rows: APE, RPE, time of all variants and of peers
  table2       GEODE rows: APE
  filters      with an IMU: estimated noise, fixed noise, and the IMU alone
  ablation     1 to 100 particles, SVGD and SVN: APE, time, iterations, KL, NNE
  kl-nne       Censi, COV-3D, SVGD, SVN and filters against Monte Carlo
  figures      the paper's figures
  claims       every claim of the paper: holds, or not, with the number
  calibration  whether covariances keep their word, beside the baselines
  absolute     whether ends of runs lie inside the absolute covariance
  split-half   halves of scans against each other: for recordings without truth
  modes        particles where the posterior has several modes
  faults       sensors, clocks, disks and power that fail: what happens then
  report       results.md from all studies in a folder

examples:
  svnicp study claims --quick
  svnicp study calibration --preset default --seeds 5 --out out/studies
  svnicp study table1 --data corridor.bag --preset default
  svnicp study split-half --data street.mcap --preset default
  svnicp study report out/studies --to docs/results.md
"""

Name = Literal[
    "table1", "table2", "filters", "ablation", "kl-nne", "figures", "claims", "calibration",
    "absolute", "split-half", "modes", "faults", "report",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StudyCommand:
    """What ``svnicp study`` is asked to do."""

    study: Annotated[Name, tyro.conf.Positional, option("STUDY")]
    """Which one: table1, table2, filters, ablation, kl-nne, figures, claims, calibration,
    absolute, split-half, modes, faults; or report."""
    folder: Annotated[Path | None, tyro.conf.Positional, option("OUT")] = None
    """Folder of the studies; only for report."""
    preset: Annotated[Literal["default", "paper", "both"], option("NAME")] = "both"
    """Parameters: default, paper, or both."""
    config: Annotated[Path | None, option("FILE")] = None
    """YAML file that replaces the default preset, such as one of svnicp calibrate."""
    quick: Annotated[bool, option()] = False
    """Few scenarios, one seed, a few seconds each: to see that everything works."""
    seeds: Annotated[int | None, option("N")] = None
    """Test seeds of every scenario."""
    scenarios: Annotated[tuple[str, ...], option("NAMES")] = ()
    """Other scenarios than the study's own."""
    data: Annotated[tuple[Path, ...], option("DATA")] = ()
    """Recordings instead of scenarios; for table1, table2 and split-half."""
    out: Annotated[Path, option("DIR")] = Path("svnicp-study")
    """Folder for jobs, tables and figures."""
    to: Annotated[Path | None, option("FILE")] = None
    """Where the report goes; results.md in the folder if left out."""
    scheduler: Annotated[str | None, option("ADDRESS")] = None
    """Dask scheduler to use, such as tcp://10.0.0.1:8786; here for this process alone; if left
    out, a process for each core of this machine."""
    no_peers: Annotated[bool, option()] = False
    """Leave other odometry out of the tables."""
    again: Annotated[bool, option()] = False
    """Run jobs again that are finished."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(StudyCommand, "svnicp study", DESCRIPTION, words)
    for message in contradictions(command):
        raise UsageError(message)
    from svnicp.cli.study_work import report, study  # noqa: PLC0415

    if command.study == "report":
        return report(command)
    return study(command, shlex.join(["svnicp", "study", *words]))


def contradictions(command: StudyCommand) -> list[str]:
    """Sentences about options that do not go together, or cannot be."""
    is_report = command.study == "report"
    checks = {
        "name the folder of the studies: svnicp study report OUT.": (
            is_report and command.folder is None
        ),
        f"a folder is only for report; use --out {command.folder}.": (
            not is_report and command.folder is not None
        ),
        "--data is for table1, table2 and split-half; the others need exact truth.": (
            bool(command.data) and command.study not in {"table1", "table2", "split-half"}
        ),
        "give --data or --scenarios, not both.": bool(command.data) and bool(command.scenarios),
        "--seeds must be at least 1.": command.seeds is not None and command.seeds < 1,
        "--to is only for report.": command.to is not None and not is_report,
        "--config replaces the default preset, and --preset paper leaves that out.": (
            command.config is not None and command.preset == "paper"
        ),
    }
    return [message for message, wrong in checks.items() if wrong]
