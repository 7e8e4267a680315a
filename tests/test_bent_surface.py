# SPDX-License-Identifier: MIT
"""Surfaces that bend are matched where they are, flat ones and edges as planes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.arrays import Floats, Points
from svnicp.config import Config, MapConfig
from svnicp.kernels import bent_surface
from svnicp.kernels import candidates as compiled
from svnicp.lie import se3_exp, se3_log
from svnicp.local_map import VoxelMap
from svnicp.registration import register

CONFIG = MapConfig(blocks_per_voxel_edge=0)
NOISE = np.array([0.01**2, 0.001**2, 0.0])


def rows_at(surface: Points, at: Points) -> Floats:
    """Candidate rows (n, 8) of points (n, 3) with the nearest stored ones of a surface."""
    local_map = VoxelMap(CONFIG)
    local_map.insert(surface)
    indices = local_map.nearest(at, 1, 0.5).indices
    local_map.fit_planes(indices)
    rows, _ = compiled.pack_planes(
        local_map.arrays, CONFIG.voxel_size_m, indices, np.zeros(3), np.eye(4),
        at.astype(np.float32), NOISE, 0, compiled.DROP,
    )  # fmt: skip
    return rows[:, 0].astype(np.float64)


def dome(rng: np.random.Generator, count: int, radius: float, noise: float = 0.005) -> Points:
    """Points on the top of a ball around (0, 0, -radius + 3)."""
    x, y = rng.uniform(-0.6, 0.6, size=(2, count))
    z = np.sqrt(radius**2 - x**2 - y**2) - radius + 3.0
    return np.column_stack([x, y, z + noise * rng.normal(size=count)])


@pytest.mark.parametrize("radius", [2.0, 4.0, 10.0])
def test_points_of_a_ball_lie_on_its_tangent_planes(radius: float, rng: np.random.Generator):
    """They are within millimetres of what they are matched with, and normals point outwards."""
    at = dome(rng, 400, radius, noise=0.0)
    at = at[np.abs(at[:, :2]).max(axis=1) < 0.4]
    rows = rows_at(dome(rng, 60000, radius), at)
    used = rows[:, 7] > 0.0
    assert used.mean() > 0.8
    residuals = np.sum(rows[used, 3:6] * at[used], axis=1) - rows[used, 6]
    outwards = (at[used] - [0.0, 0.0, 3.0 - radius]) / radius
    turned = np.arccos(np.clip(np.abs(np.sum(rows[used, 3:6] * outwards, axis=1)), 0.0, 1.0))
    assert abs(np.median(residuals)) < 5e-4
    assert np.sqrt(np.mean(residuals**2)) < 2e-3
    assert np.median(turned) < 0.02


def test_a_plane_stays_a_plane(rng: np.random.Generator):
    """Noise bends nothing by more than it would tilt it."""
    surface = rng.uniform(-1.0, 1.0, size=(40000, 3)) * [1.0, 1.0, 0.0]
    surface[:, 2] = 3.0 + 0.01 * rng.normal(size=40000)
    at = np.column_stack([rng.uniform(-0.7, 0.7, size=(300, 2)), np.full(300, 3.0)])
    rows = rows_at(surface, at)
    used = rows[:, 7] > 0.0
    assert used.mean() > 0.8
    residuals = np.sum(rows[used, 3:6] * at[used], axis=1) - rows[used, 6]
    assert np.abs(residuals).max() < 3e-3
    assert np.abs(rows[used, 5]).min() > 0.999


def bowl(rng: np.random.Generator, count: int, radius: float, noise: float) -> Points:
    """Points of a parabolic bowl over (0, 0, 3)."""
    x, y = rng.uniform(-0.6, 0.6, size=(2, count))
    z = 3.0 + (x**2 + y**2) / (2.0 * radius)
    return np.column_stack([x, y, z + noise * rng.normal(size=count)])


@pytest.mark.parametrize(("radius", "count"), [(1.0, 60000), (12.0, 1500), (30.0, 1500)])
def test_heights_are_not_biased(radius: float, count: int):
    """All points of a bowl would be on one side of its planes, which noise of 15 mm hides.

    So they would be of cells, which bend themselves, and of parabolas that noise must not explain.
    """
    residuals: list[float] = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        at = bowl(rng, 300, radius, 0.0)
        at = at[np.abs(at[:, :2]).max(axis=1) < 0.35]
        rows = rows_at(bowl(rng, count, radius, 0.015), at)
        rows = np.where(rows[:, 5:6] < 0.0, -1.0, 1.0) * rows
        used = np.abs(rows[:, 7]) > 0.0
        residuals.append(np.mean(np.sum(rows[used, 3:6] * at[used], axis=1) - rows[used, 6]))
    error = np.std(residuals) / np.sqrt(len(residuals) - 1)
    assert abs(np.mean(residuals)) < 3.0 * error + 5e-5
    assert error < 4e-4


def test_normals_of_a_bend_scatter_as_stated(rng: np.random.Generator):
    """Over draws of the noise a tangent plane's slope varies no more than its covariance says."""
    at = np.array([[0.12, 0.06, 3.0 - (0.12**2 + 0.06**2) / 4.0]])
    squares, stated = [], []
    for _ in range(60):
        local_map = VoxelMap(CONFIG)
        local_map.insert(dome(rng, 20000, 2.0, 0.01))
        indices = local_map.nearest(at, 1, 0.5).indices
        local_map.fit_planes(indices)
        rows, cov = compiled.pack_planes(
            local_map.arrays, CONFIG.voxel_size_m, indices, np.zeros(3), np.eye(4),
            at.astype(np.float32), NOISE, 0, compiled.DROP,
        )  # fmt: skip
        normal = np.sign(rows[0, 0, 5]) * rows[0, 0, 3:6].astype(np.float64)
        outwards = (at[0] - [0.0, 0.0, 1.0]) / np.linalg.norm(at[0] - [0.0, 0.0, 1.0])
        squares.append((normal - outwards)[:2] ** 2)
        stated.append(cov[0, 0, [0, 3]].astype(np.float64))
    ratio = np.mean(squares, axis=0) / np.mean(stated, axis=0)
    assert np.all(ratio < 1.5)
    assert np.all(ratio > 0.1)


def test_a_thin_pipe_is_no_parabola(rng: np.random.Generator):
    """A pipe as thin as a patch is wide turns too much for one, and no normal follows it."""
    angle, along = rng.uniform(-1.2, 1.2, size=20000), rng.uniform(-1.0, 1.0, size=20000)
    for radius, bent in ((0.25, False), (2.0, True)):
        shape = np.column_stack([along, radius * np.sin(angle), radius * np.cos(angle)])
        local_map = VoxelMap(CONFIG)
        local_map.insert(shape + 0.002 * rng.normal(size=shape.shape))
        at = np.column_stack([np.linspace(-0.5, 0.5, 50), np.zeros(50), np.full(50, radius)])
        indices = local_map.nearest(at, 1, 0.5).indices
        local_map.fit_planes(indices)
        shares = local_map.arrays.planes[local_map.records(indices[:, 0]), bent_surface.SHARE]
        assert np.mean(shares > 0.0) == (1.0 if bent else 0.0)


def test_a_parabola_goes_on_straight_outside_its_patch():
    """What lies beyond two standard deviations of a patch is on the tangent plane at its rim."""
    plane = np.zeros(bent_surface.NUM_FIELDS)
    plane[bent_surface.AXIS], plane[bent_surface.SHARE] = 1.0, 1.0
    plane[bent_surface.CURVE : bent_surface.CURVE + 3] = 0.4, 0.1, -0.2
    plane[bent_surface.SQUARES : bent_surface.SQUARES + 2] = 0.1**2, 0.15**2
    rows = []
    for away in ((0.2, 0.3, 0.0), (0.9, 0.7, 0.0)):
        row = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 5.0])
        bent_surface.bend_row(plane, (0.0, 0.0, 2.0), away, 1e-4, row, np.zeros(6))
        rows.append(row)
    slope = np.array([2.0 * 0.4 * 0.2 + 0.1 * 0.3, 0.1 * 0.2 - 2.0 * 0.2 * 0.3])
    normal = np.array([*-slope, 1.0]) / np.sqrt(1.0 + slope @ slope)
    assert_allclose(rows[0], rows[1])
    assert_allclose(rows[0][3:6], normal)
    rim = 0.4 * (0.2**2 - 0.1**2) + 0.1 * 0.2 * 0.3 - 0.2 * (0.3**2 - 0.15**2)
    assert_allclose(rows[0][6], normal @ [0.2, 0.3, 2.0 + rim])


def test_rock_is_registered_without_a_bias(rng: np.random.Generator):
    """In a bumpy room errors over many draws are as large as stated, not several times that."""

    def scan(shift: Floats) -> Points:
        directions = rng.normal(size=(12000, 3))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        bumps = 0.25 * np.sin(3.0 * directions[:, 0] + 1.0) + 0.2 * np.sin(4.0 * directions[:, 1])
        rock = directions * (4.0 + bumps + 0.2 * np.cos(5.0 * directions[:, 2]))[:, None]
        beams = rock - shift
        ranges = np.linalg.norm(beams, axis=1)
        return beams * (1.0 + 0.01 * rng.normal(size=len(rock)) / ranges)[:, None]

    squares, config = [], Config.preset("default")
    for trial in range(8):
        shift = np.array([0.3, -0.2, 0.1]) * np.cos(trial)
        target = np.concatenate([scan(np.zeros(3)) for _ in range(4)])
        truth = se3_exp(np.r_[shift, np.zeros(3)])
        guess = truth @ se3_exp(0.02 * rng.normal(size=6))
        found = register(scan(shift), target, T_target_source=guess, config=config)
        error = se3_log(np.linalg.inv(found.T_target_source) @ truth)
        squares.append(error @ np.linalg.solve(found.covariance, error) / 6.0)
    assert np.mean(squares) < 2.5
