# SPDX-License-Identifier: MIT
"""Pack the map's neighbours of every source point into rows for the inner loop.

Here every residual gets its physical variance: the beam's range noise seen under the incidence
angle, the roughness of the surface, and the error of the fitted plane at that place (leverage).
"""

import numpy as np

from svnicp.kernels.bent_surface import bend_row
from svnicp.kernels.linearise import nearest_candidate
from svnicp.kernels.njit import njit
from svnicp.kernels.planes import (
    CENTROID,
    HEIGHT_VAR,
    NORMAL,
    NORMAL_COV,
    PLANAR,
    RESIDUAL_VAR,
    STATE,
)
from svnicp.kernels.threads import share
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.kernels.voxel_insert import summed_arrivals

DROP, POINT = 0, 1
"""What becomes of a neighbour without a plane: left out, or a point with its own variance."""
POINT_SHARE = 1.0 / 3.0
"""Share of a voxel by which two scans that hit the same thing hit different points of it."""
POINTS = 512
"""Source points whose candidates a thread packs at once."""


@njit()
def pack_points(voxels, voxel_size, indices, origin, precision):
    """Candidate rows (N, M, 8) of a point-to-point metric, all of one precision."""
    rows = np.zeros((indices.shape[0], indices.shape[1], 8), dtype=np.float32)
    for n in range(len(indices)):
        for m in range(indices.shape[1]):
            rows[n, m, 0] = rows[n, m, 1] = rows[n, m, 2] = np.inf
            if indices[n, m] == EMPTY:
                continue
            voxel = indices[n, m] // voxels.cap
            record = voxels.starts[voxel] + indices[n, m] % voxels.cap
            for axis in range(3):
                centre = (voxels.keys[voxel, axis] + 0.5) * voxel_size - origin[axis]
                rows[n, m, axis] = centre + voxels.offsets[record, axis]
            rows[n, m, 7] = precision
    return rows


def pack_planes(voxels, voxel_size, indices, origin, T, points, noise, min_visits, non_planar):
    """Candidate rows (N, M, 8) of the plane-aware metric, and normal covariances (N, M, 6).

    ``T`` (4, 4) is the pose (relative to ``origin``) at which incidence and leverage are taken;
    ``noise``: range noise variance, the floor of every variance [m²], and the variance of tilts
    that all normals may share [rad²]. Neighbours in voxels that fewer than ``min_visits``
    insertions reached do not count.
    """
    rows = np.zeros((indices.shape[0], indices.shape[1], 8), dtype=np.float32)
    normal_cov = np.zeros((indices.shape[0], indices.shape[1], 6), dtype=np.float32)
    share(
        pack_some, len(indices), POINTS, voxels, voxel_size, indices, origin, T, points, noise,
        min_visits, non_planar, rows, normal_cov,
    )  # fmt: skip
    return rows, normal_cov


@njit(borrows=True)
def pack_some(
    begin,
    end,
    voxels,
    voxel_size,
    indices,
    origin,
    T,
    points,
    noise,
    min_visits,
    non_planar,
    rows,
    normal_cov,
):
    """``pack_planes`` for some of the source points."""
    for n in range(begin, end):
        _pack_point(
            voxels, voxel_size, indices[n], origin, T, points[n], noise, min_visits, non_planar,
            rows[n], normal_cov[n],
        )  # fmt: skip


@njit(inlined=True, borrows=True)
def _pack_point(
    voxels, voxel_size, indices, origin, T, point, noise, min_visits, non_planar, rows, normal_cov
):
    """Candidates of one source point, written into rows (M, 8) and normal_cov (M, 6)."""
    bx = T[0, 0] * point[0] + T[0, 1] * point[1] + T[0, 2] * point[2]
    by = T[1, 0] * point[0] + T[1, 1] * point[1] + T[1, 2] * point[2]
    bz = T[2, 0] * point[0] + T[2, 1] * point[1] + T[2, 2] * point[2]
    length = max(np.sqrt(bx * bx + by * by + bz * bz), 1e-9)
    beam = (bx / length, by / length, bz / length)
    place = (bx + T[0, 3], by + T[1, 3], bz + T[2, 3])
    for m in range(len(indices)):
        row = rows[m]
        row[0] = row[1] = row[2] = np.inf
        if indices[m] == EMPTY:
            continue
        voxel = indices[m] // voxels.cap
        record = voxels.starts[voxel] + indices[m] % voxels.cap
        plane = voxels.planes[record]
        cx = (voxels.keys[voxel, 0] + 0.5) * voxel_size - origin[0]
        cy = (voxels.keys[voxel, 1] + 0.5) * voxel_size - origin[1]
        cz = (voxels.keys[voxel, 2] + 0.5) * voxel_size - origin[2]
        row[0] = cx + voxels.offsets[record, 0]
        row[1] = cy + voxels.offsets[record, 1]
        row[2] = cz + voxels.offsets[record, 2]
        if voxels.visits[voxel] < min_visits:
            continue
        if plane[STATE] == PLANAR:
            centre = (cx + plane[CENTROID], cy + plane[CENTROID + 1], cz + plane[CENTROID + 2])
            _plane_row(plane, centre, beam, place, noise, row, normal_cov[m])
            _add_normal_cov(plane, row, noise[2], normal_cov[m])
        elif non_planar == POINT:
            row[7] = _point_precision(voxels.moments[record], noise, voxel_size)


@njit(borrows=True)
def _add_normal_cov(plane, row, tilt_var, out):
    """Add the covariance (6,) of a normal: that of its fit, and a tilt any way across it."""
    field = 0
    for i in range(3):
        for j in range(i, 3):
            across = (1.0 if i == j else 0.0) - row[3 + i] * row[3 + j]
            out[field] += plane[NORMAL_COV + field] + tilt_var * across
            field += 1


@njit(borrows=True)
def _plane_row(plane, centre, beam, place, noise, row, normal_cov):
    """Normal, offset and precision of a match with a plane; adds bending to its covariance."""
    nx, ny, nz = plane[NORMAL], plane[NORMAL + 1], plane[NORMAL + 2]
    row[3], row[4], row[5] = nx, ny, nz
    row[6] = nx * centre[0] + ny * centre[1] + nz * centre[2]
    incidence = nx * beam[0] + ny * beam[1] + nz * beam[2]
    dx, dy, dz = place[0] - centre[0], place[1] - centre[1], place[2] - centre[2]
    c = plane[NORMAL_COV : NORMAL_COV + 6]
    leverage = (
        c[0] * dx * dx + c[3] * dy * dy + c[5] * dz * dz
        + 2.0 * (c[1] * dx * dy + c[2] * dx * dz + c[4] * dy * dz)
    )  # fmt: skip
    # The fit's residuals hold the map's own noise and the surface's roughness; what exceeds this
    # beam's noise is roughness that it will meet as well.
    surface = max(noise[0] * incidence * incidence, plane[RESIDUAL_VAR])
    bend_var = bend_row(plane, centre, (dx, dy, dz), surface, row, normal_cov)
    row[7] = 1.0 / (surface + plane[HEIGHT_VAR] + leverage + bend_var + noise[1])


@njit(borrows=True)
def _point_precision(moments, noise, voxel_size):
    """Precision per axis of a match with a point: range noise, its cell's scatter, its distance.

    The point that was hit then is not the one that is hit now: they are parts of a voxel apart.
    """
    count = summed_arrivals(moments)
    scatter = 0.0
    for axis, square in ((1, 4), (2, 7), (3, 9)):
        scatter += moments[square] / count - (moments[axis] / count) ** 2
    apart = POINT_SHARE * voxel_size
    return 1.0 / (noise[0] + max(scatter, 0.0) / 3.0 + noise[1] + apart * apart)


@njit()
def match_all(T, points, rows, max_squared):
    """Matched candidate (N,) or -1, and residual over its standard deviation (N,) at one pose."""
    chosen = np.full(len(points), -1, dtype=np.int64)
    normalised = np.zeros(len(points))
    _match_each(T, points, rows, max_squared, chosen, normalised)
    return chosen, normalised


@njit(borrows=True)
def _match_each(T, points, rows, max_squared, chosen, normalised):
    """``match_all`` into arrays of -1 and of zeros."""
    for n in range(len(points)):
        p = points[n]
        x = T[0, 0] * p[0] + T[0, 1] * p[1] + T[0, 2] * p[2] + T[0, 3]
        y = T[1, 0] * p[0] + T[1, 1] * p[1] + T[1, 2] * p[2] + T[1, 3]
        z = T[2, 0] * p[0] + T[2, 1] * p[1] + T[2, 2] * p[2] + T[2, 3]
        best = nearest_candidate(rows, n, np.float32(x), np.float32(y), np.float32(z), max_squared)
        if best < 0 or rows[n, best, 7] <= 0.0:
            continue
        chosen[n] = best
        row = rows[n, best]
        if row[3] != 0.0 or row[4] != 0.0 or row[5] != 0.0:
            residual = row[3] * x + row[4] * y + row[5] * z - row[6]
        else:
            square = (x - row[0]) ** 2 + (y - row[1]) ** 2 + (z - row[2]) ** 2
            residual = np.sqrt(square / 3.0)
        normalised[n] = residual * np.sqrt(row[7])


@njit()
def match_and_median(T, points, rows, max_squared):
    """``match_all``, the number of matches, and the median of their residuals' absolute values.

    The median is the one in the middle, the larger one of two; NaN without a match.
    """
    chosen, normalised = match_all(T, points, rows, max_squared)
    sizes, used = np.empty(len(points)), 0
    for n in range(len(points)):
        sizes[used] = abs(normalised[n])
        used += np.int64(chosen[n] >= 0)
    return chosen, normalised, used, _in_the_middle(sizes, np.int64(used))


@njit(borrows=True)
def _in_the_middle(values, count):
    """The middle one of the first ``count`` values in their order; changes their places."""
    if count == 0:
        return np.nan
    low, high, middle = np.int64(0), count - 1, count // 2
    while low < high:
        pivot, left, right = values[(low + high) // 2], low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            break
    return values[middle]
