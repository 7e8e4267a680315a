# SPDX-License-Identifier: MIT
"""Eigenvalues and eigenvectors of symmetric 3 x 3 matrices, compiled.

LAPACK costs several microseconds a call; thousands of plane fits a scan need less. Cyclic Jacobi
rotations are as accurate, also for repeated eigenvalues.
"""

import numpy as np

from svnicp.kernels.njit import njit


@njit()
def eigh3(xx, xy, xz, yy, yz, zz):
    """Ascending eigenvalues (3,) and eigenvectors as columns (3, 3) of a symmetric matrix."""
    a = np.empty((3, 3))
    a[0, 0], a[1, 1], a[2, 2] = xx, yy, zz
    a[0, 1] = a[1, 0] = xy
    a[0, 2] = a[2, 0] = xz
    a[1, 2] = a[2, 1] = yz
    v = np.eye(3)
    for _ in range(12):
        off = a[0, 1] ** 2 + a[0, 2] ** 2 + a[1, 2] ** 2
        if not off > 1e-30 * (a[0, 0] ** 2 + a[1, 1] ** 2 + a[2, 2] ** 2):
            break
        _rotate(a, v, 0, 1)
        _rotate(a, v, 0, 2)
        _rotate(a, v, 1, 2)
    return _sorted(a, v)


@njit()
def _rotate(a, v, p, q):
    """One Jacobi rotation that zeroes a[p, q], applied to the eigenvectors too."""
    if a[p, q] == 0.0:
        return
    ratio = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
    tangent = 1.0 / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    if ratio < 0.0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    for k in range(3):
        a[k, p], a[k, q] = cosine * a[k, p] - sine * a[k, q], sine * a[k, p] + cosine * a[k, q]
    for k in range(3):
        a[p, k], a[q, k] = cosine * a[p, k] - sine * a[q, k], sine * a[p, k] + cosine * a[q, k]
    for k in range(3):
        v[k, p], v[k, q] = cosine * v[k, p] - sine * v[k, q], sine * v[k, p] + cosine * v[k, q]


@njit()
def _sorted(a, v):
    """Diagonal of a and columns of v in ascending order of the eigenvalue."""
    values = np.empty(3)
    vectors = np.empty((3, 3))
    for k in range(3):
        rank = 0
        for j in range(3):
            if a[j, j] < a[k, k] or (a[j, j] == a[k, k] and j < k):
                rank += 1
        values[rank] = a[k, k]
        for i in range(3):
            vectors[i, rank] = v[i, k]
    return values, vectors
