# SPDX-License-Identifier: MIT
"""Stein ICP of 2021: Euler angles and mini-batches."""

import dataclasses

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import reference
from svnicp.registration import stein_icp
from svnicp.registration.posterior import particle_poses
from test_stein import BACKEND, DEFAULT, ROOM, gaussian_problem


def test_euler_angles_are_yaw_pitch_roll(rng: np.random.Generator):
    """Stein ICP's particles stand for Rz(yaw) Ry(pitch) Rx(roll)."""
    offsets = rng.uniform(-1.0, 1.0, size=(5, 6))
    vectors = stein_icp.rotation_vectors(offsets)
    for (roll, pitch, yaw), pose in zip(
        offsets[:, 3:], particle_poses(np.eye(4), vectors), strict=True
    ):
        about = [[0.0, 0.0, yaw], [0.0, pitch, 0.0], [roll, 0.0, 0.0]]
        Rz, Ry, Rx = (reference.offset_pose(np.eye(4), np.array([0.0] * 3 + v)) for v in about)
        assert_allclose(pose[:3, :3], (Rz @ Ry @ Rx)[:3, :3], atol=1e-14)
    assert_array_equal(vectors[:, :3], offsets[:, :3])


def test_mini_batches_leave_the_prior_alone(rng: np.random.Generator):
    """Scaling a mini-batch up to the whole cloud scales the likelihood and not the prior."""
    points = rng.normal(size=(600, 3)).astype(np.float32)
    rows = np.full((600, 4, 8), np.inf, dtype=np.float32)
    problem = gaussian_problem(ROOM)._replace(points=points, rows=rows)
    config = dataclasses.replace(DEFAULT, algorithm="stein_icp", batch_size=60)
    state = stein_icp.init(BACKEND, 0.01 * rng.standard_normal((5, 6)), config)
    _, info = stein_icp.step(state, problem, BACKEND, config)
    assert_allclose(info.mean_hessian, ROOM, rtol=1e-9)


def test_mini_batches_take_turns(rng: np.random.Generator):
    """Consecutive batches together hold every point once, and each counts as the whole."""
    points = rng.normal(size=(607, 3)).astype(np.float32)
    problem = gaussian_problem(ROOM)._replace(
        points=points, rows=np.zeros((607, 1, 8), dtype=np.float32)
    )
    batches = [BACKEND.mini_batch(problem, number, 100) for number in range(6)]
    together = np.concatenate([batch.points for batch in batches])
    assert_array_equal(np.sort(together, axis=0), np.sort(points, axis=0))
    counted = [batch.efficiency.gradient * len(batch.points) for batch in batches]
    assert_allclose(counted, problem.efficiency.gradient * 607)
