# SPDX-License-Identifier: MIT
"""An MCAP file that every reader can open at any moment of the run that writes it.

Each step is one chunk, and behind it stands the short end of a valid file, over which the next step
is written: a killed run leaves a complete file without an index. ``close`` adds the index. To go
on with a run, the file is cut off behind the chunk of a given stamp.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from svnicp.errors import DatasetError
from svnicp.recording import mcap_records as records
from svnicp.recording.growing_file import GrowingFile
from svnicp.recording.mcap_records import ChunkPlace, Topic

_RECORD_HEAD = 9  # bytes of kind and length
_INDEX_ENTRY = 16  # bytes of stamp and offset


class McapLog:
    """A growing log of serialised ROS 2 messages on a few topics that are known beforehand."""

    def __init__(self, file: GrowingFile, topics: Sequence[Topic]) -> None:
        self._file = file
        self._topics = topics
        self._channels = {topic.name: number for number, topic in enumerate(topics, start=1)}

    @classmethod
    def create(cls, path: Path, topics: Sequence[Topic]) -> "McapLog":
        """Start a new file."""
        start = records.preamble(topics)
        return cls(GrowingFile.create(path, start, records.end_without_summary()), topics)

    @classmethod
    def reopen(cls, path: Path, topics: Sequence[Topic], last_stamp_ns: int) -> "McapLog":
        """Go on with a file behind its last step that is not later than a stamp.

        Raises
        ------
        DatasetError
            If the file does not start as this version would start it.
        """
        start = records.preamble(topics)
        with path.open("rb") as stream:
            if stream.read(len(start)) != start:
                raise DatasetError(
                    f"{path}: it was not written by this version of svnicp, so it cannot be "
                    "continued; start the run again in another folder."
                )
            chunks = _chunks(stream, len(topics))
            kept = [place for place in chunks if place.end_ns <= last_stamp_ns]
        end = kept[-1].offset + kept[-1].length + kept[-1].index_length if kept else len(start)
        return cls(GrowingFile.reopen(path, end, records.end_without_summary()), topics)

    def write(self, stamp_ns: int, messages: Mapping[str, bytes]) -> None:
        """Add one step: a serialised message of this time for every topic."""
        numbered = [(self._channels[topic], messages[topic]) for topic in self._channels]
        self._file.append(records.chunk(stamp_ns, numbered), records.end_without_summary())

    def close(self) -> None:
        """Add the index, without which a reader has to look through the whole file, and close."""
        with self._file.path.open("rb") as stream:
            stream.seek(len(records.preamble(self._topics)))
            places = list(_chunks(stream, len(self._topics)))
        tail = records.end_with_summary(self._file.end, self._topics, places)
        self._file.append(b"", tail)
        self._file.close()


def has_steps(path: Path, topics: Sequence[Topic]) -> bool:
    """Whether a file has anything in it, or is not one that this version would have started."""
    start = records.preamble(topics)
    with path.open("rb") as stream:
        if stream.read(len(start)) != start:
            return True
        size = stream.seek(0, 2)
        return _record_length(stream, len(start), size, records.CHUNK) is not None


def _chunks(stream: BinaryIO, num_topics: int) -> Iterator[ChunkPlace]:
    """Yield the chunks from here to the end of the data, but not one that is cut off.

    Each has a message for every topic: one that lacks an index is not whole.
    """
    offset, size = stream.tell(), stream.seek(0, 2)
    while (length := _record_length(stream, offset, size, records.CHUNK)) is not None:
        start_ns, end_ns, content_size = struct.unpack("<QQQ", stream.read(24))
        index_offsets: dict[int, int] = {}
        counts: dict[int, int] = {}
        behind = offset + length
        while (step := _record_length(stream, behind, size, records.MESSAGE_INDEX)) is not None:
            channel, num_bytes = struct.unpack("<HI", stream.read(6))
            index_offsets[channel] = behind
            counts[channel] = num_bytes // _INDEX_ENTRY
            behind += step
        if len(counts) < num_topics:
            return
        index_length = behind - offset - length
        yield ChunkPlace(
            start_ns, end_ns, offset, length, content_size, index_offsets, index_length, counts
        )
        offset = behind


def _record_length(stream: BinaryIO, offset: int, size: int, kind: int) -> int | None:
    """Return the bytes of the record here, or None if it is of another kind or not all there."""
    if offset + _RECORD_HEAD > size:
        return None
    stream.seek(offset)
    found, content_length = struct.unpack("<BQ", stream.read(_RECORD_HEAD))
    length = _RECORD_HEAD + content_length
    return length if found == kind and offset + length <= size else None
