# SPDX-License-Identifier: MIT
"""The most memory that a process has used so far.

``getrusage`` will not do: on Linux a new program inherits the peak of the one that started it. The
kernel's ``VmHWM`` belongs to the program alone.
"""

import sys
from pathlib import Path


def peak_bytes(process: int | str = "self") -> int | None:
    """Most resident memory of a process so far [bytes]; None where nothing tells it.

    Parameters
    ----------
    process
        Its number, or this one.
    """
    status = Path(f"/proc/{process}/status")
    try:
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # not Linux, or the process is gone
        return _by_getrusage() if process == "self" and sys.platform != "win32" else None
    sizes = [1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return sizes[0] if sizes else None


def _by_getrusage() -> int:
    """Peak of this process where there is no /proc; macOS counts in bytes."""
    import resource  # noqa: PLC0415

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
