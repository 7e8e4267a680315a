# SPDX-License-Identifier: MIT
"""``svnicp calibrate``: its options; the work is in ``calibrate_work``."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from svnicp.cli.arguments import UsageError, option, parse

DESCRIPTION = """\
Fit what cannot be known a priori: how many points a scan is worth, a temperature for translation
and one for rotation, and how much error the map takes over. Fitted are training seeds of training
scenarios by a proper score; the values go into a YAML file for --config of svnicp run and svnicp
study. Jobs are kept, so that an interrupted calibration goes on. Needs: pip install
"svnicp[studies]".

examples:
  svnicp calibrate --out calibrated.yaml
  svnicp calibrate --scenarios room cave --seeds 2 --out small.yaml
  svnicp study calibration --config calibrated.yaml --preset default
"""


@dataclass(frozen=True, kw_only=True)
class CalibrateCommand:
    """What ``svnicp calibrate`` is asked to do."""

    scenarios: Annotated[tuple[str, ...], option("NAMES")] = ()
    """Scenarios to fit on; the training scenarios if left out."""
    seeds: Annotated[int, option("N")] = 2
    """Training seeds of each scenario."""
    duration: Annotated[float | None, option("S")] = None
    """Seconds to simulate of each; its short run if left out."""
    config: Annotated[Path | None, option("FILE")] = None
    """YAML file to start from, instead of the default preset."""
    out: Annotated[Path, option("FILE")] = Path("calibrated.yaml")
    """YAML file for all parameters, the fitted ones among them."""
    jobs: Annotated[Path | None, option("DIR")] = None
    """Folder for finished jobs; FILE.jobs beside the file if left out."""
    scheduler: Annotated[str | None, option("ADDRESS")] = None
    """Dask scheduler to use; here for this process alone; if left out, all cores."""
    sparse: Annotated[int, option("N")] = 1
    """Simulate one of so many columns of a LiDAR: faster, and not for real use."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(CalibrateCommand, "svnicp calibrate", DESCRIPTION, words)
    if command.seeds < 1 or command.sparse < 1:
        raise UsageError("--seeds and --sparse must be at least 1.")
    from svnicp.cli.calibrate_work import calibrate  # noqa: PLC0415

    return calibrate(command, shlex.join(["svnicp", "calibrate", *words]))
