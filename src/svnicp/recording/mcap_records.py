# SPDX-License-Identifier: MIT
"""Records of the MCAP container format (https://mcap.dev/spec) as bytes.

Only what a log of ROS 2 messages needs: header, schemas, channels, uncompressed chunks with their
message indexes, and the summary at the end. Plain functions; ``mcap_log`` puts them into a file.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
STATISTICS, SUMMARY_OFFSET, DATA_END = 0x0B, 0x0E, 0x0F


class Topic(NamedTuple):
    """What an MCAP file says about the messages of one topic."""

    name: str
    msgtype: str
    """Such as ``nav_msgs/msg/Odometry``."""
    definition: str
    """The message's definition as ROS 2 text, with all that it refers to."""
    type_hash: str
    """The type's hash in ROS 2, such as ``RIHS01_...``."""


class ChunkPlace(NamedTuple):
    """Where a chunk is in its file and what is in it."""

    start_ns: int
    end_ns: int
    offset: int
    """First byte of the chunk's record."""
    length: int
    """Bytes of the chunk's record."""
    size: int
    """Bytes of the messages in it."""
    index_offsets: dict[int, int]
    """First byte of the message index of every channel."""
    index_length: int
    """Bytes of all message indexes, which follow the chunk."""
    counts: dict[int, int]
    """Number of messages of every channel."""


def record(kind: int, *parts: bytes) -> bytes:
    """Return a record: kind, length, content."""
    content = b"".join(parts)
    return struct.pack("<BQ", kind, len(content)) + content


def text(words: str) -> bytes:
    """Return a string with its length."""
    return prefixed(words.encode())


def prefixed(content: bytes) -> bytes:
    """Return bytes with their number."""
    return struct.pack("<I", len(content)) + content


def preamble(topics: Sequence[Topic]) -> bytes:
    """Return the start of a file: magic, header and all that is known about the topics."""
    return MAGIC + record(HEADER, text("ros2"), text("svnicp")) + b"".join(declarations(topics))


def declarations(topics: Sequence[Topic]) -> tuple[bytes, bytes]:
    """Return all schemas and all channels; their numbers are the topics', counted from one."""
    schemas, channels = b"", b""
    for number, topic in enumerate(topics, start=1):
        schemas += record(
            SCHEMA, struct.pack("<H", number), text(topic.msgtype), text("ros2msg"),
            text(topic.definition),
        )  # fmt: skip
        metadata = text("offered_qos_profiles") + text("")
        metadata += text("topic_type_hash") + text(topic.type_hash)
        channels += record(
            CHANNEL, struct.pack("<HH", number, number), text(topic.name), text("cdr"),
            prefixed(metadata),
        )  # fmt: skip
    return schemas, channels


def chunk(stamp_ns: int, messages: Sequence[tuple[int, bytes]]) -> bytes:
    """Return a chunk of messages of one time, as (channel, content), and its message indexes."""
    content = b""
    places: dict[int, bytes] = {}
    for channel, message in messages:
        places[channel] = places.get(channel, b"") + struct.pack("<QQ", stamp_ns, len(content))
        content += record(MESSAGE, struct.pack("<HIQQ", channel, 0, stamp_ns, stamp_ns), message)
    head = struct.pack("<QQQI", stamp_ns, stamp_ns, len(content), zlib.crc32(content))
    chunk_record = record(CHUNK, head, text(""), struct.pack("<Q", len(content)), content)
    indexes = (
        record(MESSAGE_INDEX, struct.pack("<H", channel), prefixed(place))
        for channel, place in places.items()
    )
    return chunk_record + b"".join(indexes)


def end_without_summary() -> bytes:
    """Return the shortest end of a valid file; readers then look through all of it."""
    return record(DATA_END, struct.pack("<I", 0)) + _footer(0, 0, b"")


def end_with_summary(data_end: int, topics: Sequence[Topic], chunks: Sequence[ChunkPlace]) -> bytes:
    """Return the end of a file whose data take ``data_end`` bytes, with an index of its chunks."""
    end_of_data = record(DATA_END, struct.pack("<I", 0))
    groups = [
        *zip((SCHEMA, CHANNEL), declarations(topics), strict=True),
        (CHUNK_INDEX, b"".join(map(_chunk_index, chunks))),
        (STATISTICS, _statistics(len(topics), chunks)),
    ]
    summary_start = data_end + len(end_of_data)
    summary, offsets = b"", b""
    for kind, group in groups:
        place = struct.pack("<BQQ", kind, summary_start + len(summary), len(group))
        offsets += record(SUMMARY_OFFSET, place) if group else b""
        summary += group
    offset_start = summary_start + len(summary)
    return end_of_data + summary + offsets + _footer(summary_start, offset_start, summary + offsets)


def _footer(summary_start: int, offset_start: int, summary: bytes) -> bytes:
    """Return footer and closing magic; the checksum covers the footer's own beginning too."""
    places = struct.pack("<QQ", summary_start, offset_start)
    covered = summary + struct.pack("<BQ", FOOTER, len(places) + 4) + places
    checksum = zlib.crc32(covered) if summary else 0
    return record(FOOTER, places, struct.pack("<I", checksum)) + MAGIC


def _chunk_index(place: ChunkPlace) -> bytes:
    """Return the record that lets a reader jump to a chunk."""
    return record(
        CHUNK_INDEX,
        struct.pack("<QQQQ", place.start_ns, place.end_ns, place.offset, place.length),
        _map("<HQ", place.index_offsets),
        struct.pack("<Q", place.index_length),
        text(""),
        struct.pack("<QQ", place.size, place.size),
    )


def _statistics(num_topics: int, chunks: Sequence[ChunkPlace]) -> bytes:
    """Return the record that counts everything."""
    counts = dict.fromkeys(range(1, num_topics + 1), 0)
    for place in chunks:
        for channel, count in place.counts.items():
            counts[channel] += count
    start = min((place.start_ns for place in chunks), default=0)
    end = max((place.end_ns for place in chunks), default=0)
    numbers = (sum(counts.values()), num_topics, num_topics, 0, 0, len(chunks), start, end)
    return record(STATISTICS, struct.pack("<QHIIIIQQ", *numbers), _map("<HQ", counts))


def _map(kind: str, items: Mapping[int, int]) -> bytes:
    """Return pairs of numbers with the bytes they take."""
    return prefixed(b"".join(struct.pack(kind, *item) for item in items.items()))
