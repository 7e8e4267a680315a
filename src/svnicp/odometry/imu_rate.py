# SPDX-License-Identifier: MIT
"""Poses at the rate of the IMU: from the last estimate on, through the readings since.

In: odometry that uses an IMU. Out: a pose with covariance and velocity for every reading that came
after the time of the last estimate, the newest last. The filter itself stays where it is, so this
may be asked at any time and as often as wanted.
"""

import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers, Transform
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


class Ahead(NamedTuple):
    """The way from the last estimate to the newest reading."""

    eskf: Eskf
    """A copy of the filter, at the last estimate."""
    rows: Floats
    """(n + 1, 7) of ``ImuBuffer.intervals``, as far as there is no gap."""
    stamps_ns: Integers
    """(n,) of the readings [ns]."""
    missed: Floats
    """For ``Eskf.predict``."""
    drift: Covariance
    """(6, 6) of the map, at the last estimate."""


def imu_rate_poses(odometry: "Odometry") -> list[ImuPose]:
    """Poses at all readings since the last estimate, in the order of time.

    There are none before the first estimate, and none without an IMU. Beyond a gap in the readings
    (``inertial.max_gap_s``) nothing is known, so they end there.
    """
    ahead = _ahead(odometry)
    if ahead is None:
        return []
    T_begin_world = se3_inverse(ahead.eskf.T_world_body)
    poses = []
    for index, stamp_ns in enumerate(ahead.stamps_ns, start=1):
        ahead.eskf.predict(ahead.rows[index - 1 : index + 1], ahead.missed)
        poses.append(_pose(int(stamp_ns), ahead.eskf, T_begin_world, ahead.drift))
    return poses


def newest_pose(odometry: "Odometry") -> ImuPose | None:
    """Pose at the newest reading, for control loops that cannot wait for a scan; None if none.

    The last of ``imu_rate_poses``, but all readings are gone through at once: it takes about 10 us
    for each, however long there has been no scan.
    """
    ahead = _ahead(odometry)
    if ahead is None:
        return None
    T_begin_world = se3_inverse(ahead.eskf.T_world_body)
    ahead.eskf.predict(ahead.rows, ahead.missed)
    return _pose(int(ahead.stamps_ns[-1]), ahead.eskf, T_begin_world, ahead.drift)


def _ahead(odometry: "Odometry") -> Ahead | None:
    """The way to the newest reading before a gap; None if there is none after the estimate."""
    motion = odometry.motion
    if not isinstance(motion, InertialMotion) or odometry.num_scans == 0:
        return None
    begin_ns = motion.stamp_ns
    if begin_ns is None or len(motion.imu) == 0 or motion.imu.last_ns <= begin_ns:
        return None
    rows = motion.imu.intervals(begin_ns, motion.imu.last_ns)
    gaps = np.flatnonzero(rows[1:, 0] > longest_s(motion.imu, odometry.config.inertial))
    rows = rows[: gaps[0] + 1] if len(gaps) else rows
    if len(rows) < 2:
        return None
    stamps_ns = begin_ns + np.cumsum(rows[1:, 0] * 1e9).round().astype(np.int64)
    missed = motion.missed(begin_ns, motion.imu.last_ns)
    drift = odometry.surroundings.drift.covariance
    return Ahead(copy.deepcopy(motion.eskf), rows, stamps_ns, missed, drift)


def _pose(stamp_ns: int, eskf: Eskf, T_begin_world: Transform, drift: Covariance) -> ImuPose:
    """The state of the filter; the error of the map is carried along with the body."""
    T_world_body = eskf.T_world_body
    A = se3_adjoint(se3_inverse(T_begin_world @ T_world_body))
    covariance = eskf.absolute_covariance + A @ drift @ A.T
    return ImuPose(stamp_ns, T_world_body, covariance, eskf.velocity.copy())
