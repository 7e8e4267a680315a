# SPDX-License-Identifier: MIT
"""Estimates for ROS and for GTSAM mean there what they mean here."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from recording_inputs import make_estimate
from svnicp.errors import InputError
from svnicp.estimate import Estimate
from svnicp.exchange import SMALLEST_VARIANCE
from svnicp.lie import se3_exp, so3_exp
from svnicp.pose_gaussian import PoseGaussian
from svnicp.recording.odometry_messages import odometry
from svnicp.recording.ros_messages import RosMessages

ESTIMATE = make_estimate(7)
STEPS = [make_estimate(index) for index in range(1, 6)]


@pytest.fixture
def gtsam() -> Any:
    return pytest.importorskip("gtsam", reason='pip install "svnicp[gtsam]" to run this')


def test_ros_fields_are_plain_numbers_and_names():
    """The fields survive a trip through JSON, so any program can take them."""
    fields = ESTIMATE.to_ros()
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields


def test_ros_pose_and_stamp_are_those_of_the_estimate():
    """Position, orientation and time read back as the pose and the stamp that went in."""
    fields = ESTIMATE.to_ros(frame_id="map", child_frame_id="imu")
    pose, stamp = fields["pose"]["pose"], fields["header"]["stamp"]
    rotation = Rotation.from_quat([pose["orientation"][name] for name in "xyzw"]).as_matrix()
    assert_allclose(rotation, ESTIMATE.T_world_body[:3, :3], atol=1e-12)
    assert_array_equal(list(pose["position"].values()), ESTIMATE.T_world_body[:3, 3])
    assert stamp["sec"] * 1_000_000_000 + stamp["nanosec"] == ESTIMATE.stamp_ns
    assert (fields["header"]["frame_id"], fields["child_frame_id"]) == ("map", "imu")


def test_ros_covariance_is_that_of_errors_about_fixed_axes(rng):
    """Poses drawn from the estimate scatter about the world's axes as the message says."""
    fields = ESTIMATE.to_ros()
    covariance = np.reshape(fields["pose"]["covariance"], (6, 6))
    mean, drawn = ESTIMATE.T_world_body, ESTIMATE.pose.sample(rng, 20_000)
    shift = drawn[:, :3, 3] - mean[:3, 3]
    turn = Rotation.from_matrix(drawn[:, :3, :3] @ mean[:3, :3].T).as_rotvec()
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), np.hstack([shift, turn]).T)
    assert_allclose(np.linalg.eigvalsh(np.cov(whitened)), np.ones(6), atol=0.06)


def test_ros_twist_stays_in_the_axes_of_the_child_frame():
    """The twist and its covariance are those of the estimate, which has them in body axes."""
    twist = ESTIMATE.to_ros()["twist"]
    given = [*twist["twist"]["linear"].values(), *twist["twist"]["angular"].values()]
    assert_array_equal(given, ESTIMATE.twist)
    expected = ESTIMATE.twist_covariance + SMALLEST_VARIANCE * np.eye(6)
    assert_array_equal(np.reshape(twist["covariance"], (6, 6)), expected)


def test_ros_1_names_the_parts_of_a_stamp_differently():
    """Only the stamp's keys differ between the versions."""
    old, new = ESTIMATE.to_ros(version=1), ESTIMATE.to_ros()
    stamp, expected = old["header"].pop("stamp"), new["header"].pop("stamp")
    assert stamp == {"secs": expected["sec"], "nsecs": expected["nanosec"]}
    assert old == new


def test_recordings_hold_the_same_message():
    """The odometry in odometry.mcap has the numbers of ``to_ros``."""
    message, fields = odometry(RosMessages(2), ESTIMATE), ESTIMATE.to_ros()
    assert_array_equal(message.pose.covariance, fields["pose"]["covariance"])
    assert_array_equal(message.twist.covariance, fields["twist"]["covariance"])
    assert message.pose.pose.orientation.w == fields["pose"]["pose"]["orientation"]["w"]
    assert message.header.stamp.nanosec == fields["header"]["stamp"]["nanosec"]


def test_a_factor_measures_the_step_and_its_error(gtsam):
    """A pose off by xi from the measured step has the residual xi, rotation first, whitened."""
    xi = np.array([0.02, -0.01, 0.03, 0.004, 0.002, -0.006])
    factor = ESTIMATE.to_gtsam(3, 8)
    start = se3_exp(np.array([4.0, 1.0, -2.0, 0.3, 0.2, 2.0]))
    values = gtsam.Values()
    values.insert(3, gtsam.Pose3(start))
    values.insert(8, gtsam.Pose3(start @ ESTIMATE.T_previous_body @ se3_exp(xi)))
    assert list(factor.keys()) == [3, 8]
    assert_allclose(factor.unwhitenedError(values), np.roll(xi, 3), atol=1e-9)
    regular = ESTIMATE.relative_covariance + SMALLEST_VARIANCE * np.eye(6)
    expected = PoseGaussian(np.eye(4), regular).mahalanobis_squared(se3_exp(xi))
    assert_allclose(2.0 * factor.error(values), expected, rtol=1e-9)


def test_a_chain_of_factors_propagates_as_our_poses_do(gtsam):
    """The marginal of the last pose of a chain is the composition of the steps."""
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    exact = gtsam.noiseModel.Isotropic.Sigma(6, 1e-6)
    graph.add(gtsam.PriorFactorPose3(0, gtsam.Pose3(), exact))
    values.insert(0, gtsam.Pose3())
    pose = PoseGaussian(np.eye(4), SMALLEST_VARIANCE * np.eye(6))
    for key, step in enumerate(STEPS, start=1):
        graph.add(step.to_gtsam(key - 1, key))
        pose = pose.compose(step.relative_pose)
        values.insert(key, gtsam.Pose3(pose.T_world_body))
    marginal = gtsam.Marginals(graph, values).marginalCovariance(len(STEPS))
    ours = PoseGaussian.from_gtsam_covariance(pose.T_world_body, marginal)
    assert_allclose(ours.covariance, pose.covariance, rtol=1e-5, atol=1e-10)


def test_the_first_estimate_makes_no_factor():
    """There is no step before it, and the message says what to do instead."""
    first = Estimate(**{**vars(ESTIMATE), "relative_covariance": 3e-12 * np.eye(6)})
    with pytest.raises(InputError, match="begin the graph with a prior"):
        first.to_gtsam(0, 1)


def test_the_rotation_of_a_recorded_turn_keeps_its_sign():
    """A turn to the left by 90 degrees is a positive z and w of the quaternion."""
    T_world_body = np.eye(4)
    T_world_body[:3, :3] = so3_exp(np.radians([0.0, 0.0, 90.0]))
    turned = Estimate(**{**vars(ESTIMATE), "T_world_body": T_world_body})
    orientation = turned.to_ros()["pose"]["pose"]["orientation"]
    assert_allclose([orientation["z"], orientation["w"]], np.sqrt([0.5, 0.5]))
