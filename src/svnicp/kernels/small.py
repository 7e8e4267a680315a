# SPDX-License-Identifier: MIT
"""Products, solutions and eigenvalues of small matrices, compiled without BLAS and LAPACK.

At this size a plain loop is faster than a library call, and it compiles in a fraction of the time.
"""

import numpy as np

from svnicp.kernels.njit import njit

LANES = 16
"""Numbers that a vectorised sum takes at once; what is left over it takes one by one."""


@njit(inlined=True)
def padded(count):
    """Length of a series with zeros after it, so that a sum over it leaves nothing over."""
    return (count + LANES - 1) // LANES * LANES


@njit()
def product(a, b):
    """Matrix product a b."""
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


@njit()
def transposed_product(a, b):
    """Matrix product a' b."""
    out = np.zeros((a.shape[1], b.shape[1]))
    for k in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[k, i] * b[k, j]
    return out


@njit()
def applied(a, x):
    """Matrix times vector, a x."""
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            out[i] += a[i, k] * x[k]
    return out


@njit()
def transposed_applied(a, x):
    """Transposed matrix times vector, a' x."""
    out = np.zeros(a.shape[1])
    for k in range(a.shape[0]):
        for i in range(a.shape[1]):
            out[i] += a[k, i] * x[k]
    return out


@njit()
def inverse3(a):
    """Inverse of a 3 x 3 matrix by its cofactors."""
    out = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            p, q, r, s = (j + 1) % 3, (j + 2) % 3, (i + 1) % 3, (i + 2) % 3
            out[i, j] = a[p, r] * a[q, s] - a[p, s] * a[q, r]
    determinant = a[0, 0] * out[0, 0] + a[0, 1] * out[1, 0] + a[0, 2] * out[2, 0]
    for i in range(3):
        for j in range(3):
            out[i, j] /= determinant
    return out


@njit()
def solve_spd(matrix, right):
    """Solve a symmetric positive 6 x 6 system; axes without curvature do not move."""
    scale = np.empty(6)
    for i in range(6):
        scale[i] = 1.0 / np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 0.0
    lower = np.zeros((6, 6))
    for i in range(6):
        for j in range(i + 1):
            value = matrix[i, j] * scale[i] * scale[j]
            for m in range(j):
                value -= lower[i, m] * lower[j, m]
            if i == j:
                lower[i, i] = np.sqrt(max(value, 1e-12))
            else:
                lower[i, j] = value / lower[j, j]
    solution = np.empty(6)
    for i in range(6):
        value = right[i] * scale[i]
        for m in range(i):
            value -= lower[i, m] * solution[m]
        solution[i] = value / lower[i, i]
    for i in range(5, -1, -1):
        value = solution[i]
        for m in range(i + 1, 6):
            value -= lower[m, i] * solution[m]
        solution[i] = value / lower[i, i]
    for i in range(6):
        solution[i] *= scale[i]
    return solution


@njit()
def solve(matrix, right):
    """Solve a 6 x 6 system by elimination with pivots; axes without curvature do not move.

    Rows and columns are scaled by the diagonal, as far as it is positive: units differ.
    """
    scale, rows, solution = np.zeros(6), np.empty((6, 7)), np.zeros(6)
    for i in range(6):
        scale[i] = 1.0 / np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 0.0
    for i in range(6):
        rows[i, 6] = right[i] * scale[i]
        for j in range(6):
            rows[i, j] = matrix[i, j] * scale[i] * scale[j]
    for k in range(6):
        best = k
        for i in range(k + 1, 6):
            if abs(rows[i, k]) > abs(rows[best, k]):
                best = i
        for j in range(7):
            rows[k, j], rows[best, j] = rows[best, j], rows[k, j]
        if abs(rows[k, k]) < 1e-12:
            rows[k, k], rows[k, 6] = 1.0, 0.0
        for i in range(k + 1, 6):
            factor = rows[i, k] / rows[k, k]
            for j in range(k, 7):
                rows[i, j] -= factor * rows[k, j]
    for k in range(5, -1, -1):
        value = rows[k, 6]
        for j in range(k + 1, 6):
            value -= rows[k, j] * solution[j]
        solution[k] = value / rows[k, k]
    for i in range(6):
        solution[i] *= scale[i]
    return solution


@njit()
def inverse_spd(matrix):
    """Inverse of a symmetric positive matrix (n, n), scaled so that mixed units do no harm."""
    size = len(matrix)
    scale, scaled = np.empty(size), np.empty((size, size))
    for i in range(size):
        scale[i] = 1.0 / np.sqrt(max(matrix[i, i], 1e-12))
    for i in range(size):
        for j in range(size):
            scaled[i, j] = 0.5 * (matrix[i, j] + matrix[j, i]) * scale[i] * scale[j]
    values, vectors = symmetric_eigen(scaled)
    largest = values[0]
    for k in range(1, size):
        largest = max(largest, values[k])
    inverse = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(size):
                total += vectors[i, k] * vectors[j, k] / max(values[k], 1e-12 * largest)
            inverse[i, j] = inverse[j, i] = total * scale[i] * scale[j]
    return inverse


@njit()
def symmetric_eigen(matrix):
    """Eigenvalues (n,) and eigenvectors as columns (n, n) of a symmetric matrix, in no order.

    Cyclic Jacobi rotations, quadratically convergent: a 6 x 6 matrix takes about six sweeps.
    """
    size = len(matrix)
    a, vectors = np.empty((size, size)), np.zeros((size, size))
    for i in range(size):
        vectors[i, i] = 1.0
        for j in range(size):
            a[i, j] = matrix[i, j]
    for _ in range(30):
        off, diagonal = 0.0, 0.0
        for i in range(size):
            diagonal += a[i, i] * a[i, i]
            for j in range(i):
                off += a[i, j] * a[i, j]
        if not off > 1e-30 * diagonal:
            break
        for p in range(size - 1):
            for q in range(p + 1, size):
                _rotate(a, vectors, p, q)
    values = np.empty(size)
    for i in range(size):
        values[i] = a[i, i]
    return values, vectors


@njit()
def _rotate(a, vectors, p, q):
    """One Jacobi rotation that zeroes a[p, q], applied to the eigenvectors too."""
    if a[p, q] == 0.0:
        return
    ratio = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
    tangent = 1.0 / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    if ratio < 0.0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    for k in range(len(a)):
        first, second = a[k, p], a[k, q]
        a[k, p], a[k, q] = cosine * first - sine * second, sine * first + cosine * second
        first, second = vectors[k, p], vectors[k, q]
        vectors[k, p], vectors[k, q] = (
            cosine * first - sine * second,
            sine * first + cosine * second,
        )
    for k in range(len(a)):
        first, second = a[p, k], a[q, k]
        a[p, k], a[q, k] = cosine * first - sine * second, sine * first + cosine * second
