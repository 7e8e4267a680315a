# SPDX-License-Identifier: MIT
"""Small dense pieces of every Newton step, compiled because a step is shorter than NumPy's calls.

``registration.prior`` and ``registration.reliability`` say what they mean.
"""

import numpy as np

from svnicp.kernels.lie import so3_log, so3_right_jacobian
from svnicp.kernels.njit import njit
from svnicp.kernels.small import (
    inverse3,
    product,
    solve,
    symmetric_eigen,
    transposed_applied,
    transposed_product,
)


@njit()
def prior_terms(T_prior, precision, T_reference):
    """Hessian G'ΛG (6, 6) and slope G'Λe (6,) of a Gaussian prior seen from a reference pose."""
    rotation, distance, chain = np.zeros((3, 3)), np.zeros(6), np.zeros((6, 6))
    for k in range(3):
        for i in range(3):
            distance[i] += T_prior[k, i] * (T_reference[k, 3] - T_prior[k, 3])
            for j in range(3):
                rotation[i, j] += T_prior[k, i] * T_reference[k, j]
    turned = so3_log(rotation)
    bent = inverse3(so3_right_jacobian(turned))
    for i in range(3):
        distance[3 + i] = turned[i]
        for j in range(3):
            chain[i, j] = rotation[i, j]
            chain[3 + i, 3 + j] = bent[i, j]
    weighted = product(precision, chain)
    hessian = transposed_product(chain, weighted)
    _symmetrise(hessian)
    return hessian, transposed_applied(weighted, distance)


@njit()
def newton_offset(
    gradient, hessian, reliable, gradient_factor, hessian_factor, prior_hessian, prior_slope
):
    """Newton step (6,), information of the likelihood (6, 6), and the prior's slope for particles.

    ``reliable`` is what of an offset is seen (6, 6), the gradient (6,) that can be relied on, and
    how that changes with the pose (6, 6): Newton's matrix, of which the information is not more
    than the size. A search by the information swings and leaves where the two differ.
    Particles look at the likelihood in seen @ offset, which leaves them seen' of the gradient at
    the reference; what differs from the reliable one, constant, goes with the prior's slope.
    """
    seen, pull, response = reliable
    plain = transposed_applied(seen, gradient)
    information = transposed_product(seen, product(hessian, seen))
    for i in range(6):
        for j in range(6):
            information[i, j] *= hessian_factor
    _symmetrise(information)
    curvature, slope, right = np.empty((6, 6)), np.empty(6), np.empty(6)
    for i in range(6):
        right[i] = -(gradient_factor * pull[i] + prior_slope[i])
        slope[i] = prior_slope[i] + gradient_factor * (pull[i] - plain[i])
        for j in range(6):
            curvature[i, j] = hessian_factor * response[i, j] + prior_hessian[i, j]
    return solve(curvature, right), information, slope


@njit()
def _symmetrise(matrix):
    """Replace a matrix by the mean of itself and its transpose."""
    for i in range(len(matrix)):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = 0.5 * (matrix[i, j] + matrix[j, i])


@njit()
def seen_offsets(hessian, fake):
    """Matrix (6, 6) whose square is the reliable share of an offset, see ``registration``."""
    scale, scaled = np.empty(6), np.empty((6, 6))
    for i in range(6):
        scale[i] = 1.0 / np.sqrt(max(hessian[i, i], 1e-300))
    for i in range(6):
        for j in range(6):
            scaled[i, j] = hessian[i, j] * scale[i] * scale[j]
    values, vectors = symmetric_eigen(scaled)
    largest = values[0]
    for j in range(1, 6):
        largest = max(largest, values[j])
    # half' half = hessian: in the coordinates half x the information is the identity.
    half, whiten = np.empty((6, 6)), np.empty((6, 6))
    for j in range(6):
        root = np.sqrt(max(values[j], 1e-12 * largest))
        for i in range(6):
            half[j, i] = vectors[i, j] * root / scale[i]
            whiten[i, j] = vectors[i, j] * scale[i] / root
    noise = transposed_product(whiten, product(fake, whiten))
    _symmetrise(noise)
    shares, axes = symmetric_eigen(noise)
    reliable = np.zeros((6, 6))
    for k in range(6):
        reliability = np.sqrt(min(max(1.0 - shares[k], 0.0), 1.0))
        for i in range(6):
            for j in range(6):
                reliable[i, j] += reliability * axes[i, k] * axes[j, k]
    return product(product(whiten, reliable), half)
