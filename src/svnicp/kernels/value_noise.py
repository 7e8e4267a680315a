# SPDX-License-Identifier: MIT
"""Smooth deterministic noise in space: the roughness of rock in simulated scenes.

Random values sit on the corners of a cubic lattice and are blended smoothly in between. The values
come from hashing the corner's integers, so the noise never repeats and needs no memory.
"""

import numpy as np

from svnicp.kernels.njit import njit

STEEPEST = 2.0
"""No gradient of ``rock_noise`` is longer: 1.5, the steepest blend of corners, times 2/3 + 2/3."""
_SCALE = 1.0 / (1 << 24)


@njit()
def _corner(i: int, j: int, k: int) -> float:
    """Return a random value in [0, 1) for three integers."""
    mixed = (i * 0x1F9C2A7D0B4E5563) ^ (j * 0x3C6EF372FE94F82B) ^ (k * 0x5851F42D4C957F2D)
    mixed = (mixed ^ (mixed >> 29)) * 0x2545F4914F6CDD1D
    return ((mixed >> 38) & 0xFFFFFF) * _SCALE


@njit()
def _between(low: float, high: float, weight: float) -> float:
    return low + weight * (high - low)


@njit()
def value_noise(x: float, y: float, z: float, seed: int) -> float:
    """Return smooth noise in [0, 1] at a point, on a lattice of unit cells."""
    i, j, k = int(np.floor(x)), int(np.floor(y)), int(np.floor(z))
    x, y, z = x - i, y - j, z - k
    x, y, z = x * x * (3.0 - 2.0 * x), y * y * (3.0 - 2.0 * y), z * z * (3.0 - 2.0 * z)
    i += 7919 * seed
    low = _between(
        _between(_corner(i, j, k), _corner(i + 1, j, k), x),
        _between(_corner(i, j + 1, k), _corner(i + 1, j + 1, k), x),
        y,
    )
    high = _between(
        _between(_corner(i, j, k + 1), _corner(i + 1, j, k + 1), x),
        _between(_corner(i, j + 1, k + 1), _corner(i + 1, j + 1, k + 1), x),
        y,
    )
    return _between(low, high, z)


@njit()
def rock_noise(x: float, y: float, z: float, seed: int) -> float:
    """Return noise in [0, 1] of two octaves, two thirds on a unit lattice, one third on half."""
    fine = value_noise(2.0 * x, 2.0 * y, 2.0 * z, 2 * seed + 1)
    return (2.0 * value_noise(x, y, z, 2 * seed) + fine) / 3.0
