# SPDX-License-Identifier: MIT
"""A start that is no rest: bodies that hover or bob about, and bodies that scans show to travel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import svnicp
from svnicp.evaluation.consistency import pose_errors
from svnicp.lie import se3_exp
from svnicp.odometry.inertial_start import UNSEEN_SPEED_M_S, first_velocity, place_is_seen
from svnicp.pose_gaussian import PoseGaussian
from svnicp.recording.kitti_folder import poses_at

SECONDS = 0.1
KNOWN = np.diag([1e-3] * 3 + [1e-4] * 3) ** 2


def found(*moved_m: float, covariance: np.ndarray = KNOWN) -> PoseGaussian:
    """The second scan this far from where the first was."""
    return PoseGaussian(se3_exp(np.r_[moved_m, 0.0, 0.0, 0.0]), covariance)


def test_what_no_scan_shows_is_slow():
    """In motion by the IMU, and the second scan was not found: about the speed of hovering."""
    seen = first_velocity(None, np.eye(4), SECONDS, resting=False)
    assert seen is not None
    assert_allclose(seen[0], np.zeros(3))
    assert_allclose(seen[1], np.eye(3) * UNSEEN_SPEED_M_S**2)
    assert first_velocity(None, np.eye(4), SECONDS, resting=True) is None


def test_what_was_given_up_may_be_fast():
    """In the middle of a run nothing says that an unseen velocity is small."""
    seen = first_velocity(None, np.eye(4), SECONDS, resting=False, unseen_m_s=10.0)
    assert seen is not None
    assert_allclose(seen[1], np.eye(3) * 100.0)


def test_a_velocity_that_is_seen_is_taken():
    """Ten metres per second, seen to a millimetre, are no hovering."""
    seen = first_velocity(found(1.0, 0.0, 0.0), np.eye(4), SECONDS, resting=False)
    assert seen is not None
    assert_allclose(seen[0], [10.0, 0.0, 0.0], atol=1e-9)


def test_what_is_hardly_seen_is_drawn_to_rest():
    """A jump upwards of which the scan is not sure is mostly error: bodies that hover are slow."""
    blurred = np.diag([1e-3, 1e-3, 0.2, 1e-4, 1e-4, 1e-4]) ** 2
    seen = first_velocity(
        found(0.02, 0.0, 0.1, covariance=blurred), np.eye(4), SECONDS, resting=False
    )
    assert seen is not None
    assert 0.05 < seen[0][0] <= 0.2
    assert abs(seen[0][2]) < 0.1
    assert np.sqrt(seen[1][2, 2]) == pytest.approx(UNSEEN_SPEED_M_S, rel=0.05)


def test_a_place_is_seen_when_no_direction_is_left_open():
    """A centimetre is the limit, along the direction that is known least."""
    assert place_is_seen(found(0.1, 0.0, 0.0))
    turned = se3_exp(np.r_[0.0, 0.0, 0.0, 0.3, 0.2, 0.5])[:3, :3]
    for worst_m, expected in ((0.009, True), (0.011, False)):
        covariance = KNOWN.copy()
        covariance[:3, :3] = turned @ np.diag([1e-6, 1e-6, worst_m**2]) @ turned.T
        assert place_is_seen(found(0.0, 0.0, 0.0, covariance=covariance)) == expected


def test_rings_on_far_banks_do_not_teach_gravity():
    """While a boat bobs, rings say that it does not: doubted, they leave its height to the IMU."""
    dataset = svnicp.simulate("waterway_short", seed=102, duration_s=8.0)
    estimates = list(svnicp.run(dataset))
    truth = dataset.truth_at(np.array([one.stamp_ns for one in estimates]))
    errors = pose_errors(np.array([one.T_world_body for one in estimates]), truth.T_world_body)
    assert np.all(errors[-1] ** 2 < 16.0 * estimates[-1].covariance.diagonal())
    assert abs(estimates[-1].velocity_world[2] - truth.velocity_world[-1, 2]) < 0.05


def test_a_boat_that_bobs_stays_where_it_is():
    """Sixteen rings on far banks: neither climbing nor drifting, and it knows how sure that is."""
    dataset = svnicp.simulate("waterway_short", seed=101, duration_s=6.0)
    estimates = list(svnicp.run(dataset))
    T_true = poses_at(dataset.ground_truth, np.array([one.stamp_ns for one in estimates]))
    errors = pose_errors(np.array([one.T_world_body for one in estimates]), T_true)
    assert len(estimates) > 40
    assert np.abs(errors[:, :3]).max() < 0.25
    ends = estimates[-1]
    assert np.all(np.abs(ends.velocity_world) < 0.6)
    assert np.all(errors[-1] ** 2 < 16.0 * ends.covariance.diagonal())
