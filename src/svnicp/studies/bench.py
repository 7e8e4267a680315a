# SPDX-License-Identifier: MIT
"""All measurements of time and memory as one dictionary, which is also the JSON file.

``svnicp bench`` fills it, ``bench_page`` makes documentation of it.
"""

import os
import platform
from collections.abc import Callable
from typing import Any

from svnicp.studies.bench_growth import measure_growth
from svnicp.studies.bench_peers import measure_methods
from svnicp.studies.output import versions
from svnicp.studies.soak import soak

HOUR_MINUTES = 60


def bench(num_scans: int, command: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure everything but the long run, with so many scans each."""
    return {
        **origin(command),
        "num_scans": num_scans,
        "methods": measure_methods(num_scans, tell),
        **measure_growth(num_scans, tell),
    }


def long_run(minutes: int, command: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Drive in a loop for so many minutes of simulated time."""
    return {"hour": {**origin(command), "minutes": soak(minutes, tell)}}


def origin(command: str) -> dict[str, Any]:
    """What was run where, and how busy the machine was with other work at the start."""
    return {
        "command": command,
        "versions": versions(),
        "machine": {
            "cores": os.cpu_count(),
            "processor": _processor(),
            "system": platform.system(),
            "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        },
    }


def _processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:  # noqa: PTH123
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
