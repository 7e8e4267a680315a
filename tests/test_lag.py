# SPDX-License-Identifier: MIT
"""The lag: how an error of the velocity that a scan was deskewed with shows in its pose."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.arrays import Floats, Points, Transform
from svnicp.config import Config, NoiseConfig
from svnicp.kernels.candidates import match_all
from svnicp.kernels.weights import GEMAN_MCCLURE, NO_WEIGHT
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, so3_exp, transform_points
from svnicp.local_map import VoxelMap
from svnicp.registration import register_in_map
from svnicp.registration.lag import lag_matrix
from svnicp.registration.prior import flat_prior
from svnicp.registration.problem import Problem
from svnicp.registration.robust import Efficiency
from svnicp.simulation import SCENES, LidarPattern, scan

T_WORLD_BODY = make_transform(so3_exp(np.array([0.0, 0.0, 0.3])), np.array([0.4, -0.2, 1.4]))
WEAK = np.diag([1.0] * 3 + [0.3] * 3)


@cache
def setting() -> tuple[VoxelMap, Points, Floats]:
    """Map of a room, a scan taken at rest, and the times of a spinning LiDAR's points [s]."""
    rng = np.random.default_rng(0)
    room, local_map = SCENES["room"](), VoxelMap(Config.preset("default").map)
    for shift in np.linspace(-0.2, 0.2, 4):
        T = T_WORLD_BODY @ se3_exp(np.array([shift, 0.1 * shift, 0.0, 0.0, 0.0, shift]))
        points = scan(room, T, LidarPattern.rings(48, 720), rng, range_noise_m=0.0)
        local_map.insert(transform_points(T, points))
    points = scan(room, T_WORLD_BODY, LidarPattern.rings(32, 512), rng, range_noise_m=0.01)
    turn = np.arctan2(points[:, 1], points[:, 0]) / (2.0 * np.pi)
    return local_map, points, 0.1 * turn + 0.02


def moved(points: Points, seconds: Floats, twist: Floats) -> Points:
    """Points as deskewing with a twist (6,) would move them."""
    poses = se3_exp(seconds[:, None] * twist)
    return np.einsum("nij,nj->ni", poses[:, :3, :3], points) + poses[:, :3, 3]


def pose_and_lag(twist: Floats, debias: bool) -> tuple[Transform, Floats]:
    """Pose of the scan that was deskewed with a twist although it was at rest, and the lag."""
    local_map, points, seconds = setting()
    config = Config(noise=NoiseConfig(debias_normals=debias))
    result = register_in_map(
        moved(points, seconds, twist), local_map, T_target_source=T_WORLD_BODY,
        prior_covariance=WEAK, config=config, point_seconds=seconds,
    )  # fmt: skip
    assert result.lag is not None
    return result.T_target_source, result.lag


@pytest.mark.parametrize("debias", [True, False])
@pytest.mark.parametrize("axis", range(6))
def test_a_wrong_velocity_moves_the_pose_by_the_lag(axis: int, debias: bool):
    """Deskewed with a velocity that is too large by δ, the scan is found at -L δ, in all axes."""
    size = 0.4 if axis < 3 else 0.13
    (T_plus, lag), (T_minus, _) = (
        pose_and_lag(sign * size * np.eye(6)[axis], debias) for sign in (1.0, -1.0)
    )
    shift = se3_log(se3_inverse(T_minus) @ T_plus) / (2.0 * size)
    expected = -lag[:, axis]
    # Registration itself is good to about 2 mm and 1 mrad here, other points matching each time.
    assert np.abs(expected).max() > 0.015
    assert_allclose(shift[:3], expected[:3], atol=0.002 / size)
    assert_allclose(shift[3:], expected[3:], atol=0.001 / size)


def hand_made(rng: np.random.Generator, weight: int, planes: int) -> Problem:
    """Problem of 60 points with two candidates, the first ones planes and the others bare."""
    points = rng.uniform(-5.0, 5.0, size=(60, 3)).astype(np.float32)
    T = make_transform(so3_exp(np.array([0.1, 0.5, -0.3])), np.zeros(3))
    rows = np.zeros((60, 2, 8), dtype=np.float32)
    world = transform_points(T, points.astype(np.float64))
    for m, spread in enumerate((0.02, 0.3)):
        rows[:, m, :3] = world + spread * rng.normal(size=(60, 3))
        normals = rng.normal(size=(60, 3))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        rows[:planes, m, 3:6] = normals[:planes]
        rows[:, m, 6] = np.einsum("ni,ni->n", rows[:, m, 3:6], rows[:, m, :3])
        rows[:, m, 7] = rng.uniform(100.0, 2000.0, size=60)
    rows[7, :, :3] = np.inf
    return Problem(
        T, np.zeros(3), points, rows, 1.0, weight, 2.0, np.eye(6), Efficiency(1.0, 1.0),
        flat_prior(),
    )  # fmt: skip


@pytest.mark.parametrize("weight", [GEMAN_MCCLURE, NO_WEIGHT])
@pytest.mark.parametrize("planes", [60, 30, 0])
def test_lag_is_its_plain_sum(weight: int, planes: int, rng: np.random.Generator):
    """L = H⁻¹ Σ w s A A', point by point; a bare point is three planes."""
    problem, seconds = hand_made(rng, weight, planes), rng.uniform(-0.05, 0.05, size=60)
    T = problem.T_reference
    chosen, normalised = match_all(T, problem.points, problem.rows, 1.0)
    H, lagged = np.zeros((6, 6)), np.zeros((6, 6))
    for n in np.flatnonzero(chosen >= 0):
        row, point = problem.rows[n, chosen[n]].astype(np.float64), problem.points[n]
        factor = row[7]
        if weight == GEMAN_MCCLURE:
            factor *= (4.0 / (4.0 + normalised[n] ** 2)) ** 2
        normals = row[None, 3:6] if n < planes else np.eye(3)
        for normal in normals:
            body = T[:3, :3].T @ normal
            A = np.r_[body, np.cross(point, body)]
            H += factor * np.outer(A, A)
            lagged += factor * seconds[n] * np.outer(A, A)
    assert chosen[7] == -1
    assert_allclose(lag_matrix(problem, seconds), np.linalg.solve(H, lagged), atol=1e-6)


def test_equal_times_shift_the_pose_by_the_time(rng: np.random.Generator):
    """When all points are as late, the pose is as late: L is that time; on mean time it is zero."""
    problem = hand_made(rng, NO_WEIGHT, 60)
    assert_allclose(lag_matrix(problem, np.full(60, 0.04)), 0.04 * np.eye(6), atol=1e-9)
    assert_allclose(lag_matrix(problem, np.zeros(60)), 0.0, atol=1e-15)
