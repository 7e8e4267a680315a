# SPDX-License-Identifier: MIT
"""Whether a scan that is moved along a direction that it hardly knows really fits worse.

Curvature holds the matches fixed. Along a bare corridor every point would find another match as
good as its own, a little farther on: the scan slips, and with it the estimate goes wherever the
prediction is. So the scan is moved along its weak directions, both ways, all else following as
curvature has it, and matched anew. With c the robust cost of a point (half of a squared residual,
for small ones), two things are told:

- whether those points that carry the information along the direction, with weights w, fit as much
  worse as their old matches say: the share Σ w (c there - c here) / Σ w (c of the old match there -
  c here) of the information is real;
- where all points together fit best: surfaces that face nowhere but are rough tell the place, too.
  z = Σ (c there - c here) / √n of n points is about zero where they do not.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.config import Config
from svnicp.kernels import candidates as compiled
from svnicp.kernels.lie import compose_offset
from svnicp.local_map import VoxelMap
from svnicp.registration.candidates import find_candidates, localise
from svnicp.registration.locate import Located
from svnicp.registration.posterior import inverse_spd

STEPS = 3
"""So many places are tried on either side, as far apart as ``noise.slip_m`` allows."""
CHANCE = 0.2
"""By how much z differs from zero where the scan slips."""
SURE = 3.0
"""Costs on both sides of the best place must be higher by so many times what chance makes."""


class Slip(NamedTuple):
    """A direction that a scan hardly knows, and what moving the scan along it has told."""

    along: Floats
    """(6,) how the pose moves with a metre along the direction."""
    axis: Floats
    """(3,) the direction."""
    variance: float
    """Of the scan alone, along it, by curvature [m^2]."""
    worse: float
    """By how much the scan fits worse at the farthest places, summed over witnesses [nats]."""
    expected: float
    """The same by its old matches [nats]."""
    witnesses: float
    """So many points, of equal weight, carry the information."""
    evidence: float
    """z at the farthest places, the mean of both ways."""
    best_m: float
    """Where the scan fits best, from where it was found [m]; zero if that cannot be told."""
    best_variance: float
    """Of that [m^2]; infinite if it cannot be told."""


class _Place(NamedTuple):
    """Points (n, 3) at a pose: the map's matches and what they cost."""

    matched: np.ndarray
    cost: Floats
    normalised: Floats
    rows: Floats
    """(n, 8) the matched candidates."""


def find_slips(local_map: VoxelMap, source: Points, located: Located, config: Config) -> list[Slip]:
    """Move a scan along the directions that it knows no better than ``noise.slip_from_m``.

    ``source`` (n, 3) are the points among which ``located`` has kept some.
    """
    alone = inverse_spd(located.information)
    variances, axes = np.linalg.eigh(alone[:3, :3])
    slips = []
    for variance, axis in zip(variances, axes.T, strict=True):
        if variance < config.noise.slip_from_m**2:
            continue
        along = alone[:, :3] @ axis / variance
        found = _move(local_map, source[located.kept], located, along, config)
        slips.append(Slip(along, axis, float(variance), *found))
    return slips


def _move(
    local_map: VoxelMap, points: Points, located: Located, along: Floats, config: Config
) -> tuple[float, float, float, float, float, float]:
    """What a ``Slip`` holds from ``worse`` on, by moving points (n, 3) along a direction."""
    step = config.noise.slip_m / STEPS
    places = []
    for number in range(-STEPS, STEPS + 1):
        T = compose_offset(located.T_target_source, number * step * along)
        places.append(_at(local_map, points, T, located.scale, config))
    everywhere = np.logical_and.reduce([place.matched for place in places])
    totals = np.array([place.cost[everywhere].sum() for place in places])
    count = max(int(everywhere.sum()), 1)
    evidence = float((0.5 * (totals[0] + totals[-1]) - totals[STEPS]) / np.sqrt(count))
    lowest = _lowest(totals, CHANCE * np.sqrt(count), step)
    return *_real_share(places, points, located, along, config), evidence, *lowest


def _real_share(
    places: list[_Place], points: Points, located: Located, along: Floats, config: Config
) -> tuple[float, float, float]:
    """How much worse witnesses fit when moved, how much they should, and how many they are."""
    here, width = places[STEPS], config.noise.weight_width
    normals = here.rows[:, 3:6] @ located.T_target_source[:3, :3]
    moved = normals @ along[:3] + np.cross(points, normals) @ along[3:]
    moved *= np.sqrt(here.rows[:, 7]) / located.scale
    component = (normals @ along[:3]) ** 2 / (along[:3] @ along[:3])
    counted = component / (component + config.noise.facing**2 + 1e-30)
    robust = (width**2 / (width**2 + here.normalised**2)) ** 2
    weights = np.where(here.matched, robust * (counted * moved) ** 2, 0.0)
    if not weights.any():
        return 0.0, 0.0, 0.0
    weights *= weights.sum() / np.sum(weights**2)
    worse = expected = 0.0
    for there, distance in ((places[0], -config.noise.slip_m), (places[-1], config.noise.slip_m)):
        w = weights * there.matched
        worse += float(w @ (there.cost - here.cost))
        expected += float(w @ (_cost(here.normalised + distance * moved, width) - here.cost))
    return worse, expected, float(weights.sum())


def _lowest(totals: Floats, chance: float, step: float) -> tuple[float, float]:
    """Place and variance of the lowest of equally spaced costs, by a parabola."""
    best = int(np.argmin(totals))
    walls = totals[: best + 1].max(), totals[best:].max()
    if best in {0, len(totals) - 1} or min(walls) - totals[best] < SURE * chance:
        return 0.0, np.inf
    before, after = totals[best - 1], totals[best + 1]
    curvature = (before + after - 2.0 * totals[best]) / step**2
    place = (best - STEPS) * step - (after - before) / (2.0 * step * curvature)
    noise = 0.5 * (chance / step) ** 2
    return float(place), float(1.0 / curvature + noise / curvature**2)


def _at(local_map: VoxelMap, points: Points, T: Transform, scale: float, config: Config) -> _Place:
    """Points (n, 3) at pose T."""
    reach = config.match.max_distance_m
    found = find_candidates(local_map, points, T, config, reach, count=1)
    chosen, normalised = compiled.match_all(
        localise(T, found.origin), found.points, found.rows, reach**2
    )
    normalised = normalised / scale
    cost = _cost(normalised, config.noise.weight_width)
    return _Place(chosen >= 0, cost, normalised, found.rows[:, 0].astype(np.float64))


def _cost(normalised: Floats, width: float) -> Floats:
    """Geman and McClure's robust cost of residuals in standard deviations."""
    return 0.5 * width**2 * normalised**2 / (width**2 + normalised**2)
