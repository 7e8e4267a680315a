# SPDX-License-Identifier: MIT
"""The verb: register a source cloud in a target, and say how sure the answer is.

``register`` builds a map of the target and calls ``register_in_map``, which is what odometry calls
with the map it keeps: thin the source, locate the mode, let the particles explore the posterior
around it, summarise.
"""

from __future__ import annotations

import dataclasses
from types import ModuleType

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import Config, PriorConfig, SteinConfig
from svnicp.local_map import VoxelMap
from svnicp.local_map.cloud_check import check_cloud
from svnicp.registration import gauss_newton, stein_icp, svgd, svn
from svnicp.registration.backend import Array, Backend, make_backend
from svnicp.registration.candidates import spread_source
from svnicp.registration.inputs import (
    check_config,
    check_covariance,
    check_map,
    check_point_seconds,
    check_rng,
    check_transform,
)
from svnicp.registration.lag import lag_matrix
from svnicp.registration.locate import Located, locate, stay
from svnicp.registration.particles import start_offsets
from svnicp.registration.posterior import (
    inverse_spd,
    likelihood_covariance,
    mean_and_scatter,
    particle_poses,
    weak_directions,
    whole_covariance,
)
from svnicp.registration.result import Iteration, RegistrationResult
from svnicp.registration.slip import find_slips
from svnicp.registration.status import POOR_SCALE, Status, is_overlapping

ALGORITHMS: dict[str, ModuleType] = {
    "svn": svn, "svgd": svgd, "gauss_newton": gauss_newton, "stein_icp": stein_icp,
}  # fmt: skip

UNSETTLED_SIGMA = 0.5
"""Particles that still move this much at the end have not settled."""


def register(
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    T_target_source: npt.ArrayLike | None = None,
    prior_covariance: npt.ArrayLike | None = None,
    config: Config | None = None,
    rng: np.random.Generator | None = None,
) -> RegistrationResult:
    """Pose of ``source`` in ``target``, with a calibrated covariance.

    Parameters
    ----------
    source, target
        (n, 3) points in metres; the source in its sensor's frame (beams start at the origin).
    T_target_source
        (4, 4) initial guess; the identity when left out.
    prior_covariance
        (6, 6) covariance of the guess in its right tangent, translation [m] then rotation [rad];
        ``config.prior`` when left out.
    config
        ``Config.preset("default")`` when left out.
    rng
        Draws the particles' start; seeded with 0 when left out, so that runs repeat.

    Returns
    -------
    RegistrationResult
        Check ``result.status`` before using the pose.

    Raises
    ------
    InputError
        When an input cannot be used at all; the message says why and what to do.

    """
    config, rng = check_config(config), check_rng(rng)
    target_points = check_cloud("target", target, config.match.min_matches)
    local_map = VoxelMap(config.map)
    local_map.insert(target_points)
    return register_in_map(
        source, local_map, T_target_source=T_target_source, prior_covariance=prior_covariance,
        config=config, rng=rng,
    )  # fmt: skip


def register_in_map(
    source: npt.ArrayLike,
    local_map: VoxelMap,
    *,
    T_target_source: npt.ArrayLike | None = None,
    prior_covariance: npt.ArrayLike | None = None,
    config: Config | None = None,
    rng: np.random.Generator | None = None,
    point_seconds: Floats | None = None,
    start: npt.ArrayLike | None = None,
) -> RegistrationResult:
    """Pose of ``source`` in a map that is kept between calls; otherwise as ``register``.

    ``point_seconds`` (n,): when each point was taken, relative to the time that it was deskewed to;
    the result then has ``lag``. ``start`` (4, 4): where the search begins, if that is known better
    than by the guess, which stays the mean of the prior.
    """
    config, rng, local_map = check_config(config), check_rng(rng), check_map(local_map)
    guess = check_transform("T_target_source", T_target_source)
    if prior_covariance is None:
        covariance = _default_prior(config.prior)
    else:
        covariance = check_covariance("prior_covariance", prior_covariance)
    points = check_cloud("source", source, config.match.min_matches)
    if point_seconds is not None:
        point_seconds = check_point_seconds(point_seconds, len(points))
    spread = spread_source(points, config.source)
    find = stay if config.stein.start == "box" else locate
    begin = None if start is None else check_transform("start", start)
    located = find(local_map, points[spread], guess, covariance, config, begin)
    if located is None:
        return _nothing_found(guess, covariance)
    result = _explore(located, covariance, config, make_backend(config.backend), rng)
    if config.noise.slip_m > 0.0:
        slips = find_slips(local_map, points[spread], located, config)
        result = dataclasses.replace(result, slips=tuple(slips))
    if point_seconds is None:
        return result
    lag = lag_matrix(located.problem, point_seconds[spread[located.kept]])
    return dataclasses.replace(result, lag=lag)


def _explore(
    located: Located, prior_covariance: Covariance, config: Config, backend: Backend,
    rng: np.random.Generator,
) -> RegistrationResult:  # fmt: skip
    """Let the particles settle around the mode and summarise them."""
    algorithm = ALGORITHMS[config.stein.algorithm]
    problem = located.problem
    curvature = located.information + problem.prior.hessian
    offsets = start_offsets(config.stein, inverse_spd(curvature), rng)
    loaded = backend.load(problem)
    state = algorithm.init(backend, offsets, config.stein)
    history: list[Iteration] = []
    mean_hessian = backend.put(curvature)
    for _ in range(config.stein.max_iterations):
        state, info = algorithm.step(state, loaded, backend, config.stein)
        mean_hessian = info.mean_hessian
        poses = None
        if config.stein.record:
            poses = _poses(located, algorithm, backend, state.offsets)
        norm, sigma, trace = backend.numbers(info.step_norm, info.step_sigma, info.kernel_trace)
        history.append(Iteration(norm, sigma, trace, poses))
        if _meets_tolerance(history[-1], config.stein):
            break
    mean_hessian = backend.get(mean_hessian)
    particles = _poses(located, algorithm, backend, state.offsets)
    return _summarise(located, particles, mean_hessian, prior_covariance, config, history)


def _poses(located: Located, algorithm: ModuleType, backend: Backend, offsets: Array) -> Transform:
    """Particles (K, 4, 4) as poses in the target frame."""
    vectors = algorithm.rotation_vectors(backend.get(offsets))
    return particle_poses(located.T_target_source, vectors)


def _summarise(
    located: Located, particles: Transform, mean_hessian: Covariance,
    prior_covariance: Covariance, config: Config, history: list[Iteration],
) -> RegistrationResult:  # fmt: skip
    """Mean, covariances, weak directions and status of settled particles."""
    T_mean, scatter = mean_and_scatter(particles)
    prior_hessian = located.problem.prior.hessian
    laplace = inverse_spd(located.information + prior_hessian)
    if config.stein.kernel == "whitened" or len(particles) == 1:
        covariance = whole_covariance(scatter, mean_hessian, len(particles))
    else:
        covariance = scatter
    alone = likelihood_covariance(covariance, laplace, located.information, prior_hessian)
    weak = weak_directions(covariance, prior_covariance)
    return RegistrationResult(
        T_target_source=T_mean, covariance=covariance, likelihood_covariance=alone,
        laplace_covariance=laplace, particles=particles,
        status=_status(located, history, weak != [], config), weak_directions=weak,
        iterations=len(history), num_matches=located.num_matches, residual_scale=located.scale,
        history=history, hit_limit=not _meets_tolerance(history[-1], config.stein),
    )  # fmt: skip


def _meets_tolerance(last: Iteration, config: SteinConfig) -> bool:
    """Whether an iteration moved the particles so little that it is the last."""
    return (last.step_sigma if config.stop == "sigma" else last.step_norm) < config.tolerance


def _status(located: Located, history: list[Iteration], weak: bool, config: Config) -> Status:
    """How it ended, worst news first."""
    scale = located.scale if config.noise.scale == "residuals" else 1.0
    if not is_overlapping(located.overlap, scale):
        return Status.LOW_OVERLAP
    if located.scale > POOR_SCALE:
        return Status.POOR_FIT
    if not history[-1].step_sigma <= UNSETTLED_SIGMA:
        return Status.NOT_CONVERGED
    return Status.WEAK if weak else Status.CONVERGED


def _nothing_found(guess: Transform, covariance: Covariance) -> RegistrationResult:
    """The guess, as uncertain as it was."""
    return RegistrationResult(
        T_target_source=guess, covariance=covariance,
        likelihood_covariance=covariance * 1e6, laplace_covariance=covariance,
        particles=guess[None], status=Status.TOO_FEW_MATCHES,
        weak_directions=weak_directions(covariance, covariance), iterations=0, num_matches=0,
        residual_scale=float("nan"), history=[],
    )  # fmt: skip


def _default_prior(config: PriorConfig) -> Covariance:
    """Covariance of a guess about which nothing was said."""
    return np.diag([config.translation_std_m**2] * 3 + [config.rotation_std_rad**2] * 3)
