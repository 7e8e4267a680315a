# SPDX-License-Identifier: MIT
"""The messages of a ROS 1 bag from the front, without its index.

A bag is a sequence of records: a header of named fields, then data. Chunks hold the records of
connections and messages, compressed or not. A recorder that is killed leaves its last chunk open,
with a length of zero and its records after it; they are read like those of a chunk.
"""

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from rosbags.rosbag1.reader import decompressors

from svnicp.data.ros.resync import next_bag1_chunk
from svnicp.data.ros.scanned_files import (
    Channel,
    Damage,
    FileCutError,
    StoredMessage,
    before_damage,
    read_exactly,
    remaining,
    sound_records,
)
from svnicp.errors import DatasetError

MAGIC = b"#ROSBAG V2.0\n"
MESSAGE, CHUNK, CONNECTION = 0x02, 0x05, 0x07

Fields = dict[str, bytes]


def scan_bag1(file: BinaryIO, damage: Damage) -> Iterator[StoredMessage]:
    """Yield the messages of a bag in the order in which they were written.

    Raises
    ------
    DatasetError
        If it is no ROS 1 bag of version 2.0.
    """
    if file.read(len(MAGIC)) != MAGIC:
        raise DatasetError(f"{file.name} is not a ROS 1 bag of version 2.0.")
    channels: dict[bytes, Channel] = {}
    for head, data, whole in sound_records(file, _next_record, next_bag1_chunk, damage):
        if _kind(head) == CHUNK:
            records = _chunk_records(head, data, whole)
        else:
            records = iter([(head, data)] if whole else [])
        yield from before_damage(_messages(records, channels), damage)
        if not whole:
            damage("it ends in the middle of a record")


def _messages(
    records: Iterator[tuple[Fields, bytes]], channels: dict[bytes, Channel]
) -> Iterator[StoredMessage]:
    """Yield the messages among some records; connections become channels."""
    for head, data in records:
        kind = _kind(head)
        if kind == CONNECTION:
            fields = _fields(data)
            msgtype = fields.get("type", b"").decode(errors="replace")
            topic = head["topic"].decode(errors="replace")
            channels[head["conn"]] = Channel(topic, msgtype, "ros1")
        elif kind == MESSAGE and head["conn"] in channels:
            seconds, nanoseconds = struct.unpack("<II", head["time"])
            log_ns = seconds * 1_000_000_000 + nanoseconds
            yield StoredMessage(channels[head["conn"]], log_ns, data)


def _next_record(file: BinaryIO) -> tuple[Fields, bytes, bool] | None:
    """Next record and whether it is all there; None at the end of the file."""
    start = file.read(4)
    return _record(file, start) if start else None


def _record(file: BinaryIO, start: bytes) -> tuple[Fields, bytes, bool]:
    """Header of a record, its data, and whether they are all there."""
    head = _fields(_sized(file, start))
    if "op" not in head:
        raise FileCutError("its records are damaged")
    (size,) = struct.unpack("<I", read_exactly(file, 4))
    data = file.read(min(size, remaining(file)))
    return head, data, len(data) == size


def _chunk_records(head: Fields, data: bytes, whole: bool) -> Iterator[tuple[Fields, bytes]]:
    """Yield the records inside a chunk; of a cut one, those that are whole."""
    compression = head.get("compression", b"none").decode(errors="replace")
    if not whole and compression != "none":
        return
    try:
        inner = BytesIO(decompressors[compression](data))
    except Exception:  # each library has errors of its own, which say nothing to a user
        raise FileCutError("a chunk cannot be decompressed") from None
    while start := inner.read(4):
        inner_head, inner_data, inner_whole = _record(inner, start)
        if not inner_whole:
            return
        yield inner_head, inner_data


def _kind(head: Fields) -> int:
    """Return what a record is."""
    return int.from_bytes(head["op"], "little")


def _sized(file: BinaryIO, start: bytes) -> bytes:
    """Bytes that follow their length, of which the first four bytes are read already."""
    if len(start) < 4:
        raise FileCutError("it ends in the middle of a record")
    return read_exactly(file, struct.unpack("<I", start)[0])


def _fields(header: bytes) -> Fields:
    """Named fields of a record's header."""
    fields: Fields = {}
    position = 0
    while position + 4 <= len(header):
        (size,) = struct.unpack_from("<I", header, position)
        name, _, value = header[position + 4 : position + 4 + size].partition(b"=")
        fields[name.decode(errors="replace")] = value
        position += 4 + size
    return fields
