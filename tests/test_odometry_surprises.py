# SPDX-License-Identifier: MIT
"""Innovations that are larger than they may be, again and again, make scans less sure."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from inertial_cases import random_covariance
from svnicp.arrays import Floats
from svnicp.config import OdometryConfig
from svnicp.errors import ConfigError
from svnicp.lie import make_transform, so3_exp
from svnicp.odometry.surprises import PUSHING_SCANS, Surprises

SCANS = 15


def seen(rng: np.random.Generator, true_cov: Floats, stated_cov: Floats, scans: int = SCANS):
    """What is missing after innovations of one covariance that were stated to have another."""
    surprises = Surprises(scans)
    for _ in range(scans):
        innovation = rng.multivariate_normal(np.zeros(6), true_cov)
        surprises.add(innovation, stated_cov, np.eye(4))
    return surprises.excess(stated_cov, np.eye(4))


def test_what_was_stated_right_stays(rng: np.random.Generator):
    """Innovations as large as they should be add nothing, in nineteen of twenty cases."""
    stated = random_covariance(rng, 6, 0.05)
    added = [seen(rng, stated, stated).any() for _ in range(200)]
    assert np.mean(added) < 0.1


def test_what_is_missing_is_added_where_it_is_missing(rng: np.random.Generator):
    """A height that is ten times less sure than stated is found, and little else changes."""
    stated = np.diag([0.01, 0.01, 0.002, 1e-3, 1e-3, 1e-3]) ** 2
    true = stated.copy()
    true[2, 2] *= 100.0
    missing = np.mean([seen(rng, true, stated) for _ in range(100)], axis=0)
    assert missing[2, 2] == pytest.approx(99.0 * stated[2, 2], rel=0.2)
    for axis in (0, 1, 3, 4, 5):
        assert missing[axis, axis] < 2.0 * stated[axis, axis]


def test_directions_stay_where_they_are_in_the_world(rng: np.random.Generator):
    """A body that turns on its head is less sure along the same direction of the world."""
    stated = np.diag([0.01, 0.01, 0.01, 1e-3, 1e-3, 1e-3]) ** 2
    surprises = Surprises(SCANS)
    for _ in range(SCANS):
        surprises.add(np.array([0.1, 0, 0, 0, 0, 0]) * rng.normal(), stated, np.eye(4))
    T_world_body = make_transform(so3_exp(np.array([0.0, 0.0, np.pi / 2])), np.zeros(3))
    missing = surprises.excess(stated, T_world_body)
    assert missing[1, 1] > 10.0 * stated[1, 1]
    assert_allclose(missing[0, 0], 0.0, atol=1e-12)


@pytest.mark.parametrize(("scans", "seen_so_far"), [(0, 30), (15, 14)])
def test_nothing_is_added_before_enough_was_seen(scans: int, seen_so_far: int):
    """Nor if it was not asked for."""
    surprises = Surprises(scans)
    for _ in range(seen_so_far):
        surprises.add(np.ones(6), np.eye(6) * 1e-6, np.eye(4))
    assert_array_equal(surprises.excess(np.eye(6) * 1e-6, np.eye(4)), 0.0)


def pushed(surprises: Surprises, scans: int = SCANS) -> Floats:
    """What is missing after innovations that are ten sigma off, always the same way."""
    for _ in range(scans):
        surprises.add(np.full(6, 0.1), np.eye(6) * 1e-4, np.eye(4))
    return surprises.excess(np.eye(6) * 1e-4, np.eye(4))


def test_a_steady_push_is_not_held_against_scans():
    """It is the readings': a biased IMU must not make scans less sure."""
    assert_array_equal(pushed(Surprises(SCANS)), 0.0)


def test_what_bad_readings_did_is_forgotten(rng: np.random.Generator):
    """After that as many innovations as before are needed to say something."""
    surprises = Surprises(SCANS)
    for _ in range(SCANS):
        surprises.add(rng.normal(size=6), np.eye(6) * 1e-4, np.eye(4))
    assert surprises.excess(np.eye(6) * 1e-4, np.eye(4)).any()
    surprises.forget()
    assert_array_equal(surprises.excess(np.eye(6) * 1e-4, np.eye(4)), 0.0)


def test_one_innovation_has_no_differences():
    """It cannot be asked for."""
    with pytest.raises(ConfigError, match="surprising_scans"):
        OdometryConfig(surprising_scans=1)


def is_a_push(push_sigma: float, scans: int, rng: np.random.Generator) -> bool:
    """Whether innovations with a mean of so many standard deviations are a push."""
    surprises = Surprises(SCANS)
    for _ in range(scans):
        surprises.add(rng.normal(size=6) + push_sigma * np.eye(6)[0], np.eye(6), np.eye(4))
    return surprises.are_a_push


def test_a_push_lasts(rng: np.random.Generator):
    """A mean of many standard deviations is one, after some scans; chance never is."""
    assert all(is_a_push(8.0, PUSHING_SCANS, rng) for _ in range(100))
    assert not any(is_a_push(8.0, PUSHING_SCANS - 1, rng) for _ in range(100))
    assert not any(is_a_push(0.0, SCANS, rng) for _ in range(1000))


def test_scans_that_are_off_this_way_and_that_are_no_push():
    """However far they are."""
    surprises = Surprises(SCANS)
    for number in range(SCANS):
        surprises.add(30.0 * (-1.0) ** number * np.eye(6)[0], np.eye(6), np.eye(4))
    assert not surprises.are_a_push


def test_a_map_that_is_off_by_millimetres_is_no_push():
    """Though scans are sure to a tenth of that."""
    surprises, sure = Surprises(SCANS), np.eye(6) * 1e-8
    for _ in range(SCANS):
        surprises.add(0.004 * np.eye(6)[2], sure, np.eye(4))
    assert not surprises.are_a_push
