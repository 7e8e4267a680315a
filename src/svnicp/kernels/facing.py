# SPDX-License-Identifier: MIT
"""What surfaces tell along the axes of a scan that they face, and nothing along themselves.

``registration.reliability`` says what it means. All sums are taken in the axes of the scan and
turned into those of the body at the end.
"""

import numpy as np

from svnicp.kernels.curvature import seen_offsets
from svnicp.kernels.facing_blocks import (
    GRADIENT,
    NOISE,
    NUM_SUMS,
    RESPONSE,
    add_information,
    add_noise,
    add_response,
)
from svnicp.kernels.njit import njit
from svnicp.kernels.plane_sums import BLOCK
from svnicp.kernels.scan_axes import (
    TRACE,
    axes_from_target,
    counted_share,
    scan_axes,
    vouched_shares,
)
from svnicp.kernels.small import product, transposed_applied, transposed_product
from svnicp.kernels.weights import robust_weight


@njit()
def reliable_part(
    T, points, rows, normal_cov, chosen, normalised, kind, width, hessian, facing, vouching
):  # fmt: skip
    """``seen`` (6, 6), gradient (6,) of the information that can be relied on, and its response.

    ``hessian`` (6, 6) is the plain information; a normal's component along an axis counts from
    about ``facing`` on, smaller ones as far as those vouch for them. ``chosen`` (N,) is the matched
    candidate or -1, ``normalised`` (N,) its residual over its standard deviation. The response
    (6, 6) is how that gradient changes with the pose, which is not the information: a normal's
    component counts less in the gradient, the change of its residual does not.
    """
    axes = scan_axes(hessian)
    vouched = np.zeros(3)
    if vouching > 0.0:
        vouched = vouched_shares(T, rows, chosen, normalised, kind, width, axes, facing, vouching)
    kept, fake, gradient, response = facing_sums(
        T, points, rows, normal_cov, chosen, normalised, kind, width, axes, facing, vouched
    )
    for i in range(6):
        for j in range(6):
            kept[i, j] += TRACE * hessian[i, j]
            response[i, j] += TRACE * hessian[i, j]
    share = seen_offsets(kept, fake)
    fake = transposed_product(share, product(kept, share))
    for i in range(6):
        for j in range(6):
            fake[i, j] = hessian[i, j] - fake[i, j]
    gradient = transposed_applied(share, transposed_applied(share, gradient))
    response = transposed_product(share, transposed_product(share, response))
    return seen_offsets(hessian, fake), gradient, response


@njit()
def facing_sums(
    T, points, rows, normal_cov, chosen, normalised, kind, width, axes, facing, vouched
):  # fmt: skip
    """Information (6, 6), what noise in normals fakes of it (6, 6), gradient (6,), response (6, 6).

    A component a of a normal counts as s a, with s = f + v (1 - f), f = a² / (a² + facing²) and
    ``vouched`` v (3,) of its axis.
    """
    sums, block = np.zeros(NUM_SUMS), np.empty((22, BLOCK))
    from_target = axes_from_target(T, axes)
    for start in range(0, len(points), BLOCK):
        used = 0
        for index in range(start, min(start + BLOCK, len(points))):
            m = chosen[index]
            if m < 0:
                continue
            for i in range(3):
                block[i, used] = rows[index, m, 3 + i]
                block[3 + i, used] = points[index, i]
            for i in range(6):
                block[6 + i, used] = normal_cov[index, m, i]
            block[12, used], block[13, used] = rows[index, m, 7], normalised[index]
            block[14, used] = np.sqrt(rows[index, m, 7])
            used += 1
        _face(block, np.int64(used), from_target, axes, kind, width, facing, vouched)
        add_information(block, np.int64(used), sums)
        add_noise(block, np.int64(used), sums)
        add_response(block, np.int64(used), sums)
    return _in_body(sums, axes)


@njit(borrows=True)
def _face(block, used, from_target, axes, kind, width, facing, vouched):
    """Turn a block of matches into the axes of the scan, and shrink what they do not face.

    In come normal (3), point (3), covariance of the normal (6), precision, normalised residual and
    the precision's root; out go s n (3), point (3), precision times the shrunk covariance (6),
    precision, the pull on the position (3), n (3), and precision times s² n (3). A loop without a
    choice in it: vector instructions take it.
    """
    b0, b1, b2, b3, b4, b5 = block[0], block[1], block[2], block[3], block[4], block[5]
    c0, c1, c2, c3, c4, c5 = block[6], block[7], block[8], block[9], block[10], block[11]
    w, g0, g1, g2 = block[12], block[13], block[14], block[15]
    n0, n1, n2, e0, e1, e2 = block[16], block[17], block[18], block[19], block[20], block[21]
    f00, f01, f02 = from_target[0, 0], from_target[0, 1], from_target[0, 2]
    f10, f11, f12 = from_target[1, 0], from_target[1, 1], from_target[1, 2]
    f20, f21, f22 = from_target[2, 0], from_target[2, 1], from_target[2, 2]
    v0, v1, v2 = vouched[0], vouched[1], vouched[2]
    for n in range(used):
        a0 = f00 * b0[n] + f01 * b1[n] + f02 * b2[n]
        a1 = f10 * b0[n] + f11 * b1[n] + f12 * b2[n]
        a2 = f20 * b0[n] + f21 * b1[n] + f22 * b2[n]
        s0, s1, s2 = (
            counted_share(a0, facing, v0),
            counted_share(a1, facing, v1),
            counted_share(a2, facing, v2),
        )
        b0[n], b1[n], b2[n] = s0 * a0, s1 * a1, s2 * a2
        p0, p1, p2 = b3[n], b4[n], b5[n]
        b3[n] = axes[0, 0] * p0 + axes[1, 0] * p1 + axes[2, 0] * p2
        b4[n] = axes[0, 1] * p0 + axes[1, 1] * p1 + axes[2, 1] * p2
        b5[n] = axes[0, 2] * p0 + axes[1, 2] * p1 + axes[2, 2] * p2
        residual = g0[n]
        weight = robust_weight(kind, residual * residual, width)
        pull, precision = weight * residual * g1[n], weight * w[n]
        w[n] = precision
        n0[n], n1[n], n2[n] = a0, a1, a2
        e0[n], e1[n], e2[n] = (
            precision * s0 * b0[n], precision * s1 * b1[n], precision * s2 * b2[n]
        )  # fmt: skip
        g0[n], g1[n], g2[n] = pull * s0 * b0[n], pull * s1 * b1[n], pull * s2 * b2[n]
        xx, xy, xz, yy, yz, zz = c0[n], c1[n], c2[n], c3[n], c4[n], c5[n]
        x0, y0, z0 = _row(f00, f01, f02, xx, xy, xz, yy, yz, zz)
        x1, y1, z1 = _row(f10, f11, f12, xx, xy, xz, yy, yz, zz)
        x2, y2, z2 = _row(f20, f21, f22, xx, xy, xz, yy, yz, zz)
        c0[n] = precision * s0 * s0 * (x0 * f00 + y0 * f01 + z0 * f02)
        c1[n] = precision * s0 * s1 * (x0 * f10 + y0 * f11 + z0 * f12)
        c2[n] = precision * s0 * s2 * (x0 * f20 + y0 * f21 + z0 * f22)
        c3[n] = precision * s1 * s1 * (x1 * f10 + y1 * f11 + z1 * f12)
        c4[n] = precision * s1 * s2 * (x1 * f20 + y1 * f21 + z1 * f22)
        c5[n] = precision * s2 * s2 * (x2 * f20 + y2 * f21 + z2 * f22)


@njit(inlined=True, borrows=True)
def _row(x, y, z, xx, xy, xz, yy, yz, zz):
    """A vector (x, y, z) times a symmetric matrix."""
    return x * xx + y * xy + z * xz, x * xy + y * yy + z * yz, x * xz + y * yz + z * zz


@njit()
def _in_body(sums, axes):
    """Sums in the axes of the scan as what ``facing_sums`` returns, in those of the body."""
    kept, fake, turn = np.empty((6, 6)), np.empty((6, 6)), np.zeros((6, 6))
    place = 0
    for i in range(6):
        for j in range(i, 6):
            kept[i, j] = kept[j, i] = sums[place]
            fake[i, j] = fake[j, i] = sums[NOISE + place]
            place += 1
    for i in range(3):
        for j in range(3):
            turn[i, j] = turn[3 + i, 3 + j] = axes[j, i]
    response = sums[RESPONSE:].reshape((6, 6))
    return (
        transposed_product(turn, product(kept, turn)),
        transposed_product(turn, product(fake, turn)),
        transposed_applied(turn, sums[GRADIENT:NOISE]),
        transposed_product(turn, product(response, turn)),
    )
