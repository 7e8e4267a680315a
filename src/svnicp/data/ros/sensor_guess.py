# SPDX-License-Identifier: MIT
"""What LiDAR a cloud may be from, for people to read: maker by its fields, rings and columns."""

import numpy as np

from svnicp.data.ros.point_cloud2 import PointCloud2

RING_FIELDS = ("ring", "line", "channel", "laser_id")

MAKERS = (
    ("Livox", {"tag", "line"}),
    ("Ouster", {"t", "range", "reflectivity"}),
    ("Hesai or RoboSense", {"timestamp", "ring"}),
    ("Velodyne", {"time", "ring"}),
)
"""Fields by which the clouds of a maker's driver can be told, the most particular first."""


def guess_sensor(cloud: PointCloud2) -> str:
    """Maker and size of the LiDAR as far as a cloud shows them: "Velodyne, 16 rings"."""
    names = set(cloud.names)
    words = [next((maker for maker, fields in MAKERS if fields <= names), "")]
    if cloud.height > 1:
        words.append(f"{cloud.height} x {cloud.width} points")
    elif ring := next((name for name in RING_FIELDS if name in names), None):
        words.append(f"{len(np.unique(cloud.values(ring)))} rings")
    return ", ".join(word for word in words if word)
