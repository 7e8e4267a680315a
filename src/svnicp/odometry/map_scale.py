# SPDX-License-Identifier: MIT
"""The map's voxel size, chosen from the first scan.

A patch must hold enough of a scan to be a plane, and should hold no more: a dense scan of a room
allows small voxels, sixteen rings in a street need large ones. The smallest size is taken with
which a third of the scan finds a plane in itself; lengths that go with it are scaled likewise.
"""

import dataclasses

import numpy as np

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.kernels.planes import PLANAR, STATE
from svnicp.local_map import VoxelMap
from svnicp.registration.candidates import spread_source

FACTORS = (1.0, 1.6, 2.4, 3.2)
"""Voxel sizes that are tried, over ``map.voxel_size_m``."""
PLANAR_SHARE = 0.3
"""Share of a scan that must find a plane."""


def fitting_scale(points: Points, config: Config) -> Config:
    """Configuration whose voxels are as small as a scan (n, 3) allows."""
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


def planar_share(points: Points, config: Config) -> float:
    """Share of a scan's evenly spread points that are on a plane of the scan itself."""
    if len(points) == 0:
        return 0.0
    local_map = VoxelMap(config.map)
    local_map.insert(points)
    spread = points[spread_source(points, config.source)]
    indices = local_map.nearest(spread, 1, config.map.voxel_size_m).indices
    local_map.fit_planes(indices)
    found = local_map.records(indices[indices >= 0])
    return float(np.mean(local_map.arrays.planes[found, STATE] == PLANAR))
