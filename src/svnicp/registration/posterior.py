# SPDX-License-Identifier: MIT
"""From settled particles to a pose with covariance, and what the scan alone contributed.

The mean is taken on the manifold. K particles under the whitened kernel settle at a known share of
a Gaussian's variance (``stein_kernel.settled_variance``); the missing share is added back from the
curvature, Σ = S + (1 - share) H̄⁻¹, so that the covariance is right for a Gaussian and has full rank
for any K. With the paper's kernel the population covariance is reported as the paper does.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.kernels import pose_mean, small
from svnicp.registration.stein_kernel import settled_variance

UNSEEN_VARIANCE_FACTOR = 1e6
"""A direction that the scan says nothing about gets this many times the prior's variance."""


@dataclass(frozen=True)
class WeakDirection:
    """A direction in which the scan adds little to the prior."""

    kind: str
    """``translation`` or ``rotation``."""
    direction: Floats
    """(3,) unit vector in body axes."""
    sigma: float
    """Posterior standard deviation along it [m or rad]."""
    prior_sigma: float
    """The prior's standard deviation along it [m or rad]."""

    def __str__(self) -> str:
        unit, factor = ("m", 1.0) if self.kind == "translation" else ("deg", 57.29577951308232)
        axis = ", ".join(f"{value:+.2f}" for value in self.direction)
        along = "along" if self.kind == "translation" else "about"
        return (
            f"{self.kind} {along} ({axis}): sigma {factor * self.sigma:.3g} {unit} "
            f"of a prior {factor * self.prior_sigma:.3g} {unit}"
        )


def particle_poses(T_reference: Transform, offsets: Floats) -> Transform:
    """Poses (K, 4, 4) of offsets (K, 6): T_reference (Exp φ, t)."""
    offsets = np.ascontiguousarray(offsets, dtype=np.float64)
    return pose_mean.poses_of(np.ascontiguousarray(T_reference), offsets)


def mean_and_scatter(T_particles: Transform) -> tuple[Transform, Covariance]:
    """Mean (4, 4) of poses (K, 4, 4) on the manifold, and their population covariance there."""
    return pose_mean.mean_and_scatter(np.ascontiguousarray(T_particles))


def whole_covariance(scatter: Covariance, mean_hessian: Floats, num_particles: int) -> Covariance:
    """Scatter (6, 6) of the particles with the share that few particles miss added back."""
    missing = 1.0 - settled_variance(num_particles)
    return scatter + missing * inverse_spd(mean_hessian)


def likelihood_covariance(
    covariance: Covariance, laplace: Covariance, information: Floats, prior_hessian: Floats
) -> Covariance:
    """What the scan alone says (6, 6), for filters that hold the prior themselves.

    ``information`` (6, 6) is the likelihood's curvature and ``laplace`` its posterior; where the
    particles are wider or narrower than that, the information is divided by the same ratio. A
    direction that the scan does not see gets a variance that no filter will mistake for knowledge.
    """
    root = np.linalg.cholesky(symmetric(laplace))
    whitened: Floats = np.linalg.solve(root, np.linalg.solve(root, covariance).T).astype(np.float64)
    ratios, axes = np.linalg.eigh(symmetric(whitened))
    narrowing = (axes / np.sqrt(np.maximum(ratios, 1e-6))) @ axes.T
    stretch = root @ np.linalg.solve(root.T, narrowing.T).T
    seen = stretch.T @ information @ stretch
    floor = prior_hessian if np.any(prior_hessian) else np.diag(np.diag(information))
    return inverse_spd(seen + floor / UNSEEN_VARIANCE_FACTOR)


def weak_directions(
    covariance: Covariance, prior_covariance: Covariance, share: float = 0.25
) -> list[WeakDirection]:
    """Principal directions whose variance is more than this share of the prior's, weakest first."""
    found: list[WeakDirection] = []
    for kind, block in (("translation", slice(0, 3)), ("rotation", slice(3, 6))):
        values, vectors = np.linalg.eigh(covariance[block, block])
        for value, direction in zip(values[::-1], vectors.T[::-1], strict=True):
            prior = float(direction @ prior_covariance[block, block] @ direction)
            if value > share * prior:
                sign = 1.0 if direction[np.argmax(np.abs(direction))] > 0.0 else -1.0
                found.append(
                    WeakDirection(
                        kind, sign * direction, float(np.sqrt(value)), float(np.sqrt(prior))
                    )
                )
    return found


def inverse_spd(matrix: Floats) -> Floats:
    """Inverse of a symmetric positive matrix (6, 6), scaled so that mixed units do no harm."""
    return small.inverse_spd(np.ascontiguousarray(matrix, dtype=np.float64))


def symmetric(matrix: Floats) -> Floats:
    """Symmetric part of a matrix."""
    return 0.5 * (matrix + matrix.T)
