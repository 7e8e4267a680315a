# SPDX-License-Identifier: MIT
"""The first run on a machine: compile everything in other processes, then begin.

Several processes compile in less time than one. And machine code that was kept rounds a little
differently from the same code in the process that has just compiled it: a run that begins with kept
code gives the same bits as all later ones.
"""

import os
import subprocess
import sys
from typing import Any

from rich.console import Console

from svnicp.cli.progress import COMPILING


def is_compiled() -> bool:
    """Whether machine code of map, registration and filter is kept on this machine."""
    from svnicp.kernels.deskew import deskew_some  # noqa: PLC0415
    from svnicp.kernels.inertial import navigate  # noqa: PLC0415
    from svnicp.kernels.plane_sums import add_planes  # noqa: PLC0415
    from svnicp.kernels.voxel_insert import add_in_stripes  # noqa: PLC0415

    return all(_is_kept(each) for each in (deskew_some, navigate, add_planes, add_in_stripes))


def compile_first(console: Console, preset: str | None) -> None:
    """Let other processes compile what odometry needs, unless that was done before.

    If they fail, nothing is lost: whatever is missing is compiled when it is used.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0" or is_compiled():
        return
    words = ["-m", "svnicp", "warmup", "--quiet", "--preset", preset or "default"]
    with console.status(f"{COMPILING} ..."):
        if not console.is_terminal:
            console.print(f"{COMPILING} ...")
        subprocess.run([sys.executable, *words], check=False)


def _is_kept(kernel: Any) -> bool:  # noqa: ANN401
    """Whether a compiled function has something in its cache."""
    return bool(kernel._cache._cache_file._load_index())
