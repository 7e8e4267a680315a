# SPDX-License-Identifier: MIT
"""How ROS 2 over Zenoh (rmw_zenoh) names things: topics, the graph, and what goes with a message.

A topic is the key ``domain/topic/type/hash``; nodes and endpoints announce themselves by liveliness
tokens under ``@ros2_lv``, in which slashes are written %; every message carries a sequence number,
its time and the sender's identity.
"""

import struct
from typing import NamedTuple

TOKENS = "@ros2_lv"
DEFAULT_QOS = "::,10:,:,:,,"
"""Reliable, volatile, the last ten messages; what is left out is the default."""


class RosTopic(NamedTuple):
    """A topic of ROS 2, as Zenoh knows it."""

    name: str
    msgtype: str
    """Such as ``nav_msgs/msg/Odometry``."""
    type_hash: str
    """RIHS01 hash of the type; * for any."""

    @property
    def dds_type(self) -> str:
        """The type as DDS spells it: ``nav_msgs::msg::dds_::Odometry_``."""
        package, _, name = self.msgtype.split("/")
        return f"{package}::msg::dds_::{name}_"

    def key(self, domain: int) -> str:
        """Key of its messages."""
        return f"{domain}/{self.name.strip('/')}/{self.dds_type}/{self.type_hash}"


class NodeName(NamedTuple):
    """A node of the graph."""

    domain: int
    session: str
    """Zenoh's identifier of the session."""
    name: str

    def token(self) -> str:
        """Token by which the node is known."""
        return f"{TOKENS}/{self.domain}/{self.session}/0/0/NN/%/%/{self.name}"

    def endpoint_token(self, number: int, kind: str, topic: RosTopic) -> str:
        """Token of a publisher (kind MP) or a subscription (MS); numbers count from 1."""
        slashes = topic.name.replace("/", "%")
        return (
            f"{TOKENS}/{self.domain}/{self.session}/0/{number}/{kind}/%/%/{self.name}/"
            f"{slashes}/{topic.dds_type}/{topic.type_hash}/{DEFAULT_QOS}"
        )


def published_topic(token: str) -> RosTopic | None:
    """Topic of a publisher's token; None for any other token."""
    parts = token.split("/")
    if len(parts) != 13 or parts[0] != TOKENS or parts[5] != "MP":
        return None
    name, dds_type, type_hash = parts[9:12]
    package, _, last = dds_type.partition("::msg::dds_::")
    if not last.endswith("_"):
        return None
    return RosTopic(name.replace("%", "/"), f"{package}/msg/{last[:-1]}", type_hash)


def attachment(number: int, stamp_ns: int, sender: bytes) -> bytes:
    """What goes with a message: its number, from 1, when it was sent [ns], 16 bytes of sender."""
    return struct.pack("<qqB", number, stamp_ns, len(sender)) + sender
