# SPDX-License-Identifier: MIT
"""Negative log likelihood of the truth under particles: each is a small Gaussian of its own.

The log score asks for a density, and particles have none. With a kernel of a known shape around
each of them (the covariance of one mode, narrowed the more particles there are) two modes remain
two modes, and the score stands beside that of a Gaussian.
"""

import numpy as np
from scipy.special import logsumexp

from svnicp.arrays import Covariance, Floats
from svnicp.errors import InputError
from svnicp.scores.blocks import BLOCKS, Part, covariance_block
from svnicp.scores.nees import SMALLEST_VARIANCE


def particle_negative_log_likelihood(
    particles: Floats, errors: Floats, kernels: Covariance, part: Part = "pose"
) -> Floats:
    """Negative log density (n,) [nats] of the truth (n, 6) under particles (n, K, 6).

    Parameters
    ----------
    particles, errors
        In one tangent.
    kernels
        (n, 6, 6) covariance of the kernel around every particle.
    part
        Which components count.

    Raises
    ------
    InputError
        If the shapes do not fit.
    """
    block = BLOCKS[part]
    places = np.asarray(particles, dtype=np.float64)[..., block]
    truth = np.asarray(errors, dtype=np.float64)[..., block]
    blocks = covariance_block(kernels, part)
    count, size = places.shape[-2:]
    if truth.shape != (len(places), size) or blocks.shape != (len(places), size, size):
        raise InputError(
            f"Particles of shape {np.shape(particles)} need an error and a kernel for each set, "
            f"got shapes {np.shape(errors)} and {np.shape(kernels)}."
        )
    roots = np.linalg.cholesky(blocks + SMALLEST_VARIANCE * np.eye(size))
    away = np.linalg.solve(roots, np.swapaxes(truth[:, None, :] - places, 1, 2))
    halves = 0.5 * np.sum(away**2, axis=1)
    log_roots = np.sum(np.log(np.diagonal(roots, axis1=1, axis2=2)), axis=1)
    whole = logsumexp(-halves, axis=1) - np.log(count)
    return np.asarray(0.5 * size * np.log(2.0 * np.pi) + log_roots - whole, dtype=np.float64)


def kernel_share(num_particles: int, size: int = 6) -> float:
    """Variance of a kernel over that of one mode, for so many particles (Silverman's rule)."""
    return float((4.0 / ((size + 2.0) * num_particles)) ** (2.0 / (size + 4.0)))
