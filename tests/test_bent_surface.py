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


def test_a_parabola_that_is_too_steep_is_left_alone():
    """An edge is no parabola: the plane's own row stays as it is."""
    plane, row = np.zeros(bent_surface.NUM_FIELDS), np.array([0, 0, 0, 0, 0, 1.0, 2.0, 5.0])
    plane[bent_surface.HEIGHT], plane[bent_surface.CURVE] = 1e-3, 1.0
    far, near = row.copy(), row.copy()
    bent_surface.bend_row(plane, (0.0, 0.0, 2.0), (0.2, 0.0, 0.0), far)
    bent_surface.bend_row(plane, (0.0, 0.0, 2.0), (0.1, 0.0, 0.0), near)
    assert_allclose(far, row)
    normal = np.array([-0.2, 0.0, 1.0]) / np.hypot(0.2, 1.0)
    assert_allclose(near[3:6], normal)
    assert_allclose(near[6], normal @ [0.1, 0.0, 2.0 + 1e-3 + 0.01])


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
