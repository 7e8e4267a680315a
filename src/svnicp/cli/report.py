# SPDX-License-Identifier: MIT
"""``svnicp report``: a run as one HTML page to look at, to send, and to print."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from svnicp.cli.arguments import option, parse

DESCRIPTION = """\
Write a report of a run: one HTML file that works without a network, with a summary in words, the
map from above, sigma and true error of each axis over time, what the filter did, calibration, time
per stage, and how to make the run again. Needs plotly: pip install "svnicp[report]". --picture
writes the way and its uncertainty as one small SVG besides.

examples:
  svnicp report out/corridor
  svnicp report out/corridor --out corridor.html --ground-truth truth.tum
  svnicp report out/corridor --picture corridor.svg
"""


@dataclass(frozen=True, kw_only=True)
class ReportCommand:
    """What ``svnicp report`` is asked to do."""

    run: Annotated[Path, tyro.conf.Positional, option("RUN")]
    """Folder of a run, as svnicp run writes it."""
    out: Annotated[Path | None, option("FILE")] = None
    """File to write; report.html in the folder of the run if left out."""
    picture: Annotated[Path | None, option("FILE")] = None
    """Write the run as one picture, too: the way from above, sigma along and across it (SVG)."""
    ground_truth: Annotated[Path | None, option("FILE")] = None
    """True trajectory of the body: TUM or csv; the one in the run's folder if left out."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    return _run(parse(ReportCommand, "svnicp report", DESCRIPTION, words))


def _run(command: ReportCommand) -> int:
    """Read, write, and say how to look at it."""
    from svnicp.cli import show  # noqa: PLC0415
    from svnicp.cli.output_files import check_writable, write_text  # noqa: PLC0415
    from svnicp.cli.progress import patience  # noqa: PLC0415
    from svnicp.data.trajectory_files import read_trajectory  # noqa: PLC0415
    from svnicp.errors import DatasetError, InputError  # noqa: PLC0415
    from svnicp.recording.run_files import REPORT  # noqa: PLC0415
    from svnicp.report.page import page, plotly_script  # noqa: PLC0415
    from svnicp.report.picture import run_picture  # noqa: PLC0415
    from svnicp.report.run_series import read_series  # noqa: PLC0415

    if not command.run.is_dir():
        raise DatasetError(f"{command.run}: there is no such folder; name the folder of a run.")
    path = command.run / REPORT if command.out is None else command.out
    if command.picture is not None and command.picture.suffix.lower() != ".svg":
        raise InputError(f"{command.picture}: the picture is an SVG; let its name end with .svg.")
    for file in filter(None, (path, command.picture)):
        check_writable(file)
    plotly = plotly_script()
    told = show.console(sys.stderr, quiet=command.quiet)
    with patience(told, "writing the report"):
        truth = None if command.ground_truth is None else read_trajectory(command.ground_truth)
        series = read_series(command.run, truth)
        write_text(path, page(series, plotly))
        if command.picture is not None:
            write_text(command.picture, run_picture(series))
    out = show.console(sys.stdout, quiet=command.quiet)
    out.print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if command.picture is not None:
        out.print(str(command.picture))
    out.print(f"open it with: {opener()} {shlex.quote(str(path))}")
    return 0


def opener() -> str:
    """Return the command that opens a file here."""
    return {"darwin": "open", "win32": "start"}.get(sys.platform, "xdg-open")
