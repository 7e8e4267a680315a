# SPDX-License-Identifier: MIT
"""The ROS 1 node against a real rosmaster and a real rospy program, on loopback.

rospy comes from Debian's packages: installed, or unpacked into the folder that SVNICP_ROS1 names.
"""

import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from live_cases import IMU, LIDAR, TYPES, expected, sent, wait_for

PEER = Path(__file__).with_name("ros1_peer.py")
PACKAGES = (
    "python3-rospy python3-rosmaster python3-nav-msgs python3-sensor-msgs python3-tf2-msgs "
    "python3-diagnostic-msgs"
)


@pytest.fixture
def ros1(tmp_path):
    """Environment of programs that use ROS 1, with a master of their own that runs."""
    root = Path(os.environ.get("SVNICP_ROS1", "/"))
    folder = root / "usr/lib/python3/dist-packages"
    if not (folder / "rosmaster").is_dir():
        pytest.skip(f"apt install {PACKAGES}, or unpack them where SVNICP_ROS1 says, to run this")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
        "ROS_HOSTNAME": "127.0.0.1",
        "ROS_LOG_DIR": str(tmp_path / "log"),
        "ROS_HOME": str(tmp_path / "home"),
    }
    master = subprocess.Popen(
        [sys.executable, "-c", "import rosmaster; rosmaster.rosmaster_main()", "--core", "-p",
         str(port)],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_for(answers)
    yield environment
    master.kill()
    master.wait()


def start(environment: dict[str, str], folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start ``svnicp live ros1`` and wait until it listens."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "svnicp.cli", "live", "ros1", *options],
        env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip
    assert process.stderr is not None
    line = ""
    while "listening at" not in line:
        line = process.stderr.readline()
        assert line, "the command ended"
    assert "this machine only" in line
    return process


def test_a_rospy_program_gets_odometry_for_its_scans(ros1, tmp_path):
    """Scans and readings of a rospy publisher come back as the poses of a recording of them."""
    assert expected()
    messages = [(topic, TYPES[topic].replace("/msg/", "/"), data) for topic, data in sent(1)]
    (tmp_path / "messages").write_bytes(pickle.dumps(messages))
    process = start(
        ros1, tmp_path, "--lidar-topic", LIDAR, "--imu-topic", IMU, "--imu-model", "xsens_mti30",
        "--tf", "--queue", "100", "--imu-wait", "5",
    )  # fmt: skip
    peer = subprocess.run(
        [sys.executable, str(PEER), str(tmp_path / "messages"), str(len(expected()))],
        env=ros1, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=30)
    assert peer.returncode == 0, peer.stderr + said
    assert process.returncode == 0, said
    received = [json.loads(line) for line in peer.stdout.splitlines()]
    for message, estimate in zip(received, expected(), strict=True):
        assert message["stamp_ns"] == estimate.stamp_ns
        assert_allclose(message["position"], estimate.T_world_body[:3, 3], atol=1e-9)
        assert_allclose(message["covariance"], estimate.to_ros()["pose"]["covariance"], rtol=1e-6)
        assert message["frames"] == ["odom", "base_link"]
    assert re.search(rf"{len(expected())} estimates, 0 dropped, latency", out)


def test_a_missing_master_is_said(ros1, tmp_path):
    """One sentence with what to do, and exit code 2."""
    ended = subprocess.run(
        [sys.executable, "-m", "svnicp.cli", "live", "ros1", "--no-imu"],
        env={**ros1, "ROS_MASTER_URI": "http://127.0.0.1:1"}, capture_output=True, text=True,
        check=False, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "start roscore" in ended.stderr
