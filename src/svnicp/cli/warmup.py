# SPDX-License-Identifier: MIT
"""``svnicp warmup``: compile all that a robot needs, before it needs it."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from svnicp.cli import show
from svnicp.cli.arguments import option, parse

if TYPE_CHECKING:
    from svnicp.config import Config

DESCRIPTION = """\
Compile everything that `svnicp register`, `svnicp run` and `svnicp live` use, and keep it: the next
start on this machine compiles nothing. Worth a line in a robot's installation or a container's
build. The machine code is kept beside the package, or where NUMBA_CACHE_DIR says.

examples:
  svnicp warmup
  svnicp warmup --preset paper
  NUMBA_CACHE_DIR=/var/cache svnicp warmup --quiet
"""

MAP = "map"
"""The first part: it tells whether there is anything to compile."""


@dataclass(frozen=True, kw_only=True)
class WarmupCommand:
    """What ``svnicp warmup`` is asked to do."""

    preset: Annotated[str, option("NAME")] = "default"
    """Parameters that will be used."""
    quiet: Annotated[bool, option()] = False
    """Print nothing but errors and warnings."""
    debug: Annotated[bool, option()] = False
    """Show the traceback of an error."""


def main(words: Sequence[str]) -> int:
    """Run the command with the words after its name; returns the exit code."""
    command = parse(WarmupCommand, "svnicp warmup", DESCRIPTION, words)
    began = time.perf_counter()
    from svnicp.cli.parameters import preset_or_file  # noqa: PLC0415
    from svnicp.cli.progress import patience  # noqa: PLC0415

    config = preset_or_file(command.preset, None)
    console = show.console(sys.stdout, quiet=command.quiet)
    told = show.console(sys.stderr, quiet=command.quiet)
    with ExitStack() as stack, patience(told, "warming up") as watch:
        for name, action in _parts(config):
            start, compiled = time.perf_counter(), watch.seconds
            action()
            seconds, compiling = time.perf_counter() - start, watch.seconds - compiled
            console.print(f"{name:24} {seconds:6.1f} s, of which compiling {compiling:6.1f} s")
            if name == MAP and compiling > 0.0:
                stack.enter_context(_helper())
    whole = time.perf_counter() - began
    if watch.seconds == 0.0:
        console.print(f"everything was compiled already ({whole:.1f} s)")
    else:
        console.print(f"compiled and kept ({whole:.1f} s); the next start compiles nothing")
    return 0


@contextmanager
def _helper() -> Iterator[None]:
    """Another process compiles what this one will need last; it does not outlive the block."""
    program = "from svnicp.live.warm_up import warm_up_matching; warm_up_matching()"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
    try:
        yield
        process.wait()
    finally:
        process.kill()
        process.wait()


def _parts(config: "Config") -> list[tuple[str, Callable[[], object]]]:
    """What is warmed up, in this order, each with its name."""
    import numpy as np  # noqa: PLC0415

    from svnicp.data.imu_noise import ImuNoise  # noqa: PLC0415
    from svnicp.data.imu_noise_of_dataset import GENERIC  # noqa: PLC0415
    from svnicp.live.warm_up import scan_of_room, warm_up  # noqa: PLC0415
    from svnicp.local_map import VoxelMap  # noqa: PLC0415
    from svnicp.registration import register  # noqa: PLC0415

    rng = np.random.default_rng(0)
    source, target = scan_of_room(0, rng).points, scan_of_room(0, rng).points
    imu = ImuNoise.model(GENERIC)
    return [
        (MAP, lambda: VoxelMap(config).insert(target)),
        ("registration", lambda: register(source, target, config=config)),
        ("LiDAR odometry", lambda: warm_up(config, None, lambda _: None)),
        ("LiDAR-inertial odometry", lambda: warm_up(config, imu, lambda _: None)),
    ]
