# SPDX-License-Identifier: MIT
"""What every kind of bag file offers: its topics, and its messages as bytes in the order of time.

How a file is stored ends here; what its messages mean starts in ``wire``.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from svnicp.data.ros.wire import Encoding, MessageReader


class RawMessage(NamedTuple):
    """One message as the bag holds it."""

    topic: str
    log_ns: int
    """When it was recorded [ns]."""
    data: bytes
    encoding: Encoding

    def reader(self) -> MessageReader:
        """Return a reader at its first value."""
        return MessageReader(self.data, self.encoding)


class Topic(NamedTuple):
    """One topic of a bag."""

    name: str
    msgtype: str
    """Type in its short form, the same for ROS 1 and 2: "sensor_msgs/Imu"."""
    num_messages: int


class Contents(NamedTuple):
    """What a bag holds."""

    topics: list[Topic]
    start_ns: int
    """When its first message was recorded [ns]."""
    end_ns: int
    """When its last message was recorded [ns]."""

    @property
    def duration_s(self) -> float:
        """Time covered [s]."""
        return max(self.end_ns - self.start_ns, 0) * 1e-9


class BagFile(Protocol):
    """One file or folder of a recording; opened anew for every walk through it."""

    kind: str
    """Format in a few words: "ROS 1 bag"."""

    def contents(self) -> Contents:
        """Return what it holds."""
        ...

    def messages(self, topics: Collection[str], since_ns: int = 0) -> Iterator[RawMessage]:
        """Yield the messages of some topics in the order in which they were recorded."""
        ...


def short_type(msgtype: str) -> str:
    """Type without ROS 2's middle part: "sensor_msgs/msg/Imu" gives "sensor_msgs/Imu"."""
    return msgtype.replace("/msg/", "/")
