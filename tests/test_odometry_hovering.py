# SPDX-License-Identifier: MIT
"""A body that swings to and fro tells its filter which way is up, until it sets off."""

import numpy as np
import pytest

from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.inertial import Eskf, ImuBuffer
from svnicp.inertial.error_state import GRAVITY
from svnicp.inertial.start import start_in_motion
from svnicp.odometry.hovering import HOVERING_M_S, SETS_OFF_M_S2, Hovering, sets_off
from svnicp.simulation.imu import IMUS

CONFIG = InertialConfig()
NOISE = IMUS["xsens_mti30"].noise
UP = np.array([0.0, 0.0, CONFIG.gravity_m_s2])
RATE_HZ, SCAN_S = 200, 0.1
START_S = 1.2
SWAYS_HZ, SWAYS_M_S = 0.45, 0.2
"""How often and how fast the simulated body swings to and fro."""


def sways(seconds: Floats) -> Floats:
    """Accelerations (n, 3) in the world of a body that swings along x, first back [m/s^2]."""
    rate = 2.0 * np.pi * SWAYS_HZ
    return np.outer(SWAYS_M_S * rate * np.sin(rate * seconds), [1.0, 0.0, 0.0])


def set_off(seconds: Floats) -> Floats:
    """The same, but after 3 s it leaves along x."""
    return sways(seconds) + np.outer(2.5 * (seconds > 3.0), [1.0, 0.0, 0.0])


class Ride:
    """Filter of an upright body with these accelerations, begun in motion after ``START_S``."""

    def __init__(self, acceleration: Floats, *, hovering: bool) -> None:
        seconds = np.arange(len(acceleration)) / RATE_HZ
        self.imu = ImuBuffer()
        for second, pushed in zip(seconds, acceleration, strict=True):
            self.imu.add(round(second * 1e9), np.zeros(3), pushed + UP)
        self.begun_ns = self.stamp_ns = round(START_S * 1e9)
        known = self.imu.intervals(0, self.begun_ns)
        self.eskf = Eskf(start_in_motion(known, 10.0, CONFIG), NOISE)
        self.eskf.take_velocity(np.zeros(3), np.eye(3) * HOVERING_M_S**2)
        self.hovering = Hovering()
        if hovering:
            self.hovering.begin(self.begun_ns, np.zeros(3))

    def go_on(self, until_s: float) -> None:
        """Carry the filter on, scan by scan."""
        while self.stamp_ns < round(until_s * 1e9):
            begin_ns, self.stamp_ns = self.stamp_ns, self.stamp_ns + round(SCAN_S * 1e9)
            self.eskf.predict(self.imu.intervals(begin_ns, self.stamp_ns))
            self.hovering.tell(self.eskf, self.imu, self.stamp_ns)


def tilt(eskf: Eskf) -> float:
    """How wrong the filter is about gravity along the ground of an upright body [m/s^2]."""
    gravity = eskf.rotation.T @ eskf.gravity
    return float(np.linalg.norm(gravity[:2]))


def test_swaying_tells_which_way_is_up():
    """The error of gravity shrinks to a third, as its sigma does, which the bias keeps open."""
    seconds = np.arange(6 * RATE_HZ) / RATE_HZ
    told, alone = (Ride(sways(seconds), hovering=hovering) for hovering in (True, False))
    begun = tilt(told.eskf)
    for ride in (told, alone):
        ride.go_on(5.5)
    assert begun > 0.1
    assert tilt(told.eskf) < begun / 3.0
    assert tilt(alone.eskf) == pytest.approx(begun, rel=0.01)
    known = np.sqrt(told.eskf.covariance[GRAVITY, GRAVITY][0, 0])
    assert tilt(told.eskf) < 3.0 * known < 0.6


def test_a_body_that_sets_off_is_let_go():
    """Three seconds of hovering do not hold back the journey that follows."""
    seconds = np.arange(8 * RATE_HZ) / RATE_HZ
    acceleration = set_off(seconds)
    ride = Ride(acceleration, hovering=True)
    ride.go_on(6.0)
    velocity = acceleration[: 6 * RATE_HZ, 0].sum() / RATE_HZ - SWAYS_M_S
    assert velocity > 7.0
    assert abs(ride.eskf.velocity[0] - velocity) < 0.15 * velocity


@pytest.mark.parametrize("speed", [0.7, 3.0])
def test_a_body_seen_to_travel_does_not_hover(speed: float):
    """Where the first scans show a velocity, the filter is told nothing."""
    seconds = np.arange(4 * RATE_HZ) / RATE_HZ
    ride = Ride(sways(seconds), hovering=False)
    ride.hovering.begin(ride.begun_ns, np.array([speed, 0.0, 0.0]))
    ride.eskf.take_velocity(np.array([speed, 0.0, 0.0]), np.eye(3) * 0.3**2)
    before = tilt(ride.eskf)
    ride.go_on(3.5)
    assert tilt(ride.eskf) == pytest.approx(before, rel=0.01)


def test_scans_that_are_sure_of_a_velocity_end_it():
    """A filter that knows that it travels is not told otherwise, then or later."""
    ride = Ride(sways(np.arange(4 * RATE_HZ) / RATE_HZ), hovering=True)
    ride.eskf.take_velocity(np.array([2.0, 0.0, 0.0]), np.eye(3) * 0.05**2)
    ride.go_on(2.0)
    ride.eskf.take_velocity(np.zeros(3), np.eye(3) * 0.5**2)
    covariance = ride.eskf.covariance.copy()
    ride.hovering.tell(ride.eskf, ride.imu, ride.stamp_ns + 10**9)
    assert np.array_equal(ride.eskf.covariance, covariance)


def test_only_a_push_along_the_ground_is_a_journey():
    """Heave, and gusts below the limit, are swaying; no readings at all are no hovering."""
    eskf = Ride(sways(np.arange(2 * RATE_HZ) / RATE_HZ), hovering=False).eskf
    up = -eskf.rotation.T @ eskf.gravity
    along = eskf.rotation.T @ np.array([1.0, 0.0, 0.0])
    assert not sets_off(eskf, np.array([1.3 * up, 1.3 * up]))
    assert not sets_off(eskf, np.array([up + 0.9 * SETS_OFF_M_S2 * along]))
    assert sets_off(eskf, np.array([up + 1.1 * SETS_OFF_M_S2 * along]))
    assert sets_off(eskf, np.empty((0, 3)))
