# SPDX-License-Identifier: MIT
"""Match, residual, gradient and Gauss-Newton Hessian of every particle: the inner loop.

A candidate is a row (x, y, z, nx, ny, nz, n·m, precision): a map point, its unit normal, the
plane's offset and one over the residual's variance. A zero normal makes it a point (three residuals
of that variance); precision zero means that it must not be used. All in coordinates relative to a
local origin, so that float32 resolves a hundredth of a millimetre.
"""

import numpy as np

from svnicp.kernels.lie import pull_back
from svnicp.kernels.njit import njit
from svnicp.kernels.plane_sums import BLOCK, add_planes, reduce_block
from svnicp.kernels.pose_mean import poses_of
from svnicp.kernels.small import applied, product, transposed_applied, transposed_product
from svnicp.kernels.threads import share
from svnicp.kernels.weights import robust_weight

PARTICLES = 4
"""Particles that a thread takes at once."""


@njit()
def add_points(T, points, candidates, max_squared, kind, width, sums):
    """Add the same over the points whose match is a point; returns Σ w |e|² / V.

    The residual e = R p + t - q has J = [R, -R[p]×], which is a row as a plane's for each of the
    three body axes.  # Eq. (12), Eq. (13), misprints corrected
    """
    rows = np.empty((8, 3 * BLOCK))
    cost = 0.0
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
            used += 3
        reduce_block(rows, np.int64(used), sums)
    return cost


@njit(borrows=True)
def nearest_candidate(candidates, n, x, y, z, max_squared):
    """Nearest candidate of point n to (x, y, z), or -1 when none is nearer than the gate."""
    best, nearest = -1, np.float32(max_squared)
    for m in range(candidates.shape[1]):
        dx, dy, dz = candidates[n, m, 0] - x, candidates[n, m, 1] - y, candidates[n, m, 2] - z
        squared = dx * dx + dy * dy + dz * dz
        nearer = squared < nearest
        best, nearest = (m if nearer else best), (squared if nearer else nearest)
    return best


def linearise(T_reference, offsets, seen, points, candidates, max_squared, kind, width):
    """Gradient (K, 6), Hessian (K, 6, 6), cost (K,) and matches (K,) at offsets (K, 6).

    The likelihood, ½ Σ w r² / V, is looked at in ``seen @ offset`` (6, 6): the identity, or what
    remains of an offset once directions that only noise informs are taken out. Gradient and Hessian
    are those with respect to the offset. Particles are independent: same bits for any number of
    threads.
    """
    count = len(offsets)
    sums, costs, counts = np.zeros((count, 27)), np.zeros(count), np.zeros((count, 2), np.int64)
    case = (poses_of(T_reference, offsets @ seen.T), points, candidates, max_squared, kind, width)
    share(add_planes, count, PARTICLES, *case, sums, costs, counts)
    if counts[:, 1].any():  # rarely: this half is compiled only where there are such points
        share(add_points_of_some, count, PARTICLES, *case, sums, costs)
    gradients, hessians = np.empty((count, 6)), np.empty((count, 6, 6))
    pull_back_all(offsets, seen, sums, gradients, hessians)
    return gradients, hessians, 0.5 * costs, counts.sum(axis=1)


@njit()
def add_points_of_some(
    begin, end, poses, points, candidates, max_squared, kind, width, sums, costs
):  # fmt: skip
    """``add_points`` for some of the poses."""
    for k in range(begin, end):
        costs[k] += add_points(poses[k], points, candidates, max_squared, kind, width, sums[k])


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
    sums, counts = np.zeros((1, 27)), np.zeros((1, 2), dtype=np.int64)
    case = (points, candidates, max_squared, kind, width)
    add_planes(0, 1, T[None], *case, sums, np.zeros(1), counts)
    if counts[0, 1] > 0:
        add_points(T, *case, sums[0])
    return sums[0, :6], sums[0, FULL]
