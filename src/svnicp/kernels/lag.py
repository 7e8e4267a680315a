# SPDX-License-Identifier: MIT
"""The sums of which ``registration.lag`` makes the lag, compiled: Σ w A A' and Σ w s A A'."""

import numpy as np

from svnicp.kernels.linearise import nearest_candidate
from svnicp.kernels.njit import njit
from svnicp.kernels.weights import robust_weight


@njit()
def lag_sums(T, points, candidates, seconds, max_squared, kind, width):
    """Σ w A A' and Σ w s A A' (6, 6) at a pose, with s the seconds (N,) of every point.

    Rows A as in ``kernels.linearise``; a match with a bare point is three planes along the axes.
    """
    information, lagged = np.zeros((6, 6)), np.zeros((6, 6))
    _add_all(
        T, points, candidates, seconds, max_squared, kind, width, information, lagged, np.empty(3)
    )  # fmt: skip
    return information, lagged


@njit(borrows=True)
def _add_all(
    T, points, candidates, seconds, max_squared, kind, width, information, lagged, normal
):  # fmt: skip
    """Add to the sums of ``lag_sums``; ``normal`` (3,) is scratch memory."""
    for n in range(len(points)):
        p = points[n]
        x = T[0, 0] * p[0] + T[0, 1] * p[1] + T[0, 2] * p[2] + T[0, 3]
        y = T[1, 0] * p[0] + T[1, 1] * p[1] + T[1, 2] * p[2] + T[1, 3]
        z = T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2] + T[2, 3]
        m = nearest_candidate(
            candidates, n, np.float32(x), np.float32(y), np.float32(z), max_squared
        )
        if m < 0 or candidates[n, m, 7] <= 0.0:
            continue
        row = candidates[n, m]
        if row[3] != 0.0 or row[4] != 0.0 or row[5] != 0.0:
            residual = row[3] * x + row[4] * y + row[5] * z - row[6]
            weight = row[7] * robust_weight(kind, residual * residual * row[7], width)
            for i in range(3):
                normal[i] = T[0, i] * row[3] + T[1, i] * row[4] + T[2, i] * row[5]
            _add_row(normal, p, weight, seconds[n], information, lagged)
            continue
        square = ((x - row[0]) ** 2 + (y - row[1]) ** 2 + (z - row[2]) ** 2) / 3.0
        weight = row[7] * robust_weight(kind, square * row[7], width)
        for axis in range(3):
            for i in range(3):
                normal[i] = 1.0 if i == axis else 0.0
            _add_row(normal, p, weight, seconds[n], information, lagged)


@njit(borrows=True)
def _add_row(normal, point, weight, seconds, information, lagged):
    """Add w A A' and w s A A' of A = [n; p × n], n the normal in body axes."""
    row = (
        normal[0], normal[1], normal[2],
        point[1] * normal[2] - point[2] * normal[1],
        point[2] * normal[0] - point[0] * normal[2],
        point[0] * normal[1] - point[1] * normal[0],
    )  # fmt: skip
    for i in range(6):
        for j in range(6):
            product = weight * row[i] * row[j]
            information[i, j] += product
            lagged[i, j] += seconds * product
