# SPDX-License-Identifier: MIT
"""How much of a patch's heights a bent surface explains beyond the plane.

A polynomial of the third order is fitted to the heights of cells about a plane, each weighted by
its arrivals. The sums of all products of its terms are power sums, of which there are few.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.small import padded

TERMS = np.array([(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)])
"""Powers of width and length of each term, the plane's three first."""
NUM_TERMS, NUM_QUADRATIC, DEGREES, HEIGHT_DEGREES = len(TERMS), 6, 7, 4
WIDTH_SQUARED = 3
"""Index of the term w²."""
NOISY_CURVATURE = 2.5
"""Curvature must explain this many times the noise: by chance it does so in one patch of 20."""


@njit()
def bending(cells, radius, series, work):
    """Mean squares, per arrival, of what bending along width and along length explains of heights.

    The third number is the share of w² that is its own: little where cells lie along two lines, as
    two rings of a scan do, which are a plane whatever surface they are on.

    ``cells`` (n, 4): height, width, length, count of every cell; ``series`` (5, >= padded(n)) and
    ``work`` (3, 10, 10) are scratch memory. Terms beyond the plane explain one noise variance each
    when there is nothing but noise, and much more on an edge or a curved surface. A fold bends
    across itself and not along: terms that change the slope along the width (w², w³, w v²) and
    along the length (v², v³, w² v) are kept apart. Smooth terms, because noise across the surface
    decides which of two cells behind each other an arrival falls into: their difference is no lack
    of fit.
    """
    powers, heights, lower, solution = work[0], work[1], work[2], work[0, 9]
    _power_sums(cells, radius, series, powers, heights)
    told = 0.0
    for i in range(NUM_TERMS):
        a, b = TERMS[i, 0], TERMS[i, 1]
        for j in range(i + 1):
            total = powers[a + TERMS[j, 0], b + TERMS[j, 1]]
            value = total
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, i] = 1.0 / np.sqrt(max(value, 1e-9 * total + 1e-12))
                if i == WIDTH_SQUARED:
                    told = value / (total + 1e-12)
            else:
                lower[i, j] = value * lower[j, j]
        value = heights[a, b]
        for k in range(i):
            value -= lower[i, k] * solution[k]
        solution[i] = value * lower[i, i]
    along_width = (solution[3] ** 2 + solution[6] ** 2 + solution[8] ** 2) / 3.0
    along_length = (solution[5] ** 2 + solution[9] ** 2 + solution[7] ** 2) / 3.0
    return along_width, along_length, told


@njit()
def curved_tilt(work, radius, scatter, count):
    """Slopes along width and length that curvature across them fakes in the fitted plane.

    Where the rings of a scan cut a pipe askew, its curvature looks like a slope along it: the best
    parabola is tilted against the plane at the centroid. Only the direction that is not curved
    itself counts: along the other it is a fold, the surface's own shape. ``work`` as ``bending``
    leaves it; ``scatter`` is the sum of squares about the plane of all ``count`` arrivals.
    Curvature that noise explains gives no tilt.
    """
    lower, solution, beta = work[2], work[0, 9], work[1, 9]
    explained = solution[3] ** 2 + solution[4] ** 2 + solution[5] ** 2
    noise_var = max(scatter - explained, 1e-12) / max(count - NUM_QUADRATIC, 1.0)
    share = 1.0 - NOISY_CURVATURE * noise_var / max(explained / 3.0, 1e-12)
    if share <= 0.0:
        return 0.0, 0.0
    for i in range(NUM_QUADRATIC - 1, 0, -1):
        value = solution[i]
        for k in range(i + 1, NUM_QUADRATIC):
            value -= lower[k, i] * beta[k]
        beta[i] = value * lower[i, i]
    mean, half, twist = beta[3] + beta[5], beta[3] - beta[5], beta[4]
    size = np.sqrt(half * half + twist * twist)
    large, small = abs(mean) + size, abs(abs(mean) - size)
    # The axis of the smaller curvature, by half the angle of the deviator.
    angle = 0.5 * np.arctan2(twist, half) + (0.5 * np.pi if mean >= 0.0 else 0.0)
    axis = (np.cos(angle), np.sin(angle))
    slope = (beta[1] * axis[0] + beta[2] * axis[1]) * (1.0 - small / max(large, 1e-12))
    slope *= np.sqrt(share) / radius
    return slope * axis[0], slope * axis[1]


@njit()
def _power_sums(cells, radius, series, powers, heights):
    """Σ count w^a v^b for a + b <= 6, and Σ count height w^a v^b for a + b <= 3.

    One term at a time over all cells, and zeros after them: such loops become vector instructions.
    """
    num_cells, scale = len(cells), 1.0 / radius
    size = padded(num_cells)
    length, width, height = series[0, :size], series[1, :size], series[2, :size]
    of_width, term = series[3, :size], series[4, :size]
    for n in range(num_cells):
        height[n], width[n], length[n] = cells[n, 0], cells[n, 1] * scale, cells[n, 2] * scale
        of_width[n] = cells[n, 3]
    for n in range(num_cells, size):
        height[n] = width[n] = length[n] = of_width[n] = 0.0
    for a in range(DEGREES):
        for n in range(size):
            term[n] = of_width[n]
            of_width[n] *= width[n]
        for b in range(DEGREES - a):
            total, lifted = 0.0, 0.0
            if a + b < HEIGHT_DEGREES:
                for n in range(size):
                    lifted += term[n] * height[n]
                heights[a, b] = lifted
            for n in range(size):
                total += term[n]
                term[n] *= length[n]
            powers[a, b] = total
