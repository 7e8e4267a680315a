# SPDX-License-Identifier: MIT
"""Plane fits of map points: against the twin, calibrated, renewed in time, and only of planes."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import filled_cells, plane_fit
from svnicp.arrays import Floats, Points
from svnicp.config import MapConfig
from svnicp.kernels import planes
from svnicp.kernels.candidates import DROP, pack_planes
from svnicp.lie import so3_exp
from svnicp.local_map import VoxelMap

DEFAULT = MapConfig(blocks_per_voxel_edge=0)
PLACE, LIFT = np.array([0.25, 0.25, 0.05]), np.array([0.0, 0.0, 0.01])


class Record(NamedTuple):
    """A cached plane fit, in the map's frame."""

    planar: bool
    normal: Floats
    centroid: Floats
    normal_cov: Floats
    height_var: float
    residual_var: float
    own_count: float
    epoch: float


def record(local_map: VoxelMap, index: int) -> Record:
    """Return the plane of a stored point as the map has it now."""
    voxel = index // local_map.config.max_points_per_voxel
    fields = local_map.arrays.planes[local_map.records(np.array(index))].astype(np.float64)
    centre = (local_map.arrays.keys[voxel] + 0.5) * local_map.config.voxel_size_m
    upper = np.zeros((3, 3))
    upper[np.triu_indices(3)] = fields[planes.NORMAL_COV : planes.NORMAL_COV + 6]
    return Record(
        planar=bool(fields[planes.STATE] == planes.PLANAR),
        normal=fields[planes.NORMAL : planes.NORMAL + 3],
        centroid=centre + fields[planes.CENTROID : planes.CENTROID + 3],
        normal_cov=upper + upper.T - np.diag(np.diag(upper)),
        height_var=fields[planes.HEIGHT_VAR],
        residual_var=fields[planes.RESIDUAL_VAR],
        own_count=fields[planes.OWN_COUNT],
        epoch=fields[planes.EPOCH],
    )


def fitted(points: Points, at: Floats, config: MapConfig = DEFAULT) -> Record:
    """Return the plane that a map of these points has at the stored point nearest to ``at``."""
    local_map = VoxelMap(config)
    local_map.insert(points)
    indices = local_map.nearest(np.array([at], dtype=np.float64), 1, 10.0).indices
    local_map.fit_planes(indices)
    return record(local_map, int(indices[0, 0]))


def patch(rng: np.random.Generator, count: int = 400, noise_m: float = 0.01) -> Points:
    """Points of a noisy square of 1.4 m in the plane z = 0."""
    points = rng.uniform(-0.7, 0.7, size=(count, 3))
    points[:, 2] = noise_m * rng.standard_normal(count)
    return points


# Against the twin


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(30, 1500),
    noise_m=st.sampled_from([0.002, 0.01, 0.03]),
    origin=st.sampled_from([(0.0, 0.0, 0.0), (-731.4, 1204.6, -18.7)]),
)
def test_fit_agrees_with_the_twin(seed: int, count: int, noise_m: float, origin: tuple):
    """Every field of every fit of an oblique patch equals that of the plain fit to the arrivals."""
    rng = np.random.default_rng(seed)
    points = patch(rng, count, noise_m) @ so3_exp(rng.normal(size=3)).T + origin
    local_map = VoxelMap(DEFAULT)
    local_map.insert(points)
    cells = filled_cells(points, DEFAULT)
    indices = local_map.stored_indices()[:: max(1, len(local_map) // 15)]
    local_map.fit_planes(indices)
    for index in indices:
        got = record(local_map, int(index))
        expected = plane_fit(cells, local_map.positions(np.array([index]))[0], DEFAULT)
        if expected is None:
            assert not got.planar
            continue
        if expected.doubtful:
            continue
        # Sums of squares of offsets up to 0.4 m in float32 leave variances good to 1e-8 m².
        assert_allclose(got.centroid, expected.centroid, rtol=0.0, atol=1e-6)
        assert_allclose(got.residual_var, expected.residual_var, rtol=1e-5, atol=1e-8)
        assert got.planar == expected.planar
        if expected.planar:
            assert_allclose(got.height_var, expected.height_var, rtol=1e-5, atol=1e-8)
            assert_allclose(abs(got.normal @ expected.normal), 1.0, rtol=0.0, atol=1e-6)
            size = np.abs(expected.normal_cov).max()
            assert_allclose(got.normal_cov, expected.normal_cov, rtol=0.0, atol=1e-2 * size)


# Calibration


def normal_error_ratio(rng: np.random.Generator, count: int, noise_m: float) -> float:
    """Mean squared error of 400 fitted normals over the variance that they claim."""
    local_map = VoxelMap(DEFAULT)
    rotations = so3_exp(rng.normal(size=(400, 3)))
    places = 5.0 * np.array(np.unravel_index(np.arange(400), (8, 8, 8))).T
    places = places + rng.uniform(size=places.shape)
    for R, place in zip(rotations, places, strict=True):
        local_map.insert(patch(rng, count, noise_m) @ R.T + place)
    indices = local_map.nearest(places, 1, 1.0).indices[:, 0]
    local_map.fit_planes(indices)
    errors, predicted = [], []
    for R, index in zip(rotations, indices, strict=True):
        plane = record(local_map, int(index))
        if plane.planar:
            across = plane.normal @ R
            errors.append(across[0] ** 2 + across[1] ** 2)
            predicted.append(np.trace(plane.normal_cov))
    assert len(errors) > 300
    return float(np.mean(errors) / np.mean(predicted))


@pytest.mark.parametrize(("count", "noise_m"), [(100, 0.02), (150, 0.02), (600, 0.005)])
def test_normal_covariance_is_calibrated(count: int, noise_m: float, rng: np.random.Generator):
    """Over many noisy planes the squared error of the normal is as large as its covariance says."""
    assert 0.8 < normal_error_ratio(rng, count, noise_m) < 1.3


def test_normal_covariance_is_calibrated_in_a_dense_map(rng: np.random.Generator):
    """Many arrivals per cell make the normal better, and its covariance says by how much."""
    assert 0.8 < normal_error_ratio(rng, 2000, 0.02) < 1.3


def test_normal_covariance_lies_in_the_plane(rng: np.random.Generator):
    """A unit normal can only err across itself: its covariance has no part along it."""
    plane = fitted(patch(rng), np.zeros(3))
    assert_allclose(plane.normal_cov @ plane.normal, 0.0, atol=1e-6 * np.trace(plane.normal_cov))


# When a fit is renewed


GROWN = dataclasses.replace(DEFAULT, refit_growth=1.25)


def revisited(rng: np.random.Generator) -> tuple[VoxelMap, int, Points]:
    """Return a map, a stored point with four arrivals in its cell, and points of other cells."""
    local_map = VoxelMap(GROWN)
    cell = PLACE + 0.02 * rng.uniform(-1.0, 1.0, size=(4, 3))
    others = patch(rng) + PLACE
    others = others[np.abs(others[:, :2] - 0.25).max(axis=1) > 0.06]
    local_map.insert(np.concatenate([cell, others]))
    index = int(local_map.nearest(cell[:1], 1, 0.1).indices[0, 0])
    local_map.fit_planes(np.array([index]))
    return local_map, index, others


def test_a_fit_is_kept_while_its_own_cell_has_not_grown(rng: np.random.Generator):
    """Arrivals in other cells leave a fit as it is for fewer than refit_epochs insertions."""
    local_map, index, others = revisited(rng)
    before = record(local_map, index)
    for _ in range(DEFAULT.refit_epochs - 1):
        local_map.insert(others + LIFT)
        local_map.fit_planes(np.array([index]))
    assert_array_equal(record(local_map, index).centroid, before.centroid)
    assert record(local_map, index).epoch == before.epoch


def test_a_fit_is_renewed_after_refit_epochs(rng: np.random.Generator):
    """After refit_epochs insertions the fit sees what arrived in the cells around it."""
    local_map, index, others = revisited(rng)
    before = record(local_map, index)
    for _ in range(DEFAULT.refit_epochs):
        local_map.insert(others + LIFT)
    local_map.fit_planes(np.array([index]))
    after = record(local_map, index)
    assert after.epoch == local_map.epoch
    assert after.centroid[2] > before.centroid[2] + 0.005


@pytest.mark.parametrize(("arrivals", "renewed"), [(1, False), (2, True)])
def test_a_fit_is_renewed_when_its_cell_grew(
    arrivals: int, renewed: bool, rng: np.random.Generator
):
    """Four arrivals that became five (1.25 times) are as before, six make the fit new."""
    local_map, index, _ = revisited(rng)
    before = record(local_map, index)
    own = local_map.positions(np.array([index]))
    local_map.insert(np.repeat(own, arrivals, axis=0))
    local_map.fit_planes(np.array([index]))
    after = record(local_map, index)
    assert before.own_count == 4.0
    assert after.own_count == (6.0 if renewed else 4.0)
    assert (after.epoch > before.epoch) == renewed


def test_an_old_plane_is_forgotten_when_it_no_longer_holds(rng: np.random.Generator):
    """A patch that turns out to be clutter loses its plane when the fit is renewed."""
    local_map, index, _ = revisited(rng)
    assert record(local_map, index).planar
    local_map.insert(rng.uniform(-0.4, 0.4, size=(4000, 3)) + PLACE)
    local_map.fit_planes(np.array([index]))
    assert not record(local_map, index).planar


# What is a plane


def along(rng: np.random.Generator, length: float, count: int = 400) -> Floats:
    """Random positions on a curve between -length and length."""
    return rng.uniform(-length, length, size=count)


def noisy(rng: np.random.Generator, points: Points, noise_m: float = 0.01) -> Points:
    """Return the points with isotropic noise."""
    return points + noise_m * rng.standard_normal(points.shape)


def num_planar(rng: np.random.Generator, curve: Points, at: Floats) -> int:
    """In how many of 40 random placements a noisy curve (n, 3) is taken for a plane at ``at``."""
    count = 0
    for phi, place in zip(rng.normal(size=(40, 3)), rng.uniform(size=(40, 3)), strict=True):
        R = so3_exp(phi)
        count += fitted(noisy(rng, curve) @ R.T + place, R @ at + place).planar
    return count


@pytest.mark.parametrize("corner", [-0.25, -0.15, 0.0, 0.1, 0.2])
def test_a_ring_around_a_corner_is_no_plane(corner: float, rng: np.random.Generator):
    """One scan ring round a corner is flat and has width, and is hardly ever taken for a plane."""
    t = along(rng, 1.0) - corner
    ring = np.column_stack([np.maximum(t, 0.0), np.maximum(-t, 0.0), np.zeros_like(t)])
    assert num_planar(rng, ring, np.array([max(-corner, 0.0), max(corner, 0.0), 0.0])) <= 2


@pytest.mark.parametrize("bend", [0.5, 1.5, 3.0])
def test_an_arc_is_no_plane(bend: float, rng: np.random.Generator):
    """A curved scan line on the ground lies in a plane and does not show one."""
    t = along(rng, 1.0)
    arc = np.column_stack([t, bend * t**2, np.zeros_like(t)])
    assert num_planar(rng, arc, np.zeros(3)) == 0


def test_a_line_is_no_plane(rng: np.random.Generator):
    """A straight scan line has no normal."""
    line = np.outer(along(rng, 1.0), [1.0, 0.0, 0.0])
    assert num_planar(rng, line, np.zeros(3)) == 0


def test_three_parallel_lines_are_a_plane(rng: np.random.Generator):
    """Three scan rings on a wall, 20 cm apart, are a sparse but real plane with its normal."""
    lines = [np.column_stack([along(rng, 1.0, 150), np.full(150, 0.31), np.full(150, z)])
             for z in (-0.2, 0.0, 0.2)]  # fmt: skip
    plane = fitted(noisy(rng, np.concatenate(lines)), np.array([0.0, 0.31, 0.0]))
    assert plane.planar
    error = 1.0 - abs(plane.normal[1])
    assert error < 8.0 * np.trace(plane.normal_cov)


@pytest.mark.parametrize("beside_m", [0.0, 0.05])
def test_an_edge_is_no_plane(beside_m: float, rng: np.random.Generator):
    """Where two walls meet at a right angle there is no plane that both lie in."""
    u, v = along(rng, 1.0, 4000), along(rng, 1.0, 4000)
    walls = np.column_stack([np.maximum(u, 0.0), np.maximum(-u, 0.0), v])
    assert not fitted(noisy(rng, walls), np.array([beside_m, 0.0, 0.0])).planar


@pytest.mark.parametrize(("max_residual_std_m", "planar"), [(0.06, False), (0.12, True)])
def test_a_rough_surface_is_no_plane(
    max_residual_std_m: float, planar: bool, rng: np.random.Generator
):
    """Gravel of 8 cm is a plane only for who allows residuals as large as that."""
    config = dataclasses.replace(
        DEFAULT, plane_radius_m=0.45, max_residual_std_m=max_residual_std_m
    )
    assert fitted(patch(rng, 3000, 0.08), np.zeros(3), config).planar == planar


def test_clutter_is_no_plane(rng: np.random.Generator):
    """Leaves all over a volume are no plane."""
    assert not fitted(rng.uniform(-1.0, 1.0, size=(8000, 3)), np.zeros(3)).planar


def test_too_few_points_are_no_plane(rng: np.random.Generator):
    """Nine places of a perfect plane are below min_cells, and twelve are enough."""
    x, y = np.meshgrid([-0.25, 0.05, 0.35], [-0.25, 0.05, 0.35])
    nine = np.column_stack([x.ravel(), y.ravel(), np.full(9, 0.05)])
    few = dataclasses.replace(DEFAULT, plane_radius_m=0.45)
    assert not fitted(np.repeat(noisy(rng, nine, 0.001), 3, axis=0), nine[4], few).planar
    twelve = np.concatenate([nine, nine[3:6] + np.array([0.15, 0.0, 0.0])])
    assert fitted(np.repeat(noisy(rng, twelve, 0.001), 3, axis=0), nine[4], few).planar


def test_two_rings_are_no_plane(rng: np.random.Generator):
    """Two lines span a plane whatever surface they are on; a third in between tells."""
    x = rng.uniform(-0.25, 0.25, size=400)
    rings = [np.column_stack([x, np.full_like(x, y), np.zeros_like(x)]) for y in (-0.1, 0.1, 0.0)]
    noise = 0.004 * rng.normal(size=(1200, 3))
    assert not fitted(PLACE + np.concatenate(rings[:2]) + noise[:800], PLACE).planar
    assert fitted(PLACE + np.concatenate(rings) + noise, PLACE).planar


def test_two_bands_on_both_sides_of_an_edge_are_no_plane(rng: np.random.Generator):
    """Rings that bob a little are bands; two of them still say nothing of the edge between."""
    found = np.zeros((20, 2), dtype=bool)
    for draw in found:
        x, bob = rng.uniform(-0.25, 0.25, size=1200), 0.012 * rng.normal(size=1200)
        y = np.repeat([-0.08, 0.08, 0.0], 400) + bob
        flat = np.column_stack([x, y, np.zeros_like(x)]) + 0.003 * rng.normal(size=(1200, 3))
        draw[:] = fitted(PLACE + flat[:800], PLACE).planar, fitted(PLACE + flat, PLACE).planar
    two_bands, three_bands = found.sum(axis=0)
    assert two_bands <= 6
    assert three_bands >= 19


def pipe_patch(rng: np.random.Generator, widening: float) -> Points:
    """Five rings on a pipe of 1 m that lies along x, each wider than the last."""
    along = 0.08 * np.arange(-2, 3)[:, None]
    angles = rng.uniform(-1.0, 1.0, size=(5, 200)) * (0.12 + widening * along)
    places = np.stack([along + 0.0 * angles, np.sin(angles), 1.0 - np.cos(angles)], axis=2)
    return PLACE + places.reshape(-1, 3) + 0.001 * rng.normal(size=(1000, 3))


@pytest.mark.parametrize("widening", [0.0, 0.6])
def test_a_pipe_that_is_cut_askew_does_not_slope(widening: float):
    """The slope that curvature fakes along a pipe stays within the normal's covariance."""
    squares = []
    for seed in range(20):
        local_map = VoxelMap(DEFAULT)
        local_map.insert(pipe_patch(np.random.default_rng(seed), widening))
        indices = local_map.nearest(PLACE[None], 1, 10.0).indices
        local_map.fit_planes(indices)
        rows, normal_cov = pack_planes(
            local_map.arrays, DEFAULT.voxel_size_m, indices, np.zeros(3), np.eye(4),
            PLACE[None].astype(np.float32), np.full(3, 1e-6), 0, DROP,
        )  # fmt: skip
        assert rows[0, 0, 7] > 0.0
        squares.append(rows[0, 0, 3] ** 2 / normal_cov[0, 0, 0])
    assert np.mean(squares) < 2.0
