# SPDX-License-Identifier: MIT
"""Odometry: scans (and IMU readings) in, one estimate with covariances per scan out."""

from svnicp.odometry.imu_rate import ImuPose, imu_rate_poses, newest_pose
from svnicp.odometry.odometry import Odometry
from svnicp.odometry.run import run

__all__ = ["ImuPose", "Odometry", "imu_rate_poses", "newest_pose", "run"]
