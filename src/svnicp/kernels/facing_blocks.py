# SPDX-License-Identifier: MIT
"""Sums over a block of matches in the axes of a scan: information, its noise, and the response.

``kernels.facing`` fills the blocks. Written out, a few sums to a loop, which then stay in vector
registers.
"""

from svnicp.kernels.njit import njit

INFORMATION, GRADIENT, NOISE, RESPONSE, NUM_SUMS = 0, 21, 27, 48, 84
"""Where the sums are: two upper triangles (21) with a gradient (6) between, a matrix (36)."""


@njit(borrows=True)
def add_information(block, used, sums):
    """Add Σ w A A' (21, upper triangle) with A = [d; p × d], and the gradient (6), of a block."""
    d0, d1, d2, p0, p1, p2 = block[0], block[1], block[2], block[3], block[4], block[5]
    w, g0, g1, g2 = block[12], block[13], block[14], block[15]
    h00 = h01 = h02 = h11 = h12 = h22 = k0 = k1 = k2 = k3 = k4 = k5 = 0.0
    for n in range(used):
        s0, s1, s2 = w[n] * d0[n], w[n] * d1[n], w[n] * d2[n]
        h00, h01, h02 = h00 + s0 * d0[n], h01 + s0 * d1[n], h02 + s0 * d2[n]
        h11, h12, h22 = h11 + s1 * d1[n], h12 + s1 * d2[n], h22 + s2 * d2[n]
        k0, k1, k2 = k0 + g0[n], k1 + g1[n], k2 + g2[n]
        k3 += p1[n] * g2[n] - p2[n] * g1[n]
        k4 += p2[n] * g0[n] - p0[n] * g2[n]
        k5 += p0[n] * g1[n] - p1[n] * g0[n]
    h03 = h04 = h05 = h13 = h14 = h15 = h23 = h24 = h25 = 0.0
    h33 = h34 = h35 = h44 = h45 = h55 = 0.0
    for n in range(used):
        s0, s1, s2 = w[n] * d0[n], w[n] * d1[n], w[n] * d2[n]
        a3 = p1[n] * d2[n] - p2[n] * d1[n]
        a4 = p2[n] * d0[n] - p0[n] * d2[n]
        a5 = p0[n] * d1[n] - p1[n] * d0[n]
        h03, h04, h05 = h03 + s0 * a3, h04 + s0 * a4, h05 + s0 * a5
        h13, h14, h15 = h13 + s1 * a3, h14 + s1 * a4, h15 + s1 * a5
        h23, h24, h25 = h23 + s2 * a3, h24 + s2 * a4, h25 + s2 * a5
        s3, s4, s5 = w[n] * a3, w[n] * a4, w[n] * a5
        h33, h34, h35 = h33 + s3 * a3, h34 + s3 * a4, h35 + s3 * a5
        h44, h45, h55 = h44 + s4 * a4, h45 + s4 * a5, h55 + s5 * a5
    added = (
        h00, h01, h02, h03, h04, h05, h11, h12, h13, h14, h15, h22, h23, h24, h25,
        h33, h34, h35, h44, h45, h55, k0, k1, k2, k3, k4, k5,
    )  # fmt: skip
    for i in range(27):
        sums[i] += added[i]


@njit(borrows=True)
def add_noise(block, used, sums):
    """Add Σ B C B' (21, upper triangle) of a block, B = [I; [p]×] and C the shrunk covariance."""
    p0, p1, p2, c0, c1, c2 = block[3], block[4], block[5], block[6], block[7], block[8]
    c3, c4, c5 = block[9], block[10], block[11]
    h00 = h01 = h02 = h11 = h12 = h22 = 0.0
    for n in range(used):
        h00, h01, h02 = h00 + c0[n], h01 + c1[n], h02 + c2[n]
        h11, h12, h22 = h11 + c3[n], h12 + c4[n], h22 + c5[n]
    h03 = h04 = h05 = h13 = h14 = h15 = h23 = h24 = h25 = 0.0
    h33 = h34 = h35 = h44 = h45 = h55 = 0.0
    for n in range(used):
        x, y, z = p0[n], p1[n], p2[n]
        # Columns of C [p]×', and then [p]× times them.
        r03, r04, r05 = y * c2[n] - z * c1[n], z * c0[n] - x * c2[n], x * c1[n] - y * c0[n]
        r13, r14, r15 = y * c4[n] - z * c3[n], z * c1[n] - x * c4[n], x * c3[n] - y * c1[n]
        r23, r24, r25 = y * c5[n] - z * c4[n], z * c2[n] - x * c5[n], x * c4[n] - y * c2[n]
        h03, h04, h05 = h03 + r03, h04 + r04, h05 + r05
        h13, h14, h15 = h13 + r13, h14 + r14, h15 + r15
        h23, h24, h25 = h23 + r23, h24 + r24, h25 + r25
        h33, h34, h35 = h33 + y * r23 - z * r13, h34 + y * r24 - z * r14, h35 + y * r25 - z * r15
        h44, h45, h55 = h44 + z * r04 - x * r24, h45 + z * r05 - x * r25, h55 + x * r15 - y * r05
    added = (
        h00, h01, h02, h03, h04, h05, h11, h12, h13, h14, h15, h22, h23, h24, h25,
        h33, h34, h35, h44, h45, h55,
    )  # fmt: skip
    for i in range(21):
        sums[NOISE + i] += added[i]


@njit(borrows=True)
def add_response(block, used, sums):
    """Add Σ [e; p × e] [n; p × n]' (36) of a block, e what pulls of n times its precision."""
    p0, p1, p2, n0, n1, n2 = block[3], block[4], block[5], block[16], block[17], block[18]
    rows = block[19], block[20], block[21]
    for axis in range(3):
        e = rows[axis]
        j0 = j1 = j2 = j3 = j4 = j5 = 0.0
        for n in range(used):
            j0, j1, j2 = j0 + e[n] * n0[n], j1 + e[n] * n1[n], j2 + e[n] * n2[n]
            j3 += e[n] * (p1[n] * n2[n] - p2[n] * n1[n])
            j4 += e[n] * (p2[n] * n0[n] - p0[n] * n2[n])
            j5 += e[n] * (p0[n] * n1[n] - p1[n] * n0[n])
        _add_row(sums, axis, (j0, j1, j2, j3, j4, j5))
    for axis in range(3):
        e, f = rows[(axis + 2) % 3], rows[(axis + 1) % 3]
        x, y = block[3 + (axis + 1) % 3], block[3 + (axis + 2) % 3]
        j0 = j1 = j2 = j3 = j4 = j5 = 0.0
        for n in range(used):
            turn = x[n] * e[n] - y[n] * f[n]
            j0, j1, j2 = j0 + turn * n0[n], j1 + turn * n1[n], j2 + turn * n2[n]
            j3 += turn * (p1[n] * n2[n] - p2[n] * n1[n])
            j4 += turn * (p2[n] * n0[n] - p0[n] * n2[n])
            j5 += turn * (p0[n] * n1[n] - p1[n] * n0[n])
        _add_row(sums, 3 + axis, (j0, j1, j2, j3, j4, j5))


@njit(inlined=True)
def _add_row(sums, row, added):
    """Add to a row of the response."""
    for i in range(6):
        sums[RESPONSE + 6 * row + i] += added[i]
