# SPDX-License-Identifier: MIT
"""What one scan alone says does not count; what all the last scans say does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.arrays import Covariance, Floats
from svnicp.lie import make_transform, so3_exp
from svnicp.odometry.persistence import Persistence

HERE = np.eye(4)
ALONG = np.array([1.0, 0.0, 0.0])
PREDICTED = np.diag([0.3**2] * 3 + [0.01**2] * 3)
SHARP = np.diag([0.01**2] * 3 + [0.001**2] * 3)


def blind(direction: Floats) -> Covariance:
    """Covariance (6, 6) of a scan that does not see its place along a direction (3,)."""
    out = SHARP.copy()
    out[:3, :3] += 1000.0**2 * np.outer(direction, direction)
    return out


def test_scans_that_agree_keep_their_covariance():
    """Where every scan says the same, each is taken at its word."""
    persistence = Persistence(10)
    for _ in range(12):
        assert_allclose(persistence.confirmed(SHARP, PREDICTED, HERE), SHARP, atol=1e-12)


def test_scans_that_know_their_place_need_nobody():
    """Sharper and sharper scans are each taken at their word while none of them is weak."""
    persistence = Persistence(10)
    for factor in (4.0, 2.0, 1.0):
        scan = factor * SHARP
        assert_allclose(persistence.confirmed(scan, PREDICTED, HERE), scan, atol=1e-15)
    persistence.confirmed(blind(ALONG), PREDICTED, HERE)
    assert persistence.confirmed(SHARP, PREDICTED, HERE)[0, 0] > 10.0 * SHARP[0, 0]


def test_what_one_scan_sees_hardly_counts():
    """Nine blind scans outweigh the tenth, which says that it sees."""
    persistence = Persistence(10)
    for _ in range(9):
        persistence.confirmed(blind(ALONG), PREDICTED, HERE)
    found = persistence.confirmed(SHARP, PREDICTED, HERE)
    # A tenth of the prediction's variance is taken away: information of a ninth of its own.
    assert found[0, 0] == pytest.approx(9.0 * PREDICTED[0, 0], rel=0.02)
    assert_allclose(found[1:, 1:], SHARP[1:, 1:], atol=1e-9)


def test_what_stays_in_sight_counts_in_the_end():
    """After as many scans as are remembered, what they all see is believed."""
    persistence = Persistence(10)
    persistence.confirmed(blind(ALONG), PREDICTED, HERE)
    variances = [float(persistence.confirmed(SHARP, PREDICTED, HERE)[0, 0]) for _ in range(10)]
    assert np.all(np.diff(variances) < 0.0)
    assert variances[-1] == pytest.approx(SHARP[0, 0], rel=1e-6)


def test_blind_directions_that_differ_do_no_harm_across(rng: np.random.Generator):
    """Blind along directions a few milliradians apart, scans still know the place across."""
    persistence, found = Persistence(10), SHARP
    for angle in 0.003 * rng.standard_normal(10):
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        found = persistence.confirmed(blind(along), PREDICTED, HERE)
    posterior = np.linalg.inv(np.linalg.inv(found) + np.linalg.inv(PREDICTED))
    assert posterior[1, 1] < 0.02**2
    assert posterior[0, 0] > 0.9 * PREDICTED[0, 0]


def test_a_blind_scan_is_not_sure_because_others_were():
    """What others saw does not make a scan sure of what it does not see itself."""
    persistence = Persistence(10)
    for _ in range(9):
        persistence.confirmed(SHARP, PREDICTED, HERE)
    found = persistence.confirmed(blind(ALONG), PREDICTED, HERE)
    assert found[0, 0] > 1000.0 * PREDICTED[0, 0]
    assert_allclose(found[1:, 1:], SHARP[1:, 1:], rtol=0.01, atol=1e-9)


def test_it_is_remembered_in_axes_of_the_world():
    """A body that turns about does not mix up along and across."""
    persistence = Persistence(10)
    found, along, across = SHARP, ALONG, ALONG
    for quarter in range(8):
        T = make_transform(so3_exp(np.array([0.0, 0.0, 0.5 * np.pi * quarter])), np.zeros(3))
        along, across = T[:3, :3].T @ ALONG, T[:3, :3].T @ np.array([0.0, 1.0, 0.0])
        found = persistence.confirmed(blind(along), PREDICTED, T)
    assert across @ found[:3, :3] @ across == pytest.approx(SHARP[1, 1], rel=0.01)
    assert along @ found[:3, :3] @ along > 100.0 * PREDICTED[0, 0]


def test_scans_knew_their_place_when_all_of_the_last_did():
    """A few are needed, and one that is blind is one too many until it is long ago."""
    persistence, knew = Persistence(15), []
    for scan in [SHARP] * 5 + [blind(ALONG)] + [SHARP] * 5:
        persistence.confirmed(scan, PREDICTED, HERE)
        knew.append(persistence.knew_its_place)
    assert knew == [False] * 4 + [True] + [False] * 5 + [True]
