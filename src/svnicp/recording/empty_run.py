# SPDX-License-Identifier: MIT
"""Whether the folder of a run holds nothing that could be missed.

A run that fails before its first pose (wrong options, data that cannot be read) leaves a folder
whose files have only their headers. The next run may take their place without being told to; a file
that has more in it, or that the run would not have written, keeps the folder closed.
"""

from collections.abc import Sequence
from pathlib import Path

from svnicp.errors import DatasetError
from svnicp.recording import particle_file
from svnicp.recording.mcap_log import has_steps
from svnicp.recording.mcap_records import Topic
from svnicp.recording.run_description import FILE_NAME, RUNNING, RunDescription, read_description
from svnicp.recording.run_files import HEADERS, IMU_RATE, MAP_PART, MCAP, TRUTH


def ended_without_a_pose(folder: Path, taken: Sequence[Path], topics: Sequence[Topic]) -> bool:
    """Whether a run in a folder has ended, and its files hold no pose and nothing else.

    Parameters
    ----------
    folder
        The folder of the run.
    taken
        The files in it that have the names of a run's files.
    topics
        Topics of its odometry.mcap.
    """
    try:
        description = read_description(folder)
    except DatasetError:
        return False
    if description.state == RUNNING or description.num_scans > 0:
        return False  # "running" may be true: a run that compiles has no pose yet
    return all(file.is_file() and _says_nothing(file, description, topics) for file in taken)


def _says_nothing(file: Path, description: RunDescription, topics: Sequence[Topic]) -> bool:
    """Whether a file has only what every run starts with."""
    if file.name in HEADERS:
        return file.read_bytes() == HEADERS[file.name].encode()
    if file.name in {IMU_RATE, MAP_PART, particle_file.PART_NAME}:
        return file.stat().st_size == 0
    if file.name == MCAP:
        return not has_steps(file, topics)
    if file.name == particle_file.NPZ_NAME:
        return _no_particles(file.parent)
    if file.name == TRUTH:  # a copy of what came with the data, or put there by hand
        return description.more.get("truth") is not None
    return file.name == FILE_NAME


def _no_particles(folder: Path) -> bool:
    """Whether the particles of a run can be read, and are none."""
    try:
        return len(particle_file.read_particles(folder).stamps_ns) == 0
    except DatasetError:
        return False
