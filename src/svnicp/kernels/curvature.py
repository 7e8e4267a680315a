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
    symmetric_eigen,
    transposed_applied,
    transposed_product,
)


@njit()
def prior_terms(T_prior, precision, T_reference):
    """Hessian G'ΛG (6, 6) and slope G'Λe (6,) of a Gaussian prior seen from a reference pose."""
    rotation = transposed_product(T_prior[:3, :3], T_reference[:3, :3])
    distance = np.empty(6)
    distance[:3] = transposed_applied(T_prior[:3, :3], T_reference[:3, 3] - T_prior[:3, 3])
    distance[3:] = so3_log(rotation)
    chain = np.zeros((6, 6))
    chain[:3, :3] = rotation
    chain[3:, 3:] = inverse3(so3_right_jacobian(distance[3:]))
    weighted = product(precision, chain)
    hessian = transposed_product(chain, weighted)
    return 0.5 * (hessian + hessian.T), transposed_applied(weighted, distance)


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
    root = np.sqrt(np.maximum(values, 1e-12 * values.max()))
    # half half' = hessian: in the coordinates half' x the information is the identity.
    half, whiten = np.empty((6, 6)), np.empty((6, 6))
    for i in range(6):
        for j in range(6):
            half[i, j] = vectors[i, j] * root[j] / scale[i]
            whiten[i, j] = vectors[i, j] * scale[i] / root[j]
    noise = transposed_product(whiten, product(fake, whiten))
    shares, axes = symmetric_eigen(0.5 * (noise + noise.T))
    reliable = np.zeros((6, 6))
    for k in range(6):
        reliability = np.sqrt(min(max(1.0 - shares[k], 0.0), 1.0))
        for i in range(6):
            for j in range(6):
                reliable[i, j] += reliability * axes[i, k] * axes[j, k]
    return product(product(whiten, reliable), half.T)
