# SPDX-License-Identifier: MIT
"""Bag files without a usable index, cut off or left by a killed recorder, read from the front.

Everything up to the cut is there. A walk through the file finds its topics and counts; each later
one yields messages in the order in which they were written, which is the order of recording.
"""

import os
import struct
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, NamedTuple

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
    """Raised by a scan when the file ends in the middle of something."""


Scanner = Callable[[BinaryIO], Iterator[StoredMessage]]
"""Yields the messages of a file from the front; raises ``FileCutError`` where it is cut."""


class ScannedFile:
    """A bag that is read from the front to where it ends.

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
        self.cut_by: str | None = None

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
        """Return what there is before the cut."""
        return self._contents

    def messages(self, topics: Collection[str], since_ns: int = 0) -> Iterator[RawMessage]:
        """Yield the messages of some topics up to the cut."""
        for message in self._stored():
            if message.channel.topic in topics and message.log_ns >= since_ns:
                channel = message.channel
                yield RawMessage(channel.topic, message.log_ns, message.data, channel.encoding)

    def _stored(self) -> Iterator[StoredMessage]:
        """Yield all messages; remember why they end, if not because the file is whole."""
        with self.path.open("rb") as file:
            try:
                yield from self._scan(file)
            except FileCutError as error:
                self.cut_by = str(error)
            except (struct.error, LookupError):
                self.cut_by = "its records are damaged"


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
