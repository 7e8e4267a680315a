# SPDX-License-Identifier: MIT
"""Stein forces and Newton steps: against the twin, symmetries, and what they do to a Gaussian."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from svnicp.arrays import Floats
from svnicp.config import Config, SteinConfig
from svnicp.kernels import small, stein
from svnicp.registration import gauss_newton, svgd, svn
from svnicp.registration.backend import NumbaBackend
from svnicp.registration.particles import start_offsets
from svnicp.registration.posterior import mean_and_scatter, particle_poses, whole_covariance
from svnicp.registration.prior import gaussian_prior
from svnicp.registration.problem import Problem
from svnicp.registration.robust import Efficiency, gaussian_efficiency
from svnicp.registration.stein_kernel import settled_variance
from svnicp.registration.svn import SvnInfo
from threads import needs_two_threads, num_threads

DEFAULT, PAPER = Config.preset("default").stein, Config.preset("paper").stein
BACKEND = NumbaBackend()
ROOM = np.diag([2000.0] * 3 + [2000.0 * 100.0 * 2.0 / 3.0] * 3)
"""Information of 2000 points with unit variance and a lever arm of 10 m [1/m², 1/rad²]."""
CORRIDOR = np.diag(np.diag(ROOM) / [100.0, 1.0, 1.0, 1.0, 1.0, 1.0])
SEEDS = range(20)

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread: a step of few particles is over before a second one has woken up."""
    with num_threads(1):
        yield


def gaussian_problem(information: Floats) -> Problem:
    """Return a problem without points: its posterior is the prior N(identity, information⁻¹)."""
    return Problem(
        T_reference=np.eye(4),
        origin=np.zeros(3),
        points=np.zeros((0, 3), dtype=np.float32),
        rows=np.zeros((0, 4, 8), dtype=np.float32),
        max_distance_m=1.0,
        weight=0,
        weight_width=1.0,
        seen=np.eye(6),
        efficiency=Efficiency(1.0, 1.0),
        prior=gaussian_prior(np.eye(4), reference.inverse(information), np.eye(4)),
    )


def settle(
    information: Floats, offsets: Floats, config: SteinConfig, tolerance: float, steps: int = 100
) -> tuple[svn.SvnState, SvnInfo]:
    """Let particles (K, 6) move until a step is below the tolerance [standard deviations]."""
    problem = gaussian_problem(information)
    state = svn.init(BACKEND, offsets, config)
    state, info = svn.step(state, problem, BACKEND, config)
    while info.step_sigma >= tolerance and state.iteration < steps:
        state, info = svn.step(state, problem, BACKEND, config)
    return state, info


def random_spd(rng: np.random.Generator, scale: float = 1.0) -> Floats:
    """Random well-conditioned symmetric positive definite matrix (6, 6)."""
    A = rng.normal(size=(6, 6))
    return scale * (A @ A.T + np.eye(6))


def particles(seed: int, count: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Random offsets, gradients, Hessians and a metric for this many particles."""
    rng = np.random.default_rng(seed)
    hessians = np.array([random_spd(rng, 5.0) for _ in range(count)])
    return (
        0.3 * rng.normal(size=(count, 6)), rng.normal(size=(count, 6)), hessians, random_spd(rng)
    )  # fmt: skip


# Against the twin


@settings(max_examples=40)
@given(seed=seeds, count=st.integers(1, 9))
def test_force_agrees_with_the_twin(seed: int, count: int):
    """The compiled Stein force equals the double loop."""
    offsets, gradients, _, metric = particles(seed, count)
    expected = reference.stein_force(offsets, gradients, metric)
    assert_allclose(stein.stein_force(offsets, gradients, metric), expected, atol=1e-12)


@settings(max_examples=40)
@given(seed=seeds, count=st.integers(1, 9), damping=st.sampled_from([0.0, 1e-6, 1e-3, 1.0]))
def test_newton_direction_agrees_with_the_twin(seed: int, count: int, damping: float):
    """Force and Newton direction equal the double loop and a dense solve, for any damping."""
    offsets, gradients, hessians, metric = particles(seed, count)
    force, direction = stein.stein_newton(offsets, gradients, hessians, metric, damping)
    assert_allclose(force, reference.stein_force(offsets, gradients, metric), atol=1e-12)
    expected = reference.stein_newton(offsets, gradients, hessians, metric, damping)
    assert_allclose(direction, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=40)
@given(seed=seeds)
def test_solve_copes_with_metres_and_radians(seed: int):
    """The compiled solver equals a dense solve when axes differ in scale by ten orders."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-5.0, 5.0, size=6)
    matrix, right = random_spd(rng) * np.outer(scale, scale), rng.normal(size=6) * scale
    solution = np.linalg.solve(matrix / np.outer(scale, scale), right / scale) / scale
    assert_allclose(small.solve_spd(matrix, right), solution, rtol=1e-8)
    turned = matrix + 0.3 * np.triu(matrix, 1)
    expected = np.linalg.solve(turned / np.outer(scale, scale), right / scale) / scale
    assert_allclose(small.solve(turned, right), expected, rtol=1e-7)


def test_axes_without_curvature_do_not_move():
    """The solver leaves axes alone that nothing is known about, and solves the others."""
    matrix = np.diag([4.0, 0.0, 2.0, 1.0, 0.0, 1.0])
    for solver in (small.solve_spd, small.solve):
        assert_allclose(solver(matrix, np.ones(6)), [0.25, 0.0, 0.5, 1.0, 0.0, 1.0])


# Symmetries


def test_permuting_particles_permutes_the_steps(rng: np.random.Generator):
    """The order of the particles means nothing."""
    offsets, gradients, hessians, metric = particles(1, 12)
    order = rng.permutation(12)
    straight = stein.stein_newton(offsets, gradients, hessians, metric, 1e-3)
    shuffled = stein.stein_newton(offsets[order], gradients[order], hessians[order], metric, 1e-3)
    for one, other in zip(straight, shuffled, strict=True):
        assert_allclose(other, one[order], rtol=1e-11, atol=1e-13)


def test_repulsion_is_antisymmetric():
    """Two particles push each other apart with opposite forces, and many cancel on the whole."""
    offsets, gradients, _, metric = particles(2, 10)
    pair = stein.stein_force(offsets[:2], np.zeros((2, 6)), metric)
    assert_array_equal(pair[0], -pair[1])
    assert pair[0] @ metric @ (offsets[0] - offsets[1]) > 0.0
    force = stein.stein_force(offsets, np.zeros_like(gradients), metric)
    assert_allclose(force.sum(axis=0), 0.0, atol=1e-14)


def test_kernel_is_symmetric():
    """A gradient at l moves k as much as the same gradient at k moves l."""
    offsets, gradients, _, metric = particles(3, 2)
    still = stein.stein_force(offsets, np.zeros((2, 6)), metric)
    at_first, at_second = np.zeros((2, 6)), np.zeros((2, 6))
    at_first[0] = at_second[1] = gradients[0]
    pull_on_second = stein.stein_force(offsets, at_first, metric)[1] - still[1]
    pull_on_first = stein.stein_force(offsets, at_second, metric)[0] - still[0]
    assert_allclose(pull_on_first, pull_on_second, rtol=1e-12)
    assert_allclose(pull_on_first / gradients[0], pull_on_first[0] / gradients[0, 0])


@needs_two_threads
def test_thread_count_does_not_change_bits():
    """One thread and two give the same forces and directions, bit for bit."""
    offsets, gradients, hessians, metric = particles(4, 31)
    results = []
    for count in (1, 2):
        with num_threads(count):
            newton = stein.stein_newton(offsets, gradients, hessians, metric, 1e-3)
            results.append((*newton, stein.stein_force(offsets, gradients, metric)))
    for one, two in zip(*results, strict=True):
        assert_array_equal(one, two)


# Few particles


@pytest.mark.parametrize("algorithm", [svn, gauss_newton])
@pytest.mark.parametrize("config", [DEFAULT, PAPER], ids=["default", "paper"])
def test_one_particle_takes_the_damped_gauss_newton_step(
    algorithm, config: SteinConfig, rng: np.random.Generator
):
    """With a single particle a step solves (H + damping diag H) δ = -g, whatever the kernel."""
    information = random_spd(rng, 100.0)
    offset = 0.01 * rng.normal(size=(1, 6))
    config = dataclasses.replace(config, num_particles=1, damping=0.1)
    state = algorithm.init(BACKEND, offset, config)
    state, _ = algorithm.step(state, gaussian_problem(information), BACKEND, config)
    damped = information + 0.1 * np.diag(np.diag(information))
    expected = offset[0] - np.linalg.solve(damped, information @ offset[0])
    assert_allclose(state.offsets[0], expected, rtol=1e-9)


def test_one_undamped_particle_reaches_the_mode_at_once(rng: np.random.Generator):
    """Newton's method needs one step on a quadratic: δ = -H⁻¹ g."""
    config = dataclasses.replace(DEFAULT, num_particles=1, damping=0.0, max_step_sigma=0.0)
    offset = rng.normal(size=(1, 6))
    state = svn.init(BACKEND, offset, config)
    state, _ = svn.step(state, gaussian_problem(random_spd(rng)), BACKEND, config)
    assert_allclose(state.offsets, 0.0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["whitened", "isotropic"])
@pytest.mark.parametrize("algorithm", [svn, svgd])
@pytest.mark.parametrize("count", [1, 2, 3, 30])
@pytest.mark.parametrize("spread", [0.0, 1e-200, 1e-9, 1.0])
def test_steps_are_finite_wherever_the_particles_are(
    kernel, algorithm, count: int, spread: float, rng: np.random.Generator
):
    """Few particles, and particles in one place, give finite steps with either kernel."""
    config = dataclasses.replace(DEFAULT, kernel=kernel, num_particles=count)
    offsets = 0.01 + spread * rng.normal(size=(count, 6))
    state = algorithm.init(BACKEND, offsets, config)
    for _ in range(3):
        state, info = algorithm.step(state, gaussian_problem(ROOM), BACKEND, config)
        assert np.isfinite(state.offsets).all()
        assert np.isfinite([info.step_norm, info.step_sigma, info.kernel_trace]).all()


def test_steps_are_limited_in_standard_deviations(rng: np.random.Generator):
    """No particle moves farther than max_step_sigma, and shorter steps are left alone."""
    moved = rng.normal(size=(50, 6)) * np.linspace(0.1, 2.0, 50)[:, None] / np.sqrt(np.diag(ROOM))
    length = np.sqrt(np.sum(moved**2 * np.diag(ROOM), axis=1))
    limited = svn.limited(moved, ROOM, 3.0)
    new_length = np.sqrt(np.sum(limited**2 * np.diag(ROOM), axis=1))
    assert_allclose(new_length, np.minimum(length, 3.0), rtol=1e-12)
    assert_allclose(limited / new_length[:, None], moved / length[:, None], rtol=1e-12)
    assert_array_equal(svn.limited(moved, ROOM, 0.0), moved)


# A Gaussian


def start(kind: str, information: Floats, seed: int) -> Floats:
    """Thirty particles: where a registration starts them, in the release's box, or far too wide."""
    rng = np.random.default_rng(seed)
    covariance = reference.inverse(information)
    if kind == "wide":
        sigma = np.sqrt(np.diag(covariance))
        return (5.0 * rng.standard_normal((30, 6)) + 3.0) * sigma
    return start_offsets(dataclasses.replace(DEFAULT, start=kind), covariance, rng)


@pytest.mark.parametrize("kind", ["laplace", "box", "wide"])
@pytest.mark.parametrize("information", [ROOM, CORRIDOR], ids=["room", "corridor"])
def test_particles_settle_at_the_gaussian(information: Floats, kind: str):
    """Thirty particles show each axis' variance, and with the missing share it is within 10 %."""
    truth = np.diag(reference.inverse(information))
    # Fixed points are compared, so steps must have died out where the start was not one already.
    tolerance = DEFAULT.tolerance if kind == "laplace" else 0.01
    variances, wholes, means = [], [], []
    for seed in SEEDS:
        state, info = settle(information, start(kind, information, seed), DEFAULT, tolerance)
        T_mean, scatter = mean_and_scatter(particle_poses(np.eye(4), state.offsets))
        variances.append(np.diag(scatter) / truth)
        wholes.append(np.diag(whole_covariance(scatter, info.mean_hessian, 30)) / truth)
        means.append(state.offsets.mean(axis=0) / np.sqrt(truth))
        assert_allclose(T_mean[:3, 3], state.offsets.mean(axis=0)[:3], atol=1e-12)
    assert np.all(np.abs(means) < 0.3)
    assert np.all(np.mean(variances, axis=0) > 0.8)
    assert np.all(np.mean(variances, axis=0) < 1.15)
    assert_allclose(np.mean(wholes, axis=0), 1.0, atol=0.1)


@pytest.mark.parametrize("count", [10, 30, 100])
def test_a_common_offset_dies_out(count: int):
    """Settled particles that are all a little off the mode walk back instead of swinging."""
    config = dataclasses.replace(DEFAULT, num_particles=count)
    offsets = start_offsets(config, np.eye(6), np.random.default_rng(0))
    state, _ = settle(np.eye(6), offsets, config, 0.0, 30)
    away = np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])
    state = svn.SvnState(state.offsets - state.offsets.mean(axis=0) + away, 0)
    for _ in range(3):
        state, _ = svn.step(state, gaussian_problem(np.eye(6)), BACKEND, config)
    assert np.abs(state.offsets.mean(axis=0)).max() < 0.1


def test_light_tails_do_not_make_particles_swing(rng: np.random.Generator):
    """Gradients steeper than the Hessian says, as residuals near zero have them, do no harm.

    Robust weights are accounted for as if residuals were Gaussian: gradients are then multiplied
    by 1.36 times more than Hessians (width 3), and without noise nothing takes that back.
    """
    points = rng.normal(size=(60, 3)).astype(np.float32)
    normals = rng.normal(size=(60, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    rows = np.zeros((60, 1, 8), dtype=np.float32)
    rows[:, 0, :3], rows[:, 0, 3:6], rows[:, 0, 7] = points, normals, 1e4
    rows[:, 0, 6] = np.sum(points * normals, axis=1)
    problem = gaussian_problem(1e-3 * np.eye(6))._replace(
        points=points, rows=rows, weight_width=3.0, efficiency=gaussian_efficiency(3.0)
    )
    _, hessians = BACKEND.linearise(problem, np.zeros((1, 6)))
    offsets = start_offsets(DEFAULT, reference.inverse(hessians[0]), np.random.default_rng(0))
    state, steps = svn.init(BACKEND, offsets, DEFAULT), []
    for _ in range(30):
        state, info = svn.step(state, problem, BACKEND, DEFAULT)
        steps.append(info.step_sigma)
    assert max(steps[-5:]) < DEFAULT.tolerance


def test_published_kernel_collapses_the_rotations():
    """An isotropic kernel in metres and radians lets the rotation variance fall below a fifth."""
    covariance = reference.inverse(ROOM)
    ratios = []
    for seed in range(6):
        offsets = start_offsets(PAPER, covariance, np.random.default_rng(seed))
        state, _ = settle(ROOM, offsets, PAPER, 0.0)
        ratios.append(state.offsets.var(axis=0) / np.diag(covariance))
    assert np.all(np.mean(ratios, axis=0)[3:] < 0.2)
    assert np.all(np.mean(ratios, axis=0)[:3] > 0.4)


def test_svn_is_stable_with_a_hundred_particles():
    """From a start a hundred sigmas wide a hundred particles come in, settle and never fly off."""
    config = dataclasses.replace(DEFAULT, num_particles=100)
    offsets = np.random.default_rng(0).standard_normal((100, 6)) * 100.0 / np.sqrt(np.diag(ROOM))
    problem, state = gaussian_problem(ROOM), svn.init(BACKEND, offsets, config)
    farthest = [np.sqrt((offsets**2 @ np.diag(ROOM)).max())]
    info = None
    while info is None or (info.step_sigma > config.tolerance and state.iteration < 250):
        state, info = svn.step(state, problem, BACKEND, config)
        farthest.append(np.sqrt((state.offsets**2 @ np.diag(ROOM)).max()))
    assert info.step_sigma <= config.tolerance
    assert np.all(np.diff(farthest) < 0.5)
    # Six dimensions: one of a hundred samples is expected at 4.1 sigmas.
    assert farthest[-1] < 5.0
    assert_allclose(state.offsets.var(axis=0) * np.diag(ROOM), settled_variance(100), atol=0.1)


@pytest.mark.parametrize(("count", "steps"), [(5, 200), (10, 200), (30, 200), (100, 150)])
def test_settled_variance_is_what_particles_settle_at(count: int, steps: int):
    """The table's variance is where SVN on a standard Gaussian ends, within 0.02."""
    config = dataclasses.replace(DEFAULT, num_particles=count)
    offsets = np.random.default_rng(count).standard_normal((count, 6))
    state, _ = settle(np.eye(6), offsets, config, 0.0, steps)
    assert_allclose(state.offsets.var(axis=0).mean(), settled_variance(count), atol=0.02)


def test_settled_variance_grows_to_one():
    """More particles never show less, one shows nothing and very many show all."""
    shares = [settled_variance(count) for count in range(1, 500)]
    assert shares[0] == 0.0
    assert np.all(np.diff(shares) > 0.0)
    assert settled_variance(100_000) > 0.98


@pytest.mark.parametrize("count", [2, 5, 30])
def test_laplace_start_has_the_settled_moments(count: int, rng: np.random.Generator):
    """Particles start with mean zero, and given enough of them with the settled covariance."""
    config = dataclasses.replace(DEFAULT, num_particles=count)
    covariance = reference.inverse(random_spd(rng, 1e3))
    offsets = start_offsets(config, covariance, rng)
    assert offsets.shape == (count, 6)
    assert_allclose(offsets.mean(axis=0), 0.0, atol=1e-12)
    if count > 12:
        scatter = offsets.T @ offsets / count
        assert_allclose(scatter, settled_variance(count) * covariance, atol=1e-12)


# The baselines


def test_svgd_walks_to_the_mode(rng: np.random.Generator):
    """A hundred small steps of Adam bring the particles' mean much closer to the mode."""
    config = dataclasses.replace(DEFAULT, algorithm="svgd", learning_rate=0.003)
    offsets = 0.1 + 0.01 * rng.standard_normal((30, 6))
    state = svgd.init(BACKEND, offsets, config)
    for _ in range(100):
        state, _ = svgd.step(state, gaussian_problem(ROOM), BACKEND, config)
    assert np.abs(state.offsets.mean(axis=0)).max() < 0.02
