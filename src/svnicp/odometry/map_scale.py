# SPDX-License-Identifier: MIT
"""The map's voxel size, chosen from the first scan.

A patch must hold enough of a scan to be a plane, and should hold no more: a dense scan of a room
allows small voxels. The floor of a corridor, far ahead in sixteen rings, is a surface only to
patches that hold two of its rings, and without it nothing tells the height. So the scan is asked,
with patches of several sizes, how well it would know its own pose; the smallest size that tells
about as much as any is taken, and lengths that go with it are scaled likewise.

An IMU holds the height and what is level, whatever the first scan shows of them, and a body that
goes up a narrow staircase later wants small voxels: then they are as small as surfaces allow.
"""

import dataclasses

import numpy as np

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.kernels.planes import PLANAR, STATE
from svnicp.local_map import VoxelMap
from svnicp.registration.candidates import spread_source
from svnicp.registration.locate import locate

FACTORS = (1.0, 1.6, 2.4, 3.2)
"""Voxel sizes that are tried, over ``map.voxel_size_m``."""
KNOWN_WELL = np.repeat([0.002, 0.001], 3)
"""A pose that is known better than this [m], [rad] need not be known better still."""
NOTHING_KNOWN = np.repeat([1.0, 0.1], 3)
"""What is not known at all is known to this [m], [rad]."""
FEW = 0.2
"""A scan that matches fewer points than this share of those that could be has hardly a surface."""
AS_GOOD = 0.5
"""Doubts that differ by less than this are the same [nats]."""
PLANAR_SHARE = 0.3
"""Share of a scan that must find a plane where an IMU holds what else there is to be known."""


def fitting_scale(points: Points, config: Config) -> Config:
    """Configuration with the smallest voxels with which a scan (n, 3) shows where it is.

    Where no size shows more than a few surfaces, the largest, in which later scans find more.
    """
    sizes = [at_scale(config, factor) for factor in FACTORS]
    doubts = [pose_doubt(points, scaled) for scaled in sizes]
    least = min(doubts)
    if not np.isfinite(least):
        return sizes[-1]
    return next(
        scaled for scaled, doubt in zip(sizes, doubts, strict=True) if doubt <= least + AS_GOOD
    )


def finest_scale(points: Points, config: Config) -> Config:
    """Configuration with the smallest voxels in which enough of a scan (n, 3) is on planes."""
    scaled = config
    for factor in FACTORS:
        scaled = at_scale(config, factor)
        if planar_share(points, scaled) >= PLANAR_SHARE:
            break
    return scaled


def at_scale(config: Config, factor: float) -> Config:
    """Configuration with voxels, patches and reach larger by a factor."""
    stages = config.map, config.source, config.match
    chart = dataclasses.replace(
        stages[0],
        voxel_size_m=factor * stages[0].voxel_size_m,
        plane_radius_m=factor * stages[0].plane_radius_m,
        min_width_m=factor * stages[0].min_width_m,
    )
    source = dataclasses.replace(stages[1], spread_leaf_m=factor * stages[1].spread_leaf_m)
    match = dataclasses.replace(stages[2], max_distance_m=factor * stages[2].max_distance_m)
    return dataclasses.replace(config, map=chart, source=source, match=match)


def pose_doubt(points: Points, config: Config) -> float:
    """How little a scan (n, 3) tells about its pose: entropy beyond a well known one's [nats].

    Infinite where the scan shows hardly a surface.
    """
    if len(points) < config.match.min_matches:
        return np.inf
    local_map = VoxelMap(config.map)
    local_map.insert(points)
    spread, here = points[spread_source(points, config.source)], np.eye(4)
    located = locate(local_map, spread, here, np.diag(NOTHING_KNOWN**2), config, here)
    if located is None or located.num_matches < FEW * min(len(spread), config.source.max_points):
        return np.inf
    known = np.linalg.inv(located.information + np.diag(NOTHING_KNOWN**-2))
    return 0.5 * float(np.linalg.slogdet(np.eye(6) + known / np.outer(KNOWN_WELL, KNOWN_WELL))[1])


def planar_share(points: Points, config: Config) -> float:
    """Share of a scan's evenly spread points (n, 3) that are on a plane of the scan itself."""
    if len(points) == 0:
        return 0.0
    local_map = VoxelMap(config.map)
    local_map.insert(points)
    spread = points[spread_source(points, config.source)]
    indices = local_map.nearest(spread, 1, config.map.voxel_size_m).indices
    local_map.fit_planes(indices)
    found = local_map.records(indices[indices >= 0])
    return float(np.mean(local_map.arrays.planes[found, STATE] == PLANAR))
