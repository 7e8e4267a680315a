# SPDX-License-Identifier: MIT
"""Poses at the rate of the IMU: from the last estimate on, through the readings since.

In: odometry that uses an IMU. Out: a pose with covariance and velocity for every reading that came
after the time of the last estimate, the newest last. The filter itself stays where it is, so this
may be asked at any time and as often as wanted.
"""

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.inertial import Eskf
from svnicp.lie import se3_adjoint, se3_inverse
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.readings import longest_s

if TYPE_CHECKING:
    from svnicp.odometry.odometry import Odometry


class ImuPose(NamedTuple):
    """Where the body was at the time of one reading."""

    stamp_ns: int
    """Time of the reading [ns]."""
    T_world_body: Transform
    """(4, 4)."""
    covariance: Covariance
    """(6, 6) in the body tangent, absolute as that of an estimate: it has grown since."""
    velocity_world: Floats
    """(3,) [m/s]."""


def imu_rate_poses(odometry: "Odometry") -> list[ImuPose]:
    """Poses at all readings since the last estimate, in the order of time.

    There are none before the first estimate, and none without an IMU. Beyond a gap in the readings
    (``inertial.max_gap_s``) nothing is known, so they end there.
    """
    return list(_carried_on(odometry))


def newest_pose(odometry: "Odometry") -> ImuPose | None:
    """Pose at the newest reading, for control loops that cannot wait for a scan; None if none."""
    poses = imu_rate_poses(odometry)
    return poses[-1] if poses else None


def _carried_on(odometry: "Odometry") -> Iterator[ImuPose]:
    """Yield the poses, one interval after the other, from a copy of the filter."""
    motion = odometry.motion
    if not isinstance(motion, InertialMotion) or odometry.num_scans == 0:
        return
    begin_ns = motion.stamp_ns
    if begin_ns is None or len(motion.imu) == 0 or motion.imu.last_ns <= begin_ns:
        return
    rows = motion.imu.intervals(begin_ns, motion.imu.last_ns)
    stamps_ns = begin_ns + np.cumsum(rows[1:, 0] * 1e9).round().astype(np.int64)
    eskf, drift = copy.deepcopy(motion.eskf), odometry.surroundings.drift.covariance
    T_begin_world = se3_inverse(eskf.T_world_body)
    limit_s = longest_s(motion.imu, odometry.config.inertial)
    missed = motion.missed(begin_ns, motion.imu.last_ns)
    for index, stamp_ns in enumerate(stamps_ns, start=1):
        if rows[index, 0] > limit_s:
            return
        eskf.predict(rows[index - 1 : index + 1], missed)
        yield _pose(int(stamp_ns), eskf, T_begin_world, drift)


def _pose(stamp_ns: int, eskf: Eskf, T_begin_world: Transform, drift: Covariance) -> ImuPose:
    """The state of the filter; the error of the map is carried along with the body."""
    T_world_body = eskf.T_world_body
    A = se3_adjoint(se3_inverse(T_begin_world @ T_world_body))
    covariance = eskf.absolute_covariance + A @ drift @ A.T
    return ImuPose(stamp_ns, T_world_body, covariance, eskf.velocity.copy())
