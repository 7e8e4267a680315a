# SPDX-License-Identifier: MIT
"""Gauss-Newton steps on given candidates: the posterior's slope and curvature at one pose.

The scale of the residuals is taken anew in each step, so that a bad start is forgiving and a good
end is sharp. ``locate`` looks for candidates and walks by these steps; the last one says what the
particles need to know.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import Config
from svnicp.kernels import candidates as compiled
from svnicp.kernels import curvature
from svnicp.kernels.lie import compose_offset
from svnicp.kernels.linearise import linearise_one
from svnicp.lie import orthonormalise
from svnicp.registration.candidates import Candidates, localise
from svnicp.registration.prior import Prior, prior_seen_from
from svnicp.registration.reliability import reliable_part
from svnicp.registration.robust import WEIGHT_KINDS, Efficiency, efficiency, scale_of_median

STEPS_PER_WALK = 6
SHORT_STEP = np.array([2e-4] * 3 + [2e-5] * 3)
"""A Newton step shorter than this [m, rad] ends a walk."""
LEASH = 0.5
"""A walk ends this share of the reach from where its candidates were looked for."""
ALL_SEEN = np.eye(6)


class Aim(NamedTuple):
    """What all steps of a registration have in common."""

    guess: Transform
    """(4, 4) mean of the prior."""
    precision: Floats
    """(6, 6) of the prior in the right tangent of the guess; zero without a prior."""
    config: Config


def aim_at(guess: Transform, prior_covariance: Covariance, config: Config) -> Aim:
    """Return the aim with this prior, if the configuration uses one."""
    precision = np.linalg.inv(prior_covariance).astype(np.float64)
    return Aim(guess, precision if config.prior.use else np.zeros((6, 6)), config)


class NewtonStep(NamedTuple):
    """One Gauss-Newton step and what it was made of, as in ``Problem`` and ``Located``."""

    offset: Floats
    seen: Floats
    efficiency: Efficiency
    prior: Prior
    information: Floats
    scale: float
    num_matches: int


def walk(candidates: Candidates, T: Transform, aim: Aim, reach_m: float) -> Transform | None:
    """Newton steps on the same candidates until they are short; None with too few matches.

    Candidates are good near where they were looked for: a walk that leads away ends half their
    reach from there. Along a direction that only a wide prior holds it would lead anywhere.
    """
    begin = T
    for _ in range(STEPS_PER_WALK):
        step = newton_step(candidates, T, aim, reach_m)
        if step is None:
            return None
        T = compose_offset(T, step.offset)
        away = T[:3, 3] - begin[:3, 3]
        distance = float(np.linalg.norm(away))
        if distance > LEASH * reach_m:
            T[:3, 3] = begin[:3, 3] + away * (LEASH * reach_m / distance)
            break
        if np.all(np.abs(step.offset) < SHORT_STEP):
            break
    return orthonormalise(T)


def newton_step(
    candidates: Candidates, T: Transform, aim: Aim, reach_m: float
) -> NewtonStep | None:
    """Scale, reliability, prior and Newton step at one pose; None with too few matches."""
    config = aim.config
    T_local = localise(T, candidates.origin)
    chosen, normalised, num_matches, median = compiled.match_and_median(
        T_local, candidates.points, candidates.rows, reach_m**2
    )
    if num_matches < config.match.min_matches:
        return None
    scale = scale_of_median(median) if config.noise.scale == "residuals" else 1.0
    kind, width = WEIGHT_KINDS[config.noise.weight], config.noise.weight_width
    # Variances are scaled by s²: the same as a weight s times as wide, and sums divided by s².
    gradient, hessian = linearise_one(
        T_local, candidates.points, candidates.rows, reach_m**2, kind, width * scale
    )
    reliable = ALL_SEEN, gradient, hessian
    if config.noise.debias_normals and config.match.metric == "plane":
        reliable = reliable_part(
            T_local, candidates.points, candidates.rows, candidates.normal_cov, chosen, normalised,
            kind, width * scale, hessian, config.noise.facing,
            config.noise.vouching,
        )  # fmt: skip
    factors = efficiency(config.noise, int(num_matches))
    prior = prior_seen_from(aim.guess, aim.precision, T)
    offset, information, slope = curvature.newton_offset(
        gradient, hessian, reliable, factors.gradient / scale**2, factors.hessian / scale**2, *prior
    )
    prior = prior._replace(slope=slope)
    return NewtonStep(offset, reliable[0], factors, prior, information, scale, int(num_matches))
