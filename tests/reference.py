# SPDX-License-Identifier: MIT
"""Slow, plain NumPy twins of the compiled code: what the kernels are compared with.

Everything here is written from the definitions, with loops and whole matrices instead of clever
memory, and must never import from ``svnicp.kernels``.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.config import MapConfig
from svnicp.lie import hat, make_transform, so3_exp, so3_right_jacobian


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a matrix, by LAPACK."""
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


# The map


class Cells(NamedTuple):
    """What a map holds: one entry per stored point."""

    positions: Points
    """(n, 3) the first arrival of each cell, its offset from the voxel's centre in float32 [m]."""
    arrivals: list[Points]
    """All arrivals of each cell, (count, 3) each [m]."""


def filled_cells(points: Points, config: MapConfig) -> Cells:
    """Return stored points and their arrivals after inserting points (n, 3) in order."""
    size, edge = config.voxel_size_m, config.cells_per_voxel_edge
    members: dict[tuple[int, ...], list[Floats]] = {}
    stored_in: dict[tuple[int, ...], int] = {}
    for number, point in enumerate(points):
        voxel = tuple(int(value) for value in np.floor(point / size))
        inside = np.clip(np.floor((point - size * np.array(voxel)) * edge / size), 0, edge - 1)
        cell = voxel + (tuple(int(value) for value in inside) if edge else (number,))
        if cell in members:
            members[cell].append(point)
        elif stored_in.get(voxel, 0) < config.max_points_per_voxel:
            stored_in[voxel] = stored_in.get(voxel, 0) + 1
            members[cell] = [point]
    centres = (np.array([cell[:3] for cell in members]) + 0.5) * size
    firsts = np.array([points_of_cell[0] for points_of_cell in members.values()])
    offsets = (firsts - centres).astype(np.float32)
    return Cells(centres + offsets, [np.array(cell) for cell in members.values()])


class Bend(NamedTuple):
    """A parabola over a plane, in the axes of width and length."""

    share: float
    """How much of it normals follow."""
    terms: Floats
    """(5,) coefficients of w, v, w², w v, v²."""
    curve_cov: Floats
    """(3, 3) covariance of the last three by noise."""
    squares: Floats
    """(2,) mean squares of w and v over all arrivals."""


class Plane(NamedTuple):
    """A plane fit; vectors are about the map's frame."""

    planar: bool
    doubtful: bool
    """Whether rounding may decide about ``planar`` or about the pooling of cells."""
    normal: Floats
    centroid: Floats
    normal_cov: Floats
    height_var: float
    residual_var: float
    axes: Floats
    """(3, 2) of width and length."""
    bend: "Bend"
    """The parabola over it."""


def plane_fit(cells: Cells, center: Floats, config: MapConfig) -> Plane | None:
    """Return the plane of the cells near ``center``, of a wider patch where there are too few.

    None with fewer than ``min_cells`` cells or ten arrivals in both.
    """
    narrow = patch_fit(cells, center, config, config.plane_radius_m)
    if narrow is not None:
        return narrow
    wide = min(2.0 * config.plane_radius_m, config.voxel_size_m / 1.3)
    return patch_fit(cells, center, config, wide)


def patch_fit(cells: Cells, center: Floats, config: MapConfig, radius: float) -> Plane | None:
    """Fit in space first, then again to the cells that are near within the first plane."""
    reach = min(1.3 * radius, config.voxel_size_m)
    distances = np.linalg.norm(cells.positions - center, axis=1)
    patch = [cells.arrivals[number] for number in np.flatnonzero(distances <= reach)]
    away = np.array([cell.mean(axis=0) for cell in patch]) - center
    spatial = np.linalg.norm(away, axis=1)
    first = [cell for cell, distance in zip(patch, spatial, strict=True) if distance <= radius]
    if sum(map(len, first)) < 10:
        return None
    centroid, values, vectors = principal(first)
    band = 3.0 * np.sqrt(values[0] / (sum(map(len, first)) - 3)) + 0.1 * radius
    heights = away @ vectors[:, 0] - (centroid - center) @ vectors[:, 0]
    inside = np.sqrt(np.maximum(spatial**2 - (away @ vectors[:, 0]) ** 2, 0.0))
    kept = (inside <= radius) & (np.abs(heights) < band)
    borders = np.array([
        np.abs(distances - reach).min(), np.abs(spatial - radius).min(),
        np.abs(inside - radius).min(), np.abs(np.abs(heights) - band).min(),
    ])  # fmt: skip
    second = [cell for cell, keep in zip(patch, kept, strict=True) if keep]
    if sum(map(len, second)) < 10 or len(second) < config.min_cells:
        return None
    return judged(second, config, doubtful=bool(borders.min() < 1e-5))


def principal(patch: list[Points]) -> tuple[Floats, Floats, Floats]:
    """Return mean, ascending eigenvalues and eigenvectors of the scatter of all arrivals."""
    points = np.concatenate(patch)
    centroid = points.mean(axis=0)
    values, vectors = np.linalg.eigh((points - centroid).T @ (points - centroid))
    return centroid, values, vectors


def judged(patch: list[Points], config: MapConfig, *, doubtful: bool) -> Plane:
    """Return the plane of a patch with the covariance of its normal, and whether it is one."""
    centroid, values, vectors = principal(patch)
    counts = np.array([len(cell) for cell in patch])
    count = counts.sum()
    height, width, length = ((np.array([c.mean(axis=0) for c in patch]) - centroid) @ vectors).T
    bend, along_width, along_length, explained = parabola(height, width, length, counts, values)
    about_plane, residual_var = values[0] / (count - 5), (values[0] - explained) / (count - 5)
    tilt = curved_tilt(height, width, length, counts, values[0])
    slope = vectors[:, 1:] @ ((1.0 - bend.share) * tilt)
    variances = values / count
    curve = np.polynomial.Polynomial.fit(length, width, 2)
    off_curve = np.sum((width - curve(length)) ** 2) / max(len(patch) - 3, 1)
    criteria = np.array([
        config.max_residual_std_m**2 / about_plane,
        variances[1] / config.min_width_m**2,
        variances[1] / (config.min_aspect * variances[2]),
        variances[1] / (4.0 * about_plane),
        config.max_normal_std_rad**2 * values[1] / along_width,
        off_curve / config.min_width_m**2,
        own_share_of_width_squared(width, length, counts) / 0.25,
    ])  # fmt: skip
    # A round patch has no axes of its own: rounding turns them, and the bending with them.
    round_patch = values[1] > 0.9 * values[2]
    spread = np.array([along_width, along_length]) / values[1:]
    return Plane(
        planar=bool(np.all(criteria > 1.0)),
        doubtful=bool(doubtful or round_patch or np.any(np.abs(criteria - 1.0) < 1e-2)),
        normal=vectors[:, 0],
        centroid=centroid,
        normal_cov=(vectors[:, 1:] * spread) @ vectors[:, 1:].T + np.outer(slope, slope),
        height_var=max(along_width, along_length, residual_var) / count,
        residual_var=residual_var,
        axes=vectors[:, 1:],
        bend=bend,
    )


def parabola(
    height: Floats, w: Floats, v: Floats, counts: Floats, values: Floats
) -> tuple[Bend, float, float, float]:
    """Best parabola, what bending explains beyond its share along w and along v, and within it.

    The share is less what noise and half of the cubic terms explain.
    """
    cubic = np.stack([w**3, w**2 * v, w * v**2, v**3], 1)
    terms = np.stack([np.ones_like(w), w, v, w**2, w * v, v**2], 1)
    roots = np.sqrt(counts)[:, None]
    basis, _ = np.linalg.qr(np.hstack([terms, cubic]) * roots)
    squares = (basis.T @ (roots[:, 0] * height)) ** 2
    freedom = max(counts.sum() - 6, 1)
    noise_var = (values[0] - squares[3:6].sum()) / freedom
    against = 6.0 * (1.0 + 25.0 / freedom) * noise_var + 0.5 * squares[6:].mean()
    share = max(0.0, 1.0 - against / squares[3:6].mean())
    rest = terms[:, :5] * roots
    left = roots[:, 0] * v**2 - rest @ np.linalg.lstsq(rest, roots[:, 0] * v**2, rcond=None)[0]
    told = min(own_share_of_width_squared(w, v, counts), np.sum(left**2) / np.sum(counts * v**4))
    if told < 0.25:
        share = 0.0
    best = np.linalg.lstsq(terms * roots, roots[:, 0] * height, rcond=None)[0].astype(np.float64)
    covariance = noise_var * np.linalg.inv((terms * roots).T @ (terms * roots))[3:, 3:]
    bend = Bend(share, best[1:], covariance, values[1:] / counts.sum())
    if share**2 * turning(bend) > 0.3**2:
        bend, share = Bend(0.0, np.zeros(5), np.zeros((3, 3)), np.zeros(2)), 0.0
    kept = (1.0 - share) ** 2
    weights = np.array([kept, 1.0, 1.0])
    along_w = float(weights @ squares[[3, 6, 8]] / weights.sum())
    along_v = float(weights @ squares[[5, 9, 7]] / weights.sum())
    return bend, along_w, along_v, float((1.0 - kept) * squares[3:6].sum())


def turning(bend: Bend) -> float:
    """Mean square of the change of a parabola's slope within its patch."""
    a, b, c = bend.terms[2:]
    hessian = np.array([[2.0 * a, b], [b, 2.0 * c]])
    return float(np.sum(hessian**2 * bend.squares))


def own_share_of_width_squared(w: Floats, v: Floats, counts: Floats) -> float:
    """Share of w² that a plane in w and v cannot make up: little for cells along two lines."""
    roots = np.sqrt(counts)
    plane = np.stack([np.ones_like(w), w, v], 1) * roots[:, None]
    left = roots * w**2 - plane @ np.linalg.lstsq(plane, roots * w**2, rcond=None)[0]
    return float(np.sum(left**2) / np.sum(counts * w**4))


def curved_tilt(height: Floats, w: Floats, v: Floats, counts: Floats, scatter: float) -> Floats:
    """Slopes (2,) that curvature across them fakes, less what noise explains."""
    terms = np.stack([np.ones_like(w), w, v, w**2, w * v, v**2], 1) * np.sqrt(counts)[:, None]
    basis, triangle = np.linalg.qr(terms)
    parts = basis.T @ (np.sqrt(counts) * height)
    noise_var = (scatter - np.sum(parts[3:] ** 2)) / max(counts.sum() - 6, 1)
    share = max(0.0, 1.0 - 2.5 * noise_var / np.mean(parts[3:] ** 2))
    beta = np.linalg.solve(triangle, parts)
    curvatures, axes = np.linalg.eigh([[2 * beta[3], beta[4]], [beta[4], 2 * beta[5]]])
    least, most = np.argsort(np.abs(curvatures))
    flatness = 1.0 - abs(curvatures[least] / curvatures[most])
    return np.sqrt(share) * flatness * (beta[1:3] @ axes[:, least]) * axes[:, least]


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


# Candidates


def candidate_row(
    position: Floats, plane: Plane | None, scatter: float, T: Transform, point: Floats,
    noise: tuple[float, float], keep_points: bool, apart_m: float,
) -> Floats:  # fmt: skip
    """Candidate row (8,) of a stored point: position, normal, plane offset and precision.

    ``noise`` are the variances of a range and of the floor, ``scatter`` the mean variance per axis
    of the stored point's own cell; without a plane it is a point ``apart_m`` away, or dropped.
    """
    range_var, floor_var = noise
    if plane is None or not plane.planar:
        variance = range_var + scatter + floor_var + apart_m**2
        precision = 1.0 / variance if keep_points else 0.0
        return np.concatenate([position, np.zeros(4), [precision]])
    beam = T[:3, :3] @ point
    incidence = plane.normal @ beam / np.linalg.norm(beam)
    lever = beam + T[:3, 3] - plane.centroid
    leverage = lever @ plane.normal_cov @ lever
    surface = max(range_var * incidence**2, plane.residual_var)
    normal, offset, bend_var, _ = tangent_plane(plane, lever, float(surface))
    variance = surface + plane.height_var + leverage + bend_var + floor_var
    return np.concatenate([position, normal, [offset, 1.0 / variance]])


def tangent_plane(
    plane: Plane, lever: Floats, beam_var: float
) -> tuple[Floats, float, float, Floats]:
    """Tangent plane of a parabola ``lever`` off its centroid, and how uncertain it is.

    Normal (3,), offset, variance of the height, and covariance (3, 3) of the normal, by curvature.
    """
    bend, ends = plane.bend, 2.0 * np.sqrt(plane.bend.squares)
    w, v = np.clip(plane.axes.T @ lever, -ends, ends)
    by_height = np.array([w**2 - bend.squares[0], w * v, v**2 - bend.squares[1]])
    by_slope = np.array([[2.0 * w, v, 0.0], [0.0, w, 2.0 * v]])
    height_var = by_height @ bend.curve_cov @ by_height
    used = max(bend.share, 0.1 * beam_var / (0.1 * beam_var + height_var))
    height = used * (bend.terms[:2] @ [w, v] + bend.terms[2:] @ by_height)
    slope = plane.axes @ (bend.terms[:2] + by_slope @ bend.terms[2:]) * bend.share
    slopes_cov = 16.0 * bend.share**2 * by_slope @ bend.curve_cov @ by_slope.T
    normal = (plane.normal - slope) / np.linalg.norm(plane.normal - slope)
    place = plane.centroid + plane.axes @ np.array([w, v]) + height * plane.normal
    return (
        normal, float(normal @ place), float(used**2 * height_var),
        plane.axes @ slopes_cov @ plane.axes.T,
    )  # fmt: skip


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
