# SPDX-License-Identifier: MIT
"""From particles to a covariance: means on the manifold, what is added back, what the scan said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference import inverse
from svnicp.arrays import Floats
from svnicp.lie import make_transform, se3_exp, so3_exp
from svnicp.registration.posterior import (
    inverse_spd,
    likelihood_covariance,
    mean_and_scatter,
    particle_poses,
    weak_directions,
    whole_covariance,
)
from svnicp.registration.reliability import seen_offsets
from svnicp.registration.robust import gaussian_efficiency, residual_scale

seeds = st.integers(0, 2**32 - 1)
UNITS = np.array([0.02, 0.02, 0.02, 0.002, 0.002, 0.002])
"""Typical standard deviations [m, rad]."""


def random_covariance(rng: np.random.Generator) -> Floats:
    """Random covariance (6, 6) of a well-determined pose, metres and radians."""
    A = rng.normal(size=(6, 6))
    return (A @ A.T / 6.0 + 0.3 * np.eye(6)) * np.outer(UNITS, UNITS)


def particles(rng: np.random.Generator, count: int, size: float = 1.0) -> Floats:
    """Random poses (K, 4, 4) around a random pose."""
    offsets = size * rng.normal(size=(count, 6)) * UNITS
    return particle_poses(se3_exp(rng.normal(size=6)), offsets)


# Mean and scatter


@settings(max_examples=40)
@given(seed=seeds, count=st.integers(1, 40), size=st.sampled_from([1.0, 10.0, 100.0]))
def test_moving_the_world_moves_the_mean_only(seed: int, count: int, size: float):
    """Left-multiplying all poses by G moves the mean by G and leaves the covariance."""
    rng = np.random.default_rng(seed)
    poses, G = particles(rng, count, size), se3_exp(rng.normal(size=6) * 3.0)
    T_mean, scatter = mean_and_scatter(poses)
    T_moved, scatter_moved = mean_and_scatter(G @ poses)
    assert_allclose(T_moved, G @ T_mean, rtol=0.0, atol=1e-9)
    limit = 1e-9 * max(np.abs(scatter).max(), 1e-6)
    assert_allclose(scatter_moved, scatter, rtol=0.0, atol=limit)


@settings(max_examples=40)
@given(seed=seeds, count=st.integers(2, 40))
def test_order_does_not_matter(seed: int, count: int):
    """The first particle is where the search for the mean starts, and no more than that."""
    rng = np.random.default_rng(seed)
    poses = particles(rng, count, 50.0)
    T_mean, scatter = mean_and_scatter(poses)
    T_other, scatter_other = mean_and_scatter(rng.permutation(poses))
    assert_allclose(T_other, T_mean, rtol=0.0, atol=1e-9)
    assert_allclose(scatter_other, scatter, rtol=0.0, atol=1e-9 * np.abs(scatter).max())


def test_particles_are_poses_of_their_offsets(rng: np.random.Generator):
    """An offset (t, φ) stands for the reference times (Exp φ, t), small or large."""
    offsets = rng.normal(size=(30, 6)) * np.geomspace(1e-6, 1.0, 30)[:, None]
    T_reference = se3_exp(rng.normal(size=6))
    expected = T_reference @ make_transform(so3_exp(offsets[:, 3:]), offsets[:, :3])
    assert_allclose(particle_poses(T_reference, offsets), expected, rtol=0.0, atol=1e-13)


def test_scatter_is_the_population_covariance(rng: np.random.Generator):
    """For offsets with mean zero, the mean is the reference and the scatter divides by K."""
    offsets = rng.normal(size=(30, 6)) * UNITS
    offsets -= offsets.mean(axis=0)
    T_reference = se3_exp(rng.normal(size=6))
    T_mean, scatter = mean_and_scatter(particle_poses(T_reference, offsets))
    assert_allclose(T_mean, T_reference, rtol=0.0, atol=1e-9)
    assert_allclose(scatter, offsets.T @ offsets / 30.0, rtol=0.0, atol=1e-12)


def test_mean_of_far_apart_rotations_is_on_the_manifold():
    """Two yaws of ±1 rad have the mean yaw 0 and a proper rotation."""
    yaws = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    poses = np.array([make_transform(so3_exp(np.array(yaw)), np.zeros(3)) for yaw in yaws])
    T_mean, scatter = mean_and_scatter(poses)
    assert_allclose(T_mean, np.eye(4), atol=1e-12)
    assert_allclose(scatter[5, 5], 1.0)


def test_mean_of_one_pose_is_the_pose(rng: np.random.Generator):
    """One particle is its own mean and has no scatter."""
    poses = particles(rng, 1)
    T_mean, scatter = mean_and_scatter(poses)
    assert_allclose(T_mean, poses[0], rtol=0.0, atol=1e-12)
    assert_allclose(scatter, 0.0, atol=1e-20)


# Covariance


@pytest.mark.parametrize("count", [1, 2, 30])
def test_whole_covariance_has_full_rank(count: int, rng: np.random.Generator):
    """Whatever the number of particles, no direction is claimed to be known exactly."""
    truth = random_covariance(rng)
    _, scatter = mean_and_scatter(particles(rng, count))
    whole = whole_covariance(scatter, inverse(truth), count)
    relative = np.linalg.eigvals(np.linalg.solve(truth, whole)).real
    assert relative.min() > 0.1
    assert_allclose(whole, whole.T)


def test_one_particle_reports_the_curvature(rng: np.random.Generator):
    """With a single particle the covariance is the inverse Hessian, as for Gauss-Newton."""
    truth = random_covariance(rng)
    whole = whole_covariance(np.zeros((6, 6)), inverse(truth), 1)
    assert_allclose(whole, truth, rtol=1e-9)


@settings(max_examples=40)
@given(seed=seeds, exponents=st.tuples(*[st.floats(-6.0, 6.0)] * 6))
def test_inverse_copes_with_mixed_units(seed: int, exponents: tuple):
    """The inverse is exact to rounding though variances differ by many orders."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, 6))
    scale = 10.0 ** np.array(exponents)
    inverted = inverse_spd((A @ A.T + np.eye(6)) * np.outer(scale, scale))
    expected = inverse(A @ A.T + np.eye(6))
    assert_allclose(inverted * np.outer(scale, scale), expected, rtol=0.0, atol=1e-10)
    assert_array_equal(inverted, inverted.T)


def test_inverse_of_a_singular_matrix_is_finite():
    """A direction without information gets a huge variance and no infinity."""
    inverted = inverse_spd(np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]))
    assert np.isfinite(inverted).all()
    assert inverted[5, 5] > 1e9


# What the scan alone says


@settings(max_examples=40)
@given(seed=seeds)
def test_likelihood_covariance_is_recovered(seed: int):
    """Where the posterior is Gaussian, posterior precision less prior precision is the scan's."""
    rng = np.random.default_rng(seed)
    scan, prior = random_covariance(rng), 25.0 * random_covariance(rng)
    information, prior_hessian = inverse(scan), inverse(prior)
    posterior = inverse(information + prior_hessian)
    alone = likelihood_covariance(posterior, posterior, information, prior_hessian)
    assert_allclose(alone, scan, rtol=0.0, atol=1e-4 * np.outer(UNITS, UNITS).max())


def test_wider_particles_make_the_scan_say_less(rng: np.random.Generator):
    """Particles with four times the Laplace covariance divide the scan's information by four."""
    scan, prior = random_covariance(rng), 25.0 * random_covariance(rng)
    information, prior_hessian = inverse(scan), inverse(prior)
    laplace = inverse(information + prior_hessian)
    alone = likelihood_covariance(4.0 * laplace, laplace, information, prior_hessian)
    assert_allclose(alone / np.outer(UNITS, UNITS), 4.0 * scan / np.outer(UNITS, UNITS), atol=1e-3)


@pytest.mark.parametrize("axis", range(6))
def test_unseen_directions_get_a_huge_variance(axis: int, rng: np.random.Generator):
    """A direction without information gets a variance no filter will mistake for knowledge."""
    information = np.diag(UNITS**-2)
    information[axis, axis] = 0.0
    prior = 25.0 * random_covariance(rng)
    prior_hessian = inverse(prior)
    posterior = inverse(information + prior_hessian)
    alone = likelihood_covariance(posterior, posterior, information, prior_hessian)
    assert alone[axis, axis] > 1e4 * prior[axis, axis]
    others = np.arange(6) != axis
    fused = inverse(inverse(alone) + prior_hessian)
    assert_allclose(np.diag(fused), np.diag(posterior), rtol=1e-3)
    assert np.all(np.diag(fused)[others] < 2.0 * UNITS[others] ** 2)


def test_weak_directions_find_the_corridor():
    """A variance that the scan hardly reduced is reported with its axis, unit and size."""
    axis = np.array([0.8, -0.6, 0.0])
    covariance = np.diag(UNITS**2)
    covariance[:3, :3] += 0.09**2 * np.outer(axis, axis)
    prior = np.diag([0.1**2] * 3 + [0.05**2] * 3)
    (weak,) = weak_directions(covariance, prior)
    assert weak.kind == "translation"
    assert_allclose(np.abs(weak.direction @ axis), 1.0, atol=1e-12)
    assert weak.direction[np.argmax(np.abs(weak.direction))] > 0.0
    assert_allclose([weak.sigma, weak.prior_sigma], [np.hypot(0.09, 0.02), 0.1])
    assert str(weak).startswith("translation along (+0.80, -0.60, ")
    assert str(weak).endswith("): sigma 0.0922 m of a prior 0.1 m")


def test_weak_directions_come_weakest_first():
    """All weak translations come before the rotations, each kind with the widest first."""
    prior = np.diag([1.0] * 3 + [0.1**2] * 3)
    found = weak_directions(np.diag([0.4, 0.01, 0.9, 0.008, 0.0001, 0.0]), prior)
    assert [weak.kind for weak in found] == ["translation", "translation", "rotation"]
    assert found[0].sigma > found[1].sigma
    assert "deg" in str(found[2])
    assert weak_directions(np.diag(UNITS**2), prior) == []


# Reliability


def random_information(rng: np.random.Generator) -> Floats:
    """Random information (6, 6) in 1/m² and 1/rad²."""
    return inverse(random_covariance(rng))


def test_reliable_normals_see_everything(rng: np.random.Generator):
    """Without fake information an offset is seen as it is."""
    hessian = random_information(rng)
    assert_allclose(seen_offsets(hessian, np.zeros((6, 6))), np.eye(6), atol=1e-9)


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_pure_noise_sees_nothing(factor: float, rng: np.random.Generator):
    """Where all information is fake, nothing of an offset is seen."""
    hessian = random_information(rng)
    seen = seen_offsets(hessian, factor * hessian)
    assert_allclose(seen * np.outer(1.0 / UNITS, UNITS), 0.0, atol=1e-6)


def fake_part(rng: np.random.Generator, hessian: Floats) -> Floats:
    """Return a random symmetric E with 0 <= E <= H."""
    root = np.linalg.cholesky(hessian)
    Q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    return root @ (Q * rng.uniform(0.0, 1.0, size=6)) @ Q.T @ root.T


@settings(max_examples=40)
@given(seed=seeds, commuting=st.booleans())
def test_discounted_information_is_what_is_not_fake(seed: int, commuting: bool):
    """D'HD is H - E, and D twice takes the reliable share of a gradient."""
    rng = np.random.default_rng(seed)
    if commuting:
        hessian = np.diag(UNITS**-2 * rng.uniform(0.5, 2.0, size=6))
        fake = np.diag(np.diag(hessian) * rng.uniform(0.0, 1.0, size=6))
    else:
        hessian = random_information(rng)
        fake = fake_part(rng, hessian)
    seen = seen_offsets(hessian, fake)
    scale = np.outer(1.0 / UNITS, 1.0 / UNITS)
    left = (hessian - fake) / scale
    assert_allclose((seen.T @ hessian @ seen) / scale, left, rtol=0.0, atol=1e-7)
    assert_allclose((hessian @ seen @ seen) / scale, left, rtol=0.0, atol=1e-7)


def test_only_the_fake_direction_is_hidden(rng: np.random.Generator):
    """Fake information along x takes x away and leaves the other axes alone."""
    hessian = np.diag(UNITS**-2)
    fake = np.zeros((6, 6))
    fake[0, 0] = hessian[0, 0]
    offset = rng.normal(size=6)
    seen = seen_offsets(hessian, fake) @ offset
    assert_allclose(seen, np.concatenate([[0.0], offset[1:]]), atol=1e-9)


def test_directions_without_information_do_not_break_it():
    """A singular Hessian gives a finite matrix that keeps the informed axes."""
    hessian = np.diag([0.0, 4.0, 4.0, 4.0, 4.0, 4.0])
    seen = seen_offsets(hessian, 0.5 * hessian)
    assert np.isfinite(seen).all()
    assert_allclose(np.diag(seen)[1:], np.sqrt(0.5))


# Robust weights


@pytest.mark.parametrize("width", [1.5, 3.0, 10.0])
def test_efficiency_gives_the_precision_of_the_estimate(width: float, rng: np.random.Generator):
    """Weighted Hessian and slope of the weighted gradient, scaled, are the precision."""
    factors = gaussian_efficiency(width)
    z = rng.standard_normal((8000, 200))

    def weights(shift: Floats | float) -> Floats:
        return (width**2 / (width**2 + (z - shift) ** 2)) ** 2

    estimate = np.zeros((8000, 1))
    for _ in range(25):
        w = weights(estimate)
        estimate = np.sum(w * z, axis=1, keepdims=True) / np.sum(w, axis=1, keepdims=True)
    curvature = factors.hessian * np.sum(weights(estimate), axis=1).mean()
    ahead, behind = (np.sum(weights(s) * (s - z), axis=1).mean() for s in (0.01, -0.01))
    slope = factors.gradient * (ahead - behind) / 0.02
    # 8000 samples: the variance is known to 1.6 %; few points per sample bend it a little more.
    assert_allclose(np.array([curvature, slope]) * estimate.var(), 1.0, atol=0.06)


def test_wide_weights_cost_nothing():
    """A weight much wider than the noise leaves gradient and Hessian as they are."""
    assert_allclose(gaussian_efficiency(100.0), (1.0, 1.0), atol=2e-3)


def test_residual_scale_is_robust(rng: np.random.Generator):
    """The scale of Gaussian residuals is found though a fifth of them are gross errors."""
    residuals = 2.5 * rng.standard_normal(20_000)
    assert_allclose(residual_scale(residuals), 2.5, rtol=0.03)
    residuals[::5] = 1e3
    assert 2.5 < residual_scale(residuals) < 1.4 * 2.5
