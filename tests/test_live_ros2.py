# SPDX-License-Identifier: MIT
"""The ROS 2 node against a real Zenoh router and another session, on loopback.

The other session speaks the wire format of rmw_zenoh; rmw_zenoh itself is not installed here.
"""

import json
import re
import signal
import socket
import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from live_cases import IMU, LIDAR, TYPES, expected, live_on, sent, wait_for
from svnicp.data.ros.options import RosBagOptions
from svnicp.errors import DatasetError, InputError
from svnicp.live.decoder import LiveDecoder
from svnicp.live.live_odometry import LiveOdometry
from svnicp.live.outgoing import MessageMaker, OutputConfig
from svnicp.live.zenoh_names import NodeName, RosTopic, attachment, published_topic
from svnicp.odometry import Odometry
from svnicp.recording.ros_messages import RosMessages

STORE = RosMessages(2).store
ODOMETRY = RosTopic(
    "/robot/odometry", "nav_msgs/msg/Odometry", STORE.hash_rihs01("nav_msgs/msg/Odometry")
)
DOMAIN = 7


def opened(**values: object) -> Any:
    """Return a Zenoh session with this configuration."""
    zenoh = pytest.importorskip("zenoh", reason='pip install "svnicp[live]" to run this')
    config = zenoh.Config()
    for key, value in {"scouting/multicast/enabled": False, **values}.items():
        config.insert_json5(key.replace("__", "/"), json.dumps(value))
    return zenoh.open(config)


@pytest.fixture
def router():
    """A router on a free port of this machine; yields where it is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"tcp/127.0.0.1:{probe.getsockname()[1]}"
    session = opened(mode="router", listen__endpoints=[place])
    yield place
    session.close()


@pytest.fixture
def peer(router):
    """Another session at the same router."""
    session = opened(mode="client", connect__endpoints=[router])
    yield session
    session.close()


def announce(peer: Any, topics: dict[str, str]) -> list[Any]:
    """Let a session look like a ROS node that publishes."""
    node = NodeName(DOMAIN, str(peer.zid()), "driver")
    tokens = [node.token()]
    for number, (name, msgtype) in enumerate(topics.items(), start=1):
        topic = RosTopic(name, msgtype, STORE.hash_rihs01(msgtype))
        tokens.append(node.endpoint_token(number, "MP", topic))
    return [peer.liveliness().declare_token(token) for token in tokens]


def send_all(peer: Any, topics: list[str], count: int | None = None) -> None:
    """Publish the messages of the drive, reliably, once somebody listens."""
    zenoh = sys.modules["zenoh"]
    senders = {
        name: peer.declare_publisher(
            RosTopic(name, TYPES[name], "RIHS01_other").key(DOMAIN),
            congestion_control=zenoh.CongestionControl.BLOCK,
        )
        for name in topics
    }
    for sender in senders.values():
        wait_for(lambda sender=sender: sender.matching_status.matching)
    for topic, data in [one for one in sent(2) if one[0] in topics][:count]:
        senders[topic].put(data)
    for sender in senders.values():
        sender.undeclare()


@pytest.fixture
def make_node(router):
    """Make nodes that are closed in the end, whatever happens."""
    from svnicp.live.ros2_node import Ros2Node  # noqa: PLC0415

    nodes: list[Ros2Node] = []

    def make(maker: MessageMaker, options: RosBagOptions) -> Ros2Node:
        nodes.append(Ros2Node(maker, options, router, DOMAIN))
        return nodes[-1]

    yield make
    for node in nodes:
        node.close()


def test_names_are_those_of_rmw_zenoh():
    """Keys, tokens and attachments have the published form."""
    text = RosTopic("/chatter", "std_msgs/msg/String", STORE.hash_rihs01("std_msgs/msg/String"))
    known = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
    assert text.key(2) == f"2/chatter/std_msgs::msg::dds_::String_/{known}"
    node = NodeName(2, "abc", "talker")
    assert node.token() == "@ros2_lv/2/abc/0/0/NN/%/%/talker"
    token = node.endpoint_token(3, "MP", RosTopic("/a/b", "std_msgs/msg/String", known))
    assert token == (
        f"@ros2_lv/2/abc/0/3/MP/%/%/talker/%a%b/std_msgs::msg::dds_::String_/{known}/::,10:,:,:,,"
    )
    assert published_topic(token) == RosTopic("/a/b", "std_msgs/msg/String", known)
    assert published_topic(token.replace("/MP/", "/MS/")) is None
    assert published_topic(node.token()) is None
    assert attachment(5, 6, bytes(16)) == struct.pack("<qq", 5, 6) + b"\x10" + bytes(16)


def test_measurements_come_in_and_odometry_goes_out(make_node, peer):
    """What another session publishes gives the poses of a recording, on the keys of ROS 2."""
    assert expected()
    received: list[Any] = []
    kept = [peer.declare_subscriber(ODOMETRY.key(DOMAIN), received.append)]
    maker = MessageMaker(2, OutputConfig(prefix="/robot", tf=True), np.eye(4))
    options = RosBagOptions(lidar_topic=LIDAR, imu_topic=IMU)
    node = make_node(maker, options)
    live = live_on(node, maker, "cdr")
    with live:
        send_all(peer, [LIDAR, IMU])
        wait_for(lambda: live.statistics().num_estimates == len(expected()))
        wait_for(lambda: len(received) == len(expected()))
    for number, (sample, estimate) in enumerate(zip(received, expected(), strict=True), start=1):
        message = STORE.deserialize_cdr(sample.payload.to_bytes(), ODOMETRY.msgtype)
        position = message.pose.pose.position
        assert_allclose(
            [position.x, position.y, position.z], estimate.T_world_body[:3, 3], atol=1e-9
        )
        extra = sample.attachment.to_bytes()
        assert (struct.unpack_from("<q", extra)[0], len(extra)) == (number, 33)
    assert kept


def test_the_graph_shows_the_node_and_its_topics(make_node, peer):
    """Others find the node's publishers by their tokens, and nothing is left when it is closed."""
    maker = MessageMaker(2, OutputConfig(prefix="/robot"), np.eye(4))
    node = make_node(maker, RosBagOptions())

    def tokens() -> list[str]:
        replies = peer.liveliness().get(f"@ros2_lv/{DOMAIN}/**", timeout=2.0)
        return [str(reply.ok.key_expr) for reply in replies]

    wait_for(lambda: len(tokens()) == 3)
    assert ODOMETRY in [published_topic(token) for token in tokens()]
    node.close()
    wait_for(lambda: tokens() == [])


def test_topics_are_found_by_their_types(make_node, peer):
    """Without a name the only cloud is taken; where there is none, it says what to do."""
    maker = MessageMaker(2, OutputConfig(), np.eye(4))
    node = make_node(maker, RosBagOptions())
    live = LiveOdometry(Odometry())
    with pytest.raises(DatasetError, match="--lidar-topic"):
        node.listen(LiveDecoder(live, RosBagOptions(), "cdr"))
    kept = announce(peer, TYPES)
    wait_for(lambda: {LIDAR, IMU} <= {topic.name for topic in node._published()})
    node.listen(LiveDecoder(live, RosBagOptions(), "cdr"))
    with live:
        send_all(peer, [LIDAR])
        wait_for(lambda: live.statistics().num_estimates > 3)
    assert kept


def test_a_missing_router_is_said():
    """One sentence with the command that starts one."""
    pytest.importorskip("zenoh", reason='pip install "svnicp[live]" to run this')
    from svnicp.live.ros2_node import Ros2Node  # noqa: PLC0415

    maker = MessageMaker(2, OutputConfig(), np.eye(4))
    with pytest.raises(InputError, match="rmw_zenohd") as caught:
        Ros2Node(maker, RosBagOptions(), "tcp/127.0.0.1:1")
    assert ".rs" not in str(caught.value)  # where in Zenoh it was noticed


def test_the_command_listens_to_the_router(router, peer, tmp_path):
    """``svnicp live ros2`` takes scans from the router, publishes there, and ends on Ctrl-C."""
    received: list[Any] = []
    odometry = ODOMETRY._replace(name="/odometry")
    kept = [peer.declare_subscriber(odometry.key(DOMAIN), received.append)]
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "svnicp.cli", "live", "ros2", "--router", router, "--domain",
         str(DOMAIN), "--lidar-topic", LIDAR, "--no-imu"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stderr is not None
    line = ""
    while "listening at" not in line:
        line = process.stderr.readline()
        assert line, "the command ended"
    send_all(peer, [LIDAR], 8)
    wait_for(lambda: len(received) == 8)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert re.search(r"8 scans, 0 IMU readings, 8 estimates, 0 dropped, latency", out)
    assert kept
