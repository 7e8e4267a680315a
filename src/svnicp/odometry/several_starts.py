# SPDX-License-Identifier: MIT
"""Where to begin a registration whose prediction is wide, as after a gap without scans.

One walk ends in the nearest place that fits, and in a street the parked cars fit the cars before
them. So the search begins all over the prediction, level with it: the ground holds the height. The
place that explains the scan best wins, unless where the prediction leads is about as good.
"""

import numpy as np

from svnicp.arrays import Covariance, Points, Transform
from svnicp.config import Config
from svnicp.local_map import VoxelMap
from svnicp.odometry.search import Ending, Search

WIDE = 1.5
"""A standard deviation this many times the reach of a match calls for several starts."""
REACHED = 2.0
"""Starts lie within so many standard deviations of the prediction."""
APART = 2.5
"""Distance of two starts over the reach of a match."""
MOST_STEPS = 4
"""Starts on each side of the prediction, along each of its two axes."""
CLEARLY_BETTER = 0.85
"""The cost of a place over the cost of where the prediction leads, if it is to be taken instead."""


def well_placed_start(
    points: Points, local_map: VoxelMap, T_world_body: Transform, covariance: Covariance,
    config: Config,
) -> Transform | None:  # fmt: skip
    """Pose (4, 4) from which a scan (n, 3) finds its place; None where the prediction will do.

    ``T_world_body`` and ``covariance`` (6, 6) are the prediction in the map.
    """
    reach = config.match.max_distance_m
    axes = _level_axes(T_world_body, covariance)
    lengths = np.linalg.norm(axes, axis=1)
    if lengths.max() < WIDE * reach:
        return None
    search = Search(points, local_map, config)
    shares = np.repeat([min(1.0, APART * reach / lengths.max()), 1.0], 3)
    narrow = covariance * np.outer(shares, shares)
    endings: list[Ending] = []
    for offset in _offsets(axes, lengths, APART * reach):
        start = T_world_body.copy()
        start[:3, 3] += offset
        ending = search.begin_at(start, narrow)
        if ending is not None:
            endings.append(ending)
        elif not offset.any():
            return None
    return _best(endings)


def _level_axes(T_world_body: Transform, covariance: Covariance) -> Points:
    """Half axes (2, 3) of the prediction's ellipse in the world's horizontal plane [m]."""
    rotation = T_world_body[:3, :3]
    level = (rotation @ covariance[:3, :3] @ rotation.T)[:2, :2]
    values, vectors = np.linalg.eigh(level)
    axes = np.zeros((2, 3))
    axes[:, :2] = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return axes


def _offsets(axes: Points, lengths: Points, apart_m: float) -> list[Points]:
    """Offsets (3,) of the starts [m], none first."""
    steps = np.minimum(np.floor(REACHED * lengths / apart_m), MOST_STEPS).astype(int)
    units = axes / np.maximum(lengths, 1e-9)[:, None] * apart_m
    grid = [
        i * units[0] + j * units[1]
        for i in range(-steps[0], steps[0] + 1)
        for j in range(-steps[1], steps[1] + 1)
    ]
    return sorted(grid, key=lambda offset: float(offset @ offset))


def _best(endings: list[Ending]) -> Transform | None:
    """Where the least cost is; None if that is hardly less than where the prediction led."""
    costs = np.array([ending.cost for ending in endings])
    best = int(np.argmin(costs))
    return endings[best].pose.T_world_body if costs[best] < CLEARLY_BETTER * costs[0] else None
