# SPDX-License-Identifier: MIT
"""How much of a scan counts when it is matched, by what else is known of the motion.

A LiDAR alone takes every hint of its scans. Where an IMU carries the pose from scan to scan, hints
can wait for a map that tells more than its own errors do. Right after a start at speed nothing is
known yet, and the hints count again.
"""

from dataclasses import replace

from svnicp.config import Config, OdometryConfig
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.inertial_motion import InertialMotion

MOST_TILT_RAD = 0.05
"""No map is tilted by more than this [rad]."""
MOST_TILT_CARRIED_RAD = 0.2
"""The same where an IMU carries the pose until the map has been seen from elsewhere [rad]."""
OLD = 1_000_000
"""A map that was seen from so many places is as good as maps get."""


def matching(config: Config, num_views: int, motion: ConstantVelocity | InertialMotion) -> Config:
    """Configuration with which a scan is matched with a map seen from this many places."""
    if not isinstance(motion, InertialMotion):
        return alone(config, num_views)
    assert motion.stamp_ns is not None, "there is a prediction"
    if motion.beginning.makes_doubtful_map(motion.stamp_ns):
        return carried(config, OLD)  # the measurement's covariance has that doubt, tilts included
    first = motion.beginning.makes_map(motion.stamp_ns)
    return trusting(config) if first else carried(config, num_views)


def alone(config: Config, num_views: int) -> Config:
    """The configuration of LiDAR alone."""
    tilt = shared_tilt(config.odometry, num_views, MOST_TILT_RAD)
    noise = replace(config.noise, shared_tilt_rad=tilt, slip_m=_slip(config.odometry, num_views))
    match = replace(config.match, settled_scans=config.odometry.settled_scans)
    return replace(config, noise=noise, match=match)


def carried(config: Config, num_views: int) -> Config:
    """That of a body that an IMU carries: it waits for surfaces that face the way."""
    odometry = config.odometry
    noise = replace(
        config.noise,
        shared_tilt_rad=shared_tilt(odometry, num_views, MOST_TILT_CARRIED_RAD),
        facing=odometry.facing_with_imu,
        vouching=odometry.vouching_with_imu,
        slip_m=_slip(odometry, num_views),
    )
    match = replace(config.match, settled_scans=odometry.settled_scans_with_imu)
    return replace(config, noise=noise, match=match)


def _slip(config: OdometryConfig, num_views: int) -> float:
    """How far scans are moved to see whether they fit worse: not in a young map [m].

    A young map's errors are those of the few scans that made it, and those scans fit it best.
    """
    return config.slip_m if num_views >= 2 * config.warm_up_scans else 0.0


def trusting(config: Config) -> Config:
    """That right after a start at speed: all that scans hint at counts.

    Gravity, biases and the velocity are hardly known yet, and a map that was made by such a
    prediction is smeared for good.
    """
    noise = replace(config.noise, shared_tilt_rad=0.0, facing=0.0, vouching=0.0)
    return replace(config, noise=noise, match=replace(config.match, settled_scans=0))


def youth(config: OdometryConfig, map_age: int) -> float:
    """How much less a map of this many scans is trusted than an old one: 1 is as much."""
    return 1.0 + (config.warm_up_scans / max(map_age, 1)) ** 2


def shared_tilt(config: OdometryConfig, num_views: int, most_rad: float) -> float:
    """Tilt that all normals of a map seen from this many places may share [rad]."""
    return min(config.map_tilt_rad * youth(config, num_views), most_rad)
