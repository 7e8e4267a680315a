# SPDX-License-Identifier: MIT
"""Planes of a map that has seen the same wall for a long time: a robot at rest does not move it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from svnicp.arrays import Points
from svnicp.kernels.bent_surface import SHARE
from svnicp.kernels.voxel_insert import SETTLED_COUNT
from svnicp.local_map import VoxelMap
from test_planes import DEFAULT, record

NOISE_M = 0.015
SCANS, POINTS_PER_SCAN = 40, 12_000
CELL_M = DEFAULT.voxel_size_m / DEFAULT.cells_per_voxel_edge


def wall(rng: np.random.Generator, height_m: float) -> Points:
    """One noisy scan (n, 3) of a level square."""
    across = rng.uniform(0.0, 0.5, size=(POINTS_PER_SCAN, 2))
    heights = height_m + NOISE_M * rng.standard_normal(POINTS_PER_SCAN)
    return np.column_stack([across, heights])


def watched(rng: np.random.Generator, height_m: float) -> tuple[VoxelMap, int]:
    """Map of a wall after many scans of it, and the stored point whose plane was fitted."""
    local_map = VoxelMap(DEFAULT)
    for _ in range(SCANS):
        local_map.insert(wall(rng, height_m))
    indices = local_map.nearest(np.array([[0.25, 0.25, height_m]]), 1, 1.0).indices
    local_map.fit_planes(indices)
    return local_map, int(indices[0, 0])


@pytest.mark.parametrize("sigmas", [0.0, 0.5, 1.0, 1.5, 2.0])
def test_a_wall_near_a_border_of_cells_stays_where_it_is(rng: np.random.Generator, sigmas: float):
    """Noise spreads it over two cells, unevenly; none of them outweighs its share for that."""
    height = CELL_M + sigmas * NOISE_M
    plane = record(*watched(rng, height))
    assert plane.planar
    arrivals_of_a_cell = SCANS * POINTS_PER_SCAN * (CELL_M / 0.5) ** 2
    assert arrivals_of_a_cell > 10 * SETTLED_COUNT
    # Each cell's mean is of the first 1000 arrivals, and some twenty cells make the plane.
    standard_error = NOISE_M / np.sqrt(20 * SETTLED_COUNT)
    assert abs(plane.centroid[2] - height) < 5.0 * standard_error


@pytest.mark.parametrize("seed", range(6))
def test_a_wall_that_was_watched_for_long_is_not_bent(seed: int):
    """What noise leaves in the sums of a thousand arrivals is not shape, however many follow."""
    local_map, index = watched(np.random.default_rng(seed), CELL_M)
    plane = record(local_map, index)
    assert abs(plane.normal[2]) > np.cos(1e-3)
    assert plane.residual_var == pytest.approx(NOISE_M**2, rel=0.05)
    assert local_map.arrays.planes[local_map.records(np.array(index)), SHARE] == 0.0


def test_arrivals_are_counted_on(rng: np.random.Generator):
    """A settled cell knows how many have come, and its sums are of the first ones."""
    points = np.full((int(SETTLED_COUNT), 3), 0.25)
    local_map = VoxelMap(DEFAULT)
    local_map.insert(points)
    first = local_map.arrays.moments[local_map.records(local_map.stored_indices())].copy()
    local_map.insert(points + 0.01 * rng.uniform(size=points.shape))
    moments = local_map.arrays.moments[local_map.records(local_map.stored_indices())]
    assert moments[0, 0] == 2 * SETTLED_COUNT
    assert_array_equal(moments[0, 1:], first[0, 1:])
