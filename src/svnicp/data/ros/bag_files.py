# SPDX-License-Identifier: MIT
"""The files of a recording: which belong together, how each can be read, and all of them as one.

A recording is a .bag, .mcap or .db3 file, a folder of split ones, or the folder of a ROS 2 bag. A
file whose index is missing or damaged is read from the front as far as it goes.
"""

import heapq
import logging
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from svnicp.data.ros.indexed_files import KINDS, SCANNERS, IndexedFile
from svnicp.data.ros.raw_message import BagFile, Contents, RawMessage, Topic
from svnicp.data.ros.scanned_files import ScannedFile
from svnicp.errors import DatasetError

logger = logging.getLogger(__name__)

SUFFIXES = (".bag", ".mcap", ".db3", ".active")
"""Endings of bag files; "drive.bag.active" is what a killed ROS 1 recorder leaves."""


OVERLAP_SHARE = 0.1
"""Share of a file that may be recorded at the same time as another: splits overlap a little."""


def is_ros_recording(path: Path) -> bool:
    """Whether a path looks like a bag file, a folder of them, or a ROS 2 bag."""
    if path.is_dir():
        return bool(_files_of(path))
    return path.suffix in SUFFIXES


def open_files(paths: Sequence[Path]) -> list[BagFile]:
    """Open the files of a recording.

    Raises
    ------
    DatasetError
        If there are none, or one cannot be read at all.
    """
    for place, path in enumerate(paths):
        if any(
            path.exists() and other.exists() and path.samefile(other) for other in paths[:place]
        ):
            raise DatasetError(f"{path} is named twice; name each file of a recording once.")
    files = [file for path in paths for file in _open(path)]
    if not files:
        raise DatasetError(f"{paths[0]} has no .bag, .mcap or .db3 file.")
    return files


def all_contents(files: Sequence[BagFile]) -> Contents:
    """Contents of all files together, topics by name."""
    counts: dict[tuple[str, str], int] = {}
    parts = [file.contents() for file in files]
    for topic in (topic for part in parts for topic in part.topics):
        key = topic.name, topic.msgtype
        counts[key] = counts.get(key, 0) + topic.num_messages
    return Contents(
        [Topic(name, msgtype, count) for (name, msgtype), count in sorted(counts.items())],
        min(part.start_ns for part in parts),
        max(part.end_ns for part in parts),
    )


def warn_of_overlap(files: Sequence[BagFile], topic: str) -> None:
    """Warn if several files have the same topic at the same time, as copies of a recording do."""
    parts = [file.contents() for file in files] if len(files) > 1 else []
    having = [part for part in parts if any(topic == other.name for other in part.topics)]
    having.sort(key=lambda part: part.start_ns)
    for before, after in pairwise(having):
        overlap_ns = min(before.end_ns, after.end_ns) - after.start_ns
        shorter_s = min(before.duration_s, after.duration_s)
        if overlap_ns > 0 and overlap_ns * 1e-9 > OVERLAP_SHARE * shorter_s:
            logger.warning(
                "Two of the %d files have %s at the same time (%.1f s of it); if they are the same "
                "recording, name only one.",
                *(len(files), topic, overlap_ns * 1e-9),
            )
            return


def all_messages(
    files: Sequence[BagFile], topics: Collection[str], since_ns: int = 0
) -> Iterator[RawMessage]:
    """Messages of some topics in all files, recorded since some time, in the order of recording."""
    streams = (file.messages(topics, since_ns) for file in files)
    return heapq.merge(*streams, key=lambda message: message.log_ns)


def _files_of(folder: Path) -> list[Path]:
    """Bag files in a folder, of the first format that there is."""
    for suffix in SUFFIXES:
        if found := sorted(folder.glob(f"*{suffix}")):
            return found
    return [folder] if (folder / "metadata.yaml").is_file() else []


def _open(path: Path) -> list[BagFile]:
    """Open one file or folder."""
    if not path.exists():
        raise DatasetError(f"{path} does not exist.")
    if path.is_dir():
        return _open_folder(path)
    if path.suffix not in SUFFIXES:
        raise DatasetError(f"{path} is not a .bag, .mcap or .db3 file.")
    return [_open_file(path)]


def _open_folder(folder: Path) -> list[BagFile]:
    """Open the folder of a ROS 2 bag as a whole, others and damaged ones file by file."""
    files = _files_of(folder)
    if (folder / "metadata.yaml").is_file():
        whole = IndexedFile(folder)
        try:
            whole.contents()
        except Exception as error:  # lz4, zstd, sqlite, yaml: each fails in its own way
            if files == [folder]:
                raise DatasetError(f"{folder} cannot be read: {_reason(error)}.") from None
            logger.warning("%s is read file by file, as %s.", folder, _reason(error))
        else:
            return [whole]
    return _open_parts(files)


def _open_parts(parts: Sequence[Path]) -> list[BagFile]:
    """Open split files one by one; some may be unreadable, but not all."""
    files: list[BagFile] = []
    errors: list[DatasetError] = []
    for part in parts:
        try:
            files.append(_open_file(part))
        except DatasetError as error:
            errors.append(error)
    if errors and not files:
        raise errors[0]
    for error in errors:
        logger.warning("A part of the recording is left out: %s", error)
    return files


def _open_file(path: Path) -> BagFile:
    """Open one file by its index, or from the front if that fails."""
    if path.stat().st_size == 0:
        raise DatasetError(f"{path} is empty; copy or record it again.")
    if path.suffix == ".active":
        return _open_from_front(path, "it was never closed")
    indexed = IndexedFile(path)
    try:
        indexed.contents()
    except Exception as error:  # lz4, zstd, sqlite: each fails in its own way
        return _open_from_front(path, _reason(error))
    log = path.with_name(f"{path.name}-wal")
    if path.suffix == ".db3" and log.is_file() and log.stat().st_size:
        logger.warning(
            "%s was not closed, and the messages in %s are missing: to add them, run sqlite3 on "
            '"%s" with "PRAGMA wal_checkpoint".',
            path,
            log.name,
            path,
        )
    return indexed


def _open_from_front(path: Path, reason: str) -> BagFile:
    """Open a file that has no usable index."""
    if path.suffix == ".db3":
        raise DatasetError(
            f"{path} is damaged ({reason}); try to repair it: "
            f'sqlite3 "{path.name}" .recover | sqlite3 repaired.db3'
        )
    suffix = ".mcap" if path.suffix == ".mcap" else ".bag"
    scanned = ScannedFile(path, KINDS[suffix], SCANNERS[suffix])
    count = sum(topic.num_messages for topic in scanned.contents().topics)
    if count == 0:
        raise DatasetError(
            f"{path} holds no message that can be read ({reason}); copy or record it again."
        )
    if scanned.damage:
        logger.warning(
            "%s was cut off or is damaged (%s); %d messages can be read and are used.",
            *(path, ", ".join(scanned.damage), count),
        )
    return scanned


def _reason(error: Exception) -> str:
    """Error of a library in a few words: what comes after the first line is for its authors."""
    first, *_ = str(error).splitlines() or [""]
    return first.rstrip(".: ") or type(error).__name__
