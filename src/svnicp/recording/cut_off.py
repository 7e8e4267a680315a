# SPDX-License-Identifier: MIT
"""Which lines of the text files are kept when a run is gone on with: later scans are cut off."""

from collections.abc import Callable
from pathlib import Path

from svnicp.data.stamps import NS_PER_S, parse_number, to_ns
from svnicp.errors import DatasetError
from svnicp.recording.run_files import IMU_RATE, KITTI, RELATIVE, TRAJECTORY


def num_poses_until(trajectory: Path, last_stamp_ns: int) -> int:
    """Return how many poses there are up to the one of a stamp, which must be there."""
    with trajectory.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n") and _tum_stamp(line) == last_stamp_ns:
                return number
    raise DatasetError(
        f"{trajectory}: there is no pose of {last_stamp_ns} ns, from which the run should go on; "
        "start it again."
    )


def line_keeper(name: str, last_stamp_ns: int, num_scans: int) -> Callable[[bytes], bool]:
    """Return what decides whether a line of a text file is kept."""
    if name == KITTI:  # no stamps: as many lines as there are poses
        lines = iter(range(num_scans))
        return lambda _: next(lines, None) is not None
    if name in {TRAJECTORY, RELATIVE, IMU_RATE}:
        return lambda line: _tum_stamp(line) <= last_stamp_ns
    return lambda line: not line[:1].isdigit() or _csv_stamp(line) <= last_stamp_ns


def _tum_stamp(line: bytes) -> int:
    """Stamp of a line of a TUM file [ns]."""
    word = (line.split() or [b""])[0].decode("ascii", errors="replace")
    value = parse_number(word)
    if value is None:
        raise DatasetError(f"{word!r} is no stamp of a pose, so the run cannot be continued.")
    return to_ns(value, NS_PER_S)


def _csv_stamp(line: bytes) -> int:
    """Stamp of a line of a table [ns]."""
    word = line.split(b",")[0].decode("ascii", errors="replace")
    if not word.strip().isdecimal():
        raise DatasetError(f"{word!r} is no stamp of a scan, so the run cannot be continued.")
    return int(word)
