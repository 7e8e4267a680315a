# SPDX-License-Identifier: MIT
"""Before the first estimate: what cannot begin says so once, and what is wrong is one sentence."""

import logging
import re

import numpy as np
import pytest

import svnicp
from odometry_cases import DEFAULT, drive, feed, measured
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.errors import ConfigError, InputError
from svnicp.odometry import Odometry

XSENS = ImuNoise.model("xsens_mti30")


def scans(count: int) -> list[Scan]:
    """The first scans of the drive through the room."""
    return [one for one in measured(drive()) if isinstance(one, Scan)][:count]


def test_empty_scans_at_the_start_change_nothing(caplog: pytest.LogCaptureFixture):
    """The map begins with the first scan that has points, and its voxels are as without them."""
    good = scans(3)
    odometry = Odometry(DEFAULT)
    with caplog.at_level(logging.WARNING):
        for step in range(1, 4):
            empty_ns = good[0].stamp_ns - step * 100_000_000
            assert odometry.add_scan(np.zeros((0, 3)), empty_ns) is None
    assert caplog.text.count("too few places to begin a map") == 1
    usual = Odometry(DEFAULT)
    for one, other in zip(feed(odometry, good), feed(usual, good), strict=True):
        assert one.status == other.status
        np.testing.assert_array_equal(one.T_world_body, other.T_world_body)
    assert odometry.config == usual.config


def test_clouds_in_millimetres_are_named(caplog: pytest.LogCaptureFixture):
    """Nothing is in range then; the warning says what it may be."""
    scan = scans(1)[0]
    with caplog.at_level(logging.WARNING):
        assert Odometry(DEFAULT).add_scan(1000.0 * scan.points, scan.stamp_ns) is None
    assert "are they in millimetres?" in caplog.text


def test_stamps_that_do_not_go_on_are_named(caplog: pytest.LogCaptureFixture):
    """Scans with the same stamp, as stamps in seconds have it, are left out, and that is said."""
    odometry, first = Odometry(DEFAULT), scans(1)[0]
    with caplog.at_level(logging.WARNING):
        found = [odometry.add_scan(first.points, 1_700_000_000) for _ in range(3)]
    assert [one is None for one in found] == [False, True, True]
    assert caplog.text.count("whole nanoseconds") == 1
    assert "LiDAR alone: 1 scans" in repr(odometry)


@pytest.mark.parametrize("shift_s", [None, 3600.0])
def test_readings_of_another_clock_are_missed(
    shift_s: float | None, caplog: pytest.LogCaptureFixture
):
    """Without readings of their time, scans wait; after a few seconds a warning says for what."""
    odometry = Odometry(DEFAULT, XSENS)
    scan = scans(1)[0]
    if shift_s is not None:
        for one in measured(drive())[:100]:
            if isinstance(one, ImuSample):
                late_ns = one.stamp_ns + int(shift_s * 1e9)
                odometry.add_imu(late_ns, one.angular_velocity, one.linear_acceleration)
    with caplog.at_level(logging.WARNING):
        for step in range(40):
            assert odometry.add_scan(scan.points, scan.stamp_ns + step * 100_000_000) is None
    said = "there is no IMU reading" if shift_s is None else "the last IMU reading is +3.6e+03 s"
    assert caplog.text.count(said) == 1


def test_readings_that_began_late_are_told_apart(caplog: pytest.LogCaptureFixture):
    """Not another clock: they have begun a moment ago, and more will come."""
    odometry, scan = Odometry(DEFAULT, XSENS), scans(1)[0]
    with caplog.at_level(logging.WARNING):
        for step in range(40):
            stamp_ns = scan.stamp_ns + step * 100_000_000
            for part in range(10 if step > 20 else 0):
                odometry.add_imu(stamp_ns + part * 10_000_000 - 95_000_000, [0, 0, 0], [0, 0, 9.8])
            if odometry.add_scan(scan.points, stamp_ns) is not None:
                break
    assert caplog.text.count("but IMU readings only") == 1
    assert "clocks" not in caplog.text


def test_readings_without_use_are_named(caplog: pytest.LogCaptureFixture):
    """Who forgets ``imu=`` is told, once."""
    odometry = Odometry(DEFAULT)
    with caplog.at_level(logging.INFO):
        for step in range(3):
            odometry.add_imu(step, [0.0, 0.0, 0.0], [0.0, 0.0, 9.8])
    assert caplog.text.count("LiDAR alone") == 1


@pytest.mark.parametrize("imu", ["xsens_mti30", {}, True, 0.1])
def test_an_imu_must_be_its_noise(imu: object):
    """Anything else gets a sentence that says how to make one."""
    with pytest.raises(InputError, match=r"imu must be an ImuNoise.*ImuNoise\.model"):
        Odometry(DEFAULT, imu)  # type: ignore[arg-type]


@pytest.mark.parametrize("config", ["paper", {}])
def test_a_configuration_must_be_one(config: object):
    """Names and dictionaries get a sentence that says how to make one."""
    with pytest.raises(InputError, match=r"config must be a svnicp\.Config"):
        Odometry(config)  # type: ignore[arg-type]


@pytest.mark.parametrize("densities", [("a", 1.0), (None, 1.0), (np.ones(3), 1.0), (True, 1.0)])
def test_densities_must_be_numbers(densities: tuple):
    """Text, nothing and arrays get one sentence."""
    with pytest.raises(ConfigError, match="gyroscope of an IMU's noise must be one finite number"):
        ImuNoise(*densities)


def test_what_is_no_scan_and_no_dataset_is_refused():
    """A path is a natural guess; the sentence says what to do with it."""
    with pytest.raises(InputError, match=r"takes a svnicp Scan, not a str"):
        Odometry(DEFAULT).process("x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"open it with svnicp\.open_dataset"):
        next(iter(svnicp.run("room.bag")))  # type: ignore[arg-type]


@pytest.mark.parametrize("stamp_ns", [True, 10**30, -(10**30)])
def test_stamps_are_64_bits(stamp_ns: int):
    """Others cannot be kept in a file, and are refused."""
    with pytest.raises(InputError, match="64 bits"):
        Odometry(DEFAULT).add_scan(np.ones((100, 3)), stamp_ns)


def test_point_times_must_be_near_the_stamp():
    """Times that count from the beginning of a scan are the usual mistake."""
    times = np.arange(100) * 1_000_000
    with pytest.raises(InputError, match="add stamp_ns if they count from the beginning"):
        Odometry(DEFAULT).add_scan(np.ones((100, 3)), 10**18, times)


def test_a_lidar_is_not_kilometres_away():
    """Extrinsics in millimetres are refused."""
    T_body_lidar = np.eye(4)
    T_body_lidar[0, 3] = 2500.0
    with pytest.raises(InputError, match="give metres"):
        Odometry(DEFAULT, XSENS, T_body_lidar)


def test_an_estimate_is_one_line():
    """Printed, it says when, how it ended, where and how sure."""
    line = str(feed(Odometry(DEFAULT), scans(2))[-1])
    assert "\n" not in line
    assert re.search(r"Estimate at \d+\.\d{3} s: ok, position \(.*\) m, sigma \(.*\) m", line)
