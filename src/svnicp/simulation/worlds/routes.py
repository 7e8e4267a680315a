# SPDX-License-Identifier: MIT
"""Ways through worlds: corners of serpentines, loops and meanders, at least as long as asked for.

All return (n, 3) corners on the floor z = 0, from which a world builds its walls and a platform its
motion.
"""

from itertools import cycle

import numpy as np

from svnicp.arrays import Floats, Points

SPARE_M = 10.0
"""A way is longer than asked by this, so that rounded corners do not make it too short [m]."""


def on_floor(corners: object, height_m: float = 0.0) -> Points:
    """Return (n, 3) points of (n, 2) corners at one height."""
    flat = np.asarray(corners, dtype=np.float64)
    return np.column_stack([flat, np.full(len(flat), height_m)])


def serpentine(length_m: float, straight_m: float, pitch_m: float) -> Points:
    """Return a way that runs to and fro along x and advances along y; starts at the origin."""
    corners, y, forth = [(0.0, 0.0)], 0.0, True
    travelled = 0.0
    # Every corner that smoothing rounds shortens the way by about a metre.
    while travelled < length_m + SPARE_M:
        corners.append((straight_m if forth else 0.0, y))
        y += pitch_m
        corners.append((straight_m if forth else 0.0, y))
        travelled += straight_m + pitch_m - 2.0
        forth = not forth
    return on_floor(corners)


def loop(corners: object, length_m: float) -> Points:
    """Return the way round closed corners (n, 2) or (n, 3), as often as the length needs."""
    ring = np.asarray(corners, dtype=np.float64)
    ring = on_floor(ring) if ring.shape[1] == 2 else ring
    way, travelled = [ring[0]], 0.0
    for corner in cycle([*ring[1:], ring[0]]):
        travelled += max(float(np.linalg.norm(corner - way[-1])) - 2.0, 0.1)
        way.append(corner)
        if travelled > length_m + SPARE_M:
            break
    return np.array(way)


def straight(length_m: float, x: float = 0.0, y: float = 0.0) -> Points:
    """Return a straight way that starts at (x, y) [m] and runs along x."""
    return on_floor([(x, y), (x + length_m + SPARE_M, y)])


def meander(
    rng: np.random.Generator, length_m: float, turn_rad: float, wavelength_m: float
) -> Points:
    """Return a way that winds about x, with a point every metre.

    Parameters
    ----------
    rng
        Phases of the bends.
    length_m
        Length to reach [m].
    turn_rad
        Largest angle between the way and x, below pi / 2, so that it never meets itself [rad].
    wavelength_m
        Length of the shortest bends [m].
    """
    distance = np.arange(0.0, length_m + SPARE_M + 1.0)
    heading = turn_rad * wave(rng, distance, wavelength_m, 3.0 * wavelength_m)
    steps = np.column_stack([np.cos(heading), np.sin(heading), np.zeros_like(heading)])
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def wave(
    rng: np.random.Generator, distance_m: Floats, shortest_m: float, longest_m: float
) -> Floats:
    """Return a smooth random function of the distance, of magnitude at most 1, 0 at distance 0.

    Parameters
    ----------
    rng
        Wavelengths, phases and signs.
    distance_m
        (n,) where it is wanted [m].
    shortest_m, longest_m
        Range of the wavelengths it is made of [m].
    """
    lengths = rng.uniform(shortest_m, longest_m, 4)
    phases = rng.uniform(0.0, 2.0 * np.pi, 4)
    angles = 2.0 * np.pi * distance_m[:, None] / lengths + phases
    return (np.sin(angles) - np.sin(phases)).sum(axis=1) / 8.0


def directions(way: Points) -> Points:
    """Return (n, 3) horizontal unit vectors along a way with n points."""
    along = np.gradient(way, axis=0)
    along[:, 2] = 0.0
    return along / np.linalg.norm(along, axis=1, keepdims=True)
