# SPDX-License-Identifier: MIT
"""Tracks by readings, and without them: they are the motion, and what is asked leaves no trace."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from inertial_cases import (
    UP,
    buffer_of,
    busy_filter,
    perfect_buffer,
    random_readings,
    resting_filter,
)
from odometry_cases import DEFAULT, drive, errors, feed, in_front_of, measured, steady
from svnicp.arrays import Floats
from svnicp.config import InertialConfig, MotionConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.inertial import ImuBuffer
from svnicp.lie import so3_exp, so3_log
from svnicp.odometry import Odometry
from svnicp.odometry.carrying import Carrying
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.inertial_start import first_state
from svnicp.odometry.inertial_tracks import coast, navigate
from svnicp.odometry.readings import Readings
from svnicp.preprocess import body_points, stamps_through
from svnicp.simulation.simulate import simulate

NOISE = ImuNoise.model("xsens_mti30")


def test_a_look_back_is_the_way_that_was_gone(rng: np.random.Generator):
    """Through turns and accelerations: the same poses as the prediction that led here."""
    eskf, rows = busy_filter(rng), random_readings(rng, 12)
    track = eskf.predict(rows)
    position, velocity = eskf.position.copy(), eskf.velocity.copy()
    assert_allclose(eskf.look_back(rows), track, atol=1e-12)
    assert_allclose(eskf.position, position, atol=0.0)
    assert_allclose(eskf.velocity, velocity, atol=0.0)


@pytest.mark.parametrize("seconds", [0.1, 1.0, 2.0])
def test_points_are_deskewed_by_a_turn_however_long_the_gap(seconds: float):
    """A body that turned fast through a long gap goes on turning during the scan."""
    eskf, rate = resting_filter(), np.array([0.3, -0.2, 2.0])
    eskf.velocity = np.array([1.0, 2.0, 0.0])
    times = np.linspace(-0.05, 0.05, 41)
    stamps = np.round((10.0 + seconds + times) * 1e9).astype(np.int64)
    far = np.tile([20.0, 0.0, 0.0], (41, 1))
    rotations = so3_exp(rate * times[:, None])
    seen = np.einsum("nji,nj->ni", rotations, far - times[:, None] * eskf.velocity)
    scan = Scan(int(stamps[0]), seen, stamps)
    begin_ns = scan.mean_ns - round(seconds * 1e9)
    eskf.rotation = so3_exp(-rate * seconds)
    track = coast(eskf, MotionConfig(), begin_ns, scan, rate)
    assert_allclose(eskf.rotation, np.eye(3), atol=1e-12)
    found = body_points(scan, track, np.eye(4), DEFAULT.preprocess).points
    assert_allclose(found, far, atol=2e-5)


def without_readings(begin_s: float, end_s: float) -> list[Scan | ImuSample]:
    """The drive, whose IMU is silent for some time."""
    begin_ns, end_ns = (drive().start_ns + round(s * 1e9) for s in (begin_s, end_s))
    return [
        one for one in measured(drive())
        if isinstance(one, Scan) or not begin_ns < one.stamp_ns < end_ns
    ]  # fmt: skip


def test_the_rate_of_turning_is_doubted_without_readings():
    """The twist that is told in a gap is that of the scans, and its sigma holds."""
    odometry = Odometry(DEFAULT, NOISE, T_body_lidar=drive().T_body_lidar)
    estimates = feed(odometry, without_readings(1.6, 2.6))
    truth = drive().truth_at(np.array([one.stamp_ns for one in estimates]))
    silent = [n for n, one in enumerate(estimates)
              if 1.75 < (one.stamp_ns - drive().start_ns) * 1e-9 < 2.6]  # fmt: skip
    assert len(silent) == 8
    for n in silent:
        error = estimates[n].twist[3:] - truth.angular_velocity_body[n]
        sigmas = np.sqrt(np.diag(estimates[n].twist_covariance)[3:])
        assert np.all(sigmas > 0.1)
        assert np.all(np.abs(error) < 4.0 * sigmas)


def test_a_second_opinion_that_is_not_taken_leaves_no_trace():
    """After a prediction without readings is taken back all is as it was with them."""
    stream = measured(drive())
    scans = [n for n, one in enumerate(stream) if isinstance(one, Scan)]
    odometry = Odometry(DEFAULT, NOISE, T_body_lidar=drive().T_body_lidar)
    feed(odometry, stream[: scans[20]])
    motion, scan = odometry.motion, stream[scans[20]]
    assert isinstance(motion, InertialMotion)
    assert isinstance(scan, Scan)
    before = motion.predict(scan)
    carrying = copy.copy(vars(motion._carrying))
    covariance = motion.eskf.covariance.copy()
    assert motion.without_readings(scan) is not None
    motion.with_readings()
    assert_allclose(motion.T_world_body, before.T_world_body, atol=0.0)
    assert_allclose(motion.eskf.covariance, covariance, atol=0.0)
    for name, value in vars(motion._carrying).items():
        assert np.all(value == carrying[name]), name
    assert motion._carrying.coasted_s == 0.0


def test_no_readings_at_all_are_a_gap():
    """However short the step: there is nothing to integrate."""
    assert Readings().have_gap(ImuBuffer(), 0, 40_000_000, InertialConfig())


def bobbing(seconds: float, gyroscope_bias: float) -> ImuBuffer:
    """Readings of a level body that bobs up and down, with a bias about its axes."""
    buffer = ImuBuffer()
    for n in range(int(200 * seconds)):
        force = np.array([0.0, 0.0, 9.81 + 2.0 * np.sin(0.05 * n)])
        buffer.add(n * 5_000_000, np.full(3, gyroscope_bias), force)
    return buffer


@pytest.mark.parametrize("seconds", [1.5, 60.0])
def test_a_start_in_motion_is_as_level_however_long_the_imu_ran_before(seconds: float):
    """Only the last readings count: over a long time a gyroscope's bias turns 'up' away."""
    imu, end_ns = bobbing(seconds, 0.01), round(seconds * 1e9) - 10_000_000
    found = first_state(imu, Scan(end_ns, np.ones((1, 3))), InertialConfig(), 5.0)
    assert found is not None
    start, at_rest = found
    assert not at_rest
    tilt = np.arccos(min(1.0, start.rotation[2, 2]))
    assert tilt < 0.015


def test_readings_before_the_start_do_not_pile_up():
    """While scans have no points, only what a start needs is kept."""
    odometry = Odometry(DEFAULT, NOISE)
    motion = odometry.motion
    assert isinstance(motion, InertialMotion)
    for n in range(4000):
        odometry.add_imu(n * 5_000_000, [0.0, 0.0, 0.1], [0.0, 0.0, 9.81 + np.sin(0.05 * n)])
        if n % 20 == 19:
            assert odometry.add_scan(np.zeros((0, 3)), n * 5_000_000) is None
    assert len(motion.imu) < 300


def test_a_second_scan_that_does_not_fit_does_not_spoil_the_start():
    """The filter has gone on by then: the first scan is not asked about the velocity again."""
    dataset = steady(1.5, 2.6, shaken=True)
    stream = list(measured(dataset))
    odometry = Odometry(DEFAULT, NOISE, T_body_lidar=dataset.T_body_lidar)
    estimates, blocked = [], False
    for one in stream:
        is_second = isinstance(one, Scan) and len(estimates) == 1 and not blocked
        blocked = blocked or is_second
        estimates += feed(odometry, [in_front_of(one) if is_second else one])  # pyright: ignore
    assert blocked
    off = errors(dataset, estimates)
    sigmas = np.array([np.sqrt(np.diag(one.covariance)) for one in estimates])
    used = np.array([one.ok for one in estimates])
    assert np.all(np.abs(off[used]) < 3.5 * sigmas[used] + 0.005)


def test_points_are_deskewed_where_the_ground_shakes_the_body():
    """Poses between readings count: lines between those of 100 Hz are three times as far off."""
    dataset = simulate("offroad", seed=100, duration_s=6.0)
    imu, far = perfect_buffer(dataset.motion), np.array([20.0, 5.0, -2.0])
    off = []
    for begin_s in np.arange(3.0, 5.5, 0.23):
        times = begin_s + np.linspace(0.0, 0.1, 201)
        T_world_body = dataset.motion.T_world_body(times)
        T_mean = T_world_body[100]
        world = T_mean[:3, :3] @ far + T_mean[:3, 3]
        seen = np.einsum("nji,nj->ni", T_world_body[:, :3, :3], world - T_world_body[:, :3, 3])
        scan = Scan(round(begin_s * 1e9), seen, np.round(times * 1e9).astype(np.int64))
        eskf = resting_filter()
        eskf.position, eskf.rotation = T_world_body[0, :3, 3].copy(), T_world_body[0, :3, :3].copy()
        eskf.velocity = dataset.motion.velocity_world(times[:1])[0]
        track, _ = navigate(eskf, imu, scan.stamp_ns, scan, np.zeros(2))
        found = body_points(scan, track, np.eye(4), DEFAULT.preprocess).points
        off.append(np.linalg.norm(found - far, axis=1))
    assert np.sqrt(np.mean(np.square(off))) < 0.0003


@pytest.mark.parametrize("num_scans", [3, 10])
def test_turns_in_a_gap_are_as_doubtful_as_the_body_turned_before(num_scans: int):
    """Swung about by hand: a rate that is held through a gap is wrong by so much, step by step."""
    period_s, swing = 0.005, 2.0 * np.pi * 0.9
    stamps_s: Floats = np.arange(200.0) * period_s
    squares = []
    for phase in np.arange(12) * np.pi / 6.0:
        rates = np.outer(1.7 * np.sin(swing * stamps_s + phase), [0.0, 0.0, 1.0])
        imu = buffer_of((stamps_s * 1e9).round(), np.c_[rates, np.tile(UP, (200, 1))])
        eskf, carrying = resting_filter(), Carrying(InertialConfig(), MotionConfig(), NOISE)
        last = Scan(imu.last_ns, np.ones((1, 3)))
        carrying.navigate(eskf, imu, last.mean_ns - 10**8, last)
        begin = eskf.rotation.copy()
        eskf.covariance[6:9, 6:9] = 1e-12 * np.eye(3)
        for n in range(num_scans):
            begin_ns, last = last.mean_ns, Scan(last.stamp_ns + 10**8, last.points)
            carrying.coast(eskf, begin_ns, last, rates[-1], 0.1 * n)
        ends_s = stamps_s[-1] + np.array([0.0, 0.1 * num_scans])
        turned = 1.7 / swing * np.diff(-np.cos(swing * ends_s + phase))[0]
        wrong = so3_log(so3_exp(np.array([0.0, 0.0, turned])).T @ begin.T @ eskf.rotation)[2]
        squares.append(wrong**2 / eskf.covariance[8, 8])
    assert 0.1 < np.mean(squares) < 2.0


def test_the_rate_of_turning_is_as_noisy_as_a_reading():
    """However finely the way to a scan is cut."""
    imu = perfect_buffer(drive().motion)
    carrying, eskf = Carrying(InertialConfig(), MotionConfig(), NOISE), resting_filter()
    carrying.navigate(eskf, imu, 5 * 10**8, Scan(6 * 10**8, np.ones((1, 3))))
    assert np.sqrt(carrying.rate_var) == pytest.approx(NOISE.gyroscope * 10.0, rel=0.01)


def test_tracks_have_two_poses_also_where_points_share_a_time():
    """Stamps of today count more nanoseconds than a float can tell apart."""
    for stamp_ns in (10**9, 1_763_000_000_123_456_789):
        scan = Scan(stamp_ns, np.ones((5, 3)), np.full(5, stamp_ns, dtype=np.int64))
        stamps = stamps_through(scan)
        assert len(stamps) >= 2
        assert stamps[0] == stamp_ns
        later = Scan(stamp_ns, np.ones((2, 3)), np.array([stamp_ns, stamp_ns + 10**8]))
        assert stamps_through(later)[-1] == later.end_ns
