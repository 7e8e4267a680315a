# SPDX-License-Identifier: MIT
"""Gauss-Newton to the mode of the posterior, and the problem that particles then explore.

Coarse rounds come near with the nearest map point of each source point and a shrinking reach; fine
rounds walk on with all candidates until those found are where they are needed. The scale of the
residuals is taken anew in each step, so that a bad start is forgiving and a good end is sharp. The
last round's candidates, scale, reliability and prior make the ``Problem``.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Integers, Points, Transform
from svnicp.config import Config
from svnicp.kernels import candidates as compiled
from svnicp.kernels.linearise import linearise_one
from svnicp.kernels.stein import solve_spd
from svnicp.lie import make_transform, orthonormalise, so3_exp
from svnicp.local_map import VoxelMap
from svnicp.registration.candidates import (
    Candidates,
    choose_points,
    find_candidates,
    localise,
)
from svnicp.registration.posterior import symmetric
from svnicp.registration.prior import Prior, flat_prior, gaussian_prior
from svnicp.registration.problem import Problem
from svnicp.registration.reliability import seen_offsets
from svnicp.registration.robust import WEIGHT_KINDS, Efficiency, efficiency, residual_scale

MAX_FINE_ROUNDS = 8
STEPS_PER_ROUND = 6
SHORT_STEP = np.array([2e-4] * 3 + [2e-5] * 3)
"""Newton steps shorter than this [m, rad] end a round."""
LEASH = 0.5
"""A walk ends this share of the reach from where its candidates were looked for."""
NEAR = np.array([0.005, 0.0005])
"""A round that moves less than this [m, rad] found its candidates where they are needed."""


class Located(NamedTuple):
    """The mode and the problem around it."""

    T_target_source: Transform
    """(4, 4) pose at the mode; the problem's reference."""
    problem: Problem
    information: Floats
    """(6, 6) curvature of the likelihood alone at the mode, discounted for noisy normals."""
    scale: float
    """Residuals over what their variances explain; 1 is as expected."""
    num_matches: int
    overlap: float
    """Share of the spread source points that have a map point within reach."""
    rounds: int
    kept: Integers
    """(N,) which of the source points are in the problem."""


def locate(
    local_map: VoxelMap, source: Points, guess: Transform, prior_covariance: Floats,
    config: Config, start: Transform | None = None,
) -> Located | None:  # fmt: skip
    """Walk from the guess to the mode; None when too few points match.

    With a better ``start`` (4, 4) the walk begins there, and the guess is only the prior's mean.
    """
    T: Transform | None = guess if start is None else start
    reach = config.match.max_distance_m
    if start is None:
        reach = _first_reach(source, prior_covariance, config)
    rounds = 0
    while True:
        rounds += 1
        nearest = find_candidates(local_map, source, T, config, reach, count=1)
        keep = choose_points(nearest, T, config)
        T = _walk(_subset(nearest, keep), T, guess, prior_covariance, config, reach)
        if T is None:
            return None
        if reach <= config.match.max_distance_m:
            break
        reach = max(0.5 * reach, config.match.max_distance_m)
    fine_rounds = 0
    while True:
        rounds, fine_rounds = rounds + 1, fine_rounds + 1
        T_before = T
        candidates = find_candidates(local_map, source[keep], T, config, reach)
        T = _walk(candidates, T, guess, prior_covariance, config, reach)
        if T is None:
            return None
        if fine_rounds == MAX_FINE_ROUNDS or _moved_little(T_before, T):
            break
    last = _linearised(candidates, T, guess, prior_covariance, config, reach)
    if last is None:
        return None
    return _located(T, candidates, last, config, reach, (_overlap(nearest), rounds, keep))


def stay(
    local_map: VoxelMap, source: Points, guess: Transform, prior_covariance: Floats,
    config: Config, start: Transform | None = None,
) -> Located | None:  # fmt: skip
    """The problem around the guess itself, for particles that find their own way (the paper)."""
    T = guess if start is None else start
    reach = config.match.max_distance_m
    nearest = find_candidates(local_map, source, T, config, reach, 1)
    keep = choose_points(nearest, T, config)
    candidates = find_candidates(local_map, source[keep], T, config, reach)
    step = _linearised(candidates, T, guess, prior_covariance, config, reach)
    if step is None:
        return None
    return _located(T, candidates, step, config, reach, (_overlap(nearest), 1, keep))


def _walk(
    candidates: Candidates, T: Transform, guess: Transform, prior_covariance: Floats,
    config: Config, reach_m: float,
) -> Transform | None:  # fmt: skip
    """Newton steps on the same candidates until they are short; None with too few matches.

    Candidates are good near where they were looked for: a walk that leads away ends half their
    reach from there. Along a direction that only a wide prior holds it would lead anywhere.
    """
    begin = T
    for _ in range(STEPS_PER_ROUND):
        step = _linearised(candidates, T, guess, prior_covariance, config, reach_m)
        if step is None:
            return None
        T = orthonormalise(T @ make_transform(so3_exp(step.offset[3:]), step.offset[:3]))
        away = T[:3, 3] - begin[:3, 3]
        distance = float(np.linalg.norm(away))
        if distance > LEASH * reach_m:
            T[:3, 3] = begin[:3, 3] + away * (LEASH * reach_m / distance)
            break
        if np.all(np.abs(step.offset) < SHORT_STEP):
            break
    return T


class _Step(NamedTuple):
    """One Gauss-Newton step and what it was made of, as in ``Problem`` and ``Located``."""

    offset: Floats
    seen: Floats
    efficiency: Efficiency
    prior: Prior
    information: Floats
    scale: float
    num_matches: int


def _linearised(
    candidates: Candidates, T: Transform, guess: Transform, prior_covariance: Floats,
    config: Config, reach_m: float,
) -> _Step | None:  # fmt: skip
    """Scale, reliability, prior and Newton step at one pose; None with too few matches."""
    T_local = localise(T, candidates.origin)
    chosen, normalised = compiled.match_all(T_local, candidates.points, candidates.rows, reach_m**2)
    num_matches = int(np.count_nonzero(chosen >= 0))
    if num_matches < config.match.min_matches:
        return None
    scale = 1.0
    if config.noise.scale == "residuals":
        scale = residual_scale(normalised[chosen >= 0])
    kind, width = WEIGHT_KINDS[config.noise.weight], config.noise.weight_width
    # Variances are scaled by s²: the same as a weight s times as wide, and sums divided by s².
    gradient, hessian = linearise_one(
        T_local, candidates.points, candidates.rows, reach_m**2, kind, width * scale
    )
    seen = np.eye(6)
    if config.noise.debias_normals and config.match.metric == "plane":
        fake = compiled.normal_noise_information(
            T_local, candidates.points, candidates.rows, candidates.normal_cov, chosen, normalised,
            kind, width * scale,
        )  # fmt: skip
        seen = seen_offsets(hessian, fake)
    factors = efficiency(config.noise, num_matches)
    prior = _prior_at(T, guess, prior_covariance, config)
    # Of gradient and curvature the reliable share ρ = seen² is kept: the information is ρH.
    pull = (factors.gradient / scale**2) * (seen.T @ gradient)
    information = symmetric((factors.hessian / scale**2) * (seen.T @ hessian @ seen))
    offset = -solve_spd(information + prior.hessian, seen.T @ pull + prior.slope)
    # Particles look at the likelihood in seen @ offset, which leaves them seen' of the gradient at
    # the reference; the rest of ρ, constant, goes with the prior's slope.
    prior = prior._replace(slope=prior.slope + seen.T @ pull - pull)
    return _Step(offset, seen, factors, prior, information, scale, num_matches)


def _located(
    T: Transform, candidates: Candidates, step: _Step, config: Config, reach_m: float,
    search: tuple[float, int, Integers],
) -> Located:  # fmt: skip
    """The problem around pose T, with the variances that its last step found."""
    rows = candidates.rows.copy()
    rows[:, :, 7] /= step.scale**2
    problem = Problem(
        T_reference=localise(T, candidates.origin), origin=candidates.origin,
        points=candidates.points, rows=rows, max_distance_m=reach_m,
        weight=WEIGHT_KINDS[config.noise.weight], weight_width=config.noise.weight_width,
        seen=step.seen, efficiency=step.efficiency, prior=step.prior,
    )  # fmt: skip
    return Located(T, problem, step.information, step.scale, step.num_matches, *search)


def _prior_at(T: Transform, guess: Transform, covariance: Floats, config: Config) -> Prior:
    """The prior seen from pose T; flat when the configuration does not use one."""
    return gaussian_prior(guess, covariance, T) if config.prior.use else flat_prior()


def _overlap(nearest: Candidates) -> float:
    """Share of source points that have any candidate."""
    return float(np.mean(np.isfinite(nearest.rows[:, 0, 0])))


def _subset(candidates: Candidates, keep: Integers) -> Candidates:
    """The candidates of these source points only."""
    return Candidates(
        np.ascontiguousarray(candidates.points[keep]),
        np.ascontiguousarray(candidates.rows[keep]),
        np.ascontiguousarray(candidates.normal_cov[keep]),
        candidates.origin,
    )


def _first_reach(source: Points, prior_covariance: Floats, config: Config) -> float:
    """Reach of the first round: three standard deviations of where a typical point may be [m]."""
    lever = float(np.median(np.linalg.norm(source, axis=1)))
    largest = np.linalg.eigvalsh(prior_covariance[:3, :3])[-1]
    turning = np.linalg.eigvalsh(prior_covariance[3:, 3:])[-1]
    reach = 3.0 * float(np.sqrt(largest + lever**2 * turning))
    limit = max(config.match.max_first_distance_m, config.match.max_distance_m)
    return min(max(reach, config.match.max_distance_m), limit)


def _moved_little(T_before: Transform, T_after: Transform) -> bool:
    """Whether a round changed the pose by less than NEAR."""
    moved = np.linalg.norm(T_after[:3, 3] - T_before[:3, 3])
    turned = np.linalg.norm(T_after[:3, :3] - T_before[:3, :3]) / np.sqrt(2.0)
    return bool(moved < NEAR[0] and turned < NEAR[1])
