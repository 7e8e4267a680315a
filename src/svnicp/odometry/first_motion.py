# SPDX-License-Identifier: MIT
"""How a body moves when odometry begins: the second scan is tried at many places in the first.

A start at speed is out of reach of one registration, and rings on the road match best where they
were: at rest. So the search starts at many velocities. Starts that end at the same pose agree on
it; the pose that explains the scan best wins, and rest wins a tie.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Points, Transform
from svnicp.config import Config
from svnicp.local_map import VoxelMap
from svnicp.pose_gaussian import PoseGaussian
from svnicp.registration.candidates import spread_source
from svnicp.registration.locate import locate
from svnicp.registration.posterior import inverse_spd

SPEEDS_M_S = (5.0, 10.0, 20.0, 30.0)
DIRECTIONS = 8
"""Directions in the world's horizontal plane in which each speed is tried."""
START_SPEED_STD_M_S = 3.0
"""How far around each start one registration searches [m/s]."""
SEARCH_POINTS = 400
"""Points of the scan that are matched in the search."""
SAME_PLACE_M = 0.05
AGREEING_STARTS = 3
"""So many starts must end at the same place, unless it is rest."""
WHOLE = 0.995
"""Where rest finds this share of the scan in the map, nothing else is tried."""
CLEARLY_BETTER = 0.98
"""A motion must explain the scan this much better than rest does."""


class Ending(NamedTuple):
    """Where the search from one start ended."""

    pose: PoseGaussian
    misfit: float
    """Scale of the residuals over the overlap: less is better."""
    overlap: float = 0.0
    """Share of the scan that is in the map."""


def first_motion(
    points: Points, local_map: VoxelMap, T_at_rest: Transform, seconds: float, config: Config
) -> PoseGaussian | None:
    """Pose of the second scan in the map of the first; None when nothing fits.

    Parameters
    ----------
    points
        (n, 3) of the second scan in the body frame.
    local_map
        Holds the first scan.
    T_at_rest
        (4, 4) where the body is if it had no velocity at the first scan.
    seconds
        Between the two scans.
    config
        With the voxel size of the map.
    """
    if len(points) < config.match.min_matches:
        return None
    source = dataclasses.replace(config.source, max_points=SEARCH_POINTS)
    fewer = dataclasses.replace(config, source=source)
    sample = points[spread_source(points, source)]
    endings: list[Ending] = []
    for velocity in _velocities():
        ending = _search(sample, local_map, T_at_rest, velocity * seconds, seconds, fewer)
        if ending is None:
            continue
        endings.append(ending)
        if not velocity.any() and ending.overlap > WHOLE:
            break
    return choose(endings, T_at_rest)


def _velocities() -> list[Points]:
    """Rest first, then every speed in every horizontal direction, (3,) [m/s] each."""
    angles = np.arange(DIRECTIONS) * 2.0 * np.pi / DIRECTIONS
    directions = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(DIRECTIONS)])
    return [np.zeros(3), *(speed * way for speed in SPEEDS_M_S for way in directions)]


def _search(
    sample: Points, local_map: VoxelMap, T_at_rest: Transform, moved: Points, seconds: float,
    config: Config,
) -> Ending | None:  # fmt: skip
    """Where one registration ends that starts this far (3,) from rest."""
    guess = T_at_rest.copy()
    guess[:3, 3] += moved
    stds = np.repeat([START_SPEED_STD_M_S, config.motion.first_rate_rad_s], 3) * seconds
    located = locate(local_map, sample, guess, np.diag(stds**2), config)
    if located is None or located.overlap <= 0.0:
        return None
    covariance = inverse_spd(located.information + located.problem.prior.hessian)
    pose = PoseGaussian(located.T_target_source, covariance)
    return Ending(pose, located.scale / located.overlap, located.overlap)


def choose(endings: list[Ending], T_at_rest: Transform) -> PoseGaussian | None:
    """The ending with the least misfit among those that several starts agree on, or rest."""
    if not endings:
        return None
    places = np.array([ending.pose.T_world_body[:3, 3] for ending in endings])
    misfits = np.array([ending.misfit for ending in endings])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    agreed = np.count_nonzero(apart < SAME_PLACE_M, axis=1) >= AGREEING_STARTS
    slowest = int(np.argmin(np.linalg.norm(places - T_at_rest[:3, 3], axis=1)))
    at_rest = apart[slowest] < SAME_PLACE_M
    best = int(np.argmin(np.where(agreed | at_rest, misfits, np.inf)))
    if misfits[best] > CLEARLY_BETTER * misfits[at_rest].min():
        best = int(np.argmin(np.where(at_rest, misfits, np.inf)))
    return endings[best].pose
