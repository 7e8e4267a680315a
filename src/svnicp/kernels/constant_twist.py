# SPDX-License-Identifier: MIT
"""Motion at a constant twist, compiled: poses on the way, and how errors are carried along.

``odometry.constant_velocity`` predicts by it; ``svnicp.lie`` has the same in NumPy, for any number
of tangents, and is the oracle.
"""

import numpy as np

from svnicp.kernels.lie import se3_exp
from svnicp.kernels.njit import njit
from svnicp.kernels.small import product

SMALL_ANGLE = 0.25
"""Up to this rotation [rad] so many terms of the series are exact to rounding."""
TERMS = 12


@njit()
def poses_on_the_way(twist, seconds):
    """Poses (m, 12) after so many seconds (m,): rotation by rows, then position."""
    out = np.empty((len(seconds), 12))
    moved = np.empty(6)
    for n in range(len(seconds)):
        for i in range(6):
            moved[i] = seconds[n] * twist[i]
        pose = se3_exp(moved)
        for i in range(3):
            out[n, 9 + i] = pose[i, 3]
            for j in range(3):
                out[n, 3 * i + j] = pose[i, j]
    return out


@njit()
def carried_errors(xi):
    """How a step by a tangent (6,) carries errors: of the pose before it, and of the tangent.

    Returns Ad(Exp(-ξ)) and the right Jacobian ∫₀¹ Ad(Exp(-s ξ)) ds, both (6, 6). The integral of a
    small part of the step is a series in ad(ξ); that of twice as much is half the sum of two parts,
    the second of which is carried by the first.
    """
    part = xi.copy()
    angle = np.sqrt(xi[3] ** 2 + xi[4] ** 2 + xi[5] ** 2)
    doublings = 0
    while angle > SMALL_ANGLE:
        angle *= 0.5
        doublings += 1
    for i in range(6):
        part[i] = -xi[i] / 2.0**doublings
    adjoint, jacobian = _adjoint(se3_exp(part)), _series(part)
    for _ in range(doublings):
        later = product(adjoint, jacobian)
        for i in range(6):
            for j in range(6):
                jacobian[i, j] = 0.5 * (jacobian[i, j] + later[i, j])
        adjoint = product(adjoint, adjoint)
    return adjoint, jacobian


@njit()
def _adjoint(T):
    """``[[R, hat(t) R], [0, R]]`` (6, 6) of a pose (4, 4)."""
    out = np.zeros((6, 6))
    x, y, z = T[0, 3], T[1, 3], T[2, 3]
    for j in range(3):
        for i in range(3):
            out[i, j] = out[3 + i, 3 + j] = T[i, j]
        out[0, 3 + j] = y * T[2, j] - z * T[1, j]
        out[1, 3 + j] = z * T[0, j] - x * T[2, j]
        out[2, 3 + j] = x * T[1, j] - y * T[0, j]
    return out


@njit()
def _series(xi):
    """Σ ad(ξ)ⁿ / (n + 1)! (6, 6): the integral of Ad(Exp(s ξ)) over s from 0 to 1."""
    small = np.zeros((6, 6))
    for block in range(3):  # rotation twice on the diagonal, translation in the corner
        row, column, first = (0, 0, 3) if block == 0 else (3, 3, 3) if block == 1 else (0, 3, 0)
        x, y, z = xi[first], xi[first + 1], xi[first + 2]
        small[row + 2, column + 1], small[row + 1, column + 2] = x, -x
        small[row, column + 2], small[row + 2, column] = y, -y
        small[row + 1, column], small[row, column + 1] = z, -z
    total, term = np.eye(6), np.eye(6)
    for n in range(1, TERMS):
        term = product(small, term)
        for i in range(6):
            for j in range(6):
                term[i, j] /= n + 1.0
                total[i, j] += term[i, j]
    return total
