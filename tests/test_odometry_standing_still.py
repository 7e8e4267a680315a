# SPDX-License-Identifier: MIT
"""A body that stands still is told from one that gently speeds up, by readings alone."""

import numpy as np
import pytest

from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.inertial import Eskf, start_at_rest
from svnicp.inertial.error_state import VELOCITY
from svnicp.inertial.start import at_rest
from svnicp.lie import so3_exp
from svnicp.odometry.standing_still import STANDING_M_S, speeds_up, stand_still
from svnicp.simulation.imu import IMUS

CONFIG = InertialConfig()
NOISE = IMUS["xsens_mti30"].noise
RATE_HZ = 200
NONE, UPRIGHT = np.zeros(3), np.eye(3)
TILTED = so3_exp(np.array([0.3, -0.2, 0.5]))
"""R_world_body of a body that does not stand upright."""
FORWARD = np.array([1.0, 0.0, 0.0])


def readings(
    rng: np.random.Generator, acceleration: Floats = NONE, R_world_body: Floats = UPRIGHT,
    bias: Floats = NONE, seconds: float = 0.5,
) -> Floats:  # fmt: skip
    """Readings (n, 6) of a body with this acceleration in the world [m/s^2], and a biased IMU."""
    count = round(RATE_HZ * seconds)
    force = R_world_body.T @ (acceleration + CONFIG.gravity_m_s2 * UPRIGHT[2]) + bias
    noise = np.repeat([NOISE.gyroscope, NOISE.accelerometer], 3) * np.sqrt(RATE_HZ)
    return rng.normal(np.r_[np.zeros(3), force], noise, (count, 6))


def started(rng: np.random.Generator, velocity_std: float = 0.5, **where: Floats) -> Eskf:
    """Filter that has begun at rest, with a velocity that is not known well."""
    start = start_at_rest(readings(rng, seconds=2.0, **where), CONFIG, velocity_std=velocity_std)
    return Eskf(start, NOISE)


PLACES = {
    "upright": {},
    "tilted": {"R_world_body": TILTED},
    "biased": {"bias": np.array([0.05, -0.08, 0.03])},
    "tilted and biased": {"R_world_body": TILTED, "bias": np.array([0.05, -0.08, 0.03])},
}


@pytest.mark.parametrize("place", PLACES)
def test_rest_is_no_acceleration(place: str, rng: np.random.Generator):
    """However the body stands, and whatever its accelerometer's bias was at the start."""
    eskf = started(rng, **PLACES[place])
    assert not any(speeds_up(eskf, readings(rng, **PLACES[place])) for _ in range(50))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_gentle_start_is_an_acceleration(place: str, axis: int, rng: np.random.Generator):
    """0.02 m/s^2 are less than what rest allows to vary, and would be taken for rest without."""
    eskf, push = started(rng, **PLACES[place]), 0.02 * np.eye(3)[axis]
    found = [readings(rng, push, **PLACES[place]) for _ in range(50)]
    assert all(at_rest(rows, CONFIG) for rows in found)
    assert np.mean([speeds_up(eskf, rows) for rows in found]) > 0.9


def test_noise_is_no_acceleration(rng: np.random.Generator):
    """What a noisy IMU leaves in a mean of half a second is more than a gentle start."""
    eskf, shaken = started(rng), np.repeat([0.0, 0.1], 3)
    found = [readings(rng) + rng.normal(0.0, shaken, (100, 6)) for _ in range(50)]
    assert not any(speeds_up(eskf, rows) for rows in found)


def test_only_the_last_readings_tell(rng: np.random.Generator):
    """A body that has just left is no longer at rest, one that has just stopped is."""
    eskf = started(rng)
    resting, leaving = readings(rng), readings(rng, 0.05 * FORWARD)
    assert speeds_up(eskf, np.concatenate([resting, leaving]))
    assert not speeds_up(eskf, np.concatenate([leaving, resting]))
    assert speeds_up(eskf, leaving[:1] + np.r_[np.zeros(5), 1.0])


def test_a_bias_that_is_not_known_is_an_acceleration(rng: np.random.Generator):
    """One that came after the start moves nothing: the doubt is on the side of motion."""
    assert speeds_up(started(rng), readings(rng, bias=np.array([0.05, 0.0, 0.0])))


@pytest.mark.parametrize("place", PLACES)
def test_rest_takes_the_velocity_away(place: str, rng: np.random.Generator):
    """A velocity that was little known is zero then, to the stated sigma."""
    eskf = started(rng, **PLACES[place])
    eskf.velocity = np.array([0.3, -0.2, 0.1])
    stand_still(eskf, readings(rng, **PLACES[place]), CONFIG)
    assert np.linalg.norm(eskf.velocity) < 0.1 * STANDING_M_S
    sigma = np.sqrt(np.linalg.eigvalsh(eskf.covariance[VELOCITY, VELOCITY])[-1])
    assert 0.9 * STANDING_M_S < sigma <= STANDING_M_S


@pytest.mark.parametrize(
    ("why", "push", "turning", "velocity_std"),
    [("leaves", 0.05, 0.0, 0.5), ("turns", 0.0, 0.5, 0.5), ("seen to go", 0.0, 0.0, 0.03)],
)
def test_what_is_not_rest_keeps_its_velocity(
    why: str, push: float, turning: float, velocity_std: float, rng: np.random.Generator
):
    """A body that leaves, that turns, or that scans have seen to go steadily."""
    eskf = started(rng, velocity_std)
    eskf.velocity = velocity = 0.3 * FORWARD
    rows = readings(rng, push * FORWARD)
    rows[:, 2] += turning * np.linspace(0.0, 1.0, len(rows))
    before = eskf.covariance.copy()
    stand_still(eskf, rows, CONFIG)
    np.testing.assert_array_equal(eskf.velocity, velocity, err_msg=why)
    np.testing.assert_array_equal(eskf.covariance, before)


def test_rest_that_lasts_is_no_new_evidence(rng: np.random.Generator):
    """The velocity does not become surer with every scan of it."""
    eskf = started(rng)
    for _ in range(3):
        stand_still(eskf, readings(rng), CONFIG)
    before = eskf.covariance.copy()
    for _ in range(50):
        stand_still(eskf, readings(rng), CONFIG)
    np.testing.assert_array_equal(eskf.covariance, before)
