# SPDX-License-Identifier: MIT
"""Eigenvalues and eigenvectors of symmetric 3 x 3 matrices, compiled.

LAPACK costs several microseconds a call; thousands of plane fits a scan need less. The scatter of a
patch is positive with one value clearly the least: that one is found by Newton's method, its vector
as a cross product, and the other two by one rotation. Any other matrix is left to cyclic Jacobi
rotations, which are as accurate, also for repeated eigenvalues, and take twice as long.
"""

import numpy as np

from svnicp.kernels.njit import njit

NEWTON_STEPS = 8
CLOSE = 1e-15
"""A Newton step shorter than this share of the trace ends the search for the least value."""
APART = 0.03
"""The least value must be so far from the others, over the trace (as a geometric mean)."""
VANISHING = 1e-280
"""Smaller fourth powers of a matrix have lost digits, and cross products with them."""


@njit(borrows=True)
def eigh3(xx, xy, xz, yy, yz, zz, values, vectors):
    """Write ascending eigenvalues (3,) and eigenvectors as columns (3, 3) of a symmetric matrix."""
    trace = xx + yy + zz
    minors = xx * yy - xy * xy + xx * zz - xz * xz + yy * zz - yz * yz
    determinant = (
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    )  # fmt: skip
    if not (trace > 0.0 and minors > 0.0 and determinant > 0.0):
        _jacobi(xx, xy, xz, yy, yz, zz, values, vectors)
        return
    # From zero on Newton's steps never pass the least root: the polynomial is concave before it.
    least, step = 0.0, trace
    for _ in range(NEWTON_STEPS):
        value = ((least - trace) * least + minors) * least - determinant
        slope = (3.0 * least - 2.0 * trace) * least + minors
        step = value / slope
        least -= step
        if not abs(step) > CLOSE * trace:
            break
    nx, ny, nz, square = _kernel(xx - least, xy, xz, yy - least, yz, zz - least)
    if not (abs(step) <= CLOSE * trace and square > max((APART * trace) ** 4, VANISHING)):
        _jacobi(xx, xy, xz, yy, yz, zz, values, vectors)
        return
    scale = 1.0 / np.sqrt(square)
    nx, ny, nz = scale * nx, scale * ny, scale * nz
    sx, sy, sz = _applied(xx, xy, xz, yy, yz, zz, nx, ny, nz)
    values[0] = sx * nx + sy * ny + sz * nz
    vectors[0, 0], vectors[1, 0], vectors[2, 0] = nx, ny, nz
    _other_two(xx, xy, xz, yy, yz, zz, values, vectors)


@njit(inlined=True)
def _applied(xx, xy, xz, yy, yz, zz, x, y, z):
    """A symmetric matrix times a vector (x, y, z)."""
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@njit()
def _kernel(xx, xy, xz, yy, yz, zz):
    """The vector that a singular matrix takes to zero, and its squared length; not normalised.

    The longest of the cross products of its rows.
    """
    ax, ay, az = xy * yz - xz * yy, xz * xy - xx * yz, xx * yy - xy * xy
    bx, by, bz = xy * zz - xz * yz, xz * xz - xx * zz, xx * yz - xy * xz
    cx, cy, cz = yy * zz - yz * yz, yz * xz - xy * zz, xy * yz - yy * xz
    a, b, c = ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz, cx * cx + cy * cy + cz * cz
    swap = b > a
    a, ax, ay, az = b if swap else a, bx if swap else ax, by if swap else ay, bz if swap else az
    swap = c > a
    a, ax, ay, az = c if swap else a, cx if swap else ax, cy if swap else ay, cz if swap else az
    return ax, ay, az, a


@njit(borrows=True)
def _other_two(xx, xy, xz, yy, yz, zz, values, vectors):
    """Write the second and third eigenvalue and -vector: within the plane across the first."""
    nx, ny, nz = vectors[0, 0], vectors[1, 0], vectors[2, 0]
    # Two unit vectors that are at right angles to the first and to each other.
    sign = 1.0 if nz >= 0.0 else -1.0
    part = -1.0 / (sign + nz)
    px, py, pz = 1.0 + sign * nx * nx * part, sign * nx * ny * part, -sign * nx
    qx, qy, qz = nx * ny * part, sign + ny * ny * part, -ny
    sx, sy, sz = _applied(xx, xy, xz, yy, yz, zz, px, py, pz)
    tx, ty, tz = _applied(xx, xy, xz, yy, yz, zz, qx, qy, qz)
    pp, pq = sx * px + sy * py + sz * pz, sx * qx + sy * qy + sz * qz
    qq = tx * qx + ty * qy + tz * qz
    half = 0.5 * (qq - pp)
    size = abs(half) + np.sqrt(half * half + pq * pq)
    long = np.sqrt(size * size + pq * pq)
    cosine = size / long if long > 0.0 else 1.0
    sine = (pq if half >= 0.0 else -pq) / long if long > 0.0 else 0.0
    moved = pq * sine / cosine
    first, second = pp - moved, qq + moved
    ux, uy, uz = cosine * px - sine * qx, cosine * py - sine * qy, cosine * pz - sine * qz
    vx, vy, vz = sine * px + cosine * qx, sine * py + cosine * qy, sine * pz + cosine * qz
    swap = first > second
    values[1], values[2] = second if swap else first, first if swap else second
    vectors[0, 1], vectors[0, 2] = vx if swap else ux, ux if swap else vx
    vectors[1, 1], vectors[1, 2] = vy if swap else uy, uy if swap else vy
    vectors[2, 1], vectors[2, 2] = vz if swap else uz, uz if swap else vz


@njit(borrows=True)
def _jacobi(xx, xy, xz, yy, yz, zz, values, vectors):
    """``eigh3`` by rotations in turns."""
    first, second, third = np.int64(0), np.int64(1), np.int64(2)  # literals: a copy for each
    for i in range(3):
        for j in range(3):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(12):
        off = xy * xy + xz * xz + yz * yz
        if not off > 1e-30 * (xx * xx + yy * yy + zz * zz):
            break
        xx, yy, xy, xz, yz = _rotate(xx, yy, xy, xz, yz, vectors, first, second)
        xx, zz, xz, xy, yz = _rotate(xx, zz, xz, xy, yz, vectors, first, third)
        yy, zz, yz, xy, xz = _rotate(yy, zz, yz, xy, xz, vectors, second, third)
    values[0], values[1], values[2] = xx, yy, zz
    _swap_if_descending(values, vectors, first, second)
    _swap_if_descending(values, vectors, second, third)
    _swap_if_descending(values, vectors, first, second)


@njit(borrows=True)
def _rotate(pp, qq, pq, rp, rq, vectors, p, q):
    """One Jacobi rotation that zeroes entry pq; returns pp, qq, pq, rp, rq, r the third axis."""
    if pq == 0.0:
        return pp, qq, pq, rp, rq
    half = 0.5 * (qq - pp)
    tangent = pq / (abs(half) + np.sqrt(half * half + pq * pq))
    if half < 0.0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    for k in range(3):
        a, b = vectors[k, p], vectors[k, q]
        vectors[k, p], vectors[k, q] = cosine * a - sine * b, sine * a + cosine * b
    return (
        pp - tangent * pq, qq + tangent * pq, 0.0,
        cosine * rp - sine * rq, sine * rp + cosine * rq,
    )  # fmt: skip


@njit(borrows=True)
def _swap_if_descending(values, vectors, i, j):
    """Exchange two eigenvalues and their vectors when the first is larger."""
    if values[i] > values[j]:
        values[i], values[j] = values[j], values[i]
        for k in range(3):
            vectors[k, i], vectors[k, j] = vectors[k, j], vectors[k, i]
