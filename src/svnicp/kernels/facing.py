# SPDX-License-Identifier: MIT
"""What surfaces tell along the axes of a scan that they face, and nothing along themselves.

``registration.reliability`` says what it means. All sums are taken in the axes of the scan and
turned into those of the body at the end.
"""

import numpy as np

from svnicp.kernels.curvature import seen_offsets
from svnicp.kernels.linearise import robust_weight
from svnicp.kernels.njit import njit
from svnicp.kernels.small import (
    inverse3,
    product,
    symmetric_eigen,
    transposed_applied,
    transposed_product,
)

TRACE = 1e-9
"""Share of the plain information that is left everywhere, so that nothing is singular."""


@njit()
def reliable_part(
    T, points, rows, normal_cov, chosen, normalised, kind, width, hessian, facing
):  # fmt: skip
    """``seen`` (6, 6) and the gradient (6,) of the information that can be relied on.

    ``hessian`` (6, 6) is the plain information; a normal's component along an axis counts from
    about ``facing`` on. ``chosen`` (N,) is the matched candidate or -1, ``normalised`` (N,) its
    residual over its standard deviation.
    """
    axes = scan_axes(hessian)
    kept, fake, gradient = facing_sums(
        T, points, rows, normal_cov, chosen, normalised, kind, width, axes, facing
    )
    for i in range(6):
        for j in range(6):
            kept[i, j] += TRACE * hessian[i, j]
    share = seen_offsets(kept, fake)
    reliable = transposed_product(share, product(kept, share))
    gradient = transposed_applied(share, transposed_applied(share, gradient))
    return seen_offsets(hessian, hessian - reliable), gradient


@njit()
def scan_axes(hessian):
    """Axes (3, 3), as columns, along which a scan sees positions independently, turns unknown."""
    turning = np.empty((3, 3))
    floor = TRACE * (hessian[3, 3] + hessian[4, 4] + hessian[5, 5])
    for i in range(3):
        for j in range(3):
            turning[i, j] = hessian[3 + i, 3 + j] + (floor if i == j else 0.0)
    turning = inverse3(turning)
    marginal = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            marginal[i, j] = hessian[i, j]
            for k in range(3):
                for m in range(3):
                    marginal[i, j] -= hessian[i, 3 + k] * turning[k, m] * hessian[j, 3 + m]
    for i in range(3):
        for j in range(i):
            marginal[i, j] = marginal[j, i] = 0.5 * (marginal[i, j] + marginal[j, i])
    return symmetric_eigen(marginal)[1]


@njit()
def facing_sums(T, points, rows, normal_cov, chosen, normalised, kind, width, axes, facing):
    """Information (6, 6), what noise in normals fakes of it (6, 6), and gradient (6,).

    A component a of a normal counts as s a, with s = a² / (a² + facing²).
    """
    kept, fake, gradient = np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6)
    from_target = product(np.ascontiguousarray(axes.T), np.ascontiguousarray(T[:3, :3].T))
    n, s, p, cov = np.empty(3), np.empty(3), np.empty(3), np.empty((3, 3))
    shrunk, half = np.zeros((6, 3)), np.empty((6, 3))
    for index in range(len(points)):
        m = chosen[index]
        if m < 0:
            continue
        row, point = rows[index, m], points[index]
        for i in range(3):
            n[i] = p[i] = 0.0
            for j in range(3):
                n[i] += from_target[i, j] * row[3 + j]
                p[i] += axes[j, i] * point[j]
            s[i] = n[i] * n[i] / (n[i] * n[i] + facing * facing + 1e-30)
        _shrunk_rows(p, s, shrunk)
        _turned(normal_cov[index, m], from_target, cov)
        weight = robust_weight(kind, normalised[index] * normalised[index], width)
        precision = weight * row[7]
        pull = weight * normalised[index] * np.sqrt(row[7])
        for i in range(6):
            along = shrunk[i, 0] * n[0] + shrunk[i, 1] * n[1] + shrunk[i, 2] * n[2]
            gradient[i] += pull * (
                shrunk[i, 0] * s[0] * n[0] + shrunk[i, 1] * s[1] * n[1] + shrunk[i, 2] * s[2] * n[2]
            )
            for j in range(3):
                half[i, j] = precision * (
                    shrunk[i, 0] * cov[0, j] + shrunk[i, 1] * cov[1, j] + shrunk[i, 2] * cov[2, j]
                )
            for j in range(i + 1):
                other = shrunk[j, 0] * n[0] + shrunk[j, 1] * n[1] + shrunk[j, 2] * n[2]
                kept[i, j] += precision * along * other
                fake[i, j] += (
                    half[i, 0] * shrunk[j, 0]
                    + half[i, 1] * shrunk[j, 1]
                    + half[i, 2] * shrunk[j, 2]
                )
    turn = np.zeros((6, 6))
    for i in range(6):
        for j in range(i):
            kept[j, i], fake[j, i] = kept[i, j], fake[i, j]
    for i in range(3):
        for j in range(3):
            turn[i, j] = turn[3 + i, 3 + j] = axes[j, i]
    return (
        transposed_product(turn, product(kept, turn)),
        transposed_product(turn, product(fake, turn)),
        transposed_applied(turn, gradient),
    )


@njit(inlined=True)
def _shrunk_rows(p, s, shrunk):
    """[I; [p]×] diag(s) (6, 3): from a normal to the row of its residual."""
    shrunk[0, 0], shrunk[1, 1], shrunk[2, 2] = s[0], s[1], s[2]
    shrunk[3, 1], shrunk[3, 2] = -p[2] * s[1], p[1] * s[2]
    shrunk[4, 0], shrunk[4, 2] = p[2] * s[0], -p[0] * s[2]
    shrunk[5, 0], shrunk[5, 1] = -p[1] * s[0], p[0] * s[1]


@njit(inlined=True)
def _turned(upper, from_target, cov):
    """Covariance of a normal, xx xy xz yy yz zz, in other axes (3, 3)."""
    for i in range(3):
        x, y, z = from_target[i, 0], from_target[i, 1], from_target[i, 2]
        a = x * upper[0] + y * upper[1] + z * upper[2]
        b = x * upper[1] + y * upper[3] + z * upper[4]
        c = x * upper[2] + y * upper[4] + z * upper[5]
        for j in range(3):
            cov[i, j] = a * from_target[j, 0] + b * from_target[j, 1] + c * from_target[j, 2]
