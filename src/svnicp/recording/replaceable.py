# SPDX-License-Identifier: MIT
"""What a recording may be written over: nothing that could be anything else.

A file replaces only a file, and a folder only a folder in which every entry has a name that
`svnicp.recording.write_dataset` gives, with the mark that it wrote it; all else is refused.
"""

import re
from pathlib import Path

from svnicp.data.folders.kitti_notes import NOTES_NAME
from svnicp.errors import InputError

KITTI_NAMES = {"velodyne", "times.txt", "calib.txt", "poses.txt", NOTES_NAME}
KITTI_SCAN = re.compile(r"\d{6,}\.bin")


def check_replaceable(path: Path, *, is_folder: bool, overwrite: bool) -> None:
    """Refuse a path at which a recording, or a file beside it, must not be put.

    Parameters
    ----------
    path
        Where it is to be written.
    is_folder
        Whether a folder is to be written, rather than a file.
    overwrite
        Whether a recording that is there may be replaced.

    Raises
    ------
    InputError
        If something is there that must stay, or there is no folder to write into.
    """
    if not path.exists():
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}; create it first.")
        return
    if not overwrite:
        raise InputError(
            f"{path}: it exists already; choose another name, or replace it by overwrite=True."
        )
    if not is_folder and not path.is_file():
        raise InputError(
            f"{path}: this is no file, so a file cannot replace it; choose another name."
        )
    if is_folder and not (path.is_dir() and _is_ours(path)):
        raise InputError(
            f"{path}: it is not a folder that only holds a recording written by svnicp, so it is "
            "not replaced; choose another name, or delete it yourself."
        )


def _is_ours(folder: Path) -> bool:
    """Whether a folder is empty, or holds only what is written for KITTI or as a ROS 2 bag."""
    names = {entry.name for entry in folder.iterdir()}
    if not names:
        return True
    bag = {f"{folder.resolve().name}.db3", f"{folder.resolve().name}.mcap"}
    if "metadata.yaml" in names and names & bag:
        return names <= {"metadata.yaml", *bag}
    scans = folder / "velodyne"
    return (
        NOTES_NAME in names
        and names <= KITTI_NAMES
        and scans.is_dir()
        and all(KITTI_SCAN.fullmatch(entry.name) for entry in scans.iterdir())
    )
