# SPDX-License-Identifier: MIT
"""The messages of an MCAP file from the front, without its summary.

An MCAP file is a sequence of records: one byte for what it is, eight for its length, its content.
Chunks hold records in turn, compressed. What says which topic a channel has comes before its
messages, so a file that was cut off is readable up to its last whole record; a damaged place costs
the chunks that it touches.
"""

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, NamedTuple

from rosbags.rosbag2.storage_mcap import decompress

from svnicp.data.ros.resync import next_mcap_chunk
from svnicp.data.ros.scanned_files import (
    Channel,
    Damage,
    FileCutError,
    StoredMessage,
    before_damage,
    read_exactly,
    sound_records,
)
from svnicp.errors import DatasetError

MAGIC = b"\x89MCAP0\r\n"
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
RECORD_HEAD = struct.Struct("<BQ")
MESSAGE_HEAD = struct.Struct("<HIQQ")
CHUNK_HEAD = struct.Struct("<QQQI")


def scan_mcap(file: BinaryIO, damage: Damage) -> Iterator[StoredMessage]:
    """Yield the messages of a file in the order in which they were written.

    Raises
    ------
    DatasetError
        If it is no MCAP file.
    """
    if file.read(len(MAGIC)) != MAGIC:
        raise DatasetError(f"{file.name} is not an MCAP file.")
    content = _Content({}, {})
    for kind, data in sound_records(file, _record, next_mcap_chunk, damage):
        records = _chunk_records(data) if kind == CHUNK else iter([(kind, data)])
        yield from before_damage(content.messages(records), damage)


class _Content(NamedTuple):
    """What the records so far have said about those to come."""

    names: dict[int, str]
    """Types of messages, by the number of their schema."""
    channels: dict[int, Channel]

    def messages(self, records: Iterator[tuple[int, bytes]]) -> Iterator[StoredMessage]:
        """Yield the messages among some records, and learn from the others."""
        for kind, content in records:
            if kind == SCHEMA:
                self.names[int.from_bytes(content[:2], "little")] = _text(content, 2)[0]
            elif kind == CHANNEL:
                number, schema = struct.unpack_from("<HH", content)
                topic, after = _text(content, 4)
                encoding = "ros1" if _text(content, after)[0] == "ros1" else "cdr"
                self.channels[number] = Channel(topic, self.names.get(schema, ""), encoding)
            elif kind == MESSAGE:
                number, _, log_ns, _ = MESSAGE_HEAD.unpack_from(content)
                if number not in self.channels:
                    raise FileCutError(f"message of a channel {number} that was never described")
                yield StoredMessage(self.channels[number], log_ns, content[MESSAGE_HEAD.size :])


def _record(file: BinaryIO) -> tuple[int, bytes] | None:
    """Kind and content of the next record, None at the end of the data."""
    kind, size = RECORD_HEAD.unpack(read_exactly(file, RECORD_HEAD.size))
    if kind in (DATA_END, FOOTER):
        return None
    if kind == 0:
        raise FileCutError("its records are damaged")
    return kind, read_exactly(file, size)


def _chunk_records(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records inside one chunk."""
    chunk = _unpacked(packed)
    inner = BytesIO(chunk)
    while inner.tell() < len(chunk):
        kind, size = RECORD_HEAD.unpack(read_exactly(inner, RECORD_HEAD.size))
        yield kind, read_exactly(inner, size)


def _unpacked(content: bytes) -> bytes:
    """Records of a chunk, decompressed and checked."""
    _, _, size, checksum = CHUNK_HEAD.unpack_from(content)
    compression, after = _text(content, CHUNK_HEAD.size)
    try:
        return decompress(content[after + 8 :], compression, size, checksum)
    except Exception:  # each compression has errors of its own, which say nothing to a user
        raise FileCutError("a chunk cannot be decompressed") from None


def _text(content: bytes, start: int) -> tuple[str, int]:
    """String at a place in a record, and where it ends."""
    (size,) = struct.unpack_from("<I", content, start)
    end = start + 4 + size
    return content[start + 4 : end].decode("utf-8", errors="replace"), end
