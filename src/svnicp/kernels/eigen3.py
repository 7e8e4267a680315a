# SPDX-License-Identifier: MIT
"""Eigenvalues and eigenvectors of symmetric 3 x 3 matrices, compiled.

LAPACK costs several microseconds a call; thousands of plane fits a scan need less. Cyclic Jacobi
rotations are as accurate, also for repeated eigenvalues.
"""

import numpy as np

from svnicp.kernels.njit import njit


@njit(borrows=True)
def eigh3(xx, xy, xz, yy, yz, zz, values, vectors):
    """Write ascending eigenvalues (3,) and eigenvectors as columns (3, 3) of a symmetric matrix."""
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
