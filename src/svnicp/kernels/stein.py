# SPDX-License-Identifier: MIT
"""Compiled Stein step: kernel, force and Newton direction of all particles.

Notation: x_k particles, g_l gradient of -log p, H_l its Gauss-Newton Hessian,
k_kl = exp(-½ (x_k - x_l)' G (x_k - x_l)) with a metric G, which is 2/h times the identity for the
paper's isotropic kernel and H̄/d for the Hessian-whitened one.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.small import solve_spd
from svnicp.kernels.threads import share

PARTICLES = 64
"""Particles that a thread takes at once: fewer are moved faster than another thread wakes up."""


@njit()
def stein_force(offsets, gradients, metric):
    """Stein force φ (K, 6): kernel-smoothed descent plus repulsion, Eq. (17).

    The paper prints the gradient at particle k inside the sum and a kernel that grows with
    distance; both are misprints: the sum runs over the gradients at l, the exponent is negative.
    """
    force = np.zeros(offsets.shape)
    slope = np.empty(6)
    for k in range(len(offsets)):
        for j in range(len(offsets)):
            value = _kernel(offsets[k], offsets[j], metric, slope)
            for a in range(6):
                force[k, a] += value * (slope[a] - gradients[j, a])
        for a in range(6):
            force[k, a] /= len(offsets)
    return force


def stein_newton(offsets, gradients, hessians, metric, damping):
    """Stein force (K, 6), Eq. (17), and Newton direction (K, 6), Eq. (16), of every particle.

    H̃_k = mean_l [k_kl² H_l + ∇k_kl ∇k_kl'] of Eq. (18), solved by Cholesky after a relative
    damping on the diagonal.
    """
    force, direction = np.zeros(offsets.shape), np.zeros(offsets.shape)
    share(
        newton_of_some, len(offsets), PARTICLES, offsets, gradients, hessians, metric, damping,
        force, direction,
    )  # fmt: skip
    return force, direction


@njit()
def newton_of_some(begin, end, offsets, gradients, hessians, metric, damping, force, direction):
    """``stein_newton`` for some of the particles."""
    for k in range(begin, end):
        _newton_of(
            offsets[k], offsets, gradients, hessians, metric, damping, force[k], direction[k]
        )


@njit()
def _newton_of(offset, offsets, gradients, hessians, metric, damping, force, direction):
    """Force and direction of the particle at an offset, written into (6,) arrays."""
    count = len(offsets)
    total = np.zeros((6, 6))
    slope = np.empty(6)
    for j in range(count):
        value = _kernel(offset, offsets[j], metric, slope)
        square = value * value
        for a in range(6):
            force[a] += value * (slope[a] - gradients[j, a])
            for b in range(a, 6):
                total[a, b] += square * (hessians[j, a, b] + slope[a] * slope[b])
    for a in range(6):
        force[a] /= count
        for b in range(a, 6):
            total[a, b] /= count
            total[b, a] = total[a, b]
        total[a, a] *= 1.0 + damping
    solved = solve_spd(total, force)
    for a in range(6):
        direction[a] = solved[a]


@njit(borrows=True)
def _kernel(first, second, metric, slope):
    """Kernel value; writes G (first - second) into ``slope`` (6,): ∇_second k = value * slope."""
    exponent = 0.0
    for a in range(6):
        slope[a] = 0.0
        for b in range(6):
            slope[a] += metric[a, b] * (first[b] - second[b])
        exponent += slope[a] * (first[a] - second[a])
    return np.exp(-0.5 * exponent)
