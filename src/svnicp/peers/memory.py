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
    try:
        for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except (OSError, UnicodeDecodeError):
        pass_on = process == "self" and sys.platform != "win32"
        return _by_getrusage() if pass_on else None
    return None


def _by_getrusage() -> int:
    """Peak of this process where there is no /proc; macOS counts in bytes."""
    import resource  # noqa: PLC0415

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
