# SPDX-License-Identifier: MIT
"""Compiled motion at a constant twist against its NumPy twin, ``svnicp.lie``."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.kernels.constant_twist import carried_errors, poses_on_the_way
from svnicp.kernels.lie import se3_exp
from svnicp.lie import se3_adjoint, se3_right_jacobian
from svnicp.lie import se3_exp as se3_exp_twin

ANGLES = [0.0, 1e-9, 1e-3, 0.1, 0.3, 2.0, 3.1, 12.0]
"""Rotations from none, over the switch between series and closed form, to turns [rad]."""


def tangent(rng: np.random.Generator, angle: float) -> np.ndarray:
    """Return a tangent with some metres and exactly this rotation."""
    axis = rng.normal(size=3)
    return np.concatenate([3.0 * rng.normal(size=3), angle * axis / np.linalg.norm(axis)])


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_agrees_with_the_twin(angle: float, rng: np.random.Generator):
    """The compiled exponential of SE(3) is the one in NumPy at every angle."""
    xi = tangent(rng, angle)
    assert_allclose(se3_exp(xi), se3_exp_twin(xi), atol=1e-13)


@pytest.mark.parametrize("angle", ANGLES)
def test_errors_are_carried_as_by_the_twin(angle: float, rng: np.random.Generator):
    """Both factors of the covariance's flow agree with adjoint and right Jacobian in NumPy."""
    xi = tangent(rng, angle)
    adjoint, jacobian = carried_errors(xi)
    assert_allclose(adjoint, se3_adjoint(se3_exp_twin(-xi)), atol=1e-12)
    assert_allclose(jacobian, se3_right_jacobian(xi), atol=1e-12)


def test_poses_on_the_way_are_exponentials(rng: np.random.Generator):
    """After s seconds at a twist the pose is Exp(s twist), rotation by rows and then position."""
    twist, seconds = rng.normal(size=6), np.linspace(-0.5, 2.0, 7)
    poses = se3_exp_twin(seconds[:, None] * twist)
    expected = np.concatenate([poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]], axis=1)
    assert_allclose(poses_on_the_way(twist, seconds), expected, atol=1e-13)
