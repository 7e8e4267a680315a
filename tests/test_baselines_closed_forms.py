# SPDX-License-Identifier: MIT
"""Closed forms on matches whose answer is known: derivatives, redrawn noise, blind directions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.baselines import ConstantCovariance, Thresholds, fit_constant
from svnicp.baselines.censi import (
    gradient_noise,
    point_to_plane_sensitivity,
    point_to_point_sensitivity,
)
from svnicp.baselines.cov3d import START_STD, sigma_points
from svnicp.baselines.laplace import information, residual_variance
from svnicp.baselines.localizability import axes_of
from svnicp.baselines.matches import Matches
from svnicp.baselines.monte_carlo import summarise
from svnicp.baselines.sandwich import sandwich
from svnicp.errors import InputError
from svnicp.lie import se3_adjoint, se3_exp, se3_inverse, so3_exp
from svnicp.pose_gaussian import PoseGaussian
from svnicp.scores import anees, variance_ratios

WIDE = np.diag([1e6] * 6)
"""A prior that says nothing."""


def some_matches(rng, count: int = 60, noise_m: float = 0.0, planes: bool = True) -> Matches:
    """Points in a room-sized volume with targets nearby; four in a row share their target."""
    points = rng.uniform(-4.0, 4.0, size=(count, 3))
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    if not planes:
        normals = np.zeros((count, 3))
    targets = points + noise_m * rng.normal(size=(count, 3))
    weights = rng.uniform(0.2, 1.0, size=count)
    return Matches(points, targets, normals, weights, np.arange(count) // 4, np.zeros(count))


def cost(matches: Matches, xi: np.ndarray) -> float:
    """J at a pose Exp(φ), ρ away from the estimate."""
    residuals = matches.points @ so3_exp(xi[3:]).T + xi[:3] - matches.targets
    if matches.normals.any():
        residuals = np.sum(residuals * matches.normals, axis=1, keepdims=True)
    return float(matches.weights @ np.sum(residuals**2, axis=1))


def second_difference(function, step: float = 1e-3) -> float:
    """∂²f/∂a∂b at 0 of a function of two numbers."""
    corners = [(a * b) * function(a * step, b * step) for a in (-1, 1) for b in (-1, 1)]
    return sum(corners) / (4.0 * step**2)


@pytest.mark.parametrize("planes", [True, False])
def test_second_derivatives_are_exact(rng, planes):
    """Hessian and sensitivities to source, target and normal are those of the cost itself."""
    matches = some_matches(rng, 8, noise_m=0.3, planes=planes)
    found = (point_to_plane_sensitivity if planes else point_to_point_sensitivity)(matches)
    units = np.eye(6)
    for i in range(6):
        for j in range(6):
            expected = second_difference(lambda a, b: cost(matches, a * units[i] + b * units[j]))  # noqa: B023
            assert_allclose(found.hessian[i, j], expected, rtol=1e-5, atol=2e-4)
    fields = {"points": found.source, "targets": found.target}
    if planes:
        fields["normals"] = found.normal
    for name, sensitivity in fields.items():
        for n, i, axis in ((0, 0, 1), (3, 4, 2), (5, 5, 0), (7, 2, 2), (2, 3, 1)):

            def moved(a: float, b: float) -> float:
                values = getattr(matches, name).copy()  # noqa: B023
                values[n, axis] += b  # noqa: B023
                return cost(matches._replace(**{name: values}), a * units[i])  # noqa: B023

            assert_allclose(sensitivity[n, i, axis], second_difference(moved), rtol=1e-5, atol=1e-5)


def solved(matches: Matches, points: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Minimum of the cost for other points and targets, by Gauss-Newton; (6,)."""
    xi = np.zeros(6)
    for _ in range(3):
        rotation = so3_exp(xi[3:])
        turned = points @ rotation.T
        residuals = turned + xi[:3] - targets
        arms = matches._replace(points=turned).arms  # in world axes: left rotation, added shift
        if matches.normals.any():
            arms = np.einsum("ni,nij->nj", matches.normals, arms)[:, None]
            residuals = np.sum(residuals * matches.normals, axis=1, keepdims=True)
        H = np.einsum("n,nij,nik->jk", matches.weights, arms, arms)
        step = np.linalg.solve(H, np.einsum("n,nij,ni->j", matches.weights, arms, residuals))
        xi[:3] -= step[:3]
        xi[3:] -= step[3:]
    return xi


@pytest.mark.parametrize("planes", [True, False])
@pytest.mark.parametrize("noise", ["isotropic", "range"])
def test_closed_form_is_the_spread_under_redrawn_noise(rng, planes, noise):
    """With fixed matches the closed form is the covariance of the minimum, shared targets too."""
    matches = some_matches(rng, planes=planes)
    sigma, target_sigma = 0.02, 0.03
    sensitivity = (point_to_plane_sensitivity if planes else point_to_point_sensitivity)(matches)
    meat = gradient_noise(matches, sensitivity, sigma, noise, np.full(60, target_sigma**2))
    stated = sandwich(sensitivity.hessian, meat, WIDE, with_prior=False)
    beams = matches.points / np.linalg.norm(matches.points, axis=1, keepdims=True)
    ends = []
    for _ in range(900):
        error = sigma * rng.normal(size=(60, 3))
        if noise == "range":
            error = sigma * rng.normal(size=(60, 1)) * beams
        shared = target_sigma * rng.normal(size=(15, 3))
        ends.append(solved(matches, matches.points + error, matches.targets + shared.repeat(4, 0)))
    # 900 draws in six dimensions: eigenvalues of a sample covariance within about 1 ± 2 √(6/900).
    assert_allclose(variance_ratios(stated, np.cov(ends, rowvar=False)), 1.0, atol=0.2)


def test_small_residuals_give_the_short_formulas(rng):
    """Without residuals, weights or shared targets: 2 s² (Σ J'J)⁻¹ and s² (Σ AA')⁻¹."""
    matches = some_matches(rng)._replace(weights=np.ones(60), shared=np.arange(60))
    for planes in (True, False):
        one = matches if planes else matches._replace(normals=np.zeros((60, 3)))
        sensitivity = (point_to_plane_sensitivity if planes else point_to_point_sensitivity)(one)
        inverse = np.linalg.inv(information(one))
        for target_noise, factor in ((0.02, 2.0), (0.0, 1.0)):
            meat = gradient_noise(one, sensitivity, 0.02, "isotropic", np.full(60, target_noise**2))
            found = sandwich(sensitivity.hessian, meat, WIDE, with_prior=False)
            assert_allclose(found, factor * 0.02**2 * inverse, rtol=1e-6, atol=1e-15)


def test_point_to_point_is_blind_for_corridors(rng):
    """600 points of a corridor's walls with 2 cm noise: 1.2 mm along it, as across it."""
    points = np.stack(
        [rng.uniform(-10, 10, 600), np.tile([-1.5, 1.5], 300), rng.uniform(0, 3, 600)], 1
    )
    points -= points.mean(axis=0)
    matches = Matches(
        points, points, np.zeros((600, 3)), np.ones(600), np.arange(600), np.zeros(600)
    )
    sensitivity = point_to_point_sensitivity(matches)
    meat = gradient_noise(matches, sensitivity, 0.02, "isotropic", np.full(600, 0.02**2))
    stated = sandwich(sensitivity.hessian, meat, WIDE, with_prior=False)
    assert_allclose(1e3 * np.sqrt(np.diag(stated)[:3]), 1.155, rtol=0.01)


def test_residual_variance_is_that_of_the_noise(rng):
    """Six parameters are taken off: the variance of residuals after a fit is the noise's."""
    for planes in (True, False):
        estimates = []
        for _ in range(200):
            matches = some_matches(rng, 40, planes=planes)._replace(weights=np.ones(40))
            noisy = matches.points + 0.02 * rng.normal(size=(40, 3))
            xi = solved(matches, noisy, matches.targets)
            fitted = noisy @ so3_exp(xi[3:]).T + xi[:3]
            estimates.append(residual_variance(matches._replace(points=fitted)))
        assert_allclose(np.mean(estimates), 0.02**2, rtol=0.06)


def random_information(rng) -> np.ndarray:
    root = rng.normal(size=(6, 20)) * np.array([[100.0], [90.0], [80.0], [900.0], [800.0], [700.0]])
    return root @ root.T


def test_a_regular_sandwich_is_the_plain_one(rng):
    """With information in all directions and no prior it is H⁻¹ M H⁻¹."""
    H, M = random_information(rng), random_information(rng)
    inverse = np.linalg.inv(H)
    assert_allclose(sandwich(H, M, WIDE, with_prior=False), inverse @ M @ inverse, rtol=1e-6)
    assert_allclose(sandwich(H, M, WIDE, with_prior=True), inverse @ M @ inverse, rtol=1e-4)


def test_the_prior_is_one_more_measurement(rng):
    """With noise as the cost has it, prior and scan add their information."""
    H = random_information(rng)
    root = np.diag([0.1, 0.2, 0.1, 0.01, 0.02, 0.03]) @ (np.eye(6) + 0.2 * rng.normal(size=(6, 6)))
    prior = root @ root.T
    expected = np.linalg.inv(H + np.linalg.inv(prior))
    assert_allclose(sandwich(H, H, prior, with_prior=True), expected, rtol=1e-6)


@pytest.mark.parametrize("with_prior", [True, False])
@pytest.mark.parametrize("along", [0.0, -50.0])
def test_blind_directions_have_the_priors_variance(with_prior, along):
    """Without curvature, or with a negative one, a direction is as uncertain as the guess."""
    turn = np.eye(6)
    turn[:3, :3] = so3_exp(np.array([0.2, -0.4, 0.9]))
    seen = np.diag([0.0, 1e6, 1e6, 1e8, 1e8, 1e8])
    H = turn @ (seen + np.diag([along, 0, 0, 0, 0, 0])) @ turn.T
    found = sandwich(
        H, turn @ seen @ turn.T, np.diag([0.3**2] * 3 + [0.1**2] * 3), with_prior=with_prior
    )
    assert_allclose(np.sqrt(turn[:, 0] @ found @ turn[:, 0]), 0.3, rtol=1e-9)
    assert_allclose(np.sqrt(turn[:, 1] @ found @ turn[:, 1]), 1e-3, rtol=1e-3)


def test_sigma_points_have_the_covariance(rng):
    """Twelve starts have exactly the covariance, also with correlations, and published lengths."""
    root = rng.normal(size=(6, 6))
    points = sigma_points(root @ root.T)
    assert_allclose(points.T @ points / 12.0, root @ root.T, rtol=1e-9)
    assert_allclose(points.sum(axis=0), 0.0, atol=1e-12)
    published = np.abs(sigma_points(np.diag(START_STD**2))).max(axis=0)
    assert_allclose(published[:3], 0.283, atol=5e-4)
    assert_allclose(np.degrees(published[3:]), 14.14, atol=5e-3)


def test_constant_covariance_is_calibrated_where_it_was_fitted(rng):
    """On its own training errors the fit has an ANEES of exactly 1, bias included."""
    errors = rng.normal(size=(40, 6)) * [0.1, 0.02, 0.01, 1e-3, 2e-3, 3e-3] + 0.01
    fitted = fit_constant(errors)
    assert isinstance(fitted, ConstantCovariance)
    found = anees(errors, np.broadcast_to(fitted.covariance, (40, 6, 6)))
    assert_allclose(found.value, 1.0, rtol=1e-4)
    for wrong in (errors[:5], errors[:, :3], np.full((10, 6), np.nan)):
        with pytest.raises(InputError, match="at least 6 finite errors"):
            fit_constant(wrong)


def test_contributions_of_a_corridor_are_counted():
    """Walls and floor fix two shifts and say nothing of the third; sums count the planes."""
    walls = np.array([[x, y, 0.0] for x in np.linspace(-20, 20, 200) for y in (-1.5, 1.5)])
    floor = np.array([[x, 0.3, -1.0] for x in np.linspace(-20, 20, 100)])
    normals = np.concatenate(
        [np.tile([0.0, 1.0, 0.0], (400, 1)), np.tile([0.0, 0.0, 1.0], (100, 1))]
    )
    points = np.concatenate([walls, floor])
    matches = Matches(points, points, normals, np.ones(500), np.arange(500), np.zeros(500))
    axes = axes_of(matches, Thresholds())
    assert [axis.kind for axis in axes] == ["translation"] * 3 + ["rotation"] * 3
    assert_allclose([axis.combined for axis in axes[:3]], [0.0, 100.0, 400.0], atol=1e-9)
    assert [axis.category for axis in axes[:3]] == ["none", "partial", "full"]
    assert_allclose(np.abs(axes[0].direction), [1.0, 0.0, 0.0], atol=1e-9)
    assert_allclose(np.abs(axes[2].direction), [0.0, 1.0, 0.0], atol=1e-9)
    assert axes[5].localizable
    # A lever arm counts by its direction, not by its length: 400 points of the walls turn about z.
    assert_allclose(axes[5].combined, 400.0, atol=1.0)
    assert_allclose(np.abs(axes[5].direction), [0.0, 0.0, 1.0], atol=0.05)


def test_samples_are_summarised_about_truth_and_mean(rng):
    """Samples of a known Gaussian around a biased mean: the spread without, the errors with it."""
    T_true = se3_exp(np.array([20.0, -3.0, 1.0, 0.3, -0.2, 1.5]))
    bias = np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.002])
    root = np.diag([0.02, 0.01, 0.01, 1e-3, 2e-3, 1e-3]) @ (
        np.eye(6) + 0.3 * rng.normal(size=(6, 6))
    )
    drawn = PoseGaussian(T_true @ se3_exp(bias), root @ root.T).sample(rng, 20_000)
    found = summarise(drawn, T_true, np.ones(20_000, dtype=bool))
    assert_allclose(variance_ratios(found.covariance, root @ root.T), 1.0, atol=0.05)
    assert_allclose(found.T_mean, T_true @ se3_exp(bias), atol=1e-3)
    assert_allclose(found.errors.mean(axis=0), bias, atol=5e-4)
    both = found.covariance + np.outer(bias, bias)
    assert_allclose(variance_ratios(found.error_covariance, both), 1.0, atol=0.05)
    # Left errors, as the published protocol has them, are the same ones seen from the map.
    left = se3_adjoint(T_true) @ found.errors[0]
    assert_allclose(se3_exp(left) @ T_true, drawn[0], atol=1e-9)
    assert_allclose(se3_inverse(T_true) @ drawn[0], se3_exp(found.errors[0]), atol=1e-9)
