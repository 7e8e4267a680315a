# SPDX-License-Identifier: MIT
"""Bag files in forms that only other tools write, composed byte by byte, are read."""

import sqlite3
import struct
from pathlib import Path

import pytest

from ros_makers import assert_same_scans, stored_scans, true_scans
from ros_recordings import Stored, write_bag
from svnicp.data.ros import RosBag
from svnicp.data.ros.wire import Encoding

MCAP_MAGIC = b"\x89MCAP0\r\n"


def mcap_text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode()


def mcap_record(kind: int, content: bytes) -> bytes:
    return struct.pack("<BQ", kind, len(content)) + content


def mcap_without_chunks(stored: list[Stored], encoding: Encoding) -> bytes:
    """MCAP file of one topic, its messages one after the other, without a summary."""
    msgtype = stored[0].msgtype if encoding == "cdr" else stored[0].msgtype.replace("/msg/", "/")
    schema_encoding = "ros2msg" if encoding == "cdr" else "ros1msg"
    records = [
        mcap_record(1, mcap_text("ros2" if encoding == "cdr" else "ros1") + mcap_text("test")),
        mcap_record(
            3,
            struct.pack("<H", 1) + mcap_text(msgtype) + mcap_text(schema_encoding) + mcap_text(""),
        ),
        mcap_record(
            4,
            struct.pack("<HH", 1, 1)
            + mcap_text(stored[0].topic)
            + mcap_text(encoding)
            + struct.pack("<I", 0),
        ),
    ]
    for item in stored:
        head = struct.pack("<HIQQ", 1, 0, item.log_ns, item.log_ns)
        records.append(mcap_record(5, head + item.message.encode(encoding)))
    records += [mcap_record(0x0F, bytes(4)), mcap_record(2, bytes(20))]
    return MCAP_MAGIC + b"".join(records) + MCAP_MAGIC


@pytest.mark.parametrize("encoding", ["cdr", "ros1"])
def test_mcap_files_of_other_writers_are_read(encoding, tmp_path, rng, caplog):
    """No chunks, not in the order of recording, messages of ROS 1: there is no need to refuse."""
    scans = true_scans(rng)
    path = tmp_path / "drive.mcap"
    stored = stored_scans(scans)
    stored[1:3] = [stored[1]._replace(log_ns=stored[2].log_ns), stored[2]._replace(log_ns=1)]
    path.write_bytes(mcap_without_chunks(stored, encoding))
    assert_same_scans(list(RosBag(path)), scans)
    assert not caplog.records


def bag1_record(data: bytes, **fields: bytes) -> bytes:
    header = b"".join(
        struct.pack("<I", len(name) + 1 + len(value)) + name.encode() + b"=" + value
        for name, value in fields.items()
    )
    return struct.pack("<I", len(header)) + header + struct.pack("<I", len(data)) + data


def bag1_with_open_chunk(stored: list[Stored]) -> bytes:
    """Bag of a recorder that was killed: no index, a chunk whose length was never filled in."""
    number = struct.pack("<I", 0)
    about = b"".join(
        struct.pack("<I", len(field)) + field
        for field in (b"topic=/points", b"type=sensor_msgs/PointCloud2", b"md5sum=*")
    )
    bag = b"#ROSBAG V2.0\n"
    bag += bag1_record(b" " * 100, op=b"\x03", index_pos=bytes(8), conn_count=number)
    bag += bag1_record(b"", op=b"\x05", compression=b"none", size=number)
    bag += bag1_record(about, op=b"\x07", conn=number, topic=b"/points")
    for item in stored:
        time = struct.pack("<II", *divmod(item.log_ns, 10**9))
        bag += bag1_record(item.message.encode("ros1"), op=b"\x02", conn=number, time=time)
    return bag


@pytest.mark.parametrize("name", ["drive.bag.active", "drive.bag"])
def test_a_bag_of_a_killed_recorder_is_read(name, tmp_path, rng, caplog):
    """Messages in a chunk that was never closed are all there."""
    scans = true_scans(rng)
    path = tmp_path / name
    path.write_bytes(bag1_with_open_chunk(stored_scans(scans)))
    assert_same_scans(list(RosBag(path)), scans)
    assert not caplog.records
    path.write_bytes(path.read_bytes()[:-1])
    assert_same_scans(list(RosBag(path)), scans[:-1])
    assert "cut off" in caplog.text


def open_database(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "drive.db3")


def test_old_databases_without_definitions_are_read(tmp_path, rng):
    """ROS 2 bags from before definitions were stored need none."""
    scans = true_scans(rng)
    folder = write_bag(tmp_path / "drive", "sqlite", stored_scans(scans))
    database = open_database(folder)
    database.executescript("DROP TABLE message_definitions; DROP TABLE schema; DROP TABLE metadata")
    database.close()
    assert_same_scans(list(RosBag(folder / "drive.db3")), scans)


def test_a_database_that_was_not_closed_is_said(tmp_path, rng, caplog):
    """Messages that SQLite still has in its log are missing, which is a warning with the remedy."""
    folder = write_bag(tmp_path / "drive", "sqlite", stored_scans(true_scans(rng)))
    (folder / "drive.db3-wal").write_bytes(b"messages that were not moved yet")
    (folder / "metadata.yaml").unlink()
    RosBag(folder)
    assert "wal_checkpoint" in caplog.text
