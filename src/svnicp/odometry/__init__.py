# SPDX-License-Identifier: MIT
"""Odometry: scans (and IMU readings) in, one estimate with covariances per scan out."""

from svnicp.odometry.odometry import Odometry
from svnicp.odometry.run import run

__all__ = ["Odometry", "run"]
