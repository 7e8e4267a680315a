# SPDX-License-Identifier: MIT
"""The filter's start: what counts as rest, levelling in any position, who shares whose error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from inertial_cases import QUIET, UP
from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.data.imu_noise import IMU_NOISES, ImuNoise
from svnicp.errors import ConfigError
from svnicp.inertial import Eskf, start_at_rest
from svnicp.inertial.error_state import ACCEL_BIAS, GRAVITY, POSITION, PREVIOUS, ROTATION, VELOCITY
from svnicp.inertial.start import at_rest, rotation_to_up, start_in_motion
from svnicp.lie import so3_exp
from svnicp.simulation.imu import IMUS

CONFIG = InertialConfig()
TURNS = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).map(np.array)


def still(R_world_body: Floats, noise: ImuNoise, rng: np.random.Generator, rate=100) -> Floats:
    """Readings (n, 6) of half a second at rest."""
    white = np.repeat([noise.gyroscope, noise.accelerometer], 3) * np.sqrt(rate)
    return np.r_[np.zeros(3), R_world_body.T @ UP] + white * rng.normal(size=(rate // 2, 6))


@given(turn=TURNS)
def test_up_is_up_in_any_position(turn: np.ndarray):
    """The shortest turn takes the measured up to the world's z, upside down included."""
    up_body = so3_exp(turn).T @ np.array([0.0, 0.0, 1.0])
    R = rotation_to_up(up_body)
    assert_allclose(R @ up_body, [0.0, 0.0, 1.0], atol=1e-9)
    assert_allclose(R @ R.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(R) > 0.0
    angle = np.arccos(np.clip(up_body[2], -1.0, 1.0))
    assert_allclose(np.trace(R), 1.0 + 2.0 * np.cos(angle), atol=1e-6)


@pytest.mark.parametrize("tiny", [0.0, 1e-12, 1e-9, 1e-7, 1e-4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_up_near_the_two_poles(tiny: float, sign: float):
    """Exactly or nearly upright or upside down there is still a rotation."""
    up_body = np.array([tiny, 0.0, sign])
    R = rotation_to_up(up_body / np.linalg.norm(up_body))
    assert_allclose(R @ up_body / np.linalg.norm(up_body), [0.0, 0.0, 1.0], atol=1e-8)
    assert_allclose(R @ R.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name", sorted(IMUS))
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.0, np.pi, 0.0)])
def test_rest_is_rest_in_any_position(name: str, turn: tuple, rng: np.random.Generator):
    """Every IMU at rest is found to be so: level, on its side, upside down, with biases."""
    imu = IMUS[name]
    readings = still(so3_exp(np.array(turn)), imu.noise, rng, int(imu.rate_hz))
    bias = 2.0 * np.repeat([imu.gyroscope_bias, imu.accelerometer_bias], 3)
    assert at_rest(readings + bias, CONFIG)


def with_turning(readings: Floats, times: Floats) -> Floats:
    """A steady turn."""
    readings[:, 2] += 0.3 + 0.0 * times
    return readings


def with_shaking(readings: Floats, times: Floats) -> Floats:
    """A shaken body."""
    readings[:, 3] += 3.0 * np.sin(40.0 * times)
    return readings


def with_nodding(readings: Floats, times: Floats) -> Floats:
    """A nodding body."""
    readings[:, 1] += 0.2 * np.sin(10.0 * times)
    return readings


def with_falling(readings: Floats, times: Floats) -> Floats:
    """A falling body."""
    readings[:, 3:] *= 0.8 + 0.0 * times[:, None]
    return readings


@pytest.mark.parametrize("how", [with_turning, with_shaking, with_nodding, with_falling])
def test_motion_is_not_rest(how, rng: np.random.Generator):
    """Turning, shaking, nodding and falling are told from rest."""
    readings = still(np.eye(3), IMUS["xsens_mti30"].noise, rng)
    assert at_rest(readings, CONFIG)
    assert not at_rest(how(readings.copy(), np.arange(len(readings)) / 100.0), CONFIG)


def test_few_readings_are_no_proof_of_rest(rng: np.random.Generator):
    """Nine readings or none at all are too few."""
    readings = still(np.eye(3), QUIET, rng)
    assert not at_rest(readings[:9], CONFIG)
    assert not at_rest(readings[:0], CONFIG)


@given(turn=TURNS)
def test_levelling_finds_gravity_and_biases(turn: np.ndarray):
    """At rest the filter's own forces cancel; the vertical bias and the gyroscope's are found."""
    R_true = so3_exp(turn)
    bias = np.array([0.02, -0.01, 0.03])
    lift = 0.2
    force = R_true.T @ (UP + np.array([0.0, 0.0, lift]))
    start = start_at_rest(np.tile(np.r_[bias, force], (20, 1)), CONFIG)
    assert_allclose(start.gyro_bias, bias, atol=1e-15)
    assert_allclose(start.rotation @ (force - start.accel_bias) + start.gravity, 0.0, atol=1e-9)
    assert_allclose(start.rotation @ start.accel_bias, [0.0, 0.0, lift], atol=1e-9)
    assert_allclose(start.gravity, [0.0, 0.0, -CONFIG.gravity_m_s2])
    assert_allclose(start.rotation[2], R_true[2], atol=1e-9)


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.4, -0.7, 0.2), (3.0, 0.1, 0.0)])
def test_gravity_shares_the_error_of_the_bias(turn: tuple, rng: np.random.Generator):
    """Errors of bias and gravity after levelling covary as the start says, signs included."""
    R_true, runs = so3_exp(np.array(turn)), 2000
    noise = ImuNoise(0.0, 5e-3, 0.0, 0.0)
    errors, start = np.empty((runs, 6)), None
    nominal = start_at_rest(still(R_true, QUIET, rng), CONFIG)
    for run in range(runs):
        world_bias = CONFIG.accelerometer_bias_std * rng.normal(size=3)
        stretch = CONFIG.gravity_std * rng.normal()
        # Along gravity the bias prior is weaker than the known length of gravity: all of it counts.
        readings = still(R_true, noise, rng)
        readings[:, 3:] += R_true.T @ (world_bias + np.array([0.0, 0.0, stretch]))
        start = start_at_rest(readings, CONFIG)
        gravity_true = start.rotation @ R_true.T @ np.array([0.0, 0.0, -9.81 - stretch])
        errors[run] = np.r_[R_true.T @ world_bias - start.accel_bias, gravity_true - start.gravity]
    scatter = errors.T @ errors / runs
    assert start is not None
    bias, gravity = scatter[:3, :3], scatter[3:, 3:]
    size = CONFIG.accelerometer_bias_std**2
    assert_allclose(bias, nominal.accel_bias_cov, atol=0.12 * size)
    assert_allclose(gravity, nominal.gravity_cov, atol=0.12 * size)
    assert_allclose(scatter[:3, 3:], nominal.accel_bias_gravity_cov, atol=0.12 * size)
    eskf = Eskf(nominal, QUIET)
    assert_allclose(eskf.covariance[ACCEL_BIAS, GRAVITY], nominal.accel_bias_gravity_cov)
    # What a body at rest would feel: all but the noise of averaging cancels.
    felt = np.concatenate([-nominal.rotation, np.eye(3)], axis=1)
    pair = eskf.covariance[12:18, 12:18]
    assert np.abs(felt @ pair @ felt.T).max() < 1e-4
    assert np.abs(felt @ scatter @ felt.T).max() < 0.1 * size


def test_start_covariance_is_sound(rng: np.random.Generator):
    """Both kinds of start give positive covariances; the pose is the world's definition."""
    readings = still(so3_exp(np.array([0.5, 0.2, 0.0])), IMUS["realsense"].noise, rng)
    for start in (start_at_rest(readings, CONFIG), start_in_motion(spaced(readings), 10.0, CONFIG)):
        for estimate_gravity in (True, False):
            P = Eskf(start, QUIET, estimate_gravity=estimate_gravity).covariance
            assert_allclose(P, P.T, atol=0.0)
            assert np.linalg.eigvalsh(P).min() > 0.0
            for block in (POSITION, ROTATION, PREVIOUS):
                assert np.diag(P)[block].max() < 1e-11


def spaced(readings: Floats) -> Floats:
    """Intervals (n, 7) of a hundredth of a second with these readings."""
    return np.column_stack([np.full(len(readings), 0.01), readings])


def test_a_start_in_motion_knows_little(rng: np.random.Generator):
    """Speed is unknown rather than zero, the mean rate no bias, and tilt is doubted."""
    readings = still(so3_exp(np.array([0.1, 0.0, 0.0])), IMUS["xsens_mti30"].noise, rng)
    readings[:, 2] += 0.4
    start = start_in_motion(spaced(readings), 12.0, CONFIG)
    P = Eskf(start, QUIET).covariance
    assert_allclose(np.diag(P)[VELOCITY], 144.0)
    assert_allclose(start.gyro_bias, 0.0)
    assert np.sqrt(np.diag(P)[GRAVITY][0]) >= 0.5
    assert start.rotation[2] @ readings[:, 3:].mean(axis=0) > 9.5


def test_up_is_told_while_the_body_turns(rng: np.random.Generator):
    """A body that pitches at 0.5 rad/s knows up at the end of the readings, not in their middle."""
    times = 0.01 * np.arange(200)
    turns = [so3_exp(np.array([0.0, 0.5 * (time - 1.99), 0.0])) for time in times]
    readings = np.concatenate([still(R, QUIET, rng)[:1] for R in turns])
    readings[:, 1] += 0.5
    start = start_in_motion(spaced(readings), 10.0, CONFIG)
    assert_allclose(start.rotation, np.eye(3), atol=0.01)


def test_swaying_is_not_rest(rng: np.random.Generator):
    """A boat that rolls slowly turns at a rate that is no bias, and at a rate that changes."""
    readings = still(np.eye(3), IMUS["xsens_mti30"].noise, rng)
    times = np.arange(len(readings)) / 100.0
    for sway in (0.05 + 0.0 * times, 0.05 * np.sin(6.28 * times)):
        rolling = readings.copy()
        rolling[:, 0] += sway
        assert not at_rest(rolling, CONFIG)


def test_named_noises_and_their_factor():
    """Named models exist, a factor scales all four densities, nonsense is refused."""
    for name, noise in IMU_NOISES.items():
        assert ImuNoise.model(name) == noise
        assert noise.accelerometer < 0.01, "a wrong unit would be hundreds of times larger"
    doubled = ImuNoise(1.0, 2.0, 3.0, 4.0).scaled(2.0)
    assert doubled == ImuNoise(2.0, 4.0, 6.0, 8.0)
    given = ImuNoise(gyroscope=1e-3, accelerometer=2e-3)
    assert given.gyroscope_bias_walk == IMU_NOISES["generic"].gyroscope_bias_walk
    assert given.accelerometer_bias_walk == IMU_NOISES["generic"].accelerometer_bias_walk
    with pytest.raises(ConfigError, match="xsens_mti30"):
        ImuNoise.model("nothing")
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ConfigError, match=r"accelerometer .*\.$"):
            ImuNoise(0.1, wrong, 0.0, 0.0)
