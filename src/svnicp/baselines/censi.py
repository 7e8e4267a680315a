# SPDX-License-Identifier: MIT
"""Censi's closed form: how noise of both clouds moves the minimum of the ICP cost.

With matches held fixed the minimum of J = Σ w |e|², or Σ w (n·e)², moves with the measurements z as
the implicit function theorem says: cov = H⁻¹ M H⁻¹, H the exact Hessian, M = Σ G cov(z) G' with
G = ∂²J/∂x∂z. Point to plane is right for white noise; point to point cannot see a corridor, because
it does not know that matches change as the cloud slides.
"""

from typing import Literal, NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.matches import Matches, find_matches
from svnicp.baselines.sandwich import covariance_of
from svnicp.baselines.scan_in_map import ScanInMap
from svnicp.lie import ROTATION, hat

Noise = Literal["isotropic", "range"]
"""Noise of a source point: the same along all axes, or along its beam only."""


class Sensitivity(NamedTuple):
    """Second derivatives of the cost J at the estimate, in the body tangent."""

    hessian: Floats
    """(6, 6) ∂²J/∂x²."""
    source: Floats
    """(N, 6, 3) ∂²J/∂x∂p, in body axes."""
    target: Floats
    """(N, 6, 3) ∂²J/∂x∂q, in body axes."""
    normal: Floats
    """(N, 6, 3) ∂²J/∂x∂n; zeros for point to point."""


def point_to_point_sensitivity(matches: Matches) -> Sensitivity:
    """Second derivatives of Σ w |p - q|²."""
    p, e, w = matches.points, matches.residuals, matches.weights
    arms = matches.arms
    hessian = 2.0 * np.einsum("n,nij,nik->jk", w, arms, arms)
    hessian[ROTATION, ROTATION] += _turning(w[:, None] * e, p)
    double = 2.0 * w[:, None, None]
    source = double * np.concatenate([_eye_like(p), hat(matches.targets)], axis=1)
    target = -double * np.swapaxes(arms, 1, 2)
    return Sensitivity(hessian, source, target, np.zeros_like(source))


def point_to_plane_sensitivity(matches: Matches) -> Sensitivity:
    """Second derivatives of Σ w (n·(p - q))²."""
    p, n, e, w = matches.points, matches.normals, matches.residuals, matches.weights
    A, r = matches.rows, matches.heights
    hessian = 2.0 * np.einsum("n,ni,nj->ij", w, A, A)
    hessian[ROTATION, ROTATION] += _turning((w * r)[:, None] * n, p)
    double, height = 2.0 * w[:, None, None], r[:, None, None]
    nothing = np.zeros((len(p), 3, 3))
    along = A[:, :, None] * n[:, None, :]
    source = double * (along + height * np.concatenate([nothing, -hat(n)], axis=1))
    lever = np.swapaxes(matches.arms, 1, 2)
    normal = double * (A[:, :, None] * e[:, None, :] + height * lever)
    return Sensitivity(hessian, source, -double * along, normal)


def censi_point_to_point(
    scan: ScanInMap, *, noise: Noise = "isotropic", target_noise_m: float | None = None
) -> Covariance:
    """Covariance (6, 6) of point-to-point ICP for a scan.

    Parameters
    ----------
    scan
        Gives the matches, the prior, and ``config.noise.range_noise_m``.
    noise
        Noise of the source points.
    target_noise_m
        Standard deviation of a map point [m]; the sensor's if left out.
    """
    matches = find_matches(scan, "point")
    if matches is None:
        return scan.prior_covariance
    return _closed_form(scan, matches, point_to_point_sensitivity(matches), noise, target_noise_m)


def censi_point_to_plane(
    scan: ScanInMap, *, noise: Noise = "isotropic", target_noise_m: float | None = None
) -> Covariance:
    """Covariance (6, 6) of point-to-plane ICP for a scan.

    As ``censi_point_to_point``; without ``target_noise_m`` the error of a plane is what its fit
    says, and the sensor's noise is not counted again.
    """
    matches = find_matches(scan, "plane")
    if matches is None:
        return scan.prior_covariance
    return _closed_form(scan, matches, point_to_plane_sensitivity(matches), noise, target_noise_m)


def gradient_noise(
    matches: Matches,
    sensitivity: Sensitivity,
    sigma_m: float,
    noise: Noise,
    target_variance: Floats,
) -> Floats:
    """M (6, 6): covariance of the cost's gradient when both clouds are noisy.

    A map point or plane that several source points meet has one error: its sensitivities are added
    before they are squared.
    """
    if noise == "range":
        beams = matches.points / np.linalg.norm(matches.points, axis=1, keepdims=True)
        moved = np.einsum("nij,nj->ni", sensitivity.source, beams)
        own = moved.T @ moved
    else:
        own = np.einsum("nij,nkj->ik", sensitivity.source, sensitivity.source)
    together = np.zeros((int(matches.shared.max()) + 1, 6, 3))
    np.add.at(
        together, matches.shared, np.sqrt(target_variance)[:, None, None] * sensitivity.target
    )
    return sigma_m**2 * own + np.einsum("nij,nkj->ik", together, together)


def _closed_form(
    scan: ScanInMap, matches: Matches, sensitivity: Sensitivity, noise: Noise,
    target_noise_m: float | None,
) -> Covariance:  # fmt: skip
    """H⁻¹ M H⁻¹ with the prior; the cost is scaled by 1/2σ², to be a negative log likelihood."""
    sigma = scan.config.noise.range_noise_m
    variance = matches.target_variance
    if target_noise_m is not None:
        variance = np.full(len(variance), target_noise_m**2)
    meat = gradient_noise(matches, sensitivity, sigma, noise, variance)
    scale = 0.5 / sigma**2
    return covariance_of(scan, scale * sensitivity.hessian, scale**2 * meat)


def _turning(pulls: Floats, points: Floats) -> Floats:
    """Second derivative (3, 3) of 2 Σ f·Exp(φ)p at φ = 0, for pulls f and points p (N, 3)."""
    mixed = pulls.T @ points
    return mixed + mixed.T - 2.0 * np.trace(mixed) * np.eye(3)


def _eye_like(points: Floats) -> Floats:
    """Identities (N, 3, 3)."""
    return np.broadcast_to(np.eye(3), (len(points), 3, 3))
