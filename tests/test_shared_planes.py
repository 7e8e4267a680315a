# SPDX-License-Identifier: MIT
"""Cells that share a plane fit: only on one plane, in one patch, and exactly the leader's plane."""

import numpy as np
import numpy.typing as npt
import pytest
from numpy.testing import assert_allclose

from svnicp.arrays import Floats, Integers, Points
from svnicp.config import MapConfig
from svnicp.kernels import planes
from svnicp.local_map import VoxelMap

Bools = npt.NDArray[np.bool_]
SHARED, OWN = MapConfig(), MapConfig(blocks_per_voxel_edge=0)


def wall(rng: np.random.Generator, count: int = 12000, noise_m: float = 0.01) -> Points:
    """Points of the wall y = 0, 3 x 2 m."""
    points = rng.uniform([0.0, 0.0, 0.0], [3.0, 0.0, 2.0], size=(count, 3))
    return points + noise_m * rng.standard_normal((count, 3)) * [0.0, 1.0, 0.0]


def panel(rng: np.random.Generator, count: int = 12000, noise_m: float = 0.01) -> Points:
    """Points of a thin panel that stands across the wall, x = 1.55, at 10 cm from it."""
    points = rng.uniform([1.55, 0.1, 0.0], [1.55, 0.9, 2.0], size=(count, 3))
    return points + noise_m * rng.standard_normal((count, 3)) * [1.0, 0.0, 0.0]


def fitted(points: Points, config: MapConfig) -> tuple[VoxelMap, Integers]:
    """Return a map of the points, and all its stored points, with their planes fitted."""
    local_map = VoxelMap(config)
    local_map.insert(points)
    indices = local_map.stored_indices()
    local_map.fit_planes(indices)
    return local_map, indices


def records(local_map: VoxelMap, indices: Integers) -> tuple[Bools, Floats, Floats]:
    """Return whether planar, normal, and centroid in the map's frame of stored points."""
    voxel = indices // local_map.config.max_points_per_voxel
    fields = local_map.arrays.planes[local_map.records(indices)].astype(np.float64)
    centres = (local_map.arrays.keys[voxel] + 0.5) * local_map.config.voxel_size_m
    centroids = centres + fields[:, planes.CENTROID : planes.CENTROID + 3]
    normals = fields[:, planes.NORMAL : planes.NORMAL + 3]
    return fields[:, planes.STATE] == planes.PLANAR, normals, centroids


def num_fits(centroids: Floats) -> int:
    """Count the different fits among records."""
    return len(np.unique(np.round(centroids, 5), axis=0))


def test_cells_of_a_wall_share_fits(rng: np.random.Generator):
    """On a wall at most half as many fits are made as there are cells; nearly all are planes."""
    points = wall(rng)
    shared = records(*fitted(points, SHARED))
    own = records(*fitted(points, OWN))
    assert shared[0].mean() > 0.95
    assert num_fits(shared[2][shared[0]]) < 0.5 * num_fits(own[2][own[0]])


def test_a_shared_plane_holds_where_it_is_taken_over(rng: np.random.Generator):
    """The plane at every cell, its own or another's, is as close to the wall as noise allows."""
    local_map, indices = fitted(wall(rng), SHARED)
    planar, normals, centroids = records(local_map, indices)
    positions = local_map.positions(indices)
    positions[:, 1] = 0.0
    heights = np.einsum("ni,ni->n", normals, positions - centroids)[planar]
    assert np.sqrt(np.mean(heights**2)) < 0.002
    assert np.linalg.norm((positions - centroids)[planar][:, [0, 2]], axis=1).max() < 0.3


def test_a_cell_off_the_plane_is_fitted_alone(rng: np.random.Generator):
    """Cells of a panel across a wall never take over the wall's plane, though blocks hold both."""
    local_map, indices = fitted(np.concatenate([wall(rng), panel(rng)]), SHARED)
    planar, normals, _ = records(local_map, indices)
    on_panel = planar & (local_map.positions(indices)[:, 1] > 0.2)
    assert on_panel.sum() > 50
    assert (np.abs(normals[on_panel, 0]) > 0.98).all()


def test_neighbours_of_a_query_follow_the_nearest(rng: np.random.Generator):
    """Across the border of a voxel the record is moved along, so that it is the same plane."""
    local_map = VoxelMap(SHARED)
    local_map.insert(wall(rng))
    queries = np.array([[x, 0.0, 1.01] for x in np.arange(0.5, 2.6, 0.5)])
    found = local_map.nearest(queries, 8, 0.5).indices
    local_map.fit_planes(found)
    first = records(local_map, found[:, 0])[2]
    moved = 0
    for column in range(1, 8):
        planar, _, centroids = records(local_map, found[:, column])
        same = np.linalg.norm(centroids - first, axis=1) < 1e-5
        cap = SHARED.max_points_per_voxel
        moved += np.count_nonzero(same & planar & (found[:, column] // cap != found[:, 0] // cap))
    assert moved > 3


@pytest.mark.parametrize("blocks", [0, 1, 3])
def test_every_asked_for_point_has_a_fit(blocks: int, rng: np.random.Generator):
    """Whoever leads or follows, no stored point that was asked for is left unknown."""
    local_map, indices = fitted(wall(rng), MapConfig(blocks_per_voxel_edge=blocks))
    states = local_map.arrays.planes[local_map.records(indices), planes.STATE]
    assert_allclose(states == planes.UNKNOWN, False)
