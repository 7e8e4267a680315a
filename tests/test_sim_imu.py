# SPDX-License-Identifier: MIT
"""Simulated IMUs: readings integrate to the motion; bias and noise have the sizes asked for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim_cases import ride
from svnicp.data.imu_noise import IMU_NOISES, ImuNoise
from svnicp.errors import ConfigError
from svnicp.lie import so3_exp, so3_log
from svnicp.simulation.imu import GRAVITY, IMUS, ImuModel, true_readings


def all_readings(imu, motion, seed=0):
    """Return times, readings and biases of an IMU over a whole motion."""
    times = imu.sample_times(motion.duration_s)
    biases = imu.biases(len(times), np.random.default_rng(seed))
    chunks = imu.readings(motion, times, biases, np.random.default_rng(seed + 1))
    return times, np.concatenate(list(chunks)), biases


def integrate(readings, step_s, T_world_body, velocity):
    """Return the last rotation and position of a plain strapdown integration."""
    rotation, position = T_world_body[:3, :3], T_world_body[:3, 3]
    for reading in readings:
        turn = so3_exp(step_s * reading[:3])
        half_turned = rotation @ so3_exp(0.5 * step_s * reading[:3])
        acceleration = half_turned @ reading[3:] - np.array([0.0, 0.0, GRAVITY])
        position = position + step_s * velocity + 0.5 * step_s**2 * acceleration
        velocity = velocity + step_s * acceleration
        rotation = rotation @ turn
    return rotation, position


@pytest.mark.parametrize("name", sorted(IMUS))
def test_integration_reproduces_the_motion(name):
    """Ten seconds of noise-free readings lead to the true pose, to 1 cm and 0.1 mrad."""
    motion, imu = ride(10.0, rest_s=0.5, length_m=15.0, turn_rad=2.5), IMUS[name].perfect()
    times, readings, _ = all_readings(imu, motion)
    assert len(times) == 10.0 * imu.rate_hz
    start, end = motion.T_world_body(np.array([0.0, 10.0]))
    velocity = motion.velocity_world(np.zeros(1))[0]
    rotation, position = integrate(readings, 1.0 / imu.rate_hz, start, velocity)
    assert np.linalg.norm(position - end[:3, 3]) < 0.01
    assert np.linalg.norm(so3_log(rotation.T @ end[:3, :3])) < 1e-4


def test_a_resting_imu_feels_gravity():
    """At rest the specific force points up and is as long as gravity, and nothing turns."""
    readings = true_readings(ride(), np.linspace(0.0, 1.5, 20))
    assert_allclose(readings[:, :3], 0.0, atol=1e-9)
    assert_allclose(readings[:, 3:], [[0.0, 0.0, GRAVITY]] * 20, atol=1e-6)


def test_tilt_and_turns_show_in_body_axes():
    """A body pitched nose down feels gravity forward-backward, and yaw about its tilted axis."""
    motion = ride()
    times = np.linspace(4.0, 11.0, 50)
    readings = true_readings(motion, times)
    down_body = motion.T_world_body(times)[:, 2, :3]
    force = np.sum(readings[:, 3:] * down_body, axis=1)
    assert_allclose(force, motion.acceleration_world(times)[:, 2] + GRAVITY, atol=1e-9)


def test_white_noise_has_its_density():
    """The standard deviation of readings at rest is the density times the root of the rate."""
    imu = ImuModel("loud", ImuNoise(1e-3, 2e-2, 0.0, 0.0), 200.0, 0.0, 0.0)
    motion = ride(40.0, rest_s=38.0)
    times, readings, _ = all_readings(imu, motion)
    rest = readings[times < 37.0] - [0.0, 0.0, 0.0, 0.0, 0.0, GRAVITY]
    expected = np.repeat([1e-3, 2e-2], 3) * np.sqrt(200.0)
    tolerance = 4.0 / np.sqrt(2.0 * len(rest))
    assert_allclose(rest.std(axis=0), expected, rtol=tolerance)
    assert np.all(np.abs(rest.mean(axis=0)) < 4.0 * expected / np.sqrt(len(rest)))
    assert abs(np.corrcoef(rest[1:, 0], rest[:-1, 0])[0, 1]) < 4.0 / np.sqrt(len(rest))


def test_biases_start_and_walk_as_asked(rng):
    """Over many units, biases start with their spread and after 10 s have walked by theirs."""
    imu = ImuModel("drifting", ImuNoise(0.0, 0.0, 1e-4, 1e-3), 100.0, 2e-3, 3e-2)
    runs = np.array([imu.biases(1001, rng) for _ in range(400)])
    tolerance = 4.0 / np.sqrt(2.0 * 3 * 400)
    starts = runs[:, 0].reshape(400, 2, 3).std(axis=(0, 2))
    walks = (runs[:, -1] - runs[:, 0]).reshape(400, 2, 3).std(axis=(0, 2))
    assert_allclose(starts, [2e-3, 3e-2], rtol=tolerance)
    assert_allclose(walks, np.sqrt(10.0) * np.array([1e-4, 1e-3]), rtol=tolerance)


def test_readings_are_truth_plus_bias_without_white_noise():
    """With white noise off, readings differ from the perfect ones by exactly the biases."""
    imu = ImuModel("biased", ImuNoise(0.0, 0.0, 1e-4, 1e-3), 100.0, 2e-3, 3e-2)
    _, readings, biases = all_readings(imu, ride())
    _, perfect, _ = all_readings(imu.perfect(), ride())
    assert_allclose(readings - perfect, biases, atol=1e-12)
    assert np.ptp(biases, axis=0).min() > 1e-5


def test_models_are_ordered_as_their_price():
    """The Epson is quieter than the Xsens in rotation, and both than the camera's in force."""
    epson, xsens, realsense = (IMU_NOISES[n] for n in ("epson_m_g365", "xsens_mti30", "realsense"))
    assert epson.gyroscope < realsense.gyroscope < xsens.gyroscope
    assert max(epson.accelerometer, xsens.accelerometer) < realsense.accelerometer
    assert set(IMUS) <= set(IMU_NOISES)
    assert all(imu.noise == ImuNoise.model(name) for name, imu in IMUS.items())


def test_mistakes_are_reported():
    """Unknown models and negative densities are refused with what to do."""
    with pytest.raises(ConfigError, match="choose one of epson_m_g365, xsens_mti30"):
        ImuNoise.model("mti")
    with pytest.raises(ConfigError, match="accelerometer of an IMU's noise"):
        ImuNoise(1e-3, -1.0, 0.0, 0.0)
    with pytest.raises(ConfigError, match="gyroscope"):
        ImuNoise(float("nan"), 1.0, 0.0, 0.0)
