# SPDX-License-Identifier: MIT
"""Compiled rotations for the inner loops; ``svnicp.lie`` is the NumPy twin and oracle.

Particles live in the paper's chart R³ × so(3) around a reference pose: an offset (t, φ) stands for
T_ref (Exp φ, t). ``pull_back`` is what turns a step of the offset into a step in the particle's own
body tangent; its transpose brings gradients back.
"""

import numpy as np

from svnicp.kernels.njit import njit


@njit()
def _coefficients(squared):
    """sin(a)/a, (1 - cos(a))/a² and (a - sin(a))/a³ for a² = squared."""
    if squared < 1e-2:
        first = 1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0))
        second = 0.5 - squared / 24.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0))
        third = 1.0 / 6.0 - squared / 120.0 * (1.0 - squared / 42.0 * (1.0 - squared / 72.0))
        return first, second, third
    angle = np.sqrt(squared)
    sine, cosine = np.sin(angle), np.cos(angle)
    return sine / angle, (1.0 - cosine) / squared, (angle - sine) / (squared * angle)


@njit()
def _rodrigues(phi, linear, quadratic):
    """I + linear [φ]× + quadratic [φ]×² (3, 3)."""
    x, y, z = phi[0], phi[1], phi[2]
    out = np.empty((3, 3))
    out[0, 0] = 1.0 - quadratic * (y * y + z * z)
    out[1, 1] = 1.0 - quadratic * (x * x + z * z)
    out[2, 2] = 1.0 - quadratic * (x * x + y * y)
    out[0, 1], out[1, 0] = quadratic * x * y - linear * z, quadratic * x * y + linear * z
    out[0, 2], out[2, 0] = quadratic * x * z + linear * y, quadratic * x * z - linear * y
    out[1, 2], out[2, 1] = quadratic * y * z - linear * x, quadratic * y * z + linear * x
    return out


@njit()
def so3_exp(phi):
    """Rotation (3, 3) of a rotation vector (3,) [rad]."""
    first, second, _ = _coefficients(phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2)
    return _rodrigues(phi, first, second)


@njit()
def so3_right_jacobian(phi):
    """(3, 3) with Exp(φ + d) ≈ Exp(φ) Exp(J d)."""
    _, second, third = _coefficients(phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2)
    return _rodrigues(phi, -second, third)


@njit()
def so3_log(rotation):
    """Rotation vector (3,) of a rotation that is well below half a turn."""
    sine = np.empty(3)
    sine[0] = 0.5 * (rotation[2, 1] - rotation[1, 2])
    sine[1] = 0.5 * (rotation[0, 2] - rotation[2, 0])
    sine[2] = 0.5 * (rotation[1, 0] - rotation[0, 1])
    squared = sine[0] ** 2 + sine[1] ** 2 + sine[2] ** 2
    cosine = 0.5 * (rotation[0, 0] + rotation[1, 1] + rotation[2, 2] - 1.0)
    factor = 1.0 + squared / 6.0
    if squared >= 1e-12:
        length = np.sqrt(squared)
        factor = np.arctan2(length, cosine) / length
    for i in range(3):
        sine[i] *= factor
    return sine


@njit()
def compose_offset(T_reference, offset):
    """The pose (4, 4) of an offset (6,): T_reference (Exp φ, t)."""
    out = np.zeros((4, 4))
    turned = so3_exp(offset[3:])
    for i in range(3):
        for k in range(3):
            out[i, 3] += T_reference[i, k] * offset[k]
            for j in range(3):
                out[i, j] += T_reference[i, k] * turned[k, j]
        out[i, 3] += T_reference[i, 3]
    out[3, 3] = 1.0
    return out


@njit()
def pull_back(offset):
    """(6, 6) from a step of the offset to the step in the particle's own right tangent."""
    out = np.zeros((6, 6))
    turned, bent = so3_exp(offset[3:]), so3_right_jacobian(offset[3:])
    for i in range(3):
        for j in range(3):
            out[i, j] = turned[j, i]
            out[3 + i, 3 + j] = bent[i, j]
    return out


@njit()
def se3_exp(xi):
    """Pose (4, 4) of a tangent (6,): translation [m], then rotation [rad]."""
    phi = xi[3:]
    first, second, third = _coefficients(phi[0] ** 2 + phi[1] ** 2 + phi[2] ** 2)
    turned, bent = _rodrigues(phi, first, second), _rodrigues(phi, second, third)
    out = np.zeros((4, 4))
    for i in range(3):
        for j in range(3):
            out[i, j] = turned[i, j]
            out[i, 3] += bent[i, j] * xi[j]
    out[3, 3] = 1.0
    return out
