# SPDX-License-Identifier: MIT
"""Bag files that are whole, read through the rosbags package.

Only its readers are used, not its message definitions: messages stay bytes here, so a bag with
types that nobody can parse is as good as any other.
"""

import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from rosbags.rosbag2 import ReaderError
from rosbags.rosbag2.storage_mcap import McapReader

from svnicp.data.ros.raw_message import Contents, RawMessage, Topic, short_type
from svnicp.data.ros.scan_bag1 import scan_bag1
from svnicp.data.ros.scan_mcap import scan_mcap
from svnicp.data.ros.scanned_files import ScannedFile, Scanner
from svnicp.data.ros.wire import Encoding
from svnicp.data.warn_once import WarnOnce

logger = logging.getLogger(__name__)

KINDS = {".bag": "ROS 1 bag", ".mcap": "ROS 2 bag (MCAP)", ".db3": "ROS 2 bag (SQLite)"}

SCANNERS: dict[str, Scanner] = {".bag": scan_bag1, ".mcap": scan_mcap}
"""How files are read without their index, by their suffix."""


class IndexedFile:
    """A bag with an index: a .bag, .mcap or .db3 file, or the folder of a ROS 2 bag."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._warn = WarnOnce(logger)
        self._contents: Contents | None = None
        self._encoding: Encoding = "ros1" if path.suffix == ".bag" and path.is_file() else "cdr"
        stored = [path, *(sorted(path.iterdir()) if path.is_dir() else ())]
        suffixes = [file.suffix for file in stored]
        self.kind = next((KINDS[suffix] for suffix in suffixes if suffix in KINDS), "ROS 2 bag")

    def contents(self) -> Contents:
        """Return what the index says, read once; fails in many ways if the file is damaged."""
        if self._contents is None:
            self._contents = self._read_contents()
        return self._contents

    def _read_contents(self) -> Contents:
        with self._reader() as reader:
            _require_index(reader)
            topics = [
                Topic(connection.topic, short_type(connection.msgtype), connection.msgcount)
                for connection in reader.connections
            ]
            for topic in topics:  # metadata.yaml may hold anything in their place
                if list(map(type, topic)) != [str, str, int]:
                    raise ReaderError("its list of topics is damaged")
            return Contents(topics, reader.start_time, reader.end_time - 1)

    def messages(self, topics: Collection[str], since_ns: int = 0) -> Iterator[RawMessage]:
        """Yield the messages of some topics; warns, once, where damage loses some of them."""
        with self._reader() as reader:
            chosen = [c for c in reader.connections if c.topic in topics]
            if not chosen:  # to rosbags, none means all
                return
            missing = sum(connection.msgcount for connection in chosen)
            latest_ns = since_ns - 1
            stored = reader.messages(connections=chosen, start=since_ns)
            while True:
                try:
                    connection, log_ns, data = next(stored)
                except StopIteration:
                    rest = iter(())
                    break
                except Exception:  # lz4, zstd, sqlite: each fails in its own way
                    rest = self._rest(topics, latest_ns + 1)
                    break
                missing -= 1
                latest_ns = log_ns
                yield RawMessage(connection.topic, log_ns, bytes(data), self._encoding)
        for message in rest:
            missing -= 1
            yield message
        if missing > 0 and since_ns == 0:
            self._warn(
                "%s is damaged: %d messages of %s are lost.",
                *(self.path, missing, ", ".join(topics)),
            )

    def _rest(self, topics: Collection[str], since_ns: int) -> Iterator[RawMessage]:
        """Messages behind a damaged place, found without the index where that is possible."""
        files = [self.path] if self.path.is_file() else sorted(self.path.glob("*.mcap"))
        for file in files:
            if file.suffix in SCANNERS:
                scanned = ScannedFile(file, self.kind, SCANNERS[file.suffix])
                yield from scanned.messages(topics, since_ns)

    def _reader(self) -> Reader1 | Reader2:
        return Reader1(self.path) if self._encoding == "ros1" else Reader2(self.path)


def _require_index(reader: Reader1 | Reader2) -> None:
    """Refuse MCAP files without chunks: rosbags gives up on them where they are out of order."""
    if isinstance(reader, Reader2):
        for storage in getattr(reader.storage, "storages", [reader.storage]):
            if isinstance(storage, McapReader) and storage.connections and not storage.chunks:
                raise ReaderError("it has no chunks")
