# SPDX-License-Identifier: MIT
"""Estimates in the form that other programs want: ROS odometry, and factors of GTSAM.

In: poses and twists with covariances in the body tangent, translation first. Out: a
nav_msgs/Odometry as nested dictionaries of plain numbers, which needs no ROS to be made, or a real
``gtsam.BetweenFactorPose3``. ``Estimate.to_ros`` and ``Estimate.to_gtsam`` call these.
"""

from typing import Any, Literal

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.data.quaternions import rotation_to_quat
from svnicp.data.stamps import NS_PER_S
from svnicp.errors import InputError
from svnicp.extras import require
from svnicp.pose_gaussian import PoseGaussian

SMALLEST_VARIANCE = 1e-12
"""Added to every variance: the first pose is exact, and filters refuse a singular matrix."""
EXACT_VARIANCE = 1e-10
"""A pose that is known better than this in all directions was not measured [m^2, rad^2]."""

_TIME_KEYS = {1: ("secs", "nsecs"), 2: ("sec", "nanosec")}


def ros_odometry(
    stamp_ns: int,
    pose: PoseGaussian,
    twist: Floats,
    twist_covariance: Covariance,
    *,
    frame_id: str,
    child_frame_id: str,
    version: Literal[1, 2],
) -> dict[str, Any]:
    """Fields of a nav_msgs/Odometry.

    Parameters
    ----------
    stamp_ns
        Time of the pose [ns].
    pose
        Pose of the child frame; its covariance is turned into the fixed axes of ``frame_id``.
    twist, twist_covariance
        (6,) and (6, 6) velocity in the axes of the child frame [m/s, rad/s], where they stay.
    frame_id, child_frame_id
        Names of the two frames.
    version
        ROS 1 and 2 name the parts of a stamp differently.
    """
    T_world_body, covariance = pose.to_ros()
    whole, rest = _TIME_KEYS[version]
    seconds, nanoseconds = divmod(int(stamp_ns), NS_PER_S)
    return {
        "header": {"stamp": {whole: seconds, rest: nanoseconds}, "frame_id": frame_id},
        "child_frame_id": child_frame_id,
        "pose": {
            "pose": {
                "position": _named(T_world_body[:3, 3]),
                "orientation": _named(rotation_to_quat(T_world_body[:3, :3])),
            },
            "covariance": _regular(covariance).ravel().tolist(),
        },
        "twist": {
            "twist": {"linear": _named(twist[:3]), "angular": _named(twist[3:])},
            "covariance": _regular(twist_covariance).ravel().tolist(),
        },
    }


def gtsam_between(pose: PoseGaussian, from_key: int, to_key: int) -> Any:  # noqa: ANN401
    """``gtsam.BetweenFactorPose3`` of a relative pose, with its covariance as noise model.

    Parameters
    ----------
    pose
        Pose of the frame of ``to_key`` in that of ``from_key``; GTSAM, too, has its error there.
    from_key, to_key
        Keys of the two poses in the graph.

    Raises
    ------
    MissingExtraError
        If GTSAM is not installed.
    InputError
        If the pose is exact: GTSAM's solvers fail on such a factor, some of them silently.
    """
    if pose.covariance.diagonal().max() < EXACT_VARIANCE:
        raise InputError(
            "An exact pose makes no factor; the first estimate of a run has no step before it, so "
            "begin the graph with a prior there, and call to_gtsam from the second on."
        )
    gtsam = require("gtsam", "gtsam", "A factor for a pose graph")
    regular = PoseGaussian(pose.T_world_body, _regular(pose.covariance))
    noise = gtsam.noiseModel.Gaussian.Covariance(regular.to_gtsam_covariance())
    return gtsam.BetweenFactorPose3(from_key, to_key, gtsam.Pose3(pose.T_world_body), noise)


def _named(values: Floats) -> dict[str, float]:
    """Three or four numbers by the letters x, y, z, w."""
    return dict(zip("xyzw", map(float, values), strict=False))


def _regular(covariance: Covariance) -> Covariance:
    """(6, 6) that can be inverted."""
    return covariance + SMALLEST_VARIANCE * np.eye(6)
