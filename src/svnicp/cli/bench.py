# SPDX-License-Identifier: MIT
"""``svnicp bench``: its options, and what is measured with them."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from svnicp.cli import show
from svnicp.cli.arguments import UsageError, option, parse

DESCRIPTION = """\
How long a scan takes and how much memory, on this machine, in this run: ours as LO and LIO beside
the peers that are installed, on simulated 64 x 1024 scans at 10 Hz in a street and a corridor; by
stage; against the number of particles and points and the size of the map; with the PyTorch backend
where it is installed. Compare ratios of one run: milliseconds depend on what else runs.

examples:
  svnicp bench
  svnicp bench --json out/bench.json --page out/performance.md
  svnicp bench --quick
  svnicp bench --hour --json out/bench.json
"""
QUICK_SCANS = 25


@dataclass(frozen=True, kw_only=True)
class BenchCommand:
    """What ``svnicp bench`` is asked to do."""

    json: Annotated[Path | None, option("FILE")] = None
    """Write the numbers to this file; with --hour they are added to what is in it. - is standard
    output, with nothing else on it."""
    page: Annotated[Path | None, option("FILE")] = None
    """Write them as a page in Markdown, its figure beside it; with nothing but --json, from that
    file if it exists."""
    scans: Annotated[int, option("N")] = 100
    """Scans that every time is the mean of."""
    quick: Annotated[bool, option()] = False
    """A few scans only: to see that everything works."""
    hour: Annotated[bool, option()] = False
    """Only drive for an hour of simulated time and watch time and memory, minute by minute."""
    minutes: Annotated[int, option("N")] = 60
    """Simulated time of --hour [min]."""
    redraw: Annotated[bool, option()] = False
    """Measure nothing: make --page of the numbers in --json."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(BenchCommand, "svnicp bench", DESCRIPTION, words)
    if command.scans < QUICK_SCANS or command.minutes < 1:
        raise UsageError(f"--scans must be at least {QUICK_SCANS}, and --minutes at least 1.")
    if command.redraw and (command.json is None or command.page is None):
        raise UsageError("--redraw makes --page of the numbers in --json; give both.")
    from svnicp.cli.json_target import JsonTarget  # noqa: PLC0415
    from svnicp.cli.output_files import make_folder, write_text  # noqa: PLC0415
    from svnicp.studies.bench_page import page, tables  # noqa: PLC0415

    target = JsonTarget(None)
    if command.json is not None and not command.redraw:
        make_folder(command.json.parent)
        target = JsonTarget(str(command.json))
    numbers = _numbers(command, " ".join(["svnicp bench", *map(shlex.quote, words)]))
    target.write(json.dumps(numbers, indent=1) + "\n")
    if command.page is not None:
        make_folder(command.page.parent)
        write_text(command.page, page(numbers, command.page))
    show.console(target.words_to, quiet=command.quiet).print("\n".join(tables(numbers)))
    return 0


def _numbers(command: BenchCommand, line: str) -> dict[str, Any]:
    """What is measured, or what was."""
    known: dict[str, Any] = {}
    if command.json is not None and command.json.exists() and (command.hour or command.redraw):
        known = _known(command.json)
    if command.redraw:
        if not known:
            raise UsageError(f"there are no numbers in {command.json}; measure first.")
        return known
    from svnicp.studies.bench import bench, long_run  # noqa: PLC0415

    told = show.console(sys.stderr, quiet=command.quiet)
    if command.hour:
        return {**known, **long_run(command.minutes, line, told.print)}
    return bench(QUICK_SCANS if command.quick else command.scans, line, told.print)


def _known(path: Path) -> dict[str, Any]:
    """Numbers that were written before."""
    try:
        numbers = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        numbers = None
    if not isinstance(numbers, dict):
        raise UsageError(f"{path} has no numbers of svnicp bench; name another file for --json.")
    return numbers
