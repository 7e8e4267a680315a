# SPDX-License-Identifier: MIT
"""Simulated LiDAR scans with exact ground truth, for tests, examples and benchmarks.

``scene`` describes static surroundings as one signed-distance function, ``lidar`` casts the rays
of a sensor in them. Nothing here is needed to register scans.
"""

from svnicp.simulation.lidar import LidarPattern, Rays, cast, scan
from svnicp.simulation.scene import SCENES, Scene

__all__ = ["SCENES", "LidarPattern", "Rays", "Scene", "cast", "scan"]
