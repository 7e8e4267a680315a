# SPDX-License-Identifier: MIT
"""Readings that repeat to the last bit: a dead driver's are left out, a coarse IMU's are not."""

import numpy as np
import pytest

from svnicp.arrays import Floats
from svnicp.inertial import ImuBuffer

STEP_NS = 10_000_000


def fed(readings: Floats, buffer: ImuBuffer | None = None, begin: int = 0) -> ImuBuffer:
    """Buffer with readings (n, 6) 10 ms apart."""
    buffer = ImuBuffer() if buffer is None else buffer
    for number, reading in enumerate(readings, start=begin):
        buffer.add(number * STEP_NS, reading[:3], reading[3:])
    return buffer


def noisy(num: int, rng: np.random.Generator) -> Floats:
    """Readings (n, 6) at rest."""
    return rng.normal([0.0, 0.0, 0.0, 0.0, 0.0, 9.81], 0.02, (num, 6))


def test_repeats_of_a_dead_driver_leave_a_gap(rng: np.random.Generator):
    """All but the first of them are gone, also those before it was noticed; others stay."""
    before, after = noisy(100, rng), noisy(30, rng)
    buffer = fed(np.concatenate([before, np.repeat(before[-1:], 40, axis=0), after]))
    assert buffer.num_stale == 40
    assert len(buffer) == 130
    assert buffer.longest_gap_s(0, 169 * STEP_NS) == pytest.approx(0.41)
    np.testing.assert_array_equal(buffer.window(140 * STEP_NS, 169 * STEP_NS), after)


def test_a_driver_that_died_once_is_noticed_again(rng: np.random.Generator):
    """Nothing is learnt from its repeats about how often the IMU repeats itself."""
    buffer, begin = ImuBuffer(), 0
    for _ in range(5):
        readings = noisy(60, rng)
        readings = np.concatenate([readings, np.repeat(readings[-1:], 30, axis=0)])
        fed(readings, buffer, begin)
        begin += len(readings)
    assert buffer.num_stale == 150


def test_a_few_repeats_are_chance(rng: np.random.Generator):
    """Five in a row may happen with any IMU, or any bus."""
    readings = noisy(300, rng)
    readings[200:205] = readings[199]
    assert fed(readings).num_stale == 0


@pytest.mark.parametrize("resolution", [0.005, 0.02, 0.05, 0.2, 1.0])
def test_a_coarse_imu_is_not_taken_for_dead(resolution: float, rng: np.random.Generator):
    """However coarse it is, at rest it repeats no more than it did before."""
    readings = np.round(noisy(5000, rng) / resolution) * resolution
    assert fed(readings).num_stale == 0


@pytest.mark.parametrize("times", [2, 5, 10])
def test_a_driver_faster_than_its_imu_is_not_taken_for_dead(times: int, rng: np.random.Generator):
    """Each value is given several times."""
    assert fed(np.repeat(noisy(500, rng), times, axis=0)).num_stale == 0


def test_an_imu_without_noise_is_not_taken_for_dead():
    """At rest a simulated one gives the same reading again and again; then it moves, and rests."""
    rest = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 9.81], (100, 1))
    moving = rest + np.sin(0.1 * np.arange(100))[:, None]
    assert fed(np.concatenate([rest[:60], moving, *[rest] * 20])).num_stale == 0


def test_the_period_is_the_usual_one(rng: np.random.Generator):
    """Gaps and dead drivers do not change it."""
    buffer = fed(noisy(100, rng))
    assert buffer.period_s == pytest.approx(0.01)
    buffer.add(5_000_000_000, np.zeros(3), np.ones(3))
    assert buffer.period_s == pytest.approx(0.01)
    assert ImuBuffer().period_s == 0.0
