# SPDX-License-Identifier: MIT
"""How a body moves when odometry begins: the second scan is tried at many places in the first.

A start at speed is out of reach of one registration, and rings on the road match best where they
were: at rest. So the search starts at many velocities. Starts that end at the same pose agree on
it; the pose that explains the scan best wins, and rest, or what is next to it, wins a tie. A tree
on a bank may look like the next one, but a third scan does not lie where a motion leads that is
none.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Points, Transform
from svnicp.config import Config
from svnicp.local_map import VoxelMap
from svnicp.odometry.search import Ending, Search
from svnicp.pose_gaussian import PoseGaussian

SPEEDS_M_S = (5.0, 10.0, 20.0, 30.0)
DIRECTIONS = 8
"""Directions in the world's horizontal plane in which each speed is tried."""
START_SPEED_STD_M_S = 3.0
"""How far around each start one registration searches [m/s]."""
CLIMB_STD_M_S = 0.5
"""The same up and down, where bodies are slow and rings show little [m/s]."""
SHOWN = 0.5
"""A motion is shown by a scan that leaves less than this share of that open."""
SAME_PLACE_M = 0.05
AGREEING_STARTS = 3
"""So many starts must end at the same place, unless it is rest."""
WHOLE = 0.995
"""Where rest finds this share of the scan in the map, nothing else is tried."""
CLEARLY_BETTER = 0.98
"""A motion must explain the scan this much better than rest does, at no higher cost of a point."""
FAST_M_S = 3.0
"""A motion faster than this has to be confirmed by a third scan [m/s]."""
STRAYED = 0.25
"""The third scan is at most this share of its way from where the motion leads."""


class FirstMotion(NamedTuple):
    """Where the second scan lies in the map of the first."""

    pose: PoseGaussian
    """By the scans."""
    velocity: Points
    """(3,) beyond that of a body that was at rest at the first scan [m/s]."""

    @property
    def is_fast(self) -> bool:
        """Whether two scans are not enough to believe it."""
        return float(np.linalg.norm(self.velocity)) > FAST_M_S


class FirstMotions(NamedTuple):
    """What two scans say about it."""

    likeliest: FirstMotion
    slowest: FirstMotion
    """The place next to rest where the scan could be, too."""

    @property
    def unconfirmed(self) -> FirstMotion | None:
        """What is left if the third scan does not lie where the likeliest motion leads."""
        return None if self.slowest.is_fast else self.slowest


def first_motion(
    points: Points, local_map: VoxelMap, T_at_rest: Transform, seconds: float, config: Config
) -> FirstMotions | None:
    """Where the second scan may be in the map of the first; None when nothing fits.

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
    search = Search(points, local_map, config)
    endings: list[Ending] = []
    for velocity in _velocities():
        ending = _led_by(velocity, search, T_at_rest, seconds, config)
        if ending is None:
            continue
        endings.append(ending)
        if not velocity.any() and ending.overlap > WHOLE:
            break
    chosen = choose(endings, T_at_rest, SHOWN * START_SPEED_STD_M_S * seconds)
    if chosen is None:
        return None
    return FirstMotions(
        *(
            FirstMotion(pose, (pose.T_world_body[:3, 3] - T_at_rest[:3, 3]) / seconds)
            for pose in chosen
        )
    )


def is_confirmed(
    velocity: Points, points: Points, local_map: VoxelMap, T_at_rest: Transform, seconds: float,
    config: Config,
) -> bool:  # fmt: skip
    """Whether a third scan lies where a velocity (3,) leads, rather than where it was at rest.

    Level with it: rings show little of the height. Other arguments as those of ``first_motion``,
    for the third scan instead of the second.
    """
    search = Search(points, local_map, config)
    found = [
        _led_by(begun, search, T_at_rest, seconds, config) for begun in (velocity, 0 * velocity)
    ]
    endings = [ending for ending in found if ending is not None]
    if not endings:
        return False
    best = min(endings, key=lambda ending: ending.cost)
    way = velocity * seconds
    strayed = best.pose.T_world_body[:3, 3] - T_at_rest[:3, 3] - way
    return float(np.linalg.norm(strayed[:2])) < STRAYED * float(np.linalg.norm(way))


def _led_by(
    velocity: Points, search: Search, T_at_rest: Transform, seconds: float, config: Config
) -> Ending | None:
    """Where the search ends that begins where a velocity (3,) leads; None if nothing fits there."""
    stds = np.repeat([START_SPEED_STD_M_S, config.motion.first_rate_rad_s], 3) * seconds
    stds[2] = CLIMB_STD_M_S * seconds
    guess = T_at_rest.copy()
    guess[:3, 3] += velocity * seconds
    ending = search.begin_at(guess, np.diag(stds**2))
    return ending if ending is not None and ending.fits else None


def _velocities() -> list[Points]:
    """Rest first, then every speed in every horizontal direction, (3,) [m/s] each."""
    angles = np.arange(DIRECTIONS) * 2.0 * np.pi / DIRECTIONS
    directions = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(DIRECTIONS)])
    return [np.zeros(3), *(speed * way for speed in SPEEDS_M_S for way in directions)]


def choose(
    endings: list[Ending], T_at_rest: Transform, shown_m: float = np.inf
) -> tuple[PoseGaussian, PoseGaussian] | None:
    """The ending with the least misfit among those that several starts agree on, and the slowest.

    What the scan leaves open along a motion must be less than ``shown_m``: in a pipe that hides the
    way along it, one place is as good as another.
    """
    if not endings:
        return None
    places = np.array([ending.pose.T_world_body[:3, 3] for ending in endings])
    misfits = np.array([ending.misfit for ending in endings])
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    agreed = np.count_nonzero(apart < SAME_PLACE_M, axis=1) >= AGREEING_STARTS
    slowest = int(np.argmin(np.linalg.norm(places - T_at_rest[:3, 3], axis=1)))
    at_rest = apart[slowest] < SAME_PLACE_M
    best = int(np.argmin(np.where(agreed | at_rest, misfits, np.inf)))
    moves = misfits[best] < CLEARLY_BETTER * misfits[at_rest].min()
    moves = moves and endings[best].cost <= endings[slowest].cost
    shown = _open_m(endings[best].pose, places[best] - places[slowest]) < shown_m
    return endings[best if moves and shown else slowest].pose, endings[slowest].pose


def _open_m(pose: PoseGaussian, moved: Points) -> float:
    """Standard deviation along a motion (3,) in the world [m]."""
    along = pose.T_world_body[:3, :3].T @ moved / max(float(np.linalg.norm(moved)), 1e-12)
    return float(np.sqrt(along @ pose.covariance[:3, :3] @ along))
