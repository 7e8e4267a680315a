# SPDX-License-Identifier: MIT
"""Motions: derivatives agree with finite differences, knots are met, rest is rest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim_cases import ride
from svnicp.errors import InputError
from svnicp.lie import so3_log
from svnicp.simulation.motion import Motion

STEP_S = 1e-4
MOMENTS = np.linspace(0.5, 11.5, 200)


@pytest.fixture(scope="module")
def motion():
    return ride()


def test_velocity_is_the_derivative_of_position(motion):
    """Velocity agrees with central differences of the position."""
    ahead, behind = motion.position(MOMENTS + STEP_S), motion.position(MOMENTS - STEP_S)
    assert_allclose(motion.velocity_world(MOMENTS), (ahead - behind) / (2 * STEP_S), atol=1e-7)


def test_acceleration_is_the_derivative_of_velocity(motion):
    """Acceleration agrees with central differences of the velocity."""
    ahead, behind = motion.velocity_world(MOMENTS + STEP_S), motion.velocity_world(MOMENTS - STEP_S)
    expected = (ahead - behind) / (2 * STEP_S)
    assert np.abs(expected).max() > 0.5
    assert_allclose(motion.acceleration_world(MOMENTS), expected, atol=1e-5)


def test_angular_velocity_is_the_derivative_of_the_rotation(motion):
    """Angular velocity agrees with the rotation from just before to just after, in body axes."""
    before = motion.T_world_body(MOMENTS - STEP_S)[:, :3, :3]
    after = motion.T_world_body(MOMENTS + STEP_S)[:, :3, :3]
    expected = so3_log(np.swapaxes(before, 1, 2) @ after) / (2 * STEP_S)
    assert np.abs(expected).max(axis=0).min() > 0.1
    assert_allclose(motion.angular_velocity_body(MOMENTS), expected, atol=1e-6)


def test_acceleration_and_angular_velocity_are_smooth(motion):
    """Their slopes have no jumps, so an IMU never sees a kink."""
    times = np.arange(0.0, 12.0, 1e-3)
    for signal in (motion.acceleration_world(times), motion.angular_velocity_body(times)):
        slope = np.diff(signal, axis=0) / 1e-3
        assert np.abs(np.diff(slope, axis=0)).max() < 0.02 * np.abs(slope).max()


def test_rest_is_rest(motion):
    """Before it sets off, the body moves by less than a nanometre per second."""
    resting = np.linspace(0.0, 1.5, 100)
    assert np.abs(motion.velocity_world(resting)).max() < 1e-9
    assert np.abs(motion.angular_velocity_body(resting)).max() < 1e-9


def test_knots_are_met_and_rotations_are_as_good_as_angles():
    """A motion from rotation matrices passes through them, also when yaw passes 180 degrees."""
    times = np.linspace(0.0, 7.98, 400)
    angles = np.column_stack([2.0 + 0.5 * times, 0.2 * np.sin(times), 0.1 * np.cos(times)])
    positions = np.column_stack([times, times**2, np.sin(times)])
    by_angles = Motion(times, positions, angles)
    rotations = by_angles.T_world_body(times)[:, :3, :3]
    by_rotations = Motion.from_knots(times, positions, rotations)
    assert_allclose(by_rotations.T_world_body(times), by_angles.T_world_body(times), atol=1e-12)
    assert_allclose(by_rotations.position(times), positions, atol=1e-12)
    between = times[:-1] + 0.01
    rates = by_angles.angular_velocity_body(between)
    assert_allclose(by_rotations.angular_velocity_body(between), rates, atol=1e-9)


def test_yaw_pitch_and_roll_turn_the_usual_way():
    """Positive yaw turns left, positive pitch noses down, positive roll lowers the right side."""
    times = np.linspace(0.0, 0.9, 10)
    for axis, (forward, left) in enumerate(
        [((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)), ((0.0, 0.0, -1.0), None), (None, (0.0, 0.0, 1.0))]
    ):
        angles = np.zeros((10, 3))
        angles[:, axis] = np.radians(1.0)
        rotation = Motion(times, np.zeros((10, 3)), angles).T_world_body(times[:1])[0, :3, :3]
        turned = (rotation - np.eye(3)) / np.sin(np.radians(1.0))
        if forward is not None:
            assert_allclose(turned[:, 0], forward, atol=0.01)
        if left is not None:
            assert_allclose(turned[:, 1], left, atol=0.01)


def test_mistakes_are_reported(motion):
    """Uneven times, too few of them, steep pitch and times outside are refused."""
    times, still = np.linspace(0.0, 0.9, 10), np.zeros((10, 3))
    with pytest.raises(InputError, match="at least 6"):
        Motion(times[:4], still[:4], still[:4])
    with pytest.raises(InputError, match="even steps"):
        Motion(times**2, still, still)
    with pytest.raises(InputError, match="pitch"):
        Motion(times, still, still + np.array([0.0, 1.5, 0.0]))
    with pytest.raises(InputError, match=r"12 s was asked for times from -1"):
        motion.position(np.array([-1.0, 3.0]))
