# SPDX-License-Identifier: MIT
"""A Gaussian prior on the pose, as the quadratic it is in the particles' chart.

Particles are offsets x = (t, φ) around a reference pose; the prior is centred elsewhere. Seen from
the reference it reads ½ (e + G x)' Λ (e + G x), with e the reference's own distance from the prior
mean and G the derivative of the prior's chart there.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.kernels import curvature


class Prior(NamedTuple):
    """Gaussian prior seen from a reference pose."""

    hessian: Floats
    """(6, 6) G'ΛG."""
    slope: Floats
    """(6,) G'Λe: gradient of the negative log density at offset zero."""

    def gradient(self, offsets: Floats) -> Floats:
        """Gradient (K, 6) of the negative log density at offsets (K, 6)."""
        return offsets @ self.hessian + self.slope


def flat_prior() -> Prior:
    """Return the prior that says nothing."""
    return Prior(hessian=np.zeros((6, 6)), slope=np.zeros(6))


def gaussian_prior(
    T_target_prior: Transform, covariance: Covariance, T_target_reference: Transform
) -> Prior:
    """Prior N(T_target_prior, covariance) seen from T_target_reference.

    The covariance (6, 6) lives in the right tangent of the prior mean, translation first.
    """
    precision = np.linalg.inv(covariance).astype(np.float64)
    return prior_seen_from(T_target_prior, precision, T_target_reference)


def prior_seen_from(
    T_target_prior: Transform, precision: Floats, T_target_reference: Transform
) -> Prior:
    """``gaussian_prior`` by its precision (6, 6), which is zero for a flat prior."""
    return Prior(*curvature.prior_terms(T_target_prior, precision, T_target_reference))
