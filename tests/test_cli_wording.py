# SPDX-License-Identifier: MIT
"""Angles and numbers for people: round trips, first-order propagation, sensible units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from svnicp.cli.euler import rotation_from_rpy, rpy_covariance, rpy_from_rotation
from svnicp.cli.wording import (
    angle_in_words,
    direction_in_words,
    fixed,
    length_in_words,
    time_in_words,
    weak_direction_in_words,
    weak_directions_in_words,
)
from svnicp.lie import so3_exp
from svnicp.registration.posterior import WeakDirection, weak_directions

turn = st.floats(-3.1, 3.1)
tilt = st.floats(-1.5, 1.5)


@given(roll=turn, pitch=tilt, yaw=turn)
def test_rpy_round_trip(roll: float, pitch: float, yaw: float):
    """Angles survive the way through a rotation, as long as pitch is short of a right angle."""
    rpy = np.array([roll, pitch, yaw])
    rotation = rotation_from_rpy(rpy)
    assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert_allclose(rpy_from_rotation(rotation), rpy, atol=1e-9)


def test_yaw_turns_x_towards_y():
    """A yaw of 90 degrees takes the x axis to the y axis, and roll comes first."""
    quarter = np.pi / 2
    assert_allclose(rotation_from_rpy(np.array([0.0, 0.0, quarter]))[:, 0], [0, 1, 0], atol=1e-12)
    both = rotation_from_rpy(np.array([quarter, 0.0, quarter]))
    assert_allclose(both @ [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], atol=1e-12)


@given(roll=turn, pitch=st.floats(-1.2, 1.2), yaw=turn, seed=st.integers(0, 1000))
def test_rpy_covariance_is_first_order(roll: float, pitch: float, yaw: float, seed: int):
    """The covariance is carried by the derivative of the angles, here by finite differences."""
    rpy, step = np.array([roll, pitch, yaw]), 1e-6
    rotation = rotation_from_rpy(rpy)
    columns = []
    for axis in np.eye(3):
        ahead = rpy_from_rotation(so3_exp(step * axis) @ rotation)
        back = rpy_from_rotation(so3_exp(-step * axis) @ rotation)
        difference = ahead - back
        columns.append((difference - 2 * np.pi * np.round(difference / (2 * np.pi))) / (2 * step))
    jacobian = np.array(columns).T
    factor = np.random.default_rng(seed).normal(size=(3, 3))
    expected = jacobian @ factor @ factor.T @ jacobian.T
    assert_allclose(rpy_covariance(rpy, factor @ factor.T), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("metres", "words"),
    [(0.0, "0.000 mm"), (4e-4, "0.400 mm"), (0.0381, "38.1 mm"), (0.09998, "100 mm"),
     (0.12, "120 mm"), (0.9994, "999 mm"), (0.9996, "1.00 m"), (1.5, "1.50 m"), (-250.0, "-250 m"),
     (float("inf"), "inf m")],
)  # fmt: skip
def test_lengths_have_a_unit_that_suits_them(metres: float, words: str):
    """Below a metre people think in millimetres."""
    assert length_in_words(metres) == words


def test_angles_and_times_have_a_unit_that_suits_them():
    """Below a degree it is thousandths of it, below a second milliseconds."""
    assert angle_in_words(np.radians(0.0132)) == "13.2 mdeg"
    assert angle_in_words(np.radians(-12.0)) == "-12.0 deg"
    assert angle_in_words(np.radians(0.99999)) == "1.00 deg"
    assert (time_in_words(0.0476), time_in_words(2.14)) == ("48 ms", "2.1 s")
    assert time_in_words(0.9999) == "1.0 s"


def test_zero_has_no_sign():
    """What rounds to zero is printed without a minus; other signs stay."""
    assert [fixed(value, 4) for value in (-1e-9, 0.0, -0.00006)] == ["0.0000", "0.0000", "-0.0001"]


def test_directions_near_an_axis_are_named():
    """Ten degrees off the x axis is still the x axis, either way; in between it is numbers."""
    near = np.array([-np.cos(0.17), np.sin(0.17), 0.0])
    assert direction_in_words(near) == "the source's x axis"
    between = np.array([0.8, 0.6, 0.0])
    assert direction_in_words(between) == "(0.80, 0.60, 0.00) in source axes"


def test_weak_rotations_are_about_an_axis():
    """A weak rotation is told with its axis and in degrees."""
    weak = WeakDirection("rotation", np.array([0.0, 0.0, 1.0]), np.radians(1.5), np.radians(2.0))
    words = weak_direction_in_words(weak)
    assert words == "rotation about the source's z axis: sigma 1.50 deg, and the guess had 2.00 deg"


def test_all_directions_weak_are_one_line():
    """A guess that is surer than the scan everywhere is said once, not six times."""
    prior = np.diag([1e-12] * 3 + [1e-12] * 3)
    (words,) = weak_directions_in_words(weak_directions(0.81 * prior, prior))
    assert words.startswith("all six directions: the scan adds little to the guess, sigma up to 0.")
    two = weak_directions(np.diag([0.9, 0.9, 0.1, 0.1, 0.1, 0.1]), np.eye(6))
    assert weak_directions_in_words(two) == [weak_direction_in_words(weak) for weak in two]
    assert len(two) == 2
