# SPDX-License-Identifier: MIT
"""Slow, plain NumPy twins of the likelihood, the Stein step and thinning.

What the kernels are compared with: everything here is written from the definitions, with loops and
whole matrices instead of clever memory, and must never import from ``svnicp.kernels``. The map's
twins are in ``reference_map``.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.lie import hat, make_transform, so3_exp, so3_right_jacobian


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a matrix, by LAPACK."""
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


# The likelihood


class Linearised(NamedTuple):
    """Cost ½ Σ w r² / V, its gradient and Gauss-Newton Hessian, and the number of matches."""

    gradient: Floats
    hessian: Floats
    cost: float
    matches: int


def robust_weight(kind: str, squared: float, width: float) -> float:
    """Weight of a residual whose normalised square is given."""
    if kind == "geman_mcclure":
        return (width**2 / (width**2 + squared)) ** 2
    if kind == "cauchy_norm":
        return (width / (width + np.sqrt(squared))) ** 2
    return 1.0


def nearest_candidate(rows: Floats, place: Floats, max_distance_m: float) -> int:
    """Index of the nearest of candidates (M, 8) or -1: beyond the gate, or of no precision."""
    distances = np.linalg.norm(rows[:, :3] - place, axis=1)
    best = int(np.argmin(distances))
    return best if distances[best] < max_distance_m and rows[best, 7] > 0.0 else -1


def linearise_pose(
    T: Transform, points: Points, rows: Floats, max_distance_m: float, kind: str, width: float
) -> Linearised:
    """Gradient and Hessian at a pose (4, 4) with respect to its right perturbation."""
    gradient, hessian, cost, matches = np.zeros(6), np.zeros((6, 6)), 0.0, 0
    R = T[:3, :3]
    for point, candidates in zip(
        np.asarray(points, dtype=np.float64), np.asarray(rows, dtype=np.float64), strict=True
    ):
        place = R @ point + T[:3, 3]
        best = nearest_candidate(candidates, place, max_distance_m)
        if best < 0:
            continue
        matches += 1
        target, normal, offset, precision = np.split(candidates[best], [3, 6, 7])
        # The derivative of R p + t with respect to a right perturbation (rho, phi).
        J_place = np.hstack([R, -R @ hat(point)])
        if np.any(normal):
            residual, J = normal @ place - offset, normal[None] @ J_place
        else:
            residual, J = place - target, J_place
        normalised = float(precision[0] * np.sum(residual**2))
        weight = precision[0] * robust_weight(kind, normalised, width)
        gradient += weight * J.T @ residual
        hessian += weight * J.T @ J
        cost += 0.5 * weight * float(np.sum(residual**2))
    return Linearised(gradient, hessian, cost, matches)


def offset_pose(T_reference: Transform, offset: Floats) -> Transform:
    """Return the pose (4, 4) of an offset (6,): T_reference (Exp φ, t)."""
    return T_reference @ make_transform(so3_exp(offset[3:]), offset[:3])


def linearise(
    T_reference: Transform, offset: Floats, seen: Floats, points: Points, rows: Floats,
    max_distance_m: float, kind: str, width: float,
) -> Linearised:  # fmt: skip
    """As ``linearise_pose``, with respect to an offset (6,) of which the scan sees ``seen``."""
    looked_at = seen @ offset
    T = offset_pose(T_reference, looked_at)
    there = linearise_pose(T, points, rows, max_distance_m, kind, width)
    chain = np.zeros((6, 6))
    chain[:3, :3] = so3_exp(looked_at[3:]).T
    chain[3:, 3:] = so3_right_jacobian(looked_at[3:])
    chain = chain @ seen
    return Linearised(
        chain.T @ there.gradient, chain.T @ there.hessian @ chain, there.cost, there.matches
    )


def facing_sums(
    T: Transform, points: Points, rows: Floats, normal_covs: Floats, residuals: Floats,
    weights: Floats, axes: Floats, facing: float, vouched: Floats,
) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
    """Information, its fake part, gradient and response of matched rows, by matrix products.

    With S = U diag(s) U' shrinking a normal in the body, s = f + v (1 - f) of the vouched v (3,)
    and f = a² / (a² + facing²), and B = [S; [p]× S]: Σ w Bn (Bn)'/V, Σ w B cov(n) B'/V,
    Σ w B S n r/V and, with A = [n; p × n] the derivative of r, Σ w B S n A'/V.
    """
    kept, fake, gradient = np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6)
    response = np.zeros((6, 6))
    for point, row, cov, residual, weight in zip(
        points, rows, normal_covs, residuals, weights, strict=True
    ):
        normal = T[:3, :3].T @ row[3:6]
        parts = (axes.T @ normal) ** 2
        faced = parts / (parts + facing**2)
        S = axes @ np.diag(faced + vouched * (1.0 - faced)) @ axes.T
        B = np.vstack([S, hat(point) @ S])
        precision = weight * row[7]
        kept += precision * np.outer(B @ normal, B @ normal)
        fake += precision * B @ T[:3, :3].T @ cov @ T[:3, :3] @ B.T
        gradient += precision * residual * B @ S @ normal
        row_of_residual = np.concatenate([normal, np.cross(point, normal)])
        response += precision * np.outer(B @ S @ normal, row_of_residual)
    return kept, fake, gradient, response


# The Stein step


def stein_kernel(offsets: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Gram matrix (K, K) and the repulsion -∂k/∂x_k (K, K, 6) for particle k away from l."""
    count = len(offsets)
    gram, repulsion = np.empty((count, count)), np.empty((count, count, 6))
    for k in range(count):
        for j in range(count):
            difference = offsets[k] - offsets[j]
            gram[k, j] = np.exp(-0.5 * difference @ metric @ difference)
            repulsion[k, j] = gram[k, j] * (metric @ difference)
    return gram, repulsion


def stein_force(offsets: Floats, gradients: Floats, metric: Floats) -> Floats:
    """Stein force (K, 6): mean over l of -k_kl g_l plus the repulsion from l."""
    gram, repulsion = stein_kernel(offsets, metric)
    force = np.zeros_like(offsets)
    for k in range(len(offsets)):
        for j in range(len(offsets)):
            force[k] += (repulsion[k, j] - gram[k, j] * gradients[j]) / len(offsets)
    return force


def stein_newton(
    offsets: Floats, gradients: Floats, hessians: Floats, metric: Floats, damping: float
) -> Floats:
    """Newton directions (K, 6) of the Stein functional, block by block."""
    gram, repulsion = stein_kernel(offsets, metric)
    force = stein_force(offsets, gradients, metric)
    direction = np.empty_like(offsets)
    for k in range(len(offsets)):
        system = np.zeros((6, 6))
        for j in range(len(offsets)):
            outer = np.outer(repulsion[k, j], repulsion[k, j])
            system += (gram[k, j] ** 2 * hessians[j] + outer) / len(offsets)
        system += damping * np.diag(np.diag(system))
        direction[k] = np.linalg.solve(system, force[k])
    return direction


# Thinning


def crowds(points: Points, leaf: float) -> Floats:
    """Return the number of points (n,) in the 3 x 3 x 3 leaves around each point's leaf."""
    leaves = np.floor(points / leaf).astype(np.int64)
    near = np.abs(leaves[:, None] - leaves[None]).max(axis=2) <= 1
    return near.sum(axis=1).astype(np.float64)
