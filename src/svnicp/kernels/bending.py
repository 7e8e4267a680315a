# SPDX-License-Identifier: MIT
"""How much of a patch's heights a bent surface explains beyond the plane.

A polynomial of the third order is fitted to the heights of cells about a plane, each weighted by
its arrivals. The sums of all products of its terms are power sums, of which there are few.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.patches import ARRIVALS, HEIGHT, LENGTH, WIDTH

NUM_TERMS, NUM_QUADRATIC = 10, 6
"""Terms 1, w, v, w², w v, v², w³, w² v, w v², v³; how many are there without the cubic ones."""
WIDTH_SQUARED, LENGTH_SQUARED = 3, 5
"""Indices of the terms w² and v²."""
COLUMNS = 12
"""Columns of the normal equations: products of terms, the height, and one to fill the vectors."""
SOLUTION, SLOPES, TOTALS = 10, 11, 10
"""Columns of the reduced equations with what each term explains, and with its coefficient; row with
the squares of the terms themselves."""
NOISY_CURVATURE = 2.5
"""Curvature must explain this many times the noise: by chance it does so in one patch of 20."""


@njit()
def bending(series, size, radius, work):
    """Fit the polynomial to a patch; shares of w² and v² that are their own.

    They are little where cells lie along two lines, as two rings of a scan do, which are a plane
    whatever surface they are on. ``series`` as in ``patches``, with ``size`` cells and zeros;
    ``work`` (11, COLUMNS) gets the reduced equations. Smooth terms, because noise across the
    surface decides which of two cells behind each other an arrival falls into: their difference is
    no lack of fit.
    """
    _power_sums(series, size, 1.0 / radius, work)
    return _reduce(work)


@njit()
def _reduce(work):
    """Cholesky's factor in place of the normal equations; shares of w² and v² that are their own.

    Row i gets one over the factor's diagonal at [i, i], the factor's column right of that, and the
    solution of the triangular system. Whole rows, also where nothing is needed: loops of a fixed
    length are vector instructions.
    """
    width_told = length_told = 0.0
    for k in range(NUM_TERMS):
        total, pivot = work[TOTALS, k], work[k, k]
        if k == WIDTH_SQUARED:
            width_told = pivot / (total + 1e-12)
        if k == LENGTH_SQUARED:
            length_told = pivot / (total + 1e-12)
        scale = 1.0 / np.sqrt(max(pivot, 1e-9 * total + 1e-12))
        for j in range(COLUMNS):
            work[k, j] *= scale
        for i in range(k + 1, NUM_TERMS):
            factor = work[k, i]
            for j in range(COLUMNS):
                work[i, j] -= factor * work[k, j]
        work[k, k] = scale
    return width_told, length_told


@njit()
def solve_quadratic(work):
    """Coefficients of the terms up to the second order alone, into their column of ``work``."""
    for i in range(NUM_QUADRATIC - 1, -1, -1):
        value = work[i, SOLUTION]
        for k in range(i + 1, NUM_QUADRATIC):
            value -= work[i, k] * work[k, SLOPES]
        work[i, SLOPES] = value * work[i, i]


@njit()
def curved_tilt(work, radius, scatter, count):
    """Slopes along width and length that curvature across them fakes in the fitted plane.

    Where the rings of a scan cut a pipe askew, its curvature looks like a slope along it: the best
    parabola is tilted against the plane at the centroid. Only the direction that is not curved
    itself counts: along the other it is a fold, the surface's own shape. ``work`` as
    ``solve_quadratic`` leaves it; ``scatter`` is the sum of squares about the plane of all
    ``count`` arrivals. Curvature that noise explains gives no tilt.
    """
    explained = work[3, SOLUTION] ** 2 + work[4, SOLUTION] ** 2 + work[5, SOLUTION] ** 2
    noise_var = max(scatter - explained, 1e-12) / max(count - NUM_QUADRATIC, 1.0)
    share = 1.0 - NOISY_CURVATURE * noise_var / max(explained / 3.0, 1e-12)
    if share <= 0.0:
        return 0.0, 0.0
    slopes = work[1, SLOPES], work[2, SLOPES]
    mean, twist = work[3, SLOPES] + work[5, SLOPES], work[4, SLOPES]
    half = work[3, SLOPES] - work[5, SLOPES]
    size = np.sqrt(half * half + twist * twist)
    large, small = abs(mean) + size, abs(abs(mean) - size)
    # The axis of the smaller curvature, by half the angle of the deviator.
    angle = 0.5 * np.arctan2(twist, half) + (0.5 * np.pi if mean >= 0.0 else 0.0)
    axis = (np.cos(angle), np.sin(angle))
    slope = (slopes[0] * axis[0] + slopes[1] * axis[1]) * (1.0 - small / max(large, 1e-12))
    slope *= np.sqrt(share) / radius
    return slope * axis[0], slope * axis[1]


@njit()
def left_by_bend(work, share, scatter, count):
    """What a share of the parabola leaves: mean squares per arrival, and variance of residuals.

    The mean squares are those that bending along width and along length explains of the heights
    beyond it. Terms that do not bend a plane explain one noise variance each when there is nothing
    but noise, and much more on an edge. A fold bends across itself and not along: terms that change
    the slope along the width (w², w³, w v²) and along the length (v², v³, w² v) are kept apart.
    ``work`` as ``bending`` leaves it; ``scatter`` is the sum of squares about the plane of all
    ``count`` arrivals.
    """
    left = (1.0 - share) ** 2
    terms = 2.0 + left
    along_width = left * work[3, SOLUTION] ** 2 + work[6, SOLUTION] ** 2 + work[8, SOLUTION] ** 2
    along_length = left * work[5, SOLUTION] ** 2 + work[9, SOLUTION] ** 2 + work[7, SOLUTION] ** 2
    squared = work[3, SOLUTION] ** 2 + work[4, SOLUTION] ** 2 + work[5, SOLUTION] ** 2
    residual_var = max(scatter - (1.0 - left) * squared, 0.0) / (count - 5.0)
    return along_width / terms, along_length / terms, residual_var


@njit()
def _power_sums(series, size, scale, work):
    """Normal equations of the terms, of Σ count w^a v^b and Σ count height w^a v^b, into ``work``.

    Written out, a few sums to a loop, which then stay in vector registers.
    """
    length, width, height, count = series[LENGTH], series[WIDTH], series[HEIGHT], series[ARRIVALS]
    s00 = s01 = s02 = s03 = s04 = s05 = s06 = h00 = h01 = h02 = h03 = 0.0
    for n in range(size):
        v, h, t0 = scale * length[n], height[n], count[n]
        t1 = t0 * v
        t2 = t1 * v
        t3 = t2 * v
        t4 = t3 * v
        t5 = t4 * v
        s00, s01, s02, s03, s04 = s00 + t0, s01 + t1, s02 + t2, s03 + t3, s04 + t4
        s05, s06 = s05 + t5, s06 + t5 * v
        h00, h01, h02, h03 = h00 + t0 * h, h01 + t1 * h, h02 + t2 * h, h03 + t3 * h
    s10 = s11 = s12 = s13 = s14 = s15 = h10 = h11 = h12 = 0.0
    for n in range(size):
        v, h, t0 = scale * length[n], height[n], scale * width[n] * count[n]
        t1 = t0 * v
        t2 = t1 * v
        t3 = t2 * v
        t4 = t3 * v
        s10, s11, s12, s13, s14 = s10 + t0, s11 + t1, s12 + t2, s13 + t3, s14 + t4
        s15 += t4 * v
        h10, h11, h12 = h10 + t0 * h, h11 + t1 * h, h12 + t2 * h
    s20 = s21 = s22 = s23 = s24 = h20 = h21 = 0.0
    for n in range(size):
        v, w, h = scale * length[n], scale * width[n], height[n]
        t0 = count[n] * w * w
        t1 = t0 * v
        t2 = t1 * v
        t3 = t2 * v
        s20, s21, s22, s23, s24 = s20 + t0, s21 + t1, s22 + t2, s23 + t3, s24 + t3 * v
        h20, h21 = h20 + t0 * h, h21 + t1 * h
    s30 = s31 = s32 = s33 = s40 = s41 = s42 = s50 = s51 = s60 = h30 = 0.0
    for n in range(size):
        v, w = scale * length[n], scale * width[n]
        t3 = count[n] * w * w * w
        t4 = t3 * w
        t5 = t4 * w
        s30, s31, s32, s33 = s30 + t3, s31 + t3 * v, s32 + t3 * v * v, s33 + t3 * v * v * v
        s40, s41, s42 = s40 + t4, s41 + t4 * v, s42 + t4 * v * v
        s50, s51, s60 = s50 + t5, s51 + t5 * v, s60 + t5 * w
        h30 += t3 * height[n]
    # fmt: off
    _write(work[0], (s00, s10, s01, s20, s11, s02, s30, s21, s12, s03, h00, 0.0))
    _write(work[1], (s10, s20, s11, s30, s21, s12, s40, s31, s22, s13, h10, 0.0))
    _write(work[2], (s01, s11, s02, s21, s12, s03, s31, s22, s13, s04, h01, 0.0))
    _write(work[3], (s20, s30, s21, s40, s31, s22, s50, s41, s32, s23, h20, 0.0))
    _write(work[4], (s11, s21, s12, s31, s22, s13, s41, s32, s23, s14, h11, 0.0))
    _write(work[5], (s02, s12, s03, s22, s13, s04, s32, s23, s14, s05, h02, 0.0))
    _write(work[6], (s30, s40, s31, s50, s41, s32, s60, s51, s42, s33, h30, 0.0))
    _write(work[7], (s21, s31, s22, s41, s32, s23, s51, s42, s33, s24, h21, 0.0))
    _write(work[8], (s12, s22, s13, s32, s23, s14, s42, s33, s24, s15, h12, 0.0))
    _write(work[9], (s03, s13, s04, s23, s14, s05, s33, s24, s15, s06, h03, 0.0))
    _write(work[TOTALS], (s00, s20, s02, s40, s22, s04, s60, s42, s24, s06, 0.0, 0.0))
    # fmt: on


@njit(inlined=True)
def _write(row, values):
    """Fill in a row of the equations."""
    for j in range(COLUMNS):
        row[j] = values[j]
