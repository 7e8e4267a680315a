# SPDX-License-Identifier: MIT
"""Bag files without a usable index: cut off, damaged, or left by a killed recorder.

They are read from the front; behind a damaged place, from the next chunk on. A walk through the
file finds its topics and counts; each later one yields messages in the order in which they were
written, which is the order of recording.
"""

import os
import struct
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from svnicp.data.ros.raw_message import Contents, RawMessage, Topic, short_type
from svnicp.data.ros.wire import Encoding
from svnicp.errors import DatasetError

LONG_RECORD_BYTES = 1 << 20
NEVER_NS = 2**63 - 1


class Channel(NamedTuple):
    """What messages of one number in a file are."""

    topic: str
    msgtype: str
    encoding: Encoding


class StoredMessage(NamedTuple):
    """A message with the channel that it belongs to."""

    channel: Channel
    log_ns: int
    data: bytes


class FileCutError(DatasetError):
    """Raised where a file is damaged, or ends in the middle of something."""


Damage = Callable[[str], object]
"""Called with what is wrong, for every place at which something is lost."""

Scanner = Callable[[BinaryIO, Damage], Iterator[StoredMessage]]
"""Yields the messages of a file from the front, and goes on behind damaged places."""

Record = TypeVar("Record")


class ScannedFile:
    """A bag that is read from the front to its end.

    Parameters
    ----------
    path
        The file.
    kind
        Its format in a few words.
    scan
        How to walk through it.
    """

    def __init__(self, path: Path, kind: str, scan: Scanner) -> None:
        self.path = path
        self.kind = kind
        self._scan = scan
        self.damage: dict[str, None] = {}
        """What was wrong in the latest walk, in the order of the file."""

    @cached_property
    def _contents(self) -> Contents:
        """Topics, counts and times, from one walk through the file."""
        counts: dict[Channel, int] = {}
        start_ns, end_ns = NEVER_NS, 0
        for message in self._stored():
            counts[message.channel] = counts.get(message.channel, 0) + 1
            start_ns, end_ns = min(start_ns, message.log_ns), max(end_ns, message.log_ns)
        topics = [
            Topic(channel.topic, short_type(channel.msgtype), count)
            for channel, count in counts.items()
        ]
        return Contents(topics, start_ns, end_ns)

    def contents(self) -> Contents:
        """Return what can be read of it."""
        return self._contents

    def messages(self, topics: Collection[str], since_ns: int = 0) -> Iterator[RawMessage]:
        """Yield the messages of some topics that can be read."""
        for message in self._stored():
            if message.channel.topic in topics and message.log_ns >= since_ns:
                channel = message.channel
                yield RawMessage(channel.topic, message.log_ns, message.data, channel.encoding)

    def _stored(self) -> Iterator[StoredMessage]:
        """Yield all messages; remember what is wrong, unless the file is whole."""
        self.damage = {}
        with self.path.open("rb") as file:
            yield from self._scan(file, self.damage.setdefault)


def sound_records(
    file: BinaryIO,
    read: Callable[[BinaryIO], Record | None],
    next_chunk: Callable[[BinaryIO, int], int | None],
    damage: Damage,
) -> Iterator[Record]:
    """Yield the records of a file; where one is damaged, go on from the next chunk.

    Parameters
    ----------
    file
        The file, at the start of a record.
    read
        Reads one record, None at the end of the data; fails where it is damaged.
    next_chunk
        Finds the next chunk behind a byte, if there is one.
    damage
        Told what is wrong.
    """
    while True:
        start = file.tell()
        try:
            record = read(file)
        except (FileCutError, struct.error, LookupError) as error:
            damage(_words(error))
            place = next_chunk(file, start + 1)
            if place is None:
                return
            file.seek(place)
            continue
        if record is None:
            return
        yield record


def before_damage(items: Iterator[Record], damage: Damage) -> Iterator[Record]:
    """Yield what comes before the first damaged place of a chunk or record."""
    try:
        yield from items
    except (FileCutError, struct.error, LookupError) as error:
        damage(_words(error))


def _words(error: Exception) -> str:
    """Return what is wrong; errors of Python's own say nothing to a user."""
    return str(error) if isinstance(error, FileCutError) else "its records are damaged"


def read_exactly(file: BinaryIO, size: int) -> bytes:
    """Next bytes of a file, or an error if it ends before."""
    # A damaged length may be enormous; to look first is slow, so it is done for long records only.
    data = b"" if size > LONG_RECORD_BYTES and size > remaining(file) else file.read(size)
    if len(data) < size:
        raise FileCutError("it ends in the middle of a record")
    return data


def remaining(file: BinaryIO) -> int:
    """Bytes from here to the end of a file."""
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(here)
    return end - here
