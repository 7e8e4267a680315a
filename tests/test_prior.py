# SPDX-License-Identifier: MIT
"""The Gaussian prior in the particles' chart, against finite differences of its density."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import offset_pose
from svnicp.arrays import Covariance, Floats, Transform
from svnicp.lie import se3_exp, se3_inverse, so3_log
from svnicp.registration.prior import flat_prior, gaussian_prior

seeds = st.integers(0, 2**32 - 1)
EYE = np.eye(6)


def distance(T_target_prior: Transform, T_target_source: Transform) -> Floats:
    """Where a pose is from the prior mean (6,): translation and rotation vector."""
    relative = se3_inverse(T_target_prior) @ T_target_source
    return np.concatenate([relative[:3, 3], so3_log(relative[:3, :3])])


def random_prior(seed: int, reach: float) -> tuple[Transform, Covariance, Transform]:
    """Return a prior's mean and covariance, and a reference about ``reach`` (m, rad) away."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 6))
    sigmas = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
    T_target_prior = se3_exp(rng.normal(size=6) * [50.0, 50.0, 50.0, 1.0, 1.0, 1.0])
    covariance = (A @ A.T / 6.0 + 0.2 * EYE) * np.outer(sigmas, sigmas)
    return T_target_prior, covariance, offset_pose(T_target_prior, reach * rng.normal(size=6))


@settings(max_examples=50)
@given(seed=seeds, reach=st.sampled_from([0.0, 0.01, 0.3]))
def test_gradient_is_that_of_the_density(seed: int, reach: float):
    """At the reference the gradient is that of ½ ξ'C⁻¹ξ, however far the prior mean is."""
    T_target_prior, covariance, T_reference = random_prior(seed, reach)
    prior = gaussian_prior(T_target_prior, covariance, T_reference)

    def cost(offset: Floats) -> float:
        xi = distance(T_target_prior, offset_pose(T_reference, offset))
        return 0.5 * float(xi @ np.linalg.solve(covariance, xi))

    step = 1e-5
    differences = [(cost(step * axis) - cost(-step * axis)) / (2.0 * step) for axis in EYE]
    # Coordinates of some 100 m are rounded to 1e-14 m, which the precision 1/C multiplies.
    size = max(np.abs(prior.slope).max(), 1.0)
    assert_allclose(prior.gradient(np.zeros((1, 6)))[0], differences, rtol=0.0, atol=1e-6 * size)


@settings(max_examples=50)
@given(seed=seeds, reach=st.sampled_from([0.0, 0.01, 0.3]))
def test_hessian_is_that_of_the_distance(seed: int, reach: float):
    """The Hessian is J'C⁻¹J with J the derivative of the distance from the prior mean."""
    T_target_prior, covariance, T_reference = random_prior(seed, reach)
    prior = gaussian_prior(T_target_prior, covariance, T_reference)
    step = 1e-5
    ahead, behind = (
        np.array([
            distance(T_target_prior, offset_pose(T_reference, sign * step * axis)) for axis in EYE
        ])
        for sign in (1.0, -1.0)
    )  # fmt: skip
    J = (ahead - behind).T / (2.0 * step)
    expected = J.T @ np.linalg.solve(covariance, J)
    assert_allclose(prior.hessian, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())
    assert_array_equal(prior.hessian, prior.hessian.T)


@settings(max_examples=50)
@given(seed=seeds, reach=st.sampled_from([0.0, 0.001]))
def test_gradient_holds_at_small_offsets(seed: int, reach: float):
    """Near the prior mean the quadratic's gradient is the density's at small offsets too."""
    T_target_prior, covariance, T_reference = random_prior(seed, reach)
    prior = gaussian_prior(T_target_prior, covariance, T_reference)
    offset = 1e-3 * np.random.default_rng(seed).normal(size=6)
    there = gaussian_prior(T_target_prior, covariance, offset_pose(T_reference, offset))
    # ``there`` has the exact slope in its own chart, which is turned by the offset's rotation.
    got, expected = prior.gradient(offset[None])[0], there.slope
    assert_allclose(got, expected, rtol=0.0, atol=1e-2 * np.abs(expected).max())


def test_prior_mean_is_the_minimum(rng: np.random.Generator):
    """The offset that leads back to the prior mean has gradient zero."""
    T_target_prior, covariance, _ = random_prior(3, 0.0)
    offset = np.concatenate([rng.normal(size=3), np.zeros(3)])
    prior = gaussian_prior(T_target_prior, covariance, offset_pose(T_target_prior, -offset))
    assert_allclose(prior.gradient(offset[None])[0], 0.0, atol=1e-8 * np.abs(prior.hessian).max())


def test_flat_prior_says_nothing(rng: np.random.Generator):
    """The flat prior has gradient and Hessian zero everywhere."""
    prior = flat_prior()
    assert_array_equal(prior.gradient(rng.normal(size=(5, 6))), np.zeros((5, 6)))
    assert_array_equal(prior.hessian, np.zeros((6, 6)))


def test_a_prior_is_the_same_for_all_particles_in_the_world(rng: np.random.Generator):
    """Moving prior and reference together changes nothing."""
    T_target_prior, covariance, T_reference = random_prior(4, 0.1)
    G = se3_exp(rng.normal(size=6))
    here = gaussian_prior(T_target_prior, covariance, T_reference)
    there = gaussian_prior(G @ T_target_prior, covariance, G @ T_reference)
    assert_allclose(there.hessian, here.hessian, rtol=0.0, atol=1e-9 * np.abs(here.hessian).max())
    assert_allclose(there.slope, here.slope, rtol=0.0, atol=1e-9 * np.abs(here.slope).max())
