# SPDX-License-Identifier: MIT
"""Rest at the start is told from a calm moment of a body that bobs about."""

import numpy as np
import pytest

from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.data.measurements import Scan
from svnicp.inertial import ImuBuffer
from svnicp.odometry.inertial_start import first_state

CONFIG = InertialConfig()
RATE_HZ = 200
POINTS = np.zeros((1, 3))


def readings(rng: np.random.Generator, shaken: Floats) -> ImuBuffer:
    """Readings of an upright body with this acceleration (n,) along x [m/s^2]."""
    imu = ImuBuffer()
    for index, pushed in enumerate(shaken):
        noise = rng.normal(0.0, [0.001] * 3 + [0.005] * 3)
        force = np.array([pushed, 0.0, CONFIG.gravity_m_s2])
        imu.add(round(index * 1e9 / RATE_HZ), noise[:3], force + noise[3:])
    return imu


def is_rest(imu: ImuBuffer, seconds: float) -> bool | None:
    """Whether a scan at this time would start at rest; None: it would wait."""
    state = first_state(imu, Scan(round(seconds * 1e9), POINTS), CONFIG, 10.0)
    return None if state is None else state[1]


@pytest.mark.parametrize("seconds", [0.55, 0.8, 1.1, 3.0])
def test_rest_is_rest_however_long_it_lasts(seconds: float, rng: np.random.Generator):
    """Half a second is enough, and more is no less."""
    assert is_rest(readings(rng, np.zeros(4 * RATE_HZ)), seconds) is True


def test_a_calm_moment_is_no_rest(rng: np.random.Generator):
    """Half a second without a push, after one, is waited through and then taken for motion."""
    shaken = np.zeros(2 * RATE_HZ)
    shaken[: int(0.4 * RATE_HZ)] = np.sin(np.linspace(0.0, np.pi, int(0.4 * RATE_HZ)))
    imu = readings(rng, shaken)
    assert is_rest(imu, 0.95) is None
    assert is_rest(imu, 1.25) is False


def test_rest_after_a_push_counts_when_it_has_lasted(rng: np.random.Generator):
    """A second of rest is rest, whatever was before."""
    shaken = np.zeros(2 * RATE_HZ)
    shaken[:20] = 1.0
    assert is_rest(readings(rng, shaken), 1.15) is True
