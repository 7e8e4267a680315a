# SPDX-License-Identifier: MIT
"""The MCAP log: readable by others after every step, when cut off, ended and continued."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from rosbags.highlevel import AnyReader

from recording_inputs import START_NS, make_estimate
from svnicp.errors import DatasetError
from svnicp.recording.mcap_log import McapLog
from svnicp.recording.odometry_messages import odometry_messages
from svnicp.recording.ros_messages import RosMessages
from svnicp.recording.run_folder import _topics

TOPICS = _topics()
MAKE = RosMessages(2)


def write(log: McapLog, index: int) -> None:
    estimate = make_estimate(index)
    messages = odometry_messages(MAKE, estimate)
    log.write(
        estimate.stamp_ns,
        {topic: MAKE.serialise(message) for topic, message in messages.items()},
    )


def stamps_by_rosbags(path: Path) -> list[tuple[str, int]]:
    """Topics and times of all messages, as rosbags reads them; each can be decoded."""
    with AnyReader([path]) as reader:
        found = list(reader.messages())
        assert all(reader.deserialize(raw, connection.msgtype) for connection, _, raw in found)
    return [(connection.topic, time_ns) for connection, time_ns, _ in found]


def expected(count: int) -> list[tuple[str, int]]:
    return [
        (topic, make_estimate(index).stamp_ns)
        for index in range(count)
        for topic in ("/odometry", "/tf", "/diagnostics")
    ]


def stamps_by_mcap(content: bytes) -> list[tuple[str, int]]:
    """Topics and times of all messages, as the reader of the format's inventors reads them."""
    reader = pytest.importorskip("mcap.reader")
    opened = reader.make_reader(io.BytesIO(content), validate_crcs=True)
    return [(channel.topic, message.log_time) for _, channel, message in opened.iter_messages()]


def test_the_file_is_whole_after_every_step(tmp_path):
    """Without closing, after each step, another reader finds all messages up to there."""
    log = McapLog.create(tmp_path / "log.mcap", TOPICS)
    for index in range(4):
        write(log, index)
        assert stamps_by_rosbags(tmp_path / "log.mcap") == expected(index + 1)
    log.close()


def test_closing_adds_an_index(tmp_path):
    """A closed file tells its chunks, times and counts without being looked through."""
    log = McapLog.create(tmp_path / "log.mcap", TOPICS)
    for index in range(4):
        write(log, index)
    log.close()
    assert stamps_by_rosbags(tmp_path / "log.mcap") == expected(4)
    with AnyReader([tmp_path / "log.mcap"]) as reader:
        assert reader.message_count == 12
        assert reader.start_time == START_NS
        assert reader.end_time == make_estimate(3).stamp_ns + 1
        assert {topic: info.msgcount for topic, info in reader.topics.items()} == {
            "/odometry": 4, "/tf": 4, "/diagnostics": 4
        }  # fmt: skip
        late = list(reader.messages(start=make_estimate(2).stamp_ns))
        assert len(late) == 6


def record_at(content: bytes, offset: int) -> tuple[int, bytes]:
    """Kind and content of the record that begins here."""
    kind, length = struct.unpack_from("<BQ", content, offset)
    return kind, content[offset + 9 : offset + 9 + length]


def test_every_offset_in_the_index_hits_what_it_says(tmp_path):
    """Footer, summary offsets, chunk indexes and message indexes each point at their record."""
    log = McapLog.create(tmp_path / "log.mcap", TOPICS)
    for index in range(3):
        write(log, index)
    log.close()
    content = (tmp_path / "log.mcap").read_bytes()
    kind, footer = record_at(content, len(content) - 8 - 29)
    assert kind == 0x02
    place, offsets_start, checksum = struct.unpack("<QQI", footer)
    assert checksum == zlib.crc32(content[place : len(content) - 8 - 4])
    groups = []
    for start in range(offsets_start, len(content) - 8 - 29, 9 + 17):
        kind, group = record_at(content, start)
        assert kind == 0x0E
        groups.append(struct.unpack("<BQQ", group))
    assert [kind for kind, _, _ in groups] == [0x03, 0x04, 0x08, 0x0B]
    for kind, start, length in groups:
        assert (start, content[start]) == (place, kind)  # one behind the other, without a gap
        place += length
    assert place == offsets_start
    _, start, length = groups[2]
    end = start + length
    while start < end:
        _, chunk_index = record_at(content, start)
        check_chunk_index(content, chunk_index)
        start += 9 + len(chunk_index)


def check_chunk_index(content: bytes, chunk_index: bytes) -> None:
    """Follow a chunk index to its chunk, and from its message indexes to the messages."""
    time_ns, _, chunk_start, chunk_length, num_bytes = struct.unpack_from("<QQQQI", chunk_index)
    kind, chunk = record_at(content, chunk_start)
    assert (kind, len(chunk) + 9) == (0x06, chunk_length)
    messages = chunk[8 + 8 + 8 + 4 + 4 + 8 :]
    assert num_bytes == 3 * 10
    for channel, offset in struct.iter_unpack("<HQ", chunk_index[36 : 36 + num_bytes]):
        kind, message_index = record_at(content, offset)
        found, _, message_time_ns, message_offset = struct.unpack("<HIQQ", message_index)
        assert (kind, found, message_time_ns) == (0x07, channel, time_ns)
        kind, message = record_at(messages, message_offset)
        assert (kind, *struct.unpack_from("<HIQ", message)) == (0x05, channel, 0, time_ns)


def test_the_reference_reader_agrees(tmp_path):
    """The reader of the format's inventors reads open and closed files and checks their sums."""
    reader = pytest.importorskip("mcap.reader")
    path = tmp_path / "log.mcap"
    log = McapLog.create(path, TOPICS)
    for index in range(3):
        write(log, index)
    assert stamps_by_mcap(path.read_bytes()) == expected(3)
    log.close()
    assert stamps_by_mcap(path.read_bytes()) == expected(3)
    summary = reader.make_reader(io.BytesIO(path.read_bytes())).get_summary()
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == 9
    assert len(summary.chunk_indexes) == 3
    assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
    assert {channel.message_encoding for channel in summary.channels.values()} == {"cdr"}


def test_the_reference_reader_reads_what_is_left_of_a_cut_file(tmp_path):
    """Cut off anywhere behind the second step, the stream still has two steps and no third."""
    records = pytest.importorskip("mcap.records")
    stream_reader = pytest.importorskip("mcap.stream_reader")
    exceptions = pytest.importorskip("mcap.exceptions")
    path = tmp_path / "log.mcap"
    log = McapLog.create(path, TOPICS)
    ends = []
    for index in range(3):
        write(log, index)
        ends.append(log._file.end)
    content = path.read_bytes()
    log.close()
    for cut in (ends[1], ends[1] + 5, (ends[1] + ends[2]) // 2, ends[2] - 200):
        reader = stream_reader.StreamReader(io.BytesIO(content[:cut]))
        found = []
        with pytest.raises((exceptions.EndOfFile, struct.error)):
            found.extend(reader.records)
        assert sum(isinstance(record, records.Message) for record in found) == 6


@pytest.mark.parametrize("closed", [False, True])
def test_a_log_goes_on_behind_a_stamp(tmp_path, closed):
    """Continued from its second step, a log of four becomes the log that never had the others."""
    again, straight = tmp_path / "again.mcap", tmp_path / "straight.mcap"
    log = McapLog.create(again, TOPICS)
    for index in range(4):
        write(log, index)
    as_killed = again.read_bytes()
    log.close()
    if not closed:
        again.write_bytes(as_killed)
    log = McapLog.reopen(again, TOPICS, make_estimate(1).stamp_ns)
    assert stamps_by_rosbags(again) == expected(2)
    other = McapLog.create(straight, TOPICS)
    for index in range(2):
        write(other, index)
    for index in (5, 6):
        write(log, index)
        write(other, index)
    log.close()
    other.close()
    assert again.read_bytes() == straight.read_bytes()


def test_a_log_goes_on_after_any_cut(tmp_path):
    """Wherever the third step is cut off, the first two are kept and the log can be continued."""
    path = tmp_path / "log.mcap"
    log = McapLog.create(path, TOPICS)
    for index in range(2):
        write(log, index)
    two = log._file.end
    write(log, 2)
    content, three = path.read_bytes(), log._file.end
    log.close()
    for cut in range(two, three, 151):
        path.write_bytes(content[:cut])
        log = McapLog.reopen(path, TOPICS, make_estimate(9).stamp_ns)
        assert log._file.end == two
        write(log, 2)
        log.close()
        assert stamps_by_rosbags(path) == expected(3)


def test_another_file_is_not_continued(tmp_path):
    """A file with other topics, or no MCAP file, is refused and left as it is."""
    path = tmp_path / "log.mcap"
    McapLog.create(path, TOPICS[:2]).close()
    before = path.read_bytes()
    with pytest.raises(DatasetError, match="cannot be continued"):
        McapLog.reopen(path, TOPICS, START_NS)
    assert path.read_bytes() == before
