# SPDX-License-Identifier: MIT
"""The matches of a registered scan in body axes, as the closed forms want them.

Same thinning, same nearest map points, same planes and robust weights as in our own registration,
at the estimate. In body axes the rotation drops out: p is the source point as measured, q the map
point and n its normal turned and shifted into the body's frame.
"""

import dataclasses
from typing import Literal, NamedTuple

import numpy as np

from svnicp.arrays import Floats, Integers, Points
from svnicp.baselines.scan_in_map import ScanInMap
from svnicp.kernels.candidates import match_all
from svnicp.kernels.planes import CENTROID, HEIGHT_VAR, NORMAL
from svnicp.lie import hat, transform_points
from svnicp.registration.candidates import (
    choose_points,
    find_indices,
    localise,
    pack,
    spread_source,
)
from svnicp.registration.robust import WEIGHT_KINDS, residual_scale, robust_weights

Metric = Literal["point", "plane"]


class Matches(NamedTuple):
    """N pairs of a source point and what it met, in body axes."""

    points: Points
    """(N, 3) source points p [m]."""
    targets: Points
    """(N, 3) map points q, or any points of the planes [m]."""
    normals: Points
    """(N, 3) unit normals, towards the sensor; zeros for points."""
    weights: Floats
    """(N,) robust weights, 1 for what fits well."""
    shared: Integers
    """(N,) label of the map point or plane: matches with the same label share its error."""
    target_variance: Floats
    """(N,) variance of a map point per axis, or of a plane along its normal [m²]."""

    @property
    def residuals(self) -> Points:
        """(N, 3) p - q [m]."""
        return self.points - self.targets

    @property
    def heights(self) -> Floats:
        """(N,) residuals along the normals [m]."""
        return np.sum(self.residuals * self.normals, axis=1)

    @property
    def rows(self) -> Floats:
        """(N, 6) derivatives of the heights in the body tangent: [n; p × n]."""
        return np.concatenate([self.normals, np.cross(self.points, self.normals)], axis=1)

    @property
    def arms(self) -> Floats:
        """(N, 3, 6) derivatives of the residuals in the body tangent: [I, -[p]×]."""
        identities = np.broadcast_to(np.eye(3), (len(self.points), 3, 3))
        return np.concatenate([identities, -hat(self.points)], axis=2)


def find_matches(scan: ScanInMap, metric: Metric) -> Matches | None:
    """Matches of a scan at its estimate; None when there are too few to say anything."""
    match = dataclasses.replace(scan.config.match, metric=metric, non_planar="drop")
    config = dataclasses.replace(scan.config, match=match)
    T, reach = scan.T_target_source, match.max_distance_m
    source = scan.source[spread_source(scan.source, config.source)]
    indices = find_indices(scan.local_map, source, T, config, reach, count=1)
    nearest = pack(scan.local_map, source, indices, T, config)
    kept = choose_points(nearest, T, config)
    T_local = localise(T, nearest.origin)
    chosen, normalised = match_all(T_local, nearest.points, nearest.rows, reach**2)
    kept = kept[chosen[kept] >= 0]
    if len(kept) < match.min_matches:
        return None
    rows = nearest.rows[kept, 0].astype(np.float64)
    scale = residual_scale(normalised[kept]) if config.noise.scale == "residuals" else 1.0
    weights = robust_weights(
        normalised[kept] / scale, WEIGHT_KINDS[config.noise.weight], config.noise.weight_width
    )
    fits = scan.local_map.arrays.planes[scan.local_map.records(indices[kept, 0])]
    # Neighbours on one plane have its record; where it bends each point has its own tangent plane.
    apart = rows[:, :3] if metric == "point" else fits[:, NORMAL:CENTROID]
    labels = np.unique(apart, axis=0, return_inverse=True)[1].ravel()
    return _in_body_axes(scan, source[kept], rows, weights, labels, metric)


def _in_body_axes(
    scan: ScanInMap, points: Points, rows: Floats, weights: Floats, labels: Integers,
    metric: Metric,
) -> Matches:  # fmt: skip
    """Matches of candidate rows (N, 8) relative to the estimate's position."""
    R = scan.T_target_source[:3, :3]
    anchors, normals, offsets = rows[:, :3] @ R, rows[:, 3:6] @ R, rows[:, 6]
    if metric == "point":
        variance = np.full(len(points), scan.config.noise.range_noise_m**2)
        return Matches(points, anchors, normals, weights, labels, variance)
    # The plane's own point nearest to the map point, which a fit does not go through exactly.
    feet = anchors - (np.sum(anchors * normals, axis=1) - offsets)[:, None] * normals
    facing = np.where(np.sum(points * normals, axis=1) > 0.0, -1.0, 1.0)
    return Matches(
        points, feet, facing[:, None] * normals, weights, labels,
        _height_variance(scan, points),
    )  # fmt: skip


def _height_variance(scan: ScanInMap, points: Points) -> Floats:
    """Variance (N,) of the fitted plane of every point's map point, along its normal [m²]."""
    places = transform_points(scan.T_target_source, points)
    found = scan.local_map.nearest(places, 1, scan.config.match.max_distance_m).indices[:, 0]
    records = scan.local_map.records(found)
    return scan.local_map.arrays.planes[records, HEIGHT_VAR].astype(np.float64)
