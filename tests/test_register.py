# SPDX-License-Identifier: MIT
"""The verb: known motions, moved worlds, repeatability, wrong inputs, nothing to match."""

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from svnicp.arrays import Floats, Points, Transform
from svnicp.config import PRESETS, Config
from svnicp.errors import InputError
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, so3_exp, transform_points
from svnicp.local_map import VoxelMap
from svnicp.registration import RegistrationResult, Status, register, register_in_map
from svnicp.registration.register import ALGORITHMS
from svnicp.simulation import SCENES, LidarPattern, cast, scan
from svnicp.simulation.scene import SENSOR_START
from threads import needs_two_threads, num_threads

PATTERN = LidarPattern.rings(24, 360)
COARSE = LidarPattern.rings(16, 256)
MOTION = se3_exp(np.array([0.2, -0.1, 0.05, 0.02, -0.03, 0.08]))
"""T_target_source of every pair below."""
CORRIDOR_PRIOR = np.diag([0.1**2] * 3 + [0.01**2] * 3)


@cache
def scans(name: str, seed: int = 0, pattern: LidarPattern = PATTERN) -> tuple[Points, Points]:
    """Source and target: two noisy scans of a scene, MOTION apart."""
    rng = np.random.default_rng(seed)
    yaw = 0.2 if name == "room" else 0.0
    T_world_target = make_transform(so3_exp(np.array([0.0, 0.0, yaw])), np.array(SENSOR_START))
    target = scan(SCENES[name](), T_world_target, pattern, rng)
    source = scan(SCENES[name](), T_world_target @ MOTION, pattern, rng)
    return source, target


@cache
def room_result() -> RegistrationResult:
    """Return the room registered from the identity with everything left out."""
    return register(*scans("room"))


def error(result: RegistrationResult, T_true: Transform = MOTION) -> Floats:
    """Error (6,) of a result in its right tangent [m, rad]."""
    return se3_log(se3_inverse(result.T_target_source) @ T_true)


def assert_same(one: RegistrationResult, other: RegistrationResult) -> None:
    """Two results are equal bit for bit."""
    assert_array_equal(one.T_target_source, other.T_target_source)
    assert_array_equal(one.covariance, other.covariance)
    assert_array_equal(one.particles, other.particles)
    assert one.status == other.status


# Known motions


@pytest.mark.parametrize("seed", range(3))
def test_a_known_motion_is_recovered(seed: int):
    """In a room each axis of the error is within four reported standard deviations."""
    result = register(*scans("room", seed))
    assert result.status is Status.CONVERGED
    assert np.all(np.abs(error(result)) < 4.0 * result.sigmas)
    assert np.all(result.sigmas[:3] < 0.005)
    assert np.all(result.sigmas[3:] < 0.002)


def test_a_good_guess_and_a_poor_one_agree():
    """Where the search starts does not change where it ends, but for which points are kept."""
    source, target = scans("room")
    good = register(source, target, T_target_source=MOTION)
    # Two samples of the same scans: their difference is smaller than one independent error.
    assert_allclose(error(good, room_result().T_target_source) / good.sigmas, 0.0, atol=3.0)
    assert_allclose(good.sigmas / room_result().sigmas, 1.0, atol=0.2)


def test_a_map_that_is_kept_gives_the_same_answer():
    """Registering in a map of the target is registering with the target."""
    source, target = scans("room")
    local_map = VoxelMap(Config().map)
    local_map.insert(target)
    assert_same(register_in_map(source, local_map), room_result())


def test_residuals_are_as_large_as_expected():
    """With the sensor's noise given rightly, residuals are explained by their variances."""
    assert 0.7 < room_result().residual_scale < 1.3


def test_result_describes_itself():
    """Particles, history and the pose with covariance belong together."""
    result = room_result()
    assert result.particles.shape == (30, 4, 4)
    assert len(result.history) == result.iterations
    assert_array_equal(result.pose.covariance, result.covariance)
    assert_allclose(result.sigmas**2, np.diag(result.covariance))
    assert result.history[-1].particles is None


def test_iterations_are_recorded_on_request():
    """With ``record`` the particles of every iteration are kept, and the last are the result's."""
    config = dataclasses.replace(Config(), stein=dataclasses.replace(Config().stein, record=True))
    result = register(*scans("room"), config=config)
    assert_array_equal(result.history[-1].particles, result.particles)


# Moving the world


def quarter_turns(axis: int, count: int) -> Floats:
    """Rotation (3, 3) by quarter turns about a coordinate axis, without rounding."""
    return np.round(so3_exp(np.eye(3)[axis] * count * np.pi / 2.0))


BASE = make_transform(np.eye(3), np.array([0.13, 0.21, 0.07]))
"""Moves beams along the axes off the borders of the voxels, which only one side can have."""


@cache
def moved_room(axis: int, count: int) -> tuple[Transform, RegistrationResult]:
    """Return quarter turns and whole voxels (4, 4), and the result for a room moved so."""
    source, target = scans("room")
    G = make_transform(quarter_turns(axis, count), 0.5 * count * np.array([25.0, -15.0, 200.0]))
    moved = register(source, transform_points(G @ BASE, target), T_target_source=G @ BASE)
    return G, moved


@pytest.mark.parametrize(("axis", "count"), [(2, 1), (2, 2), (0, 1)])
def test_moving_the_world_moves_the_answer(axis: int, count: int):
    """Quarter turns and whole voxels move target, guess and answer alike and nothing else."""
    _, still = moved_room(0, 0)
    G, moved = moved_room(axis, count)
    # The same points in the same voxels: only the order of sums and the last bits differ.
    assert_allclose(error(moved, G @ still.T_target_source) / still.sigmas, 0.0, atol=1e-3)
    scale = np.outer(still.sigmas, still.sigmas)
    assert_allclose(moved.covariance / scale, still.covariance / scale, rtol=0.0, atol=1e-3)
    assert moved.status == still.status


def test_moving_the_world_anyhow_changes_little():
    """A generic motion cuts other voxels: the answer stays within its own uncertainty."""
    source, target = scans("room")
    still = room_result()
    for seed in range(3):
        G = se3_exp(np.random.default_rng(seed).normal(size=6) * [30.0, 30.0, 5.0, 0.1, 0.1, 1.5])
        moved = register(source, transform_points(G, target), T_target_source=G)
        # The map's share of the error is redrawn in part; the beams' share is the same.
        assert_allclose(error(moved, G @ still.T_target_source) / still.sigmas, 0.0, atol=3.0)
        assert_allclose(moved.sigmas / still.sigmas, 1.0, atol=0.3)
        assert_allclose(error(moved, G @ MOTION) / moved.sigmas, 0.0, atol=4.0)


# Repeatability


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_same_seed_gives_same_bits(preset: str):
    """A result is a function of its inputs and the generator's seed."""
    source, target = scans("room", 0, COARSE)
    stein = dataclasses.replace(Config.preset(preset).stein, max_iterations=5)
    config = dataclasses.replace(Config.preset(preset), stein=stein)
    results = [
        register(source, target, config=config, rng=np.random.default_rng(seed))
        for seed in (4, 4, 5)
    ]
    assert_same(results[0], results[1])
    assert not np.array_equal(results[0].particles, results[2].particles)


@needs_two_threads
def test_thread_count_does_not_change_bits():
    """One thread and two give the same result, bit for bit."""
    source, target = scans("room", 0, COARSE)
    with num_threads(1):
        alone = register(source, target)
    with num_threads(2):
        together = register(source, target)
    assert_same(alone, together)


def test_inputs_are_not_changed():
    """Clouds, guess and covariance are the caller's and stay as they are."""
    source, target = (cloud.copy() for cloud in scans("room", 0, COARSE))
    guess, prior = np.eye(4), np.diag([1.0] * 3 + [0.01] * 3)
    copies = [array.copy() for array in (source, target, guess, prior)]
    register(source, target, T_target_source=guess, prior_covariance=prior)
    for array, copy in zip((source, target, guess, prior), copies, strict=True):
        assert_array_equal(array, copy)


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_algorithm_gives_a_finite_answer(algorithm: Any, preset: str):
    """Pose, covariances and particles are finite and proper for all algorithms and presets."""
    source, target = scans("room", 0, COARSE)
    stein = dataclasses.replace(Config.preset(preset).stein, algorithm=algorithm, max_iterations=15)
    config = dataclasses.replace(Config.preset(preset), stein=stein)
    result = register(source, target, config=config)
    assert np.isfinite(result.particles).all()
    for covariance in (result.covariance, result.likelihood_covariance, result.laplace_covariance):
        assert np.isfinite(covariance).all()
        assert_allclose(covariance, covariance.T)
        assert np.all(np.diag(covariance) > 0.0)
    assert np.abs(error(result)).max() < 0.25
    assert len(result.particles) == (1 if algorithm == "gauss_newton" else 30)


# Wrong inputs


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            np.zeros((100, 4)),
            r"source must be an \(n, 3\) array .*got shape \(100, 4\); drop extra",
        ),
        (np.zeros(300), r"source must be an \(n, 3\) array .*got shape \(300,\)"),
        (np.zeros((0, 3)), "source has 0 points; at least 30 are needed"),
        (np.zeros((29, 3)), "source has 29 points; at least 30 are needed"),
        ([["a", "b", "c"]] * 40, r"source must be an \(n, 3\) array of numbers"),
        ([[1.0, 2.0], [3.0]], r"source must be an \(n, 3\) array of numbers"),
        (np.full((40, 3), np.nan), "source has 40 points with NaN or infinite coordinates; remove"),
        (np.full((40, 3), np.inf), "source has 40 points with NaN or infinite coordinates; remove"),
        (np.full((40, 3), 1e7), "source has coordinates up to 1e"),
        (None, r"source must be an \(n, 3\) array"),
    ],
)
def test_wrong_clouds_are_refused(source: Any, message: str):
    """A cloud that cannot be used is refused with a sentence; the target is checked like it."""
    _, good = scans("room", 0, COARSE)
    with pytest.raises(InputError, match=message):
        register(source, good)
    with pytest.raises(InputError, match=message.replace("source", "target")):
        register(good, source)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (np.eye(3), r"must be a finite 4 x 4 transform, got shape \(3, 3\)"),
        (np.full((4, 4), np.nan), "must be a finite 4 x 4 transform"),
        (np.diag([2.0, 2.0, 2.0, 1.0]), "is not a rigid transform"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "is not a rigid transform"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "is not a rigid transform"),
        (make_transform(np.eye(3), np.array([1e7, 0.0, 0.0])), "moves by more than"),
        ("somewhere", "T_target_source must be a"),
    ],
)
def test_wrong_guesses_are_refused(transform: Any, message: str):
    """A guess that is no rigid transform is refused with a sentence."""
    source, target = scans("room", 0, COARSE)
    with pytest.raises(InputError, match=message):
        register(source, target, T_target_source=transform)


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (np.eye(3), r"prior_covariance must be a finite 6 x 6 matrix, got shape \(3, 3\)"),
        (np.full((6, 6), np.nan), "must be a finite 6 x 6 matrix"),
        (-np.eye(6), "must be symmetric with positive variances"),
        (np.diag([1.0] * 5 + [0.0]), "must be symmetric with positive variances"),
        (np.eye(6) + np.eye(6, k=1), "must be symmetric with positive variances"),
        (np.ones((6, 6)), "must be positive definite; widen"),
        ("wide", "prior_covariance must be a"),
    ],
)
def test_wrong_covariances_are_refused(covariance: Any, message: str):
    """A prior that is no covariance is refused with a sentence."""
    source, target = scans("room", 0, COARSE)
    with pytest.raises(InputError, match=message):
        register(source, target, prior_covariance=covariance)


# Nothing to match, and too much


def test_no_overlap_returns_the_guess():
    """Without any overlap the guess comes back as uncertain as it was, and the status says so."""
    source, target = scans("room", 0, COARSE)
    prior = np.diag([0.5**2] * 3 + [0.05**2] * 3)
    result = register(source, target + np.array([100.0, 0.0, 0.0]), prior_covariance=prior)
    assert result.status in {Status.TOO_FEW_MATCHES, Status.LOW_OVERLAP}
    assert not result.status.ok
    assert_array_equal(result.T_target_source, np.eye(4))
    assert_array_equal(result.covariance, prior)
    assert np.isfinite(result.likelihood_covariance).all()


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_sliver_of_overlap_is_not_trusted(preset: str):
    """When only a twentieth of the source finds the target, the status warns."""
    source, target = scans("room", 0, COARSE)
    far = source[: 19 * len(target) // 20] + np.array([0.0, 0.0, 200.0])
    mostly_lost = np.concatenate([far, source[-len(source) // 20 :]])
    result = register(mostly_lost, target, T_target_source=MOTION, config=Config.preset(preset))
    assert not result.status.ok


def test_far_outliers_do_no_harm(rng: np.random.Generator):
    """Points beyond any reach change neither the validity nor the accuracy of the answer."""
    source, target = scans("room")
    outliers = rng.normal(size=(500, 3)) * 1000.0
    polluted = np.concatenate([source, outliers[np.linalg.norm(outliers, axis=1) > 100.0]])
    result = register(rng.permutation(polluted), target)
    assert result.status is Status.CONVERGED
    assert np.all(np.abs(error(result)) < 4.0 * result.sigmas)
    assert_allclose(result.sigmas / room_result().sigmas, 1.0, atol=0.25)


def test_duplicated_points_do_not_make_it_surer():
    """A cloud given twice over has the same information, and the covariance knows it."""
    source, target = scans("room")
    doubled = register(np.repeat(source, 3, axis=0), np.repeat(target, 3, axis=0))
    assert doubled.status is Status.CONVERGED
    assert_allclose(doubled.sigmas / room_result().sigmas, 1.0, atol=0.35)


# Weak directions


@pytest.fixture(scope="module")
def corridor_result() -> RegistrationResult:
    """Return the bare corridor registered with a guess that is right and known to 0.1 m."""
    source, target = scans("bare_corridor")
    return register(source, target, T_target_source=MOTION, prior_covariance=CORRIDOR_PRIOR)


def test_a_bare_corridor_is_weak_along_its_axis(corridor_result: RegistrationResult):
    """Along the corridor the scan adds nothing: sigma is the prior's, and the status says so."""
    assert corridor_result.status is Status.WEAK
    (weak,) = [w for w in corridor_result.weak_directions if w.kind == "translation"]
    axis_body = MOTION[:3, :3].T @ [1.0, 0.0, 0.0]
    assert abs(weak.direction @ axis_body) > 0.99
    assert_allclose(weak.sigma, 0.1, rtol=0.15)
    along = np.sqrt(axis_body @ corridor_result.covariance[:3, :3] @ axis_body)
    assert_allclose(along, 0.1, rtol=0.15)


def test_the_corridor_is_known_across_its_axis(corridor_result: RegistrationResult):
    """Across the corridor, and in all rotations, the scan knows far better than the prior."""
    R = MOTION[:3, :3]
    across = np.sqrt(np.diag(R @ corridor_result.covariance[:3, :3] @ R.T))[1:]
    assert np.all(across < 0.01)
    assert np.all(corridor_result.sigmas[3:] < 0.003)
    assert len(corridor_result.weak_directions) == 1


def test_the_scan_alone_does_not_know_the_corridor(corridor_result: RegistrationResult):
    """What the scan alone says along the axis is wider than the prior."""
    axis_body = MOTION[:3, :3].T @ [1.0, 0.0, 0.0]
    alone = axis_body @ corridor_result.likelihood_covariance[:3, :3] @ axis_body
    assert np.sqrt(alone) > 0.15


@pytest.mark.parametrize("name", ["room", "bare_corridor"])
def test_scan_and_prior_together_are_the_posterior(name: str, corridor_result: RegistrationResult):
    """A filter that fuses its prior with the scan's covariance gets about the posterior back."""
    if name == "room":
        result, prior = room_result(), np.diag([1.0] * 3 + [0.01] * 3)
    else:
        result, prior = corridor_result, CORRIDOR_PRIOR
    fused = np.linalg.inv(np.linalg.inv(result.likelihood_covariance) + np.linalg.inv(prior))
    relative = np.linalg.eigvals(np.linalg.solve(result.covariance, fused)).real
    assert relative.min() > 0.8
    assert relative.max() < 1.25


@cache
def noise_free_result() -> RegistrationResult:
    """Perfect scans of the room, as nobody but a simulation has them."""
    T_world_target = make_transform(np.eye(3), np.array(SENSOR_START))
    clouds = [cast(SCENES["room"](), T, COARSE).points()
              for T in (T_world_target @ MOTION, T_world_target)]  # fmt: skip
    return register(*clouds)


def test_noise_free_scans_are_registered_exactly():
    """Perfect data are registered to a millimetre and a third of a milliradian."""
    assert np.all(np.abs(error(noise_free_result())) < [1e-3] * 3 + [3e-4] * 3)


def test_particles_settle_in_noise_free_scans():
    """Without noise the particles come to rest as they do with noise."""
    assert noise_free_result().status is Status.CONVERGED
    assert noise_free_result().history[-1].step_sigma < 0.1
