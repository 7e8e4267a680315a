# SPDX-License-Identifier: MIT
"""Small dense pieces of every Newton step, compiled because a step is shorter than NumPy's calls.

``registration.prior`` and ``registration.reliability`` say what they mean.
"""

import numpy as np

from svnicp.kernels.lie import so3_log, so3_right_jacobian
from svnicp.kernels.njit import njit


@njit()
def prior_terms(T_prior, precision, T_reference):
    """Hessian G'ΛG (6, 6) and slope G'Λe (6,) of a Gaussian prior seen from a reference pose."""
    turned = np.ascontiguousarray(T_prior[:3, :3].T)
    rotation = turned @ np.ascontiguousarray(T_reference[:3, :3])
    distance = np.empty(6)
    distance[:3] = turned @ (T_reference[:3, 3] - T_prior[:3, 3])
    distance[3:] = so3_log(rotation)
    chain = np.zeros((6, 6))
    chain[:3, :3] = rotation
    chain[3:, 3:] = np.linalg.inv(so3_right_jacobian(distance[3:]))
    weighted = chain.T @ precision
    hessian = weighted @ chain
    return 0.5 * (hessian + hessian.T), weighted @ distance


@njit()
def seen_offsets(hessian, fake):
    """Matrix (6, 6) that takes from an offset what only noisy normals would see of it."""
    scale = np.empty(6)
    for i in range(6):
        scale[i] = 1.0 / np.sqrt(max(hessian[i, i], 1e-300))
    values, vectors = np.linalg.eigh(hessian * np.outer(scale, scale))
    root = np.sqrt(np.maximum(values, 1e-12 * values[5]))
    # half half' = hessian: in the coordinates half' x the information is the identity.
    half = (vectors * root) / scale.reshape(6, 1)
    half_inverse = (vectors / root).T * scale
    noise = half_inverse @ fake @ half_inverse.T
    shares, axes = np.linalg.eigh(0.5 * (noise + noise.T))
    reliability = np.minimum(np.maximum(1.0 - shares, 0.0), 1.0)
    return half_inverse.T @ ((axes * reliability) @ axes.T) @ half.T
