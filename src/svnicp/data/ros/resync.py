# SPDX-License-Identifier: MIT
"""Where a damaged bag file is sound again: the next chunk behind a place.

Chunks hold nearly all of a recording and start with something that data do not look like. So a hole
in the middle of a file costs the chunks that it touches, and nothing behind them.
"""

import mmap
import re
import struct
from collections.abc import Iterator
from typing import BinaryIO

MCAP_CHUNK = re.compile(
    rb"\x06(?=(.{8})(.{8})(.{8}).{12}(\x00{4}|\x03\x00{3}lz4|\x04\x00{3}zstd)(.{8}))", re.DOTALL
)
"""Kind of the record, its length, times, size and checksum, compression, length of the rest."""

MCAP_CHUNK_HEAD = 36
"""Bytes of a chunk besides its compression and its records."""

BAG1_OP = re.compile(rb"\x04\x00\x00\x00op=\x05")
"""Field of a header that says: a chunk."""

BAG1_FIELDS_BEFORE = (0, 13, 19, 20, 32, 33)
"""Bytes of the other fields, ``size=``, ``compression=``, of which any may come first."""


def next_mcap_chunk(file: BinaryIO, start: int) -> int | None:
    """Byte at which the next chunk of an MCAP file begins, None if there is none."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for found in MCAP_CHUNK.finditer(data, start):
            length, first_ns, last_ns, packed = (
                int.from_bytes(found[group], "little") for group in (1, 2, 3, 5)
            )
            fits = length == MCAP_CHUNK_HEAD + len(found[4]) + packed
            if fits and first_ns <= last_ns and found.end() + 8 + length <= len(data):
                return found.start()
    return None


def next_bag1_chunk(file: BinaryIO, start: int) -> int | None:
    """Byte at which the next chunk of a ROS 1 bag begins, None if there is none."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for found in BAG1_OP.finditer(data, start):
            for place in _record_starts(found.start(), start):
                (size,) = struct.unpack_from("<I", data, place)
                head = data[place + 4 : place + 4 + size] if size < 200 else b""
                if len(head) == size and _is_chunk_head(head):
                    return place
    return None


def _record_starts(op: int, start: int) -> Iterator[int]:
    """Yield where a record may begin whose field ``op`` is at a place."""
    for before in BAG1_FIELDS_BEFORE:
        if op - before - 4 >= start:
            yield op - before - 4


def _is_chunk_head(head: bytes) -> bool:
    """Whether the fields of a header are those of a chunk and fill it exactly."""
    names, position = set(), 0
    while position + 4 <= len(head):
        (size,) = struct.unpack_from("<I", head, position)
        names.add(head[position + 4 : position + 4 + size].partition(b"=")[0])
        position += 4 + size
    return position == len(head) and names == {b"op", b"compression", b"size"}
