# SPDX-License-Identifier: MIT
"""What readings are good for: a dead driver, and an IMU of ten readings per second."""

import logging
from collections.abc import Sequence

import numpy as np
import pytest

from odometry_cases import DEFAULT, drive, errors, feed, measured
from svnicp.arrays import Floats
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.estimate import Estimate
from svnicp.inertial import ImuBuffer
from svnicp.odometry import Odometry
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.readings import between_readings, longest_s, lost_at_ends

NOISE = ImuNoise.model("generic")


Stream = Sequence[ImuSample | Scan]


def went_through(stream: Stream) -> tuple[Odometry, list[Estimate]]:
    """Odometry after a stream, and its estimates."""
    odometry = Odometry(DEFAULT, NOISE)
    return odometry, feed(odometry, stream)


def motion_of(odometry: Odometry) -> InertialMotion:
    assert isinstance(odometry.motion, InertialMotion)
    return odometry.motion


def dead_from(stream: Stream, begin_ns: int) -> Stream:
    """A stream whose readings repeat the last one before a time."""
    out, last = [], None
    for one in stream:
        if isinstance(one, ImuSample):
            last = one if last is None or one.stamp_ns <= begin_ns else last
            one = ImuSample(one.stamp_ns, last.angular_velocity, last.linear_acceleration)  # noqa: PLW2901
        out.append(one)
    return out


def thinned(stream: Stream, rate_hz: float) -> Stream:
    """A stream with few of its readings."""
    period_s = drive().info().imu_period_s
    assert period_s is not None
    every = round(1.0 / (rate_hz * period_s))
    readings = [one for one in stream if isinstance(one, ImuSample)][::every]
    kept = {one.stamp_ns for one in readings}
    return [one for one in stream if isinstance(one, Scan) or one.stamp_ns in kept]


def test_a_dead_driver_is_a_gap(caplog: pytest.LogCaptureFixture):
    """The readings are not believed, that is said once, and sigma is that of a gap."""
    stream, begin_ns = measured(drive()), drive().start_ns + 1_800_000_000
    with caplog.at_level(logging.WARNING, logger="svnicp"):
        odometry, estimates = went_through(dead_from(stream, begin_ns))
    assert caplog.text.count("repeats one reading") == 1
    without = [one for one in stream if isinstance(one, Scan) or one.stamp_ns <= begin_ns]
    _, expected = went_through(without)
    assert motion_of(odometry).readings.num_gaps >= 10
    sigmas = [[np.sqrt(np.trace(one.covariance)) for one in run] for run in (estimates, expected)]
    assert sigmas[0][-1] == pytest.approx(sigmas[1][-1], rel=0.2)
    _, whole = went_through(stream)
    assert sigmas[0][-1] > 1.5 * np.sqrt(np.trace(whole[-1].covariance))
    assert np.abs(errors(drive(), estimates)[-1, :3]).max() < 0.05


def test_a_slow_imu_is_used_all_the_same(caplog: pytest.LogCaptureFixture):
    """Nothing is a gap, it is said, and errors are as stated, because what it misses is noise."""
    stream = measured(drive())
    with caplog.at_level(logging.WARNING, logger="svnicp"):
        odometry, slow = went_through(thinned(stream, 12.0))
    assert caplog.text.count("readings per second, too few") == 1
    assert "The IMU gives 12 readings" in caplog.text
    assert motion_of(odometry).readings.num_gaps == 0
    found = errors(drive(), slow)
    covariances = [one.covariance for one in slow]
    squares = [e @ np.linalg.solve(P, e) / 6.0 for e, P in zip(found, covariances, strict=True)]
    assert np.mean(squares) < 3.0
    assert np.abs(errors(drive(), slow)[-1, :3]).max() < 0.05


def test_a_gap_is_longer_than_the_imus_period():
    """With 12 readings per second one that is missing is a gap, and one that is late is not."""
    odometry, _ = went_through(thinned(measured(drive()), 12.0))
    motion, config = motion_of(odometry), DEFAULT.inertial
    assert 1.2 / 12.0 < longest_s(motion.imu, config) < 2.0 / 12.0
    fast, _ = went_through(measured(drive()))
    assert longest_s(motion_of(fast).imu, config) == config.max_gap_s


def buffered(step_ns: int, rates: Floats, forces: Floats) -> ImuBuffer:
    """Readings (n, 3) in even steps."""
    imu = ImuBuffer()
    for number, (rate, force) in enumerate(zip(rates, forces, strict=True)):
        imu.add(number * step_ns, rate, force)
    return imu


def test_what_a_slow_imu_misses_is_how_rough_its_readings_are(rng: np.random.Generator):
    """White noise has its density, a straight line none."""
    rates, forces = rng.normal(0.0, 0.1, (4000, 3)), np.arange(4000.0)[:, None] * np.full(3, 0.2)
    missed = between_readings(buffered(100_000_000, rates, forces), 0, 400_000_000_000)
    assert missed[0] == pytest.approx(0.1**2 * 0.1, rel=0.2)
    assert missed[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("turns_per_s", [4.0, 12.0, 20.0])
def test_what_is_lost_at_the_ends_of_a_step_is_no_more_than_stated(turns_per_s: float):
    """Of a body that shakes, means over 5 ms are integrated up to the middles of them."""
    period_s, size = 0.005, 0.3
    ends = np.arange(801) * period_s
    angles = size * np.sin(2.0 * np.pi * turns_per_s * ends)
    rates = np.repeat(np.diff(angles)[:, None] / period_s, 3, axis=1)
    imu = buffered(5_000_000, rates, np.zeros_like(rates))
    rows = imu.intervals(0, imu.last_ns)
    middles = 0.5 * (ends[:-1] + ends[1:])
    turned = np.r_[0.0, np.cumsum(rows[1:, 0] * rows[1:, 1])]
    wrong = (turned - size * np.sin(2.0 * np.pi * turns_per_s * middles))[10:-10]
    lost = lost_at_ends(imu, 0, imu.last_ns, ImuNoise(1e-6, 1e-6))
    assert np.std(wrong) < np.sqrt(lost[0] / 2.0) < 2.0 * np.std(wrong)
    assert lost[1] == 0.0


def test_white_noise_loses_nothing_at_ends(rng: np.random.Generator):
    """What an IMU's own noise changes from reading to reading is in its density already."""
    noise, period_s = ImuNoise(1e-3, 1e-2), 0.005
    rates = rng.normal(0.0, noise.gyroscope / np.sqrt(period_s), (4000, 3))
    forces = rng.normal(0.0, noise.accelerometer / np.sqrt(period_s), (4000, 3))
    imu = buffered(5_000_000, rates, forces)
    lost = lost_at_ends(imu, 0, imu.last_ns, noise)
    alone = np.array([noise.gyroscope, noise.accelerometer]) ** 2 * period_s
    assert np.all(lost < 0.01 * alone)


def test_rates_in_degrees_are_suspected(caplog: pytest.LogCaptureFixture):
    """Also where a rest at the start hides them: the body would turn faster than bodies do."""
    began_ns = drive().start_ns
    stream = [
        ImuSample(one.stamp_ns, one.angular_velocity + turned, one.linear_acceleration)
        if isinstance(one, ImuSample)
        else one
        for one in measured(drive())
        for turned in [np.array([0.0, 0.0, 12.0]) * (one.stamp_ns > began_ns + 2 * 10**9)]
    ]
    with caplog.at_level(logging.WARNING):
        went_through(stream)
    said = [record.message for record in caplog.records if "degrees" in record.message]
    assert len(said) == 1


def test_readings_that_come_after_their_scans_are_told(caplog: pytest.LogCaptureFixture):
    """Two callbacks, and the scans' comes first: that is worse than no IMU, and is said once."""
    late: Stream = []
    waiting: Stream = []
    for one in measured(drive()):
        late += [one, *waiting] if isinstance(one, Scan) else []
        waiting = [] if isinstance(one, Scan) else [*waiting, one]
    with caplog.at_level(logging.WARNING):
        odometry, _ = went_through(late)
    assert motion_of(odometry).readings.num_late > 100
    assert sum("come after the scans" in record.message for record in caplog.records) == 1
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        odometry, _ = went_through(measured(drive()))
    assert motion_of(odometry).readings.num_late == 0
    assert not caplog.records


def test_gaps_are_told_once(caplog: pytest.LogCaptureFixture):
    """However many there are."""
    begin_ns = drive().start_ns
    stream: Stream = [
        one for one in measured(drive())
        if isinstance(one, Scan) or (one.stamp_ns - begin_ns) % 10**9 > 2 * 10**8
        or one.stamp_ns < begin_ns + 10**9
    ]  # fmt: skip
    with caplog.at_level(logging.WARNING):
        odometry, _ = went_through(stream)
    assert motion_of(odometry).readings.num_gaps >= 2
    assert sum("have a gap" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize("times", [1.0, 3.0, 5.0])
def test_two_bad_readings_in_a_row_do_not_carry_a_body_out_of_a_room(times: float):
    """A scan that fits nowhere, where all before it knew their place, asks the readings back."""
    begin_ns = drive().start_ns + 2 * 10**9
    kick = times * np.array([0.6, -0.48, 0.64])
    stream: Stream = [
        one if isinstance(one, Scan) or not begin_ns <= one.stamp_ns < begin_ns + 2 * 10**7
        else ImuSample(
            one.stamp_ns, one.angular_velocity + 20.0 * kick, one.linear_acceleration + 200.0 * kick
        )
        for one in measured(drive())
    ]  # fmt: skip
    odometry, estimates = went_through(stream)
    assert motion_of(odometry).imu.num_spikes == 0
    assert np.abs(errors(drive(), estimates)[-3:, :3]).max() < 0.02
