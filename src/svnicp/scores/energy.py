# SPDX-License-Identifier: MIT
"""Energy score: how far the truth is from the particles, less how far they are from each other.

ES = E|X - y| - ½ E|X - X'|, smaller is better. It is proper, takes particles as they are (two modes
are two modes), and for a Gaussian is computed exactly, so that methods with particles and methods
with covariances stand in one table. Metres and radians are put together by one fixed lever for all.
"""

import numpy as np
from scipy.spatial.distance import pdist

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.errors import InputError
from svnicp.lie import se3_inverse, se3_log
from svnicp.scores.blocks import BLOCKS, Part

LEVER_M = 10.0
"""A radian counts as much as this many metres: what it moves at a typical range."""

_LOG_STEP, _LOG_REACH = 0.5, 80.0  # trapezoids in log t: error below rounding, see _mean_root


def energy_score(
    particles: Floats, errors: Floats, part: Part = "pose", lever_m: float = LEVER_M
) -> Floats:
    """Fair energy score (n,) [m] of particles (n, K, 6) and the truth (n, 6), in one tangent.

    Fair: the distance between particles is averaged over the K (K - 1) pairs of different ones, as
    it would be between independent draws; with the zeros of a particle to itself in the average,
    few particles would do worse than many for their number alone.

    Raises
    ------
    InputError
        If there are fewer than two particles; one has no distances.
    """
    scale = _scale(part, lever_m)
    places, truth = particles[..., BLOCKS[part]] * scale, errors[..., BLOCKS[part]] * scale
    count = places.shape[-2]
    if count < 2:
        raise InputError("An energy score needs at least two particles for each error.")
    to_truth = np.linalg.norm(places - truth[..., None, :], axis=-1).mean(axis=-1)
    apart = np.array([pdist(cloud).mean() for cloud in places])
    return to_truth - 0.5 * apart


def gaussian_energy_score(
    errors: Floats, covariances: Covariance, part: Part = "pose", lever_m: float = LEVER_M
) -> Floats:
    """Energy score (n,) [m] of N(0, covariances (n, 6, 6)) for the truth (n, 6), without sampling.

    What ``energy_score`` tends to with many particles.
    """
    scale = _scale(part, lever_m)
    y = errors[..., BLOCKS[part]] * scale
    P = covariances[..., BLOCKS[part], BLOCKS[part]] * np.outer(scale, scale)
    variances, axes = np.linalg.eigh(P)
    variances = np.maximum(variances, 0.0)
    means = np.einsum("...ij,...i->...j", axes, y)
    return _mean_root(variances, means) - 0.5 * _mean_root(2.0 * variances, np.zeros_like(means))


def particle_tangents(T_reference: Transform, T_particles: Transform) -> Floats:
    """Particles (..., K, 4, 4) in the body tangent of a reference pose (..., 4, 4); (..., K, 6)."""
    return se3_log(se3_inverse(T_reference)[..., None, :, :] @ T_particles)


def _mean_root(variances: Floats, means: Floats) -> Floats:
    """E|z| (...) of independent Gaussians with these variances and means (..., d).

    E √q = 1/(2√π) ∫ (1 - E e^(-tq)) t^(-3/2) dt for q = |z|², whose transform is a product. In
    log t the integrand decays on both sides and is analytic in a strip of half-width π: trapezoids
    of width ½ leave an error of about e^(-4π²).
    """
    squares = variances + means**2
    size = np.maximum(squares.sum(axis=-1), np.finfo(float).tiny)
    t = np.exp(np.arange(-_LOG_REACH, _LOG_REACH, _LOG_STEP))
    spread = variances[..., None] / size[..., None, None]
    shift = means[..., None] ** 2 / size[..., None, None]
    log_transform = -np.sum(
        0.5 * np.log1p(2.0 * t * spread) + t * shift / (1.0 + 2.0 * t * spread), axis=-2
    )
    integral = _LOG_STEP * np.sum(-np.expm1(log_transform) / np.sqrt(t), axis=-1)
    return np.sqrt(size) * integral / (2.0 * np.sqrt(np.pi))


def _scale(part: Part, lever_m: float) -> Floats:
    """Factors (d,) that make metres of every component."""
    return np.array([1.0] * 3 + [lever_m] * 3)[BLOCKS[part]]
