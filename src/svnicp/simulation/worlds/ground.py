# SPDX-License-Identifier: MIT
"""Ground of worlds: flat, or bumpy at several lengths."""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter

from svnicp.arrays import Floats, Points
from svnicp.simulation.geometry import Terrain


def flat_ground(height_m: float) -> Terrain:
    """Return a plane at one height [m]."""
    return Terrain(np.full((2, 2), height_m), (0.0, 0.0), 1.0)


def bumpy_ground(
    rng: np.random.Generator,
    way: Points,
    margin_m: float,
    cell_m: float,
    octaves: Sequence[tuple[float, float]],
) -> Terrain:
    """Return ground around a way, with bumps of random shape.

    Parameters
    ----------
    rng
        Decides the shape.
    way
        (n, 3) points; the ground reaches around them [m].
    margin_m
        How far it reaches; beyond, the heights of the edge go on [m].
    cell_m
        Distance of the heights [m].
    octaves
        Standard deviation of the height and typical length of bumps, pair by pair [m].
    """
    low = way[:, :2].min(axis=0) - margin_m
    size = np.ceil((way[:, :2].max(axis=0) + margin_m - low) / cell_m).astype(int) + 1
    heights: Floats = np.zeros(size)
    for height_m, length_m in octaves:
        bumps = gaussian_filter(rng.standard_normal(size), 0.25 * length_m / cell_m, mode="reflect")
        heights += height_m * bumps / bumps.std()
    return Terrain(heights, (float(low[0]), float(low[1])), cell_m)
