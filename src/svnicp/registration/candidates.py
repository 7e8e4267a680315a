# SPDX-License-Identifier: MIT
"""From source points and a pose to the candidates that particles choose from.

Once per scan (or again, when the pose has moved too far) each source point gets its M nearest map
points, each with a plane and a physical variance, or as a bare point in the paper's likelihood.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats, Integers, Points, Transform
from svnicp.config import Config, SourceConfig
from svnicp.kernels import candidates as compiled
from svnicp.kernels import thinning
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.lie import transform_points
from svnicp.local_map import VoxelMap

NON_PLANAR = {"drop": compiled.DROP, "point": compiled.POINT}


class Candidates(NamedTuple):
    """Source points with what they may match."""

    points: npt.NDArray[np.float32]
    """(N, 3) source points [m]."""
    rows: npt.NDArray[np.float32]
    """(N, M, 8) candidates, see ``kernels.linearise``."""
    normal_cov: npt.NDArray[np.float32]
    """(N, M, 6) covariance of the candidates' normals, xx xy xz yy yz zz; empty for points."""
    origin: Floats
    """(3,) local origin in the target frame [m]."""


def spread_source(source: Points, config: SourceConfig) -> Integers:
    """Indices of an evenly spread subset of the source, larger than needed by ``search_factor``."""
    count = int(config.search_factor * config.max_points)
    stride = max(1, len(source) // max(config.scan_points, count))
    sparse = config.sparse_points / stride
    return stride * thinning.spread(source[::stride], config.spread_leaf_m, count, sparse)


class Found(NamedTuple):
    """Candidates of the source points that are worth matching."""

    candidates: Candidates
    kept: Integers
    """(N,) which of the source points they are."""
    overlap: float
    """Share of all source points that have a map point within reach."""


def find_best(
    local_map: VoxelMap,
    source: Points,
    T_target_source: Transform,
    config: Config,
    reach_m: float,
    count: int | None = None,
) -> Found:
    """Choose among the source points by their nearest map points, and find candidates for those.

    With planes fewer are fitted than if all points had all their candidates.
    """
    indices = find_indices(local_map, source, T_target_source, config, reach_m, count)
    first = np.ascontiguousarray(indices[:, :1])
    nearest = pack(local_map, source, first, T_target_source, config)
    kept = choose_points(nearest, T_target_source, config)
    candidates = pack(local_map, source[kept], indices[kept], T_target_source, config)
    return Found(candidates, kept, float(np.mean(indices[:, 0] != EMPTY)))


def find_candidates(
    local_map: VoxelMap,
    source: Points,
    T_target_source: Transform,
    config: Config,
    reach_m: float,
    count: int | None = None,
) -> Candidates:
    """The nearest map points of every source point at this pose, within reach.

    ``count`` of them, ``config.match.num_candidates`` when left out.
    """
    indices = find_indices(local_map, source, T_target_source, config, reach_m, count)
    return pack(local_map, source, indices, T_target_source, config)


def find_indices(
    local_map: VoxelMap,
    source: Points,
    T_target_source: Transform,
    config: Config,
    reach_m: float,
    count: int | None = None,
) -> Integers:
    """Indices (N, M) of the nearest map points, as in ``find_candidates``; EMPTY where none is."""
    wanted = count or config.match.num_candidates
    return local_map.nearest(transform_points(T_target_source, source), wanted, reach_m).indices


def pack(
    local_map: VoxelMap,
    source: Points,
    indices: Integers,
    T_target_source: Transform,
    config: Config,
) -> Candidates:
    """Rows of map points (N, M) for source points (N, 3), after fitting the planes that are due."""
    origin = T_target_source[:3, 3].copy()
    T_local = T_target_source.copy()
    T_local[:3, 3] = 0.0
    points = source.astype(np.float32)
    size = local_map.config.voxel_size_m
    if config.match.metric == "point":
        precision = 1.0 if config.noise.variance == "unit" else config.noise.range_noise_m**-2
        rows = compiled.pack_points(local_map.arrays, size, indices, origin, precision)
        normal_cov = np.zeros((*indices.shape, 6), dtype=np.float32)
    else:
        local_map.fit_planes(indices)
        stds = config.noise.range_noise_m, config.noise.floor_m, config.noise.shared_tilt_rad
        rows, normal_cov = compiled.pack_planes(
            local_map.arrays, size, indices, origin, T_local, points, np.square(stds),
            config.match.settled_scans, NON_PLANAR[config.match.non_planar],
        )  # fmt: skip
    return Candidates(points, rows, normal_cov, origin)


def choose_points(candidates: Candidates, T_target_source: Transform, config: Config) -> Integers:
    """Indices of the source points to keep: those with a match, rare normals whole."""
    T_local = localise(T_target_source, candidates.origin)
    chosen, _ = compiled.match_all(T_local, candidates.points, candidates.rows, np.inf)
    matched = np.flatnonzero(chosen >= 0)
    if len(matched) <= config.source.max_points:
        return matched
    if not config.source.keep_rare_normals:
        return matched[:: -(-len(matched) // config.source.max_points)]
    normals = candidates.rows[matched, chosen[matched], 3:6].astype(np.float64)
    return matched[thinning.balance_directions(normals, config.source.max_points)]


def localise(T_target_source: Transform, origin: Floats) -> Transform:
    """The same pose relative to the local origin."""
    T_local = T_target_source.copy()
    T_local[:3, 3] -= origin
    return T_local
