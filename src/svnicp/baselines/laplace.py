# SPDX-License-Identifier: MIT
"""Laplace: the curvature of the cost times the variance of the residuals, σ² H⁻¹.

The covariance that most ICP packages would report if they reported one. σ² comes from the residuals
themselves. Our own Laplace covariance, with a physical variance for every point and without the
information that noisy normals fake, is ``RegistrationResult.laplace_covariance``.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.matches import Matches, Metric, find_matches
from svnicp.baselines.sandwich import covariance_of
from svnicp.baselines.scan_in_map import ScanInMap


def laplace(scan: ScanInMap, *, metric: Metric = "plane") -> Covariance:
    """σ² H⁻¹ (6, 6) of a scan, with its prior."""
    matches = find_matches(scan, metric)
    if matches is None:
        return scan.prior_covariance
    return covariance_of(scan, information(matches) / residual_variance(matches))


def information(matches: Matches) -> Floats:
    """Gauss-Newton Hessian (6, 6) of ½ Σ w r²: Σ w AA', or Σ w J'J for points."""
    if _planar(matches):
        return (matches.rows * matches.weights[:, None]).T @ matches.rows
    arms = matches.arms
    return np.einsum("n,nij,nik->jk", matches.weights, arms, arms)


def residual_variance(matches: Matches) -> float:
    """σ² [m²] of a single residual, with the six fitted parameters taken off."""
    planar = _planar(matches)
    squares = matches.heights**2 if planar else np.sum(matches.residuals**2, axis=1)
    freedom = (1.0 if planar else 3.0) * matches.weights.sum() - 6.0
    return float(matches.weights @ squares / max(freedom, 1.0))


def _planar(matches: Matches) -> bool:
    return bool(matches.normals.any())
