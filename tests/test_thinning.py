# SPDX-License-Identifier: MIT
"""Thinning a cloud: as many as asked for, even over surfaces, and without a taste for outliers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from reference import crowds
from svnicp.arrays import Floats, Integers, Points
from svnicp.kernels.thinning import balance_directions, count_leaves, num_leaves, spread
from svnicp.lie import so3_exp

seeds = st.integers(0, 2**32 - 1)


def assert_ascending(indices: Integers) -> None:
    """Check that indices are in order and none comes twice."""
    assert np.all(np.diff(indices) > 0)


# Spread


@settings(max_examples=30)
@given(seed=seeds, leaf=st.sampled_from([0.1, 0.5, 2.0]), share=st.floats(0.05, 0.9))
def test_spread_keeps_about_the_number_asked_for(seed: int, leaf: float, share: float):
    """Within 3 % of the count, or a point, is kept of any cloud; in order, none twice."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(2000, 3)) * rng.choice([0.3, 3.0, 30.0], size=(2000, 1))
    count = int(share * len(points))
    kept = spread(points, leaf, count, 1.0)
    assert abs(len(kept) - count) <= max(0.03 * count, 1.0)
    assert_ascending(kept)


@pytest.mark.parametrize("count", [0, 1, 50])
def test_all_points_are_kept_when_there_are_few(count: int, rng: np.random.Generator):
    """A cloud that is not larger than asked for is left alone."""
    assert_array_equal(spread(rng.normal(size=(count, 3)), 0.5, 50, 1.0), np.arange(count))


@settings(max_examples=30)
@given(seed=seeds, far=st.sampled_from([0.0, -1e5, 1e6]))
def test_leaves_are_the_cubes_of_the_grid(seed: int, far: float):
    """Two points share a leaf exactly when they are in the same cube of the grid, near or far."""
    points = np.random.default_rng(seed).normal(size=(300, 3)) + far
    numbers, keys, counted = count_leaves(points, 0.5)
    _, cubes, counts = np.unique(
        np.floor(points / 0.5), axis=0, return_inverse=True, return_counts=True
    )
    cubes = cubes.ravel()
    assert_array_equal(numbers[:, None] == numbers, cubes[:, None] == cubes)
    assert_array_equal(counted[numbers], counts[cubes])
    assert len(np.unique(keys)) == len(counts)


def test_crowded_points_are_kept_in_inverse_proportion(rng: np.random.Generator):
    """The chance to be kept is one share over the number of points in the 27 leaves around."""
    points = rng.uniform(0.0, 1.0, size=(2000, 3)) * rng.choice([0.5, 1.0, 3.0], size=(2000, 1))
    kept = spread(points, 0.5, 150, 1.0)
    chances = 1.0 / crowds(points, 0.5)
    assert 150.0 * chances.max() < chances.sum()
    for group in np.array_split(np.argsort(chances), 5):
        expected = 150.0 * chances[group].sum() / chances.sum()
        # Systematic sampling is more regular than independent draws, whose deviation this is.
        assert abs(np.isin(kept, group).sum() - expected) < 3.0 * np.sqrt(expected) + 2.0


def test_dense_and_sparse_halves_keep_equal_counts_per_area(rng: np.random.Generator):
    """Of a floor whose one half is a hundred times denser both halves keep about as many."""
    dense = rng.uniform(0.0, 1.0, size=(50_000, 3)) * [10.0, 10.0, 0.0]
    sparse = rng.uniform(0.0, 1.0, size=(500, 3)) * [-10.0, 10.0, 0.0]
    points = rng.permutation(np.concatenate([dense, sparse]))
    kept = points[spread(points, 1.0, 300, 1.0)]
    share = np.mean(kept[:, 0] > 0.0)
    # 300 coin flips have a standard deviation of 0.03.
    assert abs(share - 0.5) < 0.09


def oblique_wall(rng: np.random.Generator) -> tuple[Points, Floats, Floats]:
    """Points of a noisy wall that crosses from one layer of leaves into the next halfway.

    Returns the points, their place along the wall and their distance from it [m].
    """
    along, height = rng.uniform(-5.0, 5.0, size=4000), rng.uniform(0.0, 2.0, size=4000)
    residual = 0.03 * rng.standard_normal(4000)
    wall = np.column_stack([along, residual, height])
    return wall @ so3_exp(np.array([0.0, 0.0, 0.01])).T, along, residual


def test_spread_does_not_prefer_outliers(rng: np.random.Generator):
    """A wall oblique to the leaves keeps residuals without offset and without tilt.

    One point per leaf does tilt: where noise reaches the next leaf, that leaf keeps its point.
    """
    offsets, tilts, tilts_of_leaves = [], [], []
    for _ in range(30):
        points, along, residual = oblique_wall(rng)
        kept = spread(points, 0.5, 400, 1.0)
        offsets.append(residual[kept].mean())
        tilts.append(np.polyfit(along[kept], residual[kept], 1)[0])
        _, firsts = np.unique(count_leaves(points, 0.5)[0], return_index=True)
        tilts_of_leaves.append(np.polyfit(along[firsts], residual[firsts], 1)[0])
    # 30 x 400 points: standard errors of the mean and of the slope.
    assert abs(np.mean(offsets)) < 4.0 * 0.03 / np.sqrt(30 * 400)
    assert abs(np.mean(tilts)) < 4.0 * 0.03 / 2.9 / np.sqrt(30 * 400)
    assert abs(np.mean(tilts_of_leaves)) > 10.0 * 0.03 / 2.9 / np.sqrt(30 * 400)


# Balance


def corridor_normals(rng: np.random.Generator, num_rare: int) -> tuple[Floats, Integers]:
    """Return unit normals of walls, floor and few door jambs; and which are the jambs."""
    counts = [3000, 2000, num_rare]
    axes = np.repeat(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), counts, axis=0)
    normals = axes * rng.choice([-1.0, 1.0], size=(len(axes), 1)) + 0.05 * rng.normal(
        size=axes.shape
    )
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    order = rng.permutation(len(normals))
    return normals[order], np.flatnonzero(order >= 5000)


@pytest.mark.parametrize("num_rare", [0, 1, 40, 150])
def test_rare_directions_are_kept_whole(num_rare: int, rng: np.random.Generator):
    """Jambs among thousands of wall points are all kept, and the walls share what is left."""
    normals, rare = corridor_normals(rng, num_rare)
    kept = balance_directions(normals, 600)
    assert np.isin(rare, kept).all()
    assert_ascending(kept)
    assert 590 <= len(kept) <= 600
    on_walls = np.abs(normals[kept, 1]) > 0.8
    on_floor = np.abs(normals[kept, 2]) > 0.8
    assert abs(int(on_walls.sum()) - int(on_floor.sum())) <= 1


def test_no_more_than_asked_for_is_kept(rng: np.random.Generator):
    """For any number asked for, at most that many rows are kept, and all when there are fewer."""
    normals, _ = corridor_normals(rng, 40)
    for count in (0, 1, 2, 3, 100, 5039):
        assert len(balance_directions(normals, count)) <= count
    assert_array_equal(balance_directions(normals, 6000), np.arange(5040))


def test_the_sign_of_a_normal_does_not_matter(rng: np.random.Generator):
    """Turning any normals round keeps the same rows."""
    normals, _ = corridor_normals(rng, 40)
    turned = normals * rng.choice([-1.0, 1.0], size=(len(normals), 1))
    assert_array_equal(balance_directions(normals, 600), balance_directions(turned, 600))


def test_common_directions_are_thinned_evenly(rng: np.random.Generator):
    """Rows of one direction are kept at equal distances in the order given."""
    normals = np.array([[0.0, 1.0, 0.0]]) + 0.05 * rng.normal(size=(1000, 3))
    kept = balance_directions(normals / np.linalg.norm(normals, axis=1, keepdims=True), 250)
    assert_array_equal(np.diff(kept), 4)


def test_a_direction_has_one_share_however_the_frame_is_turned(rng: np.random.Generator):
    """Two walls at a right angle get equal shares in any frame, a diagonal one too."""
    walls = np.repeat(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), 2000, axis=0)
    walls = walls + 0.02 * rng.normal(size=walls.shape)
    for yaw in np.radians([0.0, 20.0, 45.0, 70.0]):
        normals = walls @ so3_exp(np.array([0.0, 0.0, yaw])).T
        kept = balance_directions(normals / np.linalg.norm(normals, axis=1, keepdims=True), 400)
        assert abs(int(np.sum(kept < 2000)) - int(np.sum(kept >= 2000))) <= 1


def test_leaves_are_counted_once(rng: np.random.Generator):
    """The number of leaves is that of distinct rounded-down places, none for no point."""
    points = rng.normal(size=(500, 3))
    expected = len(np.unique(np.floor(points / 0.4), axis=0))
    assert num_leaves(points, 0.4) == expected
    assert num_leaves(points[:0], 0.4) == 0
