# SPDX-License-Identifier: MIT
"""Candidate rows: positions, planes, physical variances, and what has not settled yet."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference import (
    Plane,
    candidate_row,
    filled_cells,
    nearest_candidate,
    plane_fit,
    tangent_plane,
)
from svnicp.arrays import Floats, Points
from svnicp.config import MapConfig
from svnicp.kernels import candidates as compiled
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.lie import make_transform, se3_inverse, so3_exp, transform_points
from svnicp.local_map import VoxelMap

CONFIG = MapConfig(blocks_per_voxel_edge=0)
NOISE = (0.02**2, 0.001**2, 0.0)


def corner_map(rng: np.random.Generator, origin: Floats) -> tuple[VoxelMap, Points]:
    """Return a map of a floor, a wall and some clutter around ``origin``, and what was inserted."""
    points = rng.uniform(0.0, 2.0, size=(4000, 3))
    points[:1800, 2] = 0.02 * rng.standard_normal(1800)
    points[1800:3600, 1] = 0.02 * rng.standard_normal(1800)
    local_map = VoxelMap(CONFIG)
    local_map.insert(points + origin)
    return local_map, points + origin


@pytest.fixture(params=[0.0, 1e5], ids=["near", "far"])
def scene(request: pytest.FixtureRequest, rng: np.random.Generator):
    """Map, what is in it, origin, pose relative to the origin and source points."""
    origin = np.array([0.3, -0.7, 0.2]) + request.param
    local_map, inserted = corner_map(rng, origin)
    T = make_transform(so3_exp(0.3 * rng.normal(size=3)), np.array([0.5, 0.4, 0.6]))
    places = rng.permutation(local_map.points())[:40] - origin
    points = transform_points(se3_inverse(T), places) + 0.02 * rng.normal(size=(40, 3))
    return local_map, inserted, origin, T, points.astype(np.float32)


def test_point_rows_are_positions(scene):
    """A bare point has its position about the origin, no normal, and the precision given."""
    local_map, _, origin, T, points = scene
    found = local_map.nearest(transform_points(T, points) + origin, 5, 0.3)
    rows = compiled.pack_points(local_map.arrays, CONFIG.voxel_size_m, found.indices, origin, 7.0)
    there = found.indices != EMPTY
    assert there.any()
    assert not there.all()
    expected = local_map.positions(found.indices)[there] - origin
    assert_allclose(rows[there, :3], expected, rtol=0.0, atol=1e-6)
    assert_array_equal(rows[there, 3:], np.broadcast_to([0, 0, 0, 0, 7], (there.sum(), 5)))
    assert np.isinf(rows[~there, :3]).all()
    assert_array_equal(rows[~there, 7], 0.0)


@pytest.mark.parametrize("non_planar", [compiled.DROP, compiled.POINT], ids=["drop", "point"])
def test_plane_rows_agree_with_the_twin(scene, non_planar: int):
    """Normal, offset and variance are those of the definition: noise, roughness and leverage."""
    local_map, inserted, origin, T, points = scene
    found = local_map.nearest(transform_points(T, points) + origin, 3, 0.3)
    local_map.fit_planes(found.indices)
    rows, normal_cov = compiled.pack_planes(
        local_map.arrays, CONFIG.voxel_size_m, found.indices, origin, T, points,
        np.array(NOISE), 0, non_planar,
    )  # fmt: skip
    cells = filled_cells(inserted, CONFIG)
    kinds = set()
    for n, m in zip(*np.nonzero(found.indices != EMPTY), strict=True):
        position = local_map.positions(found.indices[n, m][None])[0]
        plane = plane_fit(cells, position, CONFIG)
        if plane is not None:
            if plane.doubtful:
                continue
            plane = plane._replace(centroid=plane.centroid - origin)
        own = cells.arrivals[int(np.argmin(np.linalg.norm(cells.positions - position, axis=1)))]
        expected = candidate_row(
            position - origin, plane, own.var(axis=0).mean(), T, points[n].astype(np.float64),
            NOISE[:2], non_planar == compiled.POINT, CONFIG.voxel_size_m / 3.0,
        )  # fmt: skip
        assert_row(rows[n, m].astype(np.float64), expected, plane)
        if plane is not None and plane.planar:
            place = transform_points(T, points[n][None].astype(np.float64))[0]
            # The beam's variance only decides about heights.
            *_, bend_cov = tangent_plane(plane, place - plane.centroid, 1.0)
            upper = (plane.normal_cov + bend_cov)[np.triu_indices(3)]
            assert_allclose(normal_cov[n, m], upper, rtol=0.0, atol=0.01 * np.abs(upper).max())
        else:
            assert_array_equal(normal_cov[n, m], 0.0)
        kinds.add(plane is not None and plane.planar)
    assert kinds == {True, False}
    assert np.isinf(rows[found.indices == EMPTY, :3]).all()


def assert_row(row: Floats, expected: Floats, plane: Plane | None) -> None:
    """Compare a row with the twin's; the sign of a normal means nothing."""
    if plane is not None and plane.planar and row[3:6] @ expected[3:6] < 0.0:
        row[3:7] *= -1.0
    # Positions are float32 relative to the origin, normals come from float32 moments.
    assert_allclose(row[:3], expected[:3], rtol=0.0, atol=1e-6)
    assert_allclose(row[3:7], expected[3:7], rtol=0.0, atol=2e-4)
    assert_allclose(row[7], expected[7], rtol=5e-3)


def test_a_tilt_that_normals_share_goes_any_way_across_them(scene):
    """It adds its variance to the covariance of every normal, but not along the normal itself."""
    local_map, _, origin, T, points = scene
    found = local_map.nearest(transform_points(T, points) + origin, 1, 0.3)
    local_map.fit_planes(found.indices)
    (rows, alone), (_, tilted) = (
        compiled.pack_planes(
            local_map.arrays, CONFIG.voxel_size_m, found.indices, origin, T, points,
            np.array([*NOISE[:2], tilt_var]), 0, compiled.DROP,
        )
        for tilt_var in (0.0, 0.01)
    )  # fmt: skip
    planar = rows[:, 0, 7] > 0.0
    assert planar.any()
    normals = rows[planar, 0, 3:6].astype(float)
    across = np.eye(3) - normals[:, :, None] * normals[:, None, :]
    first, second = np.triu_indices(3)
    added = (tilted - alone)[planar, 0]
    assert_allclose(added, 0.01 * across[:, first, second], atol=1e-8)


def test_match_all_takes_the_nearest_usable_candidate(scene, rng: np.random.Generator):
    """The choice at one pose is the twin's, and residuals come over their standard deviation."""
    local_map, _, origin, T, points = scene
    found = local_map.nearest(transform_points(T, points) + origin, 4, 0.3)
    local_map.fit_planes(found.indices)
    rows, _ = compiled.pack_planes(
        local_map.arrays, CONFIG.voxel_size_m, found.indices, origin, T, points,
        np.array(NOISE), 0, compiled.DROP,
    )  # fmt: skip
    rows[rng.random(rows.shape[:2]) < 0.2, 7] = 0.0
    T = T @ make_transform(np.eye(3), np.array([0.08, -0.05, 0.06]))
    chosen, normalised = compiled.match_all(T, points, rows, 0.25**2)
    places = transform_points(T, points.astype(np.float64))
    for n, place in enumerate(places):
        best = nearest_candidate(rows[n].astype(np.float64), place, 0.25)
        assert chosen[n] == best
        if best >= 0:
            row = rows[n, best].astype(np.float64)
            residual = (row[3:6] @ place - row[6]) * np.sqrt(row[7])
            assert_allclose(normalised[n], residual, atol=1e-4)
    assert len(set(chosen)) > 2


def test_what_few_scans_hit_is_not_matched(scene):
    """Neighbours that fewer insertions hit than count have a place and no precision."""
    local_map, _, origin, T, points = scene
    wall = np.random.default_rng(3).uniform(0.0, 2.0, size=(2000, 3))
    wall[:, 0] = 3.0
    for _ in range(2):
        local_map.insert(wall + origin)
    places = np.concatenate([transform_points(T, points) + origin, wall[:200] + origin])
    found = local_map.nearest(places, 1, 0.3)
    local_map.fit_planes(found.indices)
    source = transform_points(se3_inverse(T), places - origin).astype(np.float32)
    rows = {
        visits: compiled.pack_planes(
            local_map.arrays, CONFIG.voxel_size_m, found.indices, origin, T, source,
            np.array(NOISE), visits, compiled.DROP,
        )[0]
        for visits in (2, 3)
    }  # fmt: skip
    old, new = slice(0, len(points)), slice(len(points), None)
    assert_array_equal(rows[3][old], rows[2][old])
    assert_array_equal(rows[3][new, 0, :3], rows[2][new, 0, :3])
    assert np.count_nonzero(rows[2][new, 0, 7]) > 150
    assert not rows[3][new, 0, 7].any()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 64, 500])
def test_the_median_of_residuals_is_numpys(count: int, rng: np.random.Generator):
    """Matches are those of ``match_all``; the median is the one in the middle of their sizes."""
    points = rng.uniform(-1.0, 1.0, (count, 3)).astype(np.float32)
    rows = np.zeros((count, 2, 8), dtype=np.float32)
    rows[:, :, :3] = points[:, None] + rng.normal(size=(count, 2, 3)) * 0.1
    rows[:, :, 3], rows[:, :, 6] = 1.0, rows[:, :, 0]
    rows[:, :, 7] = rng.choice([0.0, 1e4], size=(count, 2))
    chosen, normalised, used, median = compiled.match_and_median(np.eye(4), points, rows, 0.15**2)
    expected = compiled.match_all(np.eye(4), points, rows, 0.15**2)
    np.testing.assert_array_equal(chosen, expected[0])
    np.testing.assert_array_equal(normalised, expected[1])
    sizes = np.sort(np.abs(normalised[chosen >= 0]))
    assert used == len(sizes)
    np.testing.assert_equal(median, sizes[used // 2] if used > 0 else np.nan)
