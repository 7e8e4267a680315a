# SPDX-License-Identifier: MIT
"""The curve through readings: nearer to what shakes a body than lines, whatever a reading is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.arrays import Floats
from svnicp.inertial.imu_curve import means_between, signal_at

PERIOD_S = 0.01
STAMPS_S: Floats = PERIOD_S * np.arange(200.0)


def shaking(hertz: float, phase: float, *, averaged: bool) -> tuple[np.ndarray, np.ndarray]:
    """Readings (n, 6) of a signal that swings, and its integral at the stamps (n,)."""
    speed = 2.0 * np.pi * hertz
    ends = STAMPS_S[:, None] + 0.5 * PERIOD_S * np.array([-1.0, 1.0])
    means = np.diff(np.sin(speed * ends + phase), axis=1)[:, 0] / (speed * PERIOD_S)
    samples = np.cos(speed * STAMPS_S + phase)
    readings = np.repeat((means if averaged else samples)[:, None], 6, axis=1)
    return readings, np.sin(speed * STAMPS_S + phase) / speed


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize(("hertz", "off"), [(3.0, 0.001), (6.0, 0.004), (9.0, 0.01)])
def test_speeds_of_a_shaking_body_are_found(hertz: float, off: float, *, averaged: bool):
    """Read at once or as means over a period; lines through the readings lose 3 to 4 % at 9 Hz."""
    readings, truth = shaking(hertz, 0.7, averaged=averaged)
    gained = np.cumsum(means_between(STAMPS_S, readings, STAMPS_S)[:, 0]) * PERIOD_S
    by_lines = np.cumsum(0.5 * (readings[1:, 0] + readings[:-1, 0])) * PERIOD_S
    inner = slice(5, -5)
    wrong, of_lines, right = (
        np.std(values[inner]) for values in (gained - truth[1:], by_lines - truth[1:], truth[1:])
    )
    assert wrong < off * right
    assert of_lines > 3.0 * wrong


def test_a_straight_line_is_itself():
    """However its readings jitter; held before the first and after the last."""
    slopes, times = np.arange(6.0), np.linspace(-1.0, 11.0, 77)
    stamps: Floats = (
        np.arange(11.0) + np.r_[0.0, np.random.default_rng(1).uniform(-0.45, 0.45, 9), 0.0]
    )
    found = signal_at(stamps, stamps[:, None] * slopes, times)
    assert_allclose(found, np.outer(np.clip(times, 0.0, 10.0), slopes), atol=1e-12)


@pytest.mark.parametrize("left_out", [7, 2])
def test_what_lies_in_a_short_gap_is_found(left_out: int):
    """Of a body that turns to and fro, 0.9 times a second: lines lose ten times as much."""
    stamps: Floats = np.delete(np.arange(100.0) * 0.005, 40 + np.arange(left_out))
    readings = np.repeat(np.cos(5.65 * stamps + 0.3)[:, None], 6, axis=1)
    turned = means_between(stamps, readings, stamps)[39, 0] * (stamps[40] - stamps[39])
    truth = np.diff(np.sin(5.65 * stamps[39:41] + 0.3))[0] / 5.65
    by_line = 0.5 * (readings[39, 0] + readings[40, 0]) * (stamps[40] - stamps[39])
    assert abs(turned - truth) < 0.1 * abs(by_line - truth)


def test_readings_that_come_in_bursts_swing_no_farther():
    """Whatever the times between them: the curve stays near the readings around it."""
    rng = np.random.default_rng(2)
    stamps = np.cumsum(rng.choice([1e-5, 1e-3, 0.02], 400))
    readings = rng.uniform(-1.0, 1.0, (400, 6))
    found = signal_at(stamps, readings, np.linspace(stamps[0], stamps[-1], 20_000))
    assert np.abs(found).max() < 1.6


def test_one_reading_is_held():
    """Before and after it."""
    reading = np.arange(6.0)[None]
    assert_allclose(means_between(np.zeros(1), reading, np.array([-1.0, 0.0, 2.0])), [*reading] * 2)
