# SPDX-License-Identifier: MIT
"""Is the filter as sure as it may be? Real motions, noisy readings and poses, many seeds.

No LiDAR: poses are measured directly, with known noise. Errors of velocity, biases, gravity and of
the step between two measurements are compared with their covariances.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2

from inertial_cases import buffer_of
from reference_inertial import KNOWN, State, difference, moved, put, state_of
from sim_cases import ride
from svnicp.arrays import Floats, Integers, Transform
from svnicp.config import InertialConfig
from svnicp.inertial import Eskf, ImuBuffer, start_at_rest
from svnicp.inertial.error_state import ACCEL_BIAS, GRAVITY, GYRO_BIAS, POSITION, ROTATION, VELOCITY
from svnicp.inertial.start import start_in_motion
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log
from svnicp.simulation.imu import GRAVITY as G
from svnicp.simulation.imu import IMUS, averaged_readings

IMU = IMUS["xsens_mti30"]
SEEDS = {"as assumed": 50, "at rest": 20, "moving": 20}
CONFIG = InertialConfig()
START_NS, STEP_NS = 500_000_000, 200_000_000
POSE_STD = np.repeat([0.01, 0.002], 3)
BLOCKS = {
    "position": POSITION, "velocity": VELOCITY, "rotation": ROTATION, "gyroscope": GYRO_BIAS,
    "accelerometer": ACCEL_BIAS, "gravity": GRAVITY, "all": slice(0, 18),
}  # fmt: skip


class Course(NamedTuple):
    """A motion as numbers: what all seeds share."""

    imu_ns: Floats
    readings: Floats
    rotations: Floats
    stamps_ns: Integers
    poses: Transform
    velocities: Floats


@cache
def course(rest_s: float) -> Course:
    """A ride of seven seconds with all six degrees of freedom, measured at odd times."""
    motion = ride(7.0, rest_s=rest_s, length_m=8.0, turn_rad=2.0)
    times = IMU.sample_times(motion.duration_s)
    stamps = np.arange(START_NS, 6_800_000_000, STEP_NS)
    stamps[1:] += 3_700_000
    seconds = stamps.astype(np.float64) * 1e-9
    return Course(
        np.rint(times * 1e9), averaged_readings(motion, times, 1.0 / IMU.rate_hz),
        motion.T_world_body(times)[:, :3, :3], stamps, motion.T_world_body(seconds),
        motion.velocity_world(seconds),
    )  # fmt: skip


class Draw(NamedTuple):
    """One seed's readings and biases."""

    buffer: ImuBuffer
    biases: Floats
    gravity: float


def draw(path: Course, rng: np.random.Generator) -> Draw:
    """Readings with noise, walking biases as large as the configuration expects, odd gravity."""
    walk = np.repeat([IMU.noise.gyroscope_bias_walk, IMU.noise.accelerometer_bias_walk], 3)
    steps = rng.normal(size=path.readings.shape) * walk / np.sqrt(IMU.rate_hz)
    first = np.repeat([CONFIG.gyroscope_bias_std, CONFIG.accelerometer_bias_std], 3)
    biases = first * rng.normal(size=6) + np.cumsum(steps, axis=0)
    white = np.repeat([IMU.noise.gyroscope, IMU.noise.accelerometer], 3) * np.sqrt(IMU.rate_hz)
    gravity = CONFIG.gravity_m_s2 + CONFIG.gravity_std * rng.normal()
    readings = path.readings + biases + white * rng.normal(size=path.readings.shape)
    readings[:, 3:] += path.rotations[:, 2] * (gravity - G)
    return Draw(buffer_of(path.imu_ns, readings), biases, gravity)


def truth(path: Course, drawn: Draw, index: int, T_world_true: Transform) -> State:
    """The true state at a measurement, in the filter's world; the clone is the one before."""
    after = int(np.searchsorted(path.imu_ns, path.stamps_ns[index]))
    R = T_world_true[:3, :3]
    pose = T_world_true @ path.poses[index]
    return State(
        pose[:3, 3], R @ path.velocities[index], pose[:3, :3], drawn.biases[after, :3],
        drawn.biases[after, 3:], R @ np.array([0.0, 0.0, -drawn.gravity]),
        T_world_true @ path.poses[max(index - 1, 0)],
    )  # fmt: skip


def squared_errors(eskf: Eskf, true: State) -> list[float]:
    """Squared errors over their variances, per degree of freedom, of all blocks and the step."""
    error = difference(true, state_of(eskf))
    out = []
    for block in BLOCKS.values():
        part = error[block]
        out.append(part @ np.linalg.solve(eskf.covariance[block, block], part) / len(part))
    T_step = se3_inverse(true.T_world_previous) @ make_transform(true.rotation, true.position)
    part = se3_log(se3_inverse(eskf.step.T_world_body) @ T_step)
    return [*out, float(part @ np.linalg.solve(eskf.step.covariance, part)) / 6.0]


def trial(seed: int, how: str) -> Floats:
    """Squared errors (n, 9) after every third measurement of one run, NIS in the last column."""
    rng, path = np.random.default_rng(seed), course(rest_s=0.0 if how == "moving" else 1.0)
    drawn = draw(path, rng)
    if how == "moving":
        start = start_in_motion(drawn.buffer.intervals(0, START_NS), 10.0, CONFIG)
    else:
        start = start_at_rest(drawn.buffer.window(0, START_NS), CONFIG)
    eskf = Eskf(start, IMU.noise)
    T_world_true = eskf.T_world_body @ se3_inverse(path.poses[0])
    if how == "as assumed":
        error = np.zeros(KNOWN)
        error[:18] = np.linalg.cholesky(eskf.covariance[:18, :18]) @ rng.normal(size=18)
        put(eskf, moved(truth(path, drawn, 0, T_world_true), -error))
    eskf.clone()
    rows = []
    for index in range(1, len(path.stamps_ns)):
        begin, end = (int(stamp) for stamp in path.stamps_ns[index - 1 : index + 1])
        eskf.predict(drawn.buffer.intervals(begin, end))
        measured = T_world_true @ path.poses[index] @ se3_exp(POSE_STD * rng.normal(size=6))
        innovation = se3_log(se3_inverse(eskf.T_world_body) @ measured)
        correction = eskf.correct(innovation, np.diag(POSE_STD**2))
        if index % 3 == 1:
            true = truth(path, drawn, index, T_world_true)
            rows.append([*squared_errors(eskf, true), correction.nis / 6.0])
        eskf.clone()
    return np.array(rows)


@cache
def average(how: str) -> dict[str, Floats]:
    """Mean squared errors (n,) over the seeds, by the name of the block."""
    mean = np.mean([trial(seed, how) for seed in range(SEEDS[how])], axis=0)
    return dict(zip([*BLOCKS, "step", "innovation"], mean.T, strict=True))


FREEDOMS = {**dict.fromkeys(BLOCKS, 3), "all": 18, "step": 6, "innovation": 6}
EVERYTHING = sorted(FREEDOMS)


def bounds(name: str, how: str) -> Floats:
    """Where the mean over the seeds lies except once in 20 000 times."""
    freedom = SEEDS[how] * FREEDOMS[name]
    return chi2.ppf([2.5e-5, 1.0 - 2.5e-5], freedom) / freedom


@pytest.mark.parametrize("name", EVERYTHING)
def test_the_filter_is_as_sure_as_it_may_be(name: str):
    """With a start as it is assumed to be, NEES and NIS lie within their chi-square bounds."""
    low, high = bounds(name, "as assumed")
    values = average("as assumed")[name]
    assert len(values) == 11
    assert np.all((low < values) & (values < high)), values


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_start_at_rest_is_not_overconfident(name: str):
    """Levelled on real readings nothing is surer than it may be, and little far less sure.

    The start is careful on purpose: twice the gyroscope's noise, and room for vibration.
    """
    values = average("at rest")[name]
    assert np.all(values < bounds(name, "at rest")[1])
    assert values[-1] > 0.4


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_start_in_motion_is_not_overconfident(name: str):
    """Set off at an unknown speed the errors stay within their covariances, from the first."""
    values = average("moving")[name]
    assert np.all(values < bounds(name, "moving")[1])
    assert values[-1] > 0.5


def test_measurements_teach_the_biases():
    """After a ride biases and gravity are known several times better than at the start."""
    rng, path = np.random.default_rng(0), course(1.0)
    drawn = draw(path, rng)
    eskf = Eskf(start_at_rest(drawn.buffer.window(0, START_NS), CONFIG), IMU.noise)
    before = np.sqrt(np.diag(eskf.covariance))
    for begin, end in pairwise(path.stamps_ns):
        eskf.predict(drawn.buffer.intervals(int(begin), int(end)))
        eskf.correct(np.zeros(6), np.diag(POSE_STD**2))
    after = np.sqrt(np.diag(eskf.covariance))
    assert np.all(after[GYRO_BIAS] < 0.5 * before[GYRO_BIAS])
    assert np.all(after[ACCEL_BIAS][:2] < 0.7 * before[ACCEL_BIAS][:2])
