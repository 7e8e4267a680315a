# SPDX-License-Identifier: MIT
"""Sums over the points whose match is a plane, for many poses: the inner loop of all.

Points are taken in blocks. What a block needs is written down number by number first, so that every
step is a loop of its own over consecutive numbers, without a choice in it: the compiler makes
vector instructions of those. ``kernels.linearise`` says what a candidate is.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.weights import robust_weight

BLOCK = 256
"""Points per block: few enough for the cache, and enough to be worth a loop's beginning."""


@njit()
def add_planes(
    begin, end, poses, points, candidates, max_squared, kind, width, sums, costs, counts
):
    """Add Σ w A r / V (6) and Σ w A A' / V (21) over points whose match is a plane, for some poses.

    ``sums`` (K, 27) belong to poses (K, 4, 4), and so do ``costs`` (K,), which get Σ w r² / V, and
    ``counts`` (K, 2), the number of these points and that of points whose match is a point. Right
    perturbation, translation first: a plane residual r = n·(R p + t) - n·m has the row
    A = [R'n; p × R'n].  # Eq. (12), Eq. (13), misprints corrected
    """
    num_candidates = candidates.shape[1]
    block = np.empty((3 + 8 * num_candidates, BLOCK), dtype=np.float32)
    matched, rows = np.empty((10, BLOCK), dtype=np.float32), np.empty((8, BLOCK))
    for start in range(0, len(points), BLOCK):
        used = np.int64(min(BLOCK, len(points) - start))
        _gather(points, candidates, start, used, block)
        for k in range(begin, end):
            _match(poses[k], block, used, np.int64(num_candidates), max_squared, matched, rows)
            costs[k] += _rows_of_planes(poses[k], block, matched, rows, used, kind, width)
            _count(matched, used, counts[k])
            reduce_block(rows, used, sums[k])


@njit(borrows=True)
def _gather(points, candidates, start, used, block):
    """Write points (3) and candidates (M times 8) of a block one below the other, number by number.

    All poses use them. A candidate that is missing, infinitely far away, is zero otherwise.
    """
    for n in range(used):
        for i in range(3):
            block[i, n] = points[start + n, i]
        for m in range(candidates.shape[1]):
            row, place = candidates[start + n, m], 3 + 8 * m
            missing = row[0] == np.inf
            for i in range(3):
                block[place + i, n] = row[i]
            for i in range(3, 8):
                block[place + i, n] = 0.0 if missing else row[i]


@njit(borrows=True)
def _match(T, block, used, num_candidates, max_squared, matched, rows):
    """Choose the nearest candidate of every point of a block, as ``nearest_candidate`` does.

    Into ``matched`` (10, BLOCK) go normal (3), offset and precision of the plane, or zeros, the
    point's place (3) at the pose T, the squared distance and the number of the candidate; into
    ``rows`` the place once more, in full.
    """
    r00, r01, r02, r10, r11, r12 = T[0, 0], T[0, 1], T[0, 2], T[1, 0], T[1, 1], T[1, 2]
    r20, r21, r22, t0, t1, t2 = T[2, 0], T[2, 1], T[2, 2], T[0, 3], T[1, 3], T[2, 3]
    p0, p1, p2, gate = block[0], block[1], block[2], np.float32(max_squared)
    nx, ny, nz, offset, precision = matched[0], matched[1], matched[2], matched[3], matched[4]
    x, y, z, nearest, choice = matched[5], matched[6], matched[7], matched[8], matched[9]
    xs, ys, zs = rows[0], rows[1], rows[2]
    for n in range(used):
        a, b, c = np.float64(p0[n]), np.float64(p1[n]), np.float64(p2[n])
        d = r00 * a + r01 * b + r02 * c + t0
        e = r10 * a + r11 * b + r12 * c + t1
        f = r20 * a + r21 * b + r22 * c + t2
        xs[n], ys[n], zs[n] = d, e, f
        x[n], y[n], z[n] = np.float32(d), np.float32(e), np.float32(f)
    for n in range(used):
        nearest[n], choice[n] = gate, np.float32(-1.0)
        nx[n] = ny[n] = nz[n] = offset[n] = precision[n] = np.float32(0.0)
    for m in range(num_candidates):
        _offer(block, np.int64(m), used, matched)
    for m in range(num_candidates):
        for i in range(5):
            _take(block[6 + 8 * m + i], np.float32(m), used, matched[9], matched[i])


@njit(borrows=True)
def _offer(block, m, used, matched):
    """Let the points of a block choose candidate m where it is nearer than their choice."""
    x, y, z, nearest, choice = matched[5], matched[6], matched[7], matched[8], matched[9]
    cx, cy, cz = block[3 + 8 * m], block[4 + 8 * m], block[5 + 8 * m]
    number = np.float32(m)
    for n in range(used):
        dx, dy, dz, before, chosen = cx[n] - x[n], cy[n] - y[n], cz[n] - z[n], nearest[n], choice[n]
        squared = dx * dx + dy * dy + dz * dz
        choice[n] = number if squared < before else chosen
        nearest[n] = min(squared, before)


@njit(borrows=True)
def _take(values, number, used, choice, out):
    """Add a candidate's values where it was chosen, which is no choice to the compiler."""
    for n in range(used):
        chosen = np.float32(1.0) if choice[n] == number else np.float32(0.0)
        out[n] += chosen * values[n]


@njit(borrows=True)
def _count(matched, used, counts):
    """Count the points of a block that are matched with a plane, and with a point."""
    nx, ny, nz, precision = matched[0], matched[1], matched[2], matched[4]
    planes, bare = 0, 0
    for n in range(used):
        plane = (nx[n] != 0.0) | (ny[n] != 0.0) | (nz[n] != 0.0)
        planes += np.int64((precision[n] > 0.0) & plane)
        bare += np.int64((precision[n] > 0.0) & (not plane))
    counts[0] += planes
    counts[1] += bare


@njit(borrows=True)
def _rows_of_planes(T, block, matched, rows, used, kind, width):
    """Make rows A, residual and weight of points, matches and places; returns Σ w r² / V.

    Without a match, or with one that must not be used, the weight is zero.
    """
    r00, r01, r02, r10, r11, r12 = T[0, 0], T[0, 1], T[0, 2], T[1, 0], T[1, 1], T[1, 2]
    r20, r21, r22 = T[2, 0], T[2, 1], T[2, 2]
    first, second, third, e, w = rows[0], rows[1], rows[2], rows[6], rows[7]
    fourth, fifth, sixth = rows[3], rows[4], rows[5]
    m0, m1, m2, m3, m4 = matched[0], matched[1], matched[2], matched[3], matched[4]
    b0, b1, b2 = block[0], block[1], block[2]
    cost = 0.0
    for n in range(used):
        nx, ny, nz = np.float64(m0[n]), np.float64(m1[n]), np.float64(m2[n])
        p0, p1, p2 = np.float64(b0[n]), np.float64(b1[n]), np.float64(b2[n])
        residual = nx * first[n] + ny * second[n] + nz * third[n] - np.float64(m3[n])
        precision = max(np.float64(m4[n]), 0.0)
        weight = precision * robust_weight(kind, residual * residual * precision, width)
        e[n], w[n] = residual, weight
        cost += weight * residual * residual
        a0 = r00 * nx + r10 * ny + r20 * nz
        a1 = r01 * nx + r11 * ny + r21 * nz
        a2 = r02 * nx + r12 * ny + r22 * nz
        first[n], second[n], third[n] = a0, a1, a2
        fourth[n] = p1 * a2 - p2 * a1
        fifth[n] = p2 * a0 - p0 * a2
        sixth[n] = p0 * a1 - p1 * a0
    return cost


@njit(borrows=True)
def _reduce_half(r0, r1, r2, e, w, used):
    """Σ w A r (3) and the upper triangle of Σ w A A' (6) over three components of the rows."""
    g0 = g1 = g2 = h00 = h01 = h02 = h11 = h12 = h22 = 0.0
    for n in range(used):
        s0, s1, s2 = w[n] * r0[n], w[n] * r1[n], w[n] * r2[n]
        g0, g1, g2 = g0 + s0 * e[n], g1 + s1 * e[n], g2 + s2 * e[n]
        h00, h01, h02 = h00 + s0 * r0[n], h01 + s0 * r1[n], h02 + s0 * r2[n]
        h11, h12, h22 = h11 + s1 * r1[n], h12 + s1 * r2[n], h22 + s2 * r2[n]
    return g0, g1, g2, h00, h01, h02, h11, h12, h22


@njit(borrows=True)
def reduce_block(rows, used, sums):
    """Add Σ w A r (6) and the upper triangle of Σ w A A' (21) of one block to the sums.

    Written out in scalars and in three loops of at most 12 sums: the compiler then keeps them in
    vector registers, which makes this an order of magnitude faster than a loop over pairs.
    """
    r0, r1, r2, r3, r4, r5, e, w = (
        rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7],
    )  # fmt: skip
    g0, g1, g2, h00, h01, h02, h11, h12, h22 = _reduce_half(r0, r1, r2, e, w, used)
    g3, g4, g5, h33, h34, h35, h44, h45, h55 = _reduce_half(r3, r4, r5, e, w, used)
    h03 = h04 = h05 = h13 = h14 = h15 = h23 = h24 = h25 = 0.0
    for n in range(used):
        s0, s1, s2 = w[n] * r0[n], w[n] * r1[n], w[n] * r2[n]
        h03, h04, h05 = h03 + s0 * r3[n], h04 + s0 * r4[n], h05 + s0 * r5[n]
        h13, h14, h15 = h13 + s1 * r3[n], h14 + s1 * r4[n], h15 + s1 * r5[n]
        h23, h24, h25 = h23 + s2 * r3[n], h24 + s2 * r4[n], h25 + s2 * r5[n]
    block = (
        g0, g1, g2, g3, g4, g5,
        h00, h01, h02, h03, h04, h05, h11, h12, h13, h14, h15, h22, h23, h24, h25,
        h33, h34, h35, h44, h45, h55,
    )  # fmt: skip
    for i in range(27):
        sums[i] += block[i]
