# SPDX-License-Identifier: MIT
"""Gauss-Newton to the mode of the posterior, and the problem that particles then explore.

Coarse rounds come near from a wide guess, with few points and a shrinking reach; fine rounds walk
on with all candidates until those found are where they are needed. The last round's candidates,
scale, reliability and prior make the ``Problem``.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Integers, Points, Transform
from svnicp.config import Config
from svnicp.local_map import VoxelMap
from svnicp.registration.candidates import Candidates, find_best, find_candidates, localise
from svnicp.registration.newton import Aim, NewtonStep, aim_at, newton_step, walk
from svnicp.registration.problem import Problem
from svnicp.registration.robust import WEIGHT_KINDS

COARSE_POINTS = 1000
"""About so many points look for matches while the reach is wide."""
MAX_FINE_ROUNDS = 8
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
    aim, reach = aim_at(guess, prior_covariance, config), config.match.max_distance_m
    T, rounds = start, 0
    if T is None:
        T, rounds = _come_near(local_map, source, aim, prior_covariance)
    if T is None:
        return None
    found = find_best(local_map, source, T, config, reach)
    candidates = found.candidates
    for fine_round in range(1, MAX_FINE_ROUNDS + 1):
        T_before = T
        T = walk(candidates, T, aim, reach)
        if T is None:
            return None
        rounds += 1
        if fine_round == MAX_FINE_ROUNDS or _moved_little(T_before, T):
            break
        candidates = find_candidates(local_map, source[found.kept], T, config, reach)
    last = newton_step(candidates, T, aim, reach)
    if last is None:
        return None
    return _located(T, candidates, last, config, (found.overlap, rounds, found.kept))


def _come_near(
    local_map: VoxelMap, source: Points, aim: Aim, prior_covariance: Floats
) -> tuple[Transform | None, int]:
    """Walk from a wide guess until points are within reach of their matches, in coarse rounds.

    Some of the points do: all that counts is to come near. The reach shrinks to what the last walk
    moved them by, and to half at least. Returns the pose, None with too few matches, and how many
    rounds it took.
    """
    some = source[:: max(1, len(source) // COARSE_POINTS)]
    lever = float(np.median(np.linalg.norm(some, axis=1)))
    reach = _first_reach(lever, prior_covariance, aim.config)
    T, rounds = aim.guess, 0
    while reach > aim.config.match.max_distance_m:
        found = find_best(local_map, some, T, aim.config, reach, count=1)
        T_before, rounds = T, rounds + 1
        T = walk(found.candidates, T, aim, reach)
        if T is None:
            break
        moved, turned = _apart(T_before, T)
        reach = min(0.5 * reach, 2.0 * (moved + lever * turned))
    return T, rounds


def stay(
    local_map: VoxelMap, source: Points, guess: Transform, prior_covariance: Floats,
    config: Config, start: Transform | None = None,
) -> Located | None:  # fmt: skip
    """The problem around the guess itself, for particles that find their own way (the paper)."""
    T = guess if start is None else start
    reach = config.match.max_distance_m
    candidates, kept, overlap = find_best(local_map, source, T, config, reach)
    step = newton_step(candidates, T, aim_at(guess, prior_covariance, config), reach)
    if step is None:
        return None
    return _located(T, candidates, step, config, (overlap, 1, kept))


def _located(
    T: Transform, candidates: Candidates, step: NewtonStep, config: Config,
    search: tuple[float, int, Integers],
) -> Located:  # fmt: skip
    """The problem around pose T, with the variances that its last step found."""
    rows = candidates.rows.copy()
    rows[:, :, 7] /= step.scale**2
    problem = Problem(
        T_reference=localise(T, candidates.origin), origin=candidates.origin,
        points=candidates.points, rows=rows, max_distance_m=config.match.max_distance_m,
        weight=WEIGHT_KINDS[config.noise.weight], weight_width=config.noise.weight_width,
        seen=step.seen, efficiency=step.efficiency, prior=step.prior,
    )  # fmt: skip
    return Located(T, problem, step.information, step.scale, step.num_matches, *search)


def _first_reach(lever_m: float, prior_covariance: Floats, config: Config) -> float:
    """Reach of the first round: three standard deviations of where a typical point may be [m]."""
    largest = np.linalg.eigvalsh(prior_covariance[:3, :3])[-1]
    turning = np.linalg.eigvalsh(prior_covariance[3:, 3:])[-1]
    reach = 3.0 * float(np.sqrt(largest + lever_m**2 * turning))
    return min(reach, max(config.match.max_first_distance_m, config.match.max_distance_m))


def _moved_little(T_before: Transform, T_after: Transform) -> bool:
    """Whether a round changed the pose by less than NEAR."""
    moved, turned = _apart(T_before, T_after)
    return moved < NEAR[0] and turned < NEAR[1]


def _apart(T_before: Transform, T_after: Transform) -> tuple[float, float]:
    """How far apart two poses are [m], and by how much they are turned [rad]."""
    moved = np.linalg.norm(T_after[:3, 3] - T_before[:3, 3])
    turned = np.linalg.norm(T_after[:3, :3] - T_before[:3, :3]) / np.sqrt(2.0)
    return float(moved), float(turned)
