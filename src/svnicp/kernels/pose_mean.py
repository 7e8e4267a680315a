# SPDX-License-Identifier: MIT
"""Mean and scatter of settled particles on the manifold, compiled.

Poses that are near each other come in; ``registration.posterior`` makes a covariance of what comes
out.
"""

import numpy as np

from svnicp.kernels.lie import compose_offset, so3_log
from svnicp.kernels.njit import njit
from svnicp.kernels.small import transposed_product

MOST_ROUNDS = 10
NO_STEP = 1e-10
"""The mean of the offsets [m, rad] below which the reference is the mean."""


@njit()
def poses_of(T_reference, offsets):
    """Poses (K, 4, 4) of offsets (K, 6) from a reference pose."""
    out = np.empty((len(offsets), 4, 4))
    for k in range(len(offsets)):
        pose = compose_offset(T_reference, offsets[k])
        for i in range(4):
            for j in range(4):
                out[k, i, j] = pose[i, j]
    return out


@njit()
def mean_and_scatter(T_particles):
    """Mean (4, 4) of poses (K, 4, 4) on the manifold, and their population covariance (6, 6) there.

    Repeats x̄ = mean of the offsets from the current mean until it vanishes: the paper's arithmetic
    mean is the first round.
    """
    count = len(T_particles)
    T_mean, mean = T_particles[0].copy(), np.empty(6)
    offsets = np.empty((count, 6))
    for _ in range(MOST_ROUNDS):
        _offsets_from(T_mean, T_particles, offsets)
        largest = 0.0
        for i in range(6):
            total = 0.0
            for k in range(count):
                total += offsets[k, i]
            mean[i] = total / count
            largest = max(largest, abs(mean[i]))
        T_mean = compose_offset(T_mean, mean)
        if largest < NO_STEP:
            break
    _offsets_from(T_mean, T_particles, offsets)
    scatter = transposed_product(offsets, offsets)
    for i in range(6):
        for j in range(6):
            scatter[i, j] /= count
    return T_mean, scatter


@njit()
def _offsets_from(T_reference, T_particles, offsets):
    """Write the offsets (K, 6) of poses (K, 4, 4) from a reference pose."""
    relative = np.empty((3, 3))
    for k in range(len(T_particles)):
        for i in range(3):
            offsets[k, i] = 0.0
            for m in range(3):
                away = T_particles[k, m, 3] - T_reference[m, 3]
                offsets[k, i] += T_reference[m, i] * away
            for j in range(3):
                relative[i, j] = 0.0
                for m in range(3):
                    relative[i, j] += T_reference[m, i] * T_particles[k, m, j]
        turned = so3_log(relative)
        for i in range(3):
            offsets[k, 3 + i] = turned[i]
