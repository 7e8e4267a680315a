# SPDX-License-Identifier: MIT
"""The voxel map: exact neighbours, what is stored, what is forgotten, and bounded memory."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import KDTree

from reference_map import filled_cells
from svnicp.arrays import Floats, Points
from svnicp.config import MapConfig
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.kernels.voxel_insert import ABSENCE, FIRST_VISITS
from svnicp.local_map import VoxelMap
from threads import needs_two_threads, num_threads

ORIGINS = [(0.0, 0.0, 0.0), (-3.7, 0.2, -41.3), (1e5, -1e5, 12.0)]
CELLED = MapConfig()
PLAIN = MapConfig(voxel_size_m=1.0, cells_per_voxel_edge=0, max_points_per_voxel=20)
CONFIGS = pytest.mark.parametrize("config", [CELLED, PLAIN], ids=["cells", "plain"])


def filled_map(config: MapConfig, *clouds: Points) -> VoxelMap:
    """Map into which these clouds were inserted one after the other."""
    local_map = VoxelMap(config)
    for cloud in clouds:
        local_map.insert(cloud)
    return local_map


def voxels_of(points: Points, config: MapConfig) -> Floats:
    """Integer coordinates (n, 3) of the voxel of each point."""
    return np.floor(points / config.voxel_size_m)


RECORDS = ("offsets", "moments", "planes")
"""Arrays with a record for every stored point."""


def records_of(local_map: VoxelMap, name: str) -> Floats:
    """What an array has about every stored point (n, ...), in the order of their indices."""
    return getattr(local_map.arrays, name)[local_map.records(local_map.stored_indices())]


def assert_nearest_is_exact(local_map: VoxelMap, queries: Points, count: int, reach: float) -> None:
    """Compare distances with a k-d tree, and indices with the distances of what they name."""
    found = local_map.nearest(queries, count, reach)
    distances, _ = KDTree(local_map.points()).query(queries, k=count)
    distances = np.reshape(distances, (len(queries), count))
    expected = np.where(distances <= reach, distances, np.inf)
    # 1e5 m from the origin a coordinate is rounded to 1.5e-11 m.
    assert_allclose(np.sqrt(found.squared_distances), expected, rtol=0.0, atol=1e-9)
    assert_array_equal(found.indices == EMPTY, np.isinf(expected))
    named = np.linalg.norm(local_map.positions(found.indices) - queries[:, None], axis=2)
    assert_allclose(named[np.isfinite(expected)], expected[np.isfinite(expected)], atol=1e-9)
    names = found.indices[found.indices != EMPTY]
    rows = np.broadcast_to(np.arange(len(queries))[:, None], found.indices.shape)
    pairs = np.stack([rows[found.indices != EMPTY], names], axis=1)
    assert len(np.unique(pairs, axis=0)) == len(pairs)


# Neighbours


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    voxel_size=st.sampled_from([0.13, 0.5, 1.0, 2.3]),
    cells=st.sampled_from([0, 5]),
    origin=st.sampled_from(ORIGINS),
    count=st.integers(1, 8),
    reach=st.floats(0.05, 2.0),
)
def test_nearest_agrees_with_a_k_d_tree(
    seed: int, voxel_size: float, cells: int, origin: tuple, count: int, reach: float
):
    """Neighbours are exact within the reach for any voxel size, cells and place in the world."""
    rng = np.random.default_rng(seed)
    config = MapConfig(
        voxel_size_m=voxel_size, cells_per_voxel_edge=cells, plane_radius_m=0.7 * voxel_size
    )
    clumps = rng.normal(size=(300, 3)) * rng.choice([0.1, 1.0, 3.0], size=(300, 1))
    local_map = filled_map(config, clumps + origin)
    queries = np.concatenate([rng.normal(size=(20, 3)), clumps[:5]]) + origin
    assert_nearest_is_exact(local_map, queries, count, reach)


def test_nearest_says_so_when_there_is_nothing(rng: np.random.Generator):
    """With fewer points than neighbours asked for the rest is EMPTY and infinitely far."""
    local_map = filled_map(CELLED, np.array([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1]]))
    found = local_map.nearest(np.array([[0.1, 0.1, 0.1], [50.0, 0.0, 0.0]]), 4, 1.0)
    assert_array_equal(found.indices == EMPTY, [[False, False, True, True], [True] * 4])
    assert_array_equal(np.isinf(found.squared_distances), found.indices == EMPTY)
    empty = VoxelMap(CELLED).nearest(rng.normal(size=(3, 3)), 2, 1.0)
    assert np.all(empty.indices == EMPTY)


def test_the_reach_is_a_distance():
    """A point just within the reach is found, and one just beyond it is not."""
    local_map = filled_map(CELLED, np.zeros((1, 3)))
    queries = np.array([[0.999, 0.0, 0.0], [-0.6, 0.7, 0.38], [1.001, 0.0, 0.0]])
    assert_array_equal(local_map.nearest(queries, 1, 1.0).indices[:, 0], [0, 0, EMPTY])


def test_positions_of_nothing_are_nan():
    """The position of EMPTY is NaN, so that it cannot be taken for a point."""
    local_map = filled_map(CELLED, np.array([[0.2, 0.2, 0.2]]))
    positions = local_map.positions(np.array([[0, EMPTY]]))
    assert_allclose(positions[0, 0], [0.2, 0.2, 0.2], atol=1e-8)
    assert np.isnan(positions[0, 1]).all()


@needs_two_threads
def test_thread_count_does_not_change_neighbours_or_planes(rng: np.random.Generator):
    """One thread and two give the same neighbours and plane fits, bit for bit."""
    points, queries = rng.normal(size=(5000, 3)) * [2.0, 2.0, 0.02], rng.normal(size=(300, 3))
    results = []
    for count in (1, 2):
        local_map = filled_map(CELLED, points)
        with num_threads(count):
            found = local_map.nearest(queries, 4, 1.0)
            local_map.fit_planes(found.indices)
        results.append((*found, records_of(local_map, "planes")))
    for one, two in zip(*results, strict=True):
        assert_array_equal(one, two)


# What is stored


@needs_two_threads
def test_thread_count_does_not_change_what_is_inserted(rng: np.random.Generator):
    """Points that come to known cells and new ones are stored alike by one thread and by two."""
    clouds = [rng.normal(size=(4000, 3)) * [3.0, 3.0, 0.5] for _ in range(3)]
    maps, shares = [], []
    for threads in (1, 2):
        with num_threads(threads):
            maps.append(VoxelMap(CELLED))
            shares.append([maps[-1].insert(cloud) for cloud in clouds])
    assert shares[0] == shares[1]
    for name in ("offsets", "moments"):
        assert_array_equal(records_of(maps[0], name), records_of(maps[1], name))


@CONFIGS
def test_a_cloud_at_once_is_its_points_one_by_one(config: MapConfig, rng: np.random.Generator):
    """Adding to known cells first changes neither what is stored nor where, nor the share."""
    before, cloud = rng.uniform(-1.0, 1.0, size=(2, 300, 3))
    cloud[:, 0] += 0.4
    at_once, one_by_one = filled_map(config, before), filled_map(config, before)
    known = one_by_one.num_voxels
    share = at_once.insert(cloud)
    for point in cloud:
        one_by_one.insert(point[None])
    reached = len(np.unique(voxels_of(cloud, config), axis=0))
    assert share == (one_by_one.num_voxels - known) / reached
    assert_array_equal(records_of(at_once, "offsets"), records_of(one_by_one, "offsets"))
    one, other = (records_of(m, "moments") for m in (at_once, one_by_one))
    assert_array_equal(one, other)


@CONFIGS
def test_stored_points_are_first_arrivals(config: MapConfig, rng: np.random.Generator):
    """The map stores what its definition says: first arrivals, one per cell, a cap per voxel."""
    points = rng.normal(size=(4000, 3)) * [2.0, 1.0, 0.3]
    local_map = filled_map(config, points)
    expected = filled_cells(points, config).positions
    stored = local_map.points()
    assert len(stored) == len(local_map) == len(expected)
    distances, order = KDTree(expected).query(stored)
    assert len(np.unique(order)) == len(expected)
    assert distances.max() < 1e-7


@CONFIGS
def test_a_voxel_is_never_overfilled(config: MapConfig, rng: np.random.Generator):
    """A voxel that gets thousands of points stores no more than its cap."""
    config = dataclasses.replace(config, max_points_per_voxel=7)
    local_map = filled_map(config, rng.uniform(0.0, config.voxel_size_m, size=(3000, 3)))
    assert len(local_map) == 7
    assert local_map.num_voxels == 1


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), origin=st.sampled_from(ORIGINS))
def test_a_cell_stores_one_point(seed: int, origin: tuple):
    """No two stored points share a cell, wherever the map is."""
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(2000, 3)) + origin
    stored = filled_map(CELLED, points).points()
    cell_size = CELLED.voxel_size_m / CELLED.cells_per_voxel_edge
    # Offsets are float32: a point may be rounded onto the border, never across a nanometre.
    inner = np.abs(stored / cell_size - np.round(stored / cell_size)).min(axis=1) > 1e-6
    cells = np.floor(stored[inner] / cell_size)
    assert len(np.unique(cells, axis=0)) == len(cells)


def test_later_arrivals_add_evidence_and_move_nothing(rng: np.random.Generator):
    """A second visit leaves every stored position as it is and adds to the moments of its cell."""
    points = rng.uniform(0.0, 2.0, size=(500, 3))
    local_map = filled_map(CELLED, points)
    positions, before = local_map.points(), records_of(local_map, "moments")[:, 0].sum()
    local_map.insert(positions + 1e-4 * rng.standard_normal(positions.shape))
    assert_array_equal(local_map.points()[: len(positions)], positions)
    assert records_of(local_map, "moments")[:, 0].sum() - before == len(positions)


def test_arrivals_count_in_their_own_cell_only(rng: np.random.Generator):
    """Each stored point counts the arrivals of its cell, and none of those that found no room."""
    config = dataclasses.replace(CELLED, max_points_per_voxel=7)
    points = rng.uniform(0.0, 1.0, size=(3000, 3))
    local_map, cells = filled_map(config, points), filled_cells(points, config)
    counts = records_of(local_map, "moments")[:, 0]
    _, order = KDTree(cells.positions).query(local_map.points())
    assert_array_equal(counts, [len(cells.arrivals[cell]) for cell in np.atleast_1d(order)])
    assert counts.sum() < len(points)


def test_moments_are_those_of_the_arrivals(rng: np.random.Generator):
    """Count, sum and squares of a cell are those of its arrivals about the voxel's centre."""
    points = rng.uniform(0.2, 0.3, size=(40, 3))
    moments = records_of(filled_map(CELLED, points), "moments")[0]
    offsets = points - 0.25
    squares = (offsets.T @ offsets)[np.triu_indices(3)]
    expected = np.concatenate([[40.0], offsets.sum(axis=0), squares])
    assert_allclose(moments, expected, rtol=0.0, atol=1e-6)


# Memory


@CONFIGS
def test_growing_changes_nothing(config: MapConfig, rng: np.random.Generator):
    """A map grown in many small insertions holds the same bits as one filled at once."""
    points = rng.uniform(-15.0, 15.0, size=(6000, 3))
    at_once, in_turn = filled_map(config, points), filled_map(config, *np.array_split(points, 23))
    assert at_once.num_voxels == in_turn.num_voxels > 1024
    for name in ("keys", "counts", "cell_slots"):
        one, other = (getattr(m.arrays, name)[: m.num_voxels] for m in (at_once, in_turn))
        assert_array_equal(one, other)
    one, other = (records_of(m, "moments") for m in (at_once, in_turn))
    assert_array_equal(one, other)
    for name in ("offsets", "planes"):
        assert_array_equal(records_of(at_once, name), records_of(in_turn, name))
    assert_nearest_is_exact(in_turn, points[:50] + 0.1, 3, 1.5)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    origin=st.sampled_from(ORIGINS),
    cells=st.sampled_from([0, 5]),
    radius=st.floats(0.0, 12.0),
)
def test_prune_forgets_exactly_what_is_far(seed: int, origin: tuple, cells: int, radius: float):
    """Voxels whose centre is beyond the radius go, the others stay as they are and are found."""
    rng = np.random.default_rng(seed)
    config = MapConfig(cells_per_voxel_edge=cells)
    points = rng.normal(size=(1500, 3)) * 4.0 + origin
    local_map = filled_map(config, points)
    before = local_map.points()
    center = rng.normal(size=3) + origin
    centres = (voxels_of(before, config) + 0.5) * config.voxel_size_m
    stays = np.linalg.norm(centres - center, axis=1) <= radius
    local_map.prune(center, radius)
    assert_array_equal(local_map.points(), before[stays])
    if stays.any():
        assert_nearest_is_exact(local_map, points[:20], 3, 1.0)
    else:
        assert local_map.num_voxels == 0


def test_a_pruned_map_takes_points_again(rng: np.random.Generator):
    """What is inserted after pruning is stored as in a map that never knew the forgotten part."""
    points = rng.normal(size=(3000, 3)) * 3.0
    forgetful, fresh = filled_map(CELLED, points), VoxelMap(CELLED)
    forgetful.prune(np.full(3, 100.0), 1.0)
    assert len(forgetful) == 0
    for local_map in (forgetful, fresh):
        local_map.insert(points + 0.3)
    assert_array_equal(forgetful.points(), fresh.points())
    assert_array_equal(records_of(forgetful, "moments"), records_of(fresh, "moments"))


def test_what_is_left_after_pruning_still_knows_its_cells(rng: np.random.Generator):
    """Points that come again after pruning add evidence to the cells that stayed."""
    points = rng.uniform(-3.0, 3.0, size=(3000, 3))
    local_map = filled_map(CELLED, points)
    local_map.prune(np.array([2.0, 0.0, 0.0]), 2.0)
    kept = local_map.points()
    assert 100 < len(kept) < 2000
    local_map.insert(kept + 1e-5)
    assert_array_equal(local_map.points()[: len(kept)], kept)
    assert len(local_map) < len(kept) + 5


@CONFIGS
def test_memory_is_given_back_and_nothing_lost(config: MapConfig, rng: np.random.Generator):
    """When most of a large map is forgotten, memory shrinks and the rest keeps every bit."""
    local_map = filled_map(config, rng.uniform(-12.0, 12.0, size=(30_000, 3)))
    near = np.all(np.abs(local_map.positions(local_map.stored_indices())) < 2.0, axis=1)
    local_map.fit_planes(local_map.stored_indices()[near])
    before, large = [records_of(local_map, name) for name in RECORDS], local_map.nbytes
    centres = (voxels_of(local_map.points(), config) + 0.5) * config.voxel_size_m
    stays = np.linalg.norm(centres, axis=1) <= 3.0
    local_map.prune(np.zeros(3), 3.0)
    assert local_map.nbytes < large / 4
    for name, rows in zip(RECORDS, before, strict=True):
        assert_array_equal(records_of(local_map, name), rows[stays])
    local_map.insert(rng.uniform(-12.0, 12.0, size=(3000, 3)))
    assert_nearest_is_exact(local_map, rng.normal(size=(50, 3)), 3, 1.5)


def test_a_long_drive_has_bounded_memory(rng: np.random.Generator):
    """Over 2 km with a map radius of 50 m, points and memory do not grow from the first half on."""
    local_map = VoxelMap(CELLED)
    history = []
    for x in np.arange(0.0, 2000.0, 10.0):
        points = rng.uniform(-1.0, 1.0, size=(800, 3)) * [40.0, 10.0, 3.0]
        local_map.insert(points + np.array([x, 0.0, 0.0]))
        local_map.prune(np.array([x, 0.0, 0.0]), 50.0)
        history.append((len(local_map), local_map.nbytes))
    counts, memory = np.array(history).T
    half = len(counts) // 2
    assert memory[half:].max() <= memory[:half].max()
    assert counts[half:].max() < 1.1 * counts[half // 2 : half].max()
    bytes_per_voxel = VoxelMap(CELLED).nbytes / 1024
    assert memory.max() < 4.0 * bytes_per_voxel * local_map.num_voxels + 5120 * bytes_per_voxel
    voxels = voxels_of(local_map.points(), CELLED) * CELLED.voxel_size_m
    assert np.linalg.norm(voxels - [1990.0, 0.0, 0.0], axis=1).max() < 51.0


def test_visits_are_counted_until_a_long_absence():
    """The first insertion counts for many, others one by one, and after an absence from one on."""
    local_map = VoxelMap(MapConfig())
    here, there = np.full((1, 3), 0.1), np.full((1, 3), 20.1)
    local_map.insert(here)
    assert local_map.arrays.visits[0] == FIRST_VISITS
    visits = []
    for _ in range(3):
        local_map.insert(there)
        visits.append(int(local_map.arrays.visits[1]))
    for _ in range(ABSENCE):
        local_map.insert(here)
    local_map.insert(there)
    assert [*visits, int(local_map.arrays.visits[1])] == [1, 2, 3, 1]
    assert local_map.arrays.visits[0] == FIRST_VISITS + ABSENCE
