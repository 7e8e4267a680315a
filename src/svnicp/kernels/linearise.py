# SPDX-License-Identifier: MIT
"""Match, residual, gradient and Gauss-Newton Hessian of every particle: the inner loop.

A candidate is a row (x, y, z, nx, ny, nz, n·m, precision): a map point, its unit normal, the
plane's offset and one over the residual's variance. A zero normal makes it a point (three residuals
of that variance); precision zero means that it must not be used. All in coordinates relative to a
local origin, so that float32 resolves a hundredth of a millimetre.
"""

import numpy as np

from svnicp.kernels.lie import compose_offset, pull_back
from svnicp.kernels.njit import njit
from svnicp.kernels.small import applied, product, transposed_applied, transposed_product
from svnicp.kernels.threads import share

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


PARTICLES = 4
"""Particles that a thread takes at once."""
BLOCK = 64
"""Points per block: residual rows of a block stay in the first-level cache for the reductions."""


@njit()
def add_planes(T, points, candidates, max_squared, kind, width, sums):
    """Add Σ w A r / V (6) and Σ w A A' / V (21) over the points whose match is a plane at a pose.

    Returns Σ w r² / V, the number of these points, and that of points whose match is a point. Right
    perturbation, translation first: a plane residual r = n·(R p + t) - n·m has the row
    A = [R'n; p × R'n].  # Eq. (12), Eq. (13), misprints corrected
    """
    rows = np.empty((8, BLOCK))
    r00, r01, r02, r10, r11, r12 = T[0, 0], T[0, 1], T[0, 2], T[1, 0], T[1, 1], T[1, 2]
    r20, r21, r22, t0, t1, t2 = T[2, 0], T[2, 1], T[2, 2], T[0, 3], T[1, 3], T[2, 3]
    cost, matches, points_seen = 0.0, 0, 0
    for start in range(0, len(points), BLOCK):
        used = 0
        for n in range(start, min(start + BLOCK, len(points))):
            p0, p1, p2 = (
                np.float64(points[n, 0]),
                np.float64(points[n, 1]),
                np.float64(points[n, 2]),
            )
            x = r00 * p0 + r01 * p1 + r02 * p2 + t0
            y = r10 * p0 + r11 * p1 + r12 * p2 + t1
            z = r20 * p0 + r21 * p1 + r22 * p2 + t2
            m = nearest_candidate(
                candidates, n, np.float32(x), np.float32(y), np.float32(z), max_squared
            )
            if m < 0:
                continue
            precision = np.float64(candidates[n, m, 7])
            if precision <= 0.0:
                continue
            nx, ny = np.float64(candidates[n, m, 3]), np.float64(candidates[n, m, 4])
            nz = np.float64(candidates[n, m, 5])
            if nx == 0.0 and ny == 0.0 and nz == 0.0:
                points_seen += 1
                continue
            rows[0, used], rows[1, used], rows[2, used] = nx, ny, nz
            rows[3, used], rows[4, used], rows[5, used] = p0, p1, p2
            rows[6, used] = nx * x + ny * y + nz * z - np.float64(candidates[n, m, 6])
            rows[7, used] = precision
            used += 1
        matches += used
        cost += _rows_of_planes(T, rows, np.int64(used), kind, width)
        _reduce_block(rows, np.int64(used), sums)
    return cost, matches, points_seen


@njit()
def _rows_of_planes(T, rows, used, kind, width):
    """Make rows A, residual and weight of normal, point, residual and precision; Σ w r² / V.

    A loop of its own, without a choice in it: the compiler makes vector instructions of it.
    """
    r00, r01, r02, r10, r11, r12 = T[0, 0], T[0, 1], T[0, 2], T[1, 0], T[1, 1], T[1, 2]
    r20, r21, r22 = T[2, 0], T[2, 1], T[2, 2]
    first, second, third, e, w = rows[0], rows[1], rows[2], rows[6], rows[7]
    fourth, fifth, sixth = rows[3], rows[4], rows[5]
    cost = 0.0
    for n in range(used):
        nx, ny, nz, p0, p1, p2 = first[n], second[n], third[n], fourth[n], fifth[n], sixth[n]
        w[n] *= robust_weight(kind, e[n] * e[n] * w[n], width)
        cost += w[n] * e[n] * e[n]
        a0 = r00 * nx + r10 * ny + r20 * nz
        a1 = r01 * nx + r11 * ny + r21 * nz
        a2 = r02 * nx + r12 * ny + r22 * nz
        first[n], second[n], third[n] = a0, a1, a2
        fourth[n] = p1 * a2 - p2 * a1
        fifth[n] = p2 * a0 - p0 * a2
        sixth[n] = p0 * a1 - p1 * a0
    return cost


@njit()
def add_points(T, points, candidates, max_squared, kind, width, sums):
    """Add the same over the points whose match is a point; returns Σ w |e|² / V and their number.

    The residual e = R p + t - q has J = [R, -R[p]×], which is a row as a plane's for each of the
    three body axes.  # Eq. (12), Eq. (13), misprints corrected
    """
    rows = np.empty((8, 3 * BLOCK))
    cost, matches = 0.0, 0
    for start in range(0, len(points), BLOCK):
        used = 0
        for n in range(start, min(start + BLOCK, len(points))):
            p0, p1, p2 = (
                np.float64(points[n, 0]),
                np.float64(points[n, 1]),
                np.float64(points[n, 2]),
            )
            x = T[0, 0] * p0 + T[0, 1] * p1 + T[0, 2] * p2 + T[0, 3]
            y = T[1, 0] * p0 + T[1, 1] * p1 + T[1, 2] * p2 + T[1, 3]
            z = T[2, 0] * p0 + T[2, 1] * p1 + T[2, 2] * p2 + T[2, 3]
            m = nearest_candidate(
                candidates, n, np.float32(x), np.float32(y), np.float32(z), max_squared
            )
            if m < 0:
                continue
            row = candidates[n, m]
            precision = np.float64(row[7])
            if precision <= 0.0 or row[3] != 0.0 or row[4] != 0.0 or row[5] != 0.0:
                continue
            ex, ey, ez = x - row[0], y - row[1], z - row[2]
            square = ex * ex + ey * ey + ez * ez
            weight = precision * robust_weight(kind, square * precision, width)
            for axis in range(3):
                at = used + axis
                # The row of body axis i is [eᵢ; p × eᵢ], its residual the i-th entry of R'e.
                for i in range(6):
                    rows[i, at] = 0.0
                rows[axis, at] = 1.0
                rows[6, at] = T[0, axis] * ex + T[1, axis] * ey + T[2, axis] * ez
                rows[7, at] = weight
            rows[4, used], rows[5, used] = p2, -p1
            rows[3, used + 1], rows[5, used + 1] = -p2, p0
            rows[3, used + 2], rows[4, used + 2] = p1, -p0
            cost += weight * square
            matches += 1
            used += 3
        _reduce_block(rows, np.int64(used), sums)
    return cost, matches


@njit()
def nearest_candidate(candidates, n, x, y, z, max_squared):
    """Nearest candidate of point n to (x, y, z), or -1 when none is nearer than the gate."""
    best, nearest = -1, np.float32(max_squared)
    for m in range(candidates.shape[1]):
        dx, dy, dz = candidates[n, m, 0] - x, candidates[n, m, 1] - y, candidates[n, m, 2] - z
        squared = dx * dx + dy * dy + dz * dz
        nearer = squared < nearest
        best, nearest = (m if nearer else best), (squared if nearer else nearest)
    return best


@njit()
def _reduce_block(rows, used, sums):
    """Add Σ w A r (6) and the upper triangle of Σ w A A' (21) of one block to the sums.

    Written out in scalars and in three loops of at most 12 sums: the compiler then keeps them in
    vector registers, which makes this an order of magnitude faster than a loop over pairs.
    """
    r0, r1, r2, r3, r4, r5, e, w = (
        rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7],
    )  # fmt: skip
    g0 = g1 = g2 = g3 = g4 = g5 = 0.0
    h00 = h01 = h02 = h11 = h12 = h22 = 0.0
    for n in range(used):
        s0, s1, s2 = w[n] * r0[n], w[n] * r1[n], w[n] * r2[n]
        g0, g1, g2 = g0 + s0 * e[n], g1 + s1 * e[n], g2 + s2 * e[n]
        h00, h01, h02 = h00 + s0 * r0[n], h01 + s0 * r1[n], h02 + s0 * r2[n]
        h11, h12, h22 = h11 + s1 * r1[n], h12 + s1 * r2[n], h22 + s2 * r2[n]
    h03 = h04 = h05 = h13 = h14 = h15 = h23 = h24 = h25 = 0.0
    for n in range(used):
        s0, s1, s2 = w[n] * r0[n], w[n] * r1[n], w[n] * r2[n]
        h03, h04, h05 = h03 + s0 * r3[n], h04 + s0 * r4[n], h05 + s0 * r5[n]
        h13, h14, h15 = h13 + s1 * r3[n], h14 + s1 * r4[n], h15 + s1 * r5[n]
        h23, h24, h25 = h23 + s2 * r3[n], h24 + s2 * r4[n], h25 + s2 * r5[n]
    h33 = h34 = h35 = h44 = h45 = h55 = 0.0
    for n in range(used):
        s3, s4, s5 = w[n] * r3[n], w[n] * r4[n], w[n] * r5[n]
        g3, g4, g5 = g3 + s3 * e[n], g4 + s4 * e[n], g5 + s5 * e[n]
        h33, h34, h35 = h33 + s3 * r3[n], h34 + s3 * r4[n], h35 + s3 * r5[n]
        h44, h45, h55 = h44 + s4 * r4[n], h45 + s4 * r5[n], h55 + s5 * r5[n]
    block = (
        g0, g1, g2, g3, g4, g5,
        h00, h01, h02, h03, h04, h05, h11, h12, h13, h14, h15, h22, h23, h24, h25,
        h33, h34, h35, h44, h45, h55,
    )  # fmt: skip
    for i in range(27):
        sums[i] += block[i]


def linearise(T_reference, offsets, seen, points, candidates, max_squared, kind, width):
    """Gradient (K, 6), Hessian (K, 6, 6), cost (K,) and matches (K,) at offsets (K, 6).

    The likelihood, ½ Σ w r² / V, is looked at in ``seen @ offset`` (6, 6): the identity, or what
    remains of an offset once directions that only noise informs are taken out. Gradient and Hessian
    are those with respect to the offset. Particles are independent: same bits for any number of
    threads.
    """
    count = len(offsets)
    sums, costs = np.zeros((count, 27)), np.zeros(count)
    matches, bare = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    case = (T_reference, offsets, seen, points, candidates, max_squared, kind, width)
    share(add_planes_of_some, count, PARTICLES, *case, sums, costs, matches, bare)
    if bare.any():  # rarely: this half is compiled only where there are such points
        share(add_points_of_some, count, PARTICLES, *case, sums, costs, matches)
    gradients, hessians = np.empty((count, 6)), np.empty((count, 6, 6))
    pull_back_all(offsets, seen, sums, gradients, hessians)
    return gradients, hessians, 0.5 * costs, matches


@njit()
def add_planes_of_some(
    begin, end, T_reference, offsets, seen, points, candidates, max_squared, kind, width, sums,
    costs, matches, bare,
):  # fmt: skip
    """``add_planes`` for some of the particles."""
    for k in range(begin, end):
        T = compose_offset(T_reference, applied(seen, offsets[k]))
        costs[k], matches[k], bare[k] = add_planes(
            T, points, candidates, max_squared, kind, width, sums[k]
        )


@njit()
def add_points_of_some(
    begin, end, T_reference, offsets, seen, points, candidates, max_squared, kind, width, sums,
    costs, matches,
):  # fmt: skip
    """``add_points`` for some of the particles."""
    for k in range(begin, end):
        T = compose_offset(T_reference, applied(seen, offsets[k]))
        cost, added = add_points(T, points, candidates, max_squared, kind, width, sums[k])
        costs[k] += cost
        matches[k] += added


@njit()
def pull_back_all(offsets, seen, sums, gradients, hessians):
    """Sums (K, 27) at the particles' poses as gradients and Hessians with respect to offsets."""
    hessian = np.empty((6, 6))
    for k in range(len(offsets)):
        place = 6
        for i in range(6):
            for j in range(i, 6):
                hessian[i, j] = hessian[j, i] = sums[k, place]
                place += 1
        chain = product(pull_back(applied(seen, offsets[k])), seen)
        turned_gradient = transposed_applied(chain, sums[k, :6])
        turned_hessian = transposed_product(chain, product(hessian, chain))
        for i in range(6):
            gradients[k, i] = turned_gradient[i]
            for j in range(6):
                hessians[k, i, j] = turned_hessian[i, j]


FULL = np.zeros((6, 6), dtype=np.int64)
FULL[np.triu_indices(6)] = FULL.T[np.triu_indices(6)] = 6 + np.arange(21)
"""Where each entry of a Hessian is among the sums."""


def linearise_one(T, points, candidates, max_squared, kind, width):
    """Gradient (6,) and Hessian (6, 6) at one pose, without the cost of starting threads."""
    sums = np.zeros(27)
    case = (T, points, candidates, max_squared, kind, width)
    _, _, bare = add_planes(*case, sums)
    if bare > 0:
        add_points(*case, sums)
    return sums[:6], sums[FULL]
