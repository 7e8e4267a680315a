# SPDX-License-Identifier: MIT
"""``svnicp live``: options that contradict each other, missing extras, and replays that end."""

import re
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from live_cases import DRIVE, NOISE, PATIENT, TYPES, sent, wait_for
from recording_inputs import make_estimate
from svnicp.cli.__main__ import main
from svnicp.cli.live import LiveCommand
from svnicp.cli.simulate import SimulateCommand
from svnicp.data.measurements import Scan
from svnicp.data.ros.options import RosBagOptions
from svnicp.errors import ConfigError, DatasetError
from svnicp.live import LiveEstimate, LiveOdometry
from svnicp.live.connection import who_can_reach
from svnicp.live.decoder import LiveDecoder
from svnicp.live.heard_topics import HeardTopics, heard_topics
from svnicp.live.outgoing import MessageMaker, OutputConfig
from svnicp.live.replay import Replay
from svnicp.odometry import Odometry

PAGE = (Path(__file__).parents[1] / "docs" / "live.md").read_text(encoding="utf-8")
CLOUD, READING = TYPES.values()


def test_the_page_on_live_runs(capsys):
    """The Python of docs/live.md prints a status for every scan, and the summary."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(code, "live.md", "exec"), {})
    *statuses, summary = capsys.readouterr().out.splitlines()
    assert set(statuses) <= {"first", "ok", "weak"}
    assert f"{len(statuses)} estimates" in summary


def test_the_page_on_live_names_real_options():
    """Every option that docs/live.md names is one of this command, or of ``svnicp simulate``."""
    both = (*fields(LiveCommand), *fields(SimulateCommand))
    known = {f"--{field.name.replace('_', '-')}" for field in both}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= known


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["foxglove", "--no-imu", "--imu-model", "generic"], "--imu-model"),
        (["foxglove", "--rate", "2"], "name what to play"),
        (["foxglove", "--data", "room", "--rate", "0"], "--rate must be positive"),
        (["ros2", "--host", "0.0.0.0"], "--router"),
        (["foxglove", "--port", "70000"], "--port"),
        (["ros1", "--queue", "0"], "--queue"),
        (["ros1", "--imu-wait", "-1"], "--imu-wait"),
        (["ros1", "--max-scans", "0"], "--max-scans"),
        (["foxglove", "--prefix", "robot/"], "--prefix"),
        (["foxglove", "--preset", "paper", "--config", "x.yaml"], "either --preset or --config"),
        (["ros3"], "ros1"),
        (["foxglove", "--data", "rooom"], "did you mean the scenario room?"),
    ],
)
def test_contradictions_are_said_in_a_sentence(words, complaint, capsys):
    """A wrong option ends the command with code 2 and names what is wrong."""
    assert main(["live", *words]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(("interface", "module"), [("foxglove", "foxglove"), ("ros2", "zenoh")])
def test_a_missing_extra_is_one_line(interface, module, monkeypatch, capsys):
    """Without the extra, one line says how to install it, before anything is compiled."""
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["live", interface, "--no-imu"]) == 2
    said = capsys.readouterr().err
    assert said.endswith('pip install "svnicp[live]"\n')
    assert said.count("\n") == 1


def test_a_server_says_who_can_reach_it():
    """Loopback is this machine, everything else the network."""
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        assert "this machine only" in who_can_reach(host)
    assert who_can_reach("0.0.0.0") == "open to the network"


def test_dropped_scans_are_a_warning_until_no_more_are_dropped():
    """Diagnostics warn in the message after a drop, and are fine again in the next."""
    maker = MessageMaker(2, OutputConfig(), np.eye(4))
    statistics = LiveOdometry(Odometry()).statistics()
    scan = Scan(0, np.ones((1, 3)))
    levels = []
    for num_dropped in (0, 3, 3):
        now = replace(statistics, num_dropped=num_dropped)
        sent_now = maker.messages(LiveEstimate(make_estimate(2), scan, now))
        data = next(one.data for one in sent_now if one.topic == "/diagnostics")
        array = maker.make.store.deserialize_cdr(data, "diagnostic_msgs/msg/DiagnosticArray")
        levels += [one.level for one in array.status if one.name == "svnicp: live"]
    assert levels == [0, 1, 0]


def test_topics_are_chosen_by_name_or_by_kind():
    """A named topic need not be there; otherwise the only one of its kind is taken."""
    published = [("/points", CLOUD), ("/imu", READING), ("/rosout", "rcl_interfaces/msg/Log")]
    named = RosBagOptions(lidar_topic="/later")
    assert heard_topics(published, RosBagOptions(), uses_imu=True, where="here") == (
        "/points",
        "/imu",
    )
    assert heard_topics(published, named, uses_imu=False, where="here") == HeardTopics(
        "/later", None
    )
    with pytest.raises(DatasetError, match=r"here has 2 topics(.|\n)*--lidar-topic"):
        heard_topics([*published, ("/b", CLOUD)], RosBagOptions(), uses_imu=True, where="here")
    with pytest.raises(DatasetError, match="--no-imu"):
        heard_topics(published[:1], RosBagOptions(), uses_imu=True, where="here")


def test_a_decoder_takes_the_first_topic_of_a_kind():
    """Without names the first cloud and the first IMU are taken, and no others."""
    decoder = LiveDecoder(LiveOdometry(Odometry(imu=NOISE)), RosBagOptions(), "cdr")
    assert decoder.wants("/a", CLOUD)
    assert not decoder.wants("/b", CLOUD)
    assert decoder.wants("/a", CLOUD)
    assert decoder.wants("/imu", READING)
    assert not decoder.wants("/odom", "nav_msgs/msg/Odometry")
    alone = LiveDecoder(LiveOdometry(Odometry()), RosBagOptions(), "cdr")
    assert not alone.wants("/imu", READING)


@pytest.mark.parametrize(("version", "encoding"), [(1, "ros1"), (2, "cdr")])
def test_nothing_is_lost_while_the_format_is_learnt(version, encoding):
    """The first messages, from which units are told, become measurements like all others."""
    live = LiveOdometry(Odometry(imu=NOISE), config=PATIENT)
    decoder = LiveDecoder(live, RosBagOptions(), encoding)
    for topic, data in sent(version):
        decoder.on_message(topic, TYPES[topic], data)
    statistics = live.statistics()
    topics = [topic for topic, _ in sent(version)]
    assert statistics.num_scans == topics.count("/points")
    assert statistics.num_samples == topics.count("/imu/data")
    assert (statistics.num_dropped, statistics.num_refused) == (0, 0)


def test_a_replay_takes_as_long_as_the_recording():
    """At three times the speed, a second and a half of the recording take half a second."""
    with LiveOdometry(Odometry(), config=PATIENT) as live:
        replay = Replay(DRIVE, live, rate=3.0, max_scans=15)
        begin = time.monotonic()
        replay.start()
        wait_for(lambda: replay.ended)
        seconds = time.monotonic() - begin
        replay.stop()
    assert live.statistics().num_scans == 15
    assert seconds >= 1.5 / 3.0 - 0.1
    with pytest.raises(ConfigError, match="rate"):
        Replay(DRIVE, live, rate=0.0)


def test_a_replay_can_be_stopped():
    """It ends at once when told to, in the middle of a wait."""
    with LiveOdometry(Odometry(), config=PATIENT) as live:
        replay = Replay(DRIVE, live, rate=1e-6)
        replay.start()
        replay.stop()
    assert replay.ended
    assert live.statistics().num_scans == 0
