# SPDX-License-Identifier: MIT
"""The Foxglove server against a real WebSocket client on loopback."""

import json
import re
import signal
import struct
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from live_cases import DRIVE, IMU, LIDAR, NOISE, TYPES, expected, live_on, sent, wait_for
from odometry_cases import measured
from svnicp.data.measurements import Scan
from svnicp.errors import InputError
from svnicp.lie import transform_points
from svnicp.live import LiveEstimate, LiveOdometry
from svnicp.live.outgoing import MessageMaker, OutputConfig, points_at_estimate
from svnicp.live.replay import Replay
from svnicp.odometry import Odometry
from svnicp.recording.ros_messages import RosMessages

pytest.importorskip("foxglove", reason='pip install "svnicp[live]" to run this')
websocket = pytest.importorskip("websocket", reason="the test group has websocket-client")

from svnicp.live.foxglove_server import FoxgloveServer  # noqa: E402

STORE = RosMessages(2).store


class Client:
    """A client that subscribes to everything that is advertised."""

    def __init__(self, port: int) -> None:
        self.socket = websocket.create_connection(
            f"ws://127.0.0.1:{port}", subprotocols=["foxglove.sdk.v1"], timeout=20
        )
        self.channels: dict[int, dict[str, Any]] = {}

    def subscribe(self, topics: set[str]) -> None:
        """Wait for the topics, and subscribe to them."""
        while {one["topic"] for one in self.channels.values()} < topics:
            message = json.loads(self.socket.recv())
            if message["op"] == "advertise":
                self.channels |= {one["id"]: one for one in message["channels"]}
        wanted = [{"id": number, "channelId": number} for number in self.channels]
        self.send({"op": "subscribe", "subscriptions": wanted})

    def send(self, message: dict[str, Any]) -> None:
        """Send a command."""
        self.socket.send(json.dumps(message))

    def receive(self) -> tuple[str, int, Any]:
        """Return topic, time [ns] and content of the next message."""
        while True:
            frame = self.socket.recv()
            if isinstance(frame, bytes) and frame[0] == 1:
                _, number, stamp_ns = struct.unpack_from("<BIQ", frame)
                channel = self.channels[number]
                content = STORE.deserialize_cdr(frame[13:], channel["schemaName"])
                return channel["topic"], stamp_ns, content

    def receive_of(self, topic: str, count: int) -> list[Any]:
        """Return the next messages of one topic."""
        found = []
        while len(found) < count:
            name, _, content = self.receive()
            if name == topic:
                found.append(content)
        return found


@pytest.fixture
def connect():
    """Make clients that are disconnected in the end."""
    clients: list[Client] = []

    def make(port: int) -> Client:
        clients.append(Client(port))
        return clients[-1]

    yield make
    for client in clients:
        client.socket.shutdown()


@pytest.fixture
def everything():
    """Maker of all messages, and a server for them; with everything compiled before."""
    assert expected()
    maker = MessageMaker(2, OutputConfig(tf=True, cloud=True), np.eye(4))
    server = FoxgloveServer(maker, port=0)
    yield maker, server
    server.close()


def test_a_client_sees_a_replay(everything, connect):
    """What is published arrives: pose, covariance, transform, cloud, and health."""
    maker, server = everything
    client = connect(server.port)
    client.subscribe(set(maker.topics()))
    got: list[LiveEstimate] = []

    def publish(one: LiveEstimate) -> None:
        got.append(one)
        for message in maker.messages(one):
            server.publish(message)

    with LiveOdometry(Odometry(imu=NOISE), [publish]) as live:
        replay = Replay(DRIVE, live, rate=3.0, max_scans=12)
        replay.start()
        messages = [client.receive() for _ in range(4)]
        wait_for(lambda: replay.ended)
        replay.stop()
    first = got[0].estimate
    by_topic = {topic: content for topic, _, content in messages}
    assert {stamp_ns for _, stamp_ns, _ in messages} == {first.stamp_ns}
    assert set(by_topic) == {"/odometry", "/diagnostics", "/tf", "/cloud"}
    pose = by_topic["/odometry"].pose
    assert_allclose(pose.covariance, first.to_ros()["pose"]["covariance"])
    transform = by_topic["/tf"].transforms[0]
    assert (transform.header.frame_id, transform.child_frame_id) == ("odom", "base_link")
    assert_allclose(transform.transform.translation.x, first.T_world_body[0, 3])
    assert by_topic["/cloud"].width == len(got[0].scan.points)
    assert by_topic["/cloud"].header.frame_id == "base_link"
    names = [status.name for status in by_topic["/diagnostics"].status]
    assert names == ["svnicp: odometry", "svnicp: live"]


def test_a_client_publishes_scans_and_readings(everything, connect):
    """Measurements sent by a client give the poses that a recording of them would give."""
    maker, server = everything
    live = live_on(server, maker, "cdr")
    client = connect(server.port)
    client.subscribe(set(maker.topics()))
    numbers = {LIDAR: 1, IMU: 2, "/other": 3}
    types = {**TYPES, "/other": TYPES[LIDAR]}
    channels = [
        {"id": number, "topic": topic, "encoding": "cdr", "schemaName": types[topic]}
        for topic, number in numbers.items()
    ]
    client.send({"op": "advertise", "channels": channels})
    with live:
        client.socket.send_binary(struct.pack("<BI", 1, numbers["/other"]) + sent(2)[0][1])
        for topic, data in sent(2):
            client.socket.send_binary(struct.pack("<BI", 1, numbers[topic]) + data)
        wait_for(lambda: live.statistics().num_estimates == len(expected()))
    poses = client.receive_of("/odometry", len(expected()))
    for message, estimate in zip(poses, expected(), strict=True):
        position = message.pose.pose.position
        assert_allclose(
            [position.x, position.y, position.z], estimate.T_world_body[:3, 3], atol=1e-9
        )
    assert live.statistics().num_refused == 0


def test_garbage_from_a_client_is_counted(everything, connect, caplog):
    """A message that cannot be read does no harm."""
    maker, server = everything
    live = live_on(server, maker, "cdr")
    client = connect(server.port)
    channel = {"id": 1, "topic": IMU, "encoding": "cdr", "schemaName": TYPES[IMU]}
    client.send({"op": "advertise", "channels": [channel]})
    with live:
        for data in (b"", b"\x00", b"\x00\x01\x00\x00abc"):
            client.socket.send_binary(struct.pack("<BI", 1, 1) + data)
        wait_for(lambda: live.statistics().num_refused == 3)
    assert "a measurement was left out" in caplog.text


def test_a_port_in_use_is_said(everything):
    """One sentence with what to do, instead of a traceback."""
    maker, server = everything
    with pytest.raises(InputError, match="choose another --port"):
        FoxgloveServer(maker, port=server.port)
    assert "this machine only" in server.address


def test_the_published_cloud_is_undistorted():
    """Points of a moving sensor fall where they were measured, seen from the estimate's pose."""
    scan = [one for one in measured(DRIVE) if isinstance(one, Scan)][12]
    estimate = next(one for one in expected() if one.stamp_ns == scan.mean_ns)
    truth = DRIVE.truth_at(np.array([estimate.stamp_ns])).T_world_body[0]
    points = points_at_estimate(scan, estimate, np.eye(4))
    assert np.linalg.norm(estimate.twist) > 0.3
    assert scan.point_times_ns is not None
    for index in (0, len(points) // 2, len(points) - 1):
        at = DRIVE.truth_at(scan.point_times_ns[[index]]).T_world_body[0]
        expected_world = transform_points(at, scan.points[[index]].astype(float))
        assert_allclose(transform_points(truth, points[[index]]), expected_world, atol=0.02)


def test_the_command_serves_and_ends_on_interrupt(connect, tmp_path):
    """``svnicp live foxglove`` plays a scenario to a client, and Ctrl-C ends it with a summary."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "svnicp.cli", "live", "foxglove", "--data", "room", "--port",
         "0", "--no-imu"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.stderr is not None
    line = ""
    while "ws://" not in line:
        line = process.stderr.readline()
        assert line, "the command ended"
    found = re.search(r"ws://127\.0\.0\.1:(\d+) \(this machine only", line)
    assert found, line
    client = connect(int(found[1]))
    client.subscribe({"/odometry", "/diagnostics"})
    assert client.receive_of("/odometry", 1)[0].child_frame_id == "base_link"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert re.search(r"\d+ scans, 0 IMU readings, \d+ estimates, \d+ dropped, latency", out)
