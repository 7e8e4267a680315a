# SPDX-License-Identifier: MIT
"""The messages of an MCAP file from the front, without its summary.

An MCAP file is a sequence of records: one byte for what it is, eight for its length, its content.
Chunks hold records in turn, compressed. What says which topic a channel has comes before its
messages, so a file that was cut off is readable up to its last whole record.
"""

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from rosbags.rosbag2.storage_mcap import decompress

from svnicp.data.ros.scanned_files import Channel, FileCutError, StoredMessage, read_exactly
from svnicp.errors import DatasetError

MAGIC = b"\x89MCAP0\r\n"
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
RECORD_HEAD = struct.Struct("<BQ")
MESSAGE_HEAD = struct.Struct("<HIQQ")
CHUNK_HEAD = struct.Struct("<QQQI")


def scan_mcap(file: BinaryIO) -> Iterator[StoredMessage]:
    """Yield the messages of a file in the order in which they were written.

    Raises
    ------
    FileCutError
        Where the file ends early or is damaged.
    DatasetError
        If it is no MCAP file.
    """
    if file.read(len(MAGIC)) != MAGIC:
        raise DatasetError(f"{file.name} is not an MCAP file.")
    names: dict[int, str] = {}
    channels: dict[int, Channel] = {}
    for kind, content in _records(file):
        if kind == SCHEMA:
            names[int.from_bytes(content[:2], "little")] = _text(content, 2)[0]
        elif kind == CHANNEL:
            number, schema = struct.unpack_from("<HH", content)
            topic, after = _text(content, 4)
            encoding = "ros1" if _text(content, after)[0] == "ros1" else "cdr"
            channels[number] = Channel(topic, names.get(schema, ""), encoding)
        elif kind == MESSAGE:
            number, _, log_ns, _ = MESSAGE_HEAD.unpack_from(content)
            if number not in channels:
                raise FileCutError(f"message of a channel {number} that was never described")
            yield StoredMessage(channels[number], log_ns, content[MESSAGE_HEAD.size :])


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a file up to the end of its data, those in chunks like all others."""
    while True:
        kind, size = RECORD_HEAD.unpack(read_exactly(file, RECORD_HEAD.size))
        if kind in (DATA_END, FOOTER):
            return
        if kind == 0:
            raise FileCutError("its records are damaged")
        content = read_exactly(file, size)
        if kind == CHUNK:
            yield from _chunk_records(_unpacked(content))
        else:
            yield kind, content


def _chunk_records(chunk: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records inside one chunk."""
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
    except Exception as error:  # each compression has errors of its own
        raise FileCutError(f"a chunk cannot be decompressed ({error})") from None


def _text(content: bytes, start: int) -> tuple[str, int]:
    """String at a place in a record, and where it ends."""
    (size,) = struct.unpack_from("<I", content, start)
    end = start + 4 + size
    return content[start + 4 : end].decode("utf-8", errors="replace"), end
