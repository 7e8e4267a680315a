# SPDX-License-Identifier: MIT
"""Match, residual, gradient and Gauss-Newton Hessian of every particle: the inner loop.

A candidate is a row (x, y, z, nx, ny, nz, n·m, precision): a map point, its unit normal, the plane's
offset and one over the residual's variance. A zero normal makes it a point (three residuals of that
variance); precision zero means that it must not be used. All in coordinates relative to a local
origin, so that float32 resolves a hundredth of a millimetre.
"""

import numpy as np
from numba import prange

from svnicp.kernels.lie import compose_offset, pull_back
from svnicp.kernels.njit import njit

GEMAN_MCCLURE, CAUCHY_NORM, NO_WEIGHT = 0, 1, 2
"""Robust weights: of the normalised square, the reference release's (of the norm), or none."""


@njit()
def robust_weight(kind, squared, width):
    """Weight of a residual whose (normalised) square is given."""
    if kind == GEMAN_MCCLURE:
        ratio = width * width / (width * width + squared)
        return ratio * ratio
    if kind == CAUCHY_NORM:
        ratio = width / (width + np.sqrt(squared))
        return ratio * ratio
    return 1.0


@njit()
def match_of(candidates, x, y, z, max_squared):
    """Index of the nearest candidate (M, 8), or -1 beyond the gate or where it cannot be used."""
    best, nearest = -1, np.float32(max_squared)
    for m in range(len(candidates)):
        dx, dy, dz = candidates[m, 0] - x, candidates[m, 1] - y, candidates[m, 2] - z
        squared = dx * dx + dy * dy + dz * dz
        if squared < nearest:
            nearest = squared
            best = m
    if best >= 0 and candidates[best, 7] <= 0.0:
        return -1
    return best


BLOCK = 64
"""Points per block: residual rows of a block stay in the first-level cache for the reductions."""


@njit()
def linearise_pose(T, points, candidates, max_squared, kind, width, gradient, hessian):
    """Add gradient (6,) and Hessian (6, 6) of ½ Σ w r² / V at one pose; returns cost and matches.

    Right perturbation, translation first: a plane residual r = n·(R p + t) - n·m has the row
    A = [R'n; p × R'n]; a point residual e = R p + t - q has J = [R, -R[p]×], which is the same row
    for each of the three body axes.  # Eq. (13), misprints corrected
    """
    rows = np.empty((8, 3 * BLOCK))
    cost, matches = 0.0, 0
    sums = np.zeros(28)
    for start in range(0, len(points), BLOCK):
        used = 0
        for n in range(start, min(start + BLOCK, len(points))):
            p0, p1, p2 = points[n, 0], points[n, 1], points[n, 2]
            x = T[0, 0] * p0 + T[0, 1] * p1 + T[0, 2] * p2 + T[0, 3]
            y = T[1, 0] * p0 + T[1, 1] * p1 + T[1, 2] * p2 + T[1, 3]
            z = T[2, 0] * p0 + T[2, 1] * p1 + T[2, 2] * p2 + T[2, 3]
            m = match_of(candidates[n], np.float32(x), np.float32(y), np.float32(z), max_squared)
            if m < 0:
                continue
            matches += 1
            c = candidates[n, m]
            if c[3] != 0.0 or c[4] != 0.0 or c[5] != 0.0:
                residual = c[3] * x + c[4] * y + c[5] * z - c[6]
                weight = c[7] * robust_weight(kind, residual * residual * c[7], width)
                _store_row(T, p0, p1, p2, c[3], c[4], c[5], residual, weight, rows, used)
                cost += weight * residual * residual
                used += 1
            else:
                ex, ey, ez = x - c[0], y - c[1], z - c[2]
                squared = ex * ex + ey * ey + ez * ez
                weight = c[7] * robust_weight(kind, squared * c[7], width)
                _store_row(T, p0, p1, p2, 1.0, 0.0, 0.0, ex, weight, rows, used)
                _store_row(T, p0, p1, p2, 0.0, 1.0, 0.0, ey, weight, rows, used + 1)
                _store_row(T, p0, p1, p2, 0.0, 0.0, 1.0, ez, weight, rows, used + 2)
                cost += weight * squared
                used += 3
        _reduce_block(rows, used, sums)
    _unpack(sums, gradient, hessian)
    return 0.5 * cost, matches


@njit()
def _store_row(T, p0, p1, p2, nx, ny, nz, residual, weight, rows, at):
    """Put one residual's row A, residual and weight into the block."""
    a0 = T[0, 0] * nx + T[1, 0] * ny + T[2, 0] * nz
    a1 = T[0, 1] * nx + T[1, 1] * ny + T[2, 1] * nz
    a2 = T[0, 2] * nx + T[1, 2] * ny + T[2, 2] * nz
    rows[0, at], rows[1, at], rows[2, at] = a0, a1, a2
    rows[3, at] = p1 * a2 - p2 * a1
    rows[4, at] = p2 * a0 - p0 * a2
    rows[5, at] = p0 * a1 - p1 * a0
    rows[6, at] = residual
    rows[7, at] = weight


@njit()
def _reduce_block(rows, used, sums):
    """Add Σ w A r (6) and the upper triangle of Σ w A A' (21) of one block to the sums."""
    weights = rows[7]
    scaled = np.empty(3 * BLOCK)
    place = 6
    for i in range(6):
        first = rows[i]
        for n in range(used):
            scaled[n] = first[n] * weights[n]
        residuals = rows[6]
        total = 0.0
        for n in range(used):
            total += scaled[n] * residuals[n]
        sums[i] += total
        for j in range(i, 6):
            second = rows[j]
            total = 0.0
            for n in range(used):
                total += scaled[n] * second[n]
            sums[place] += total
            place += 1


@njit()
def _unpack(sums, gradient, hessian):
    """Add the sums to a gradient (6,) and a full symmetric Hessian (6, 6)."""
    place = 6
    for i in range(6):
        gradient[i] += sums[i]
        for j in range(i, 6):
            hessian[i, j] += sums[place]
            if j > i:
                hessian[j, i] += sums[place]
            place += 1


@njit(parallel=True)
def linearise(T_reference, offsets, seen, points, candidates, max_squared, kind, width):
    """Gradient (K, 6), Hessian (K, 6, 6), cost (K,) and matches (K,) at offsets (K, 6).

    The likelihood is looked at in ``seen @ offset`` (6, 6): the identity, or what remains of an
    offset once directions that only noise informs are taken out. Gradient and Hessian are those
    with respect to the offset. Particles are independent: same bits for any number of threads.
    """
    count = len(offsets)
    gradients, hessians = np.zeros((count, 6)), np.zeros((count, 6, 6))
    costs, matches = np.zeros(count), np.zeros(count, dtype=np.int64)
    for k in prange(count):
        offset = seen @ offsets[k]
        T = compose_offset(T_reference, offset)
        gradient, hessian = np.zeros(6), np.zeros((6, 6))
        costs[k], matches[k] = linearise_pose(
            T, points, candidates, max_squared, kind, width, gradient, hessian
        )
        chain = pull_back(offset) @ seen
        gradients[k] = chain.T @ gradient
        hessians[k] = chain.T @ (hessian @ chain)
    return gradients, hessians, costs, matches
