# SPDX-License-Identifier: MIT
"""Plane fits around stored map points, from all points that ever arrived near them.

A patch merges the moments of the cells within a radius. Its residuals split into what the cells
show inside (pure error) and what their means show between them (lack of fit). Noise alone makes
the two mean squares equal; an edge, a curved or a rough surface makes the second larger, and then
counting every arrival as independent would make the normal look far too certain. The normal's
covariance therefore rests on the larger of the two.
"""

import numpy as np
from numba import prange

from svnicp.kernels.eigen3 import eigh3
from svnicp.kernels.njit import njit
from svnicp.kernels.voxel_map import EMPTY, hash_slot

UNKNOWN, PLANAR, ROUGH = 0.0, 1.0, 2.0
"""Values of the STATE field: never fitted, a plane, or anything else (edge, line, clutter)."""

STATE, OWN_COUNT, NORMAL, CENTROID, NORMAL_COV, HEIGHT_VAR, RESIDUAL_VAR, EPOCH = (
    0, 1, 2, 5, 8, 14, 15, 16,
)  # fmt: skip
"""Fields of a plane record; NORMAL_COV is xx xy xz yy yz zz, CENTROID relative to the voxel."""


MOST_CELLS = 256
"""A patch takes at most this many cells."""


@njit(parallel=True)
def fit_planes(voxels, voxel_size, stored, radius, limits, epoch):
    """Fit or refresh the plane of each stored point in ``stored`` (unique indices, n,).

    ``limits``: largest residual standard deviation [m], smallest patch width (standard deviation
    of the second axis) [m], smallest ratio of second to third axis variance, fewest cells, growth
    of the own count that makes a fit stale, and epochs after which it is stale anyway.
    """
    cap = voxels.offsets.shape[1]
    for n in prange(len(stored)):
        voxel, slot = stored[n] // cap, stored[n] % cap
        plane = voxels.planes[voxel, slot]
        own = voxels.moments[voxel, slot, 0]
        fresh = own <= limits[4] * plane[OWN_COUNT] and epoch - plane[EPOCH] < limits[5]
        if plane[STATE] == UNKNOWN or not fresh:
            _fit(voxels, voxel_size, voxel, slot, radius, limits)
            plane[OWN_COUNT] = own
            plane[EPOCH] = epoch


@njit()
def _fit(voxels, voxel_size, voxel, slot, radius, limits):
    """Merge the patch of one stored point and write its plane record."""
    plane = voxels.planes[voxel, slot]
    total = np.zeros(10)
    means = np.empty((MOST_CELLS, 4))
    num_cells = _merge_patch(voxels, voxel_size, voxel, slot, radius, total, means)
    count = total[0]
    plane[STATE] = ROUGH
    if num_cells < limits[3] or count < 10:
        return
    mx, my, mz = total[1] / count, total[2] / count, total[3] / count
    plane[CENTROID], plane[CENTROID + 1], plane[CENTROID + 2] = mx, my, mz
    values, vectors = eigh3(
        total[4] - count * mx * mx, total[5] - count * mx * my, total[6] - count * mx * mz,
        total[7] - count * my * my, total[8] - count * my * mz, total[9] - count * mz * mz,
    )  # fmt: skip
    nx, ny, nz = vectors[0, 0], vectors[1, 0], vectors[2, 0]
    plane[NORMAL], plane[NORMAL + 1], plane[NORMAL + 2] = nx, ny, nz
    residual_var = max(values[0], 0.0) / (count - 5.0)  # Student's t: few points may fit by luck
    plane[RESIDUAL_VAR] = residual_var
    centred = _centred(means[:num_cells], mx, my, mz, vectors)
    lack_of_fit = np.sum(centred[:, 3] * centred[:, 0] ** 2) / (num_cells - 3.0)
    plane[HEIGHT_VAR] = max(lack_of_fit, residual_var) / count
    width_var, length_var = values[1] / count, values[2] / count
    if (
        residual_var < limits[0] ** 2
        and width_var > limits[1] ** 2
        and width_var > limits[2] * length_var
        and width_var > 4.0 * residual_var
        and _fills_area(centred, limits[1] ** 2)
    ):
        plane[STATE] = PLANAR
        field = NORMAL_COV
        for i in range(3):
            for j in range(i, 3):
                plane[field] = lack_of_fit * (
                    vectors[i, 1] * vectors[j, 1] / values[1]
                    + vectors[i, 2] * vectors[j, 2] / values[2]
                )
                field += 1


@njit()
def _centred(means, mx, my, mz, vectors):
    """Cell means (n, 4) about the centroid in the plane's axes: height, width, length, count."""
    out = np.empty((len(means), 4))
    for n in range(len(means)):
        x, y, z = means[n, 0] - mx, means[n, 1] - my, means[n, 2] - mz
        for axis in range(3):
            out[n, axis] = x * vectors[0, axis] + y * vectors[1, axis] + z * vectors[2, axis]
        out[n, 3] = means[n, 3]
    return out


@njit()
def _fills_area(centred, min_width_var):
    """Whether the patch is a surface rather than a curve that lies in some plane.

    One scan ring that turns round a corner, or curves over the ground, is flat as any plane and has
    width, but its width is a function of its length: what a parabola leaves of it must still be
    wide.
    """
    moments = np.zeros(5)
    right = np.zeros(3)
    for n in range(len(centred)):
        width, power = centred[n, 1], 1.0
        for k in range(5):
            moments[k] += power
            if k < 3:
                right[k] += power * width
            power *= centred[n, 2]
    normal = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            normal[i, j] = moments[i + j]
        normal[i, i] *= 1.0 + 1e-9
    curve = np.linalg.solve(normal, right)
    left = 0.0
    for n in range(len(centred)):
        length = centred[n, 2]
        left += (centred[n, 1] - curve[0] - curve[1] * length - curve[2] * length * length) ** 2
    return left / max(len(centred) - 3, 1) > min_width_var


@njit()
def _merge_patch(voxels, voxel_size, voxel, slot, radius, total, means):
    """Sum the moments of all cells within radius, about the voxel's centre; returns their number.

    ``means`` (MOST_CELLS, 4) collects mean and count of every cell.
    """
    ox, oy, oz = voxels.offsets[voxel, slot, 0], voxels.offsets[voxel, slot, 1], voxels.offsets[voxel, slot, 2]
    num_cells = 0
    reach = radius * radius
    for i in range(-1, 2):
        for j in range(-1, 2):
            for k in range(-1, 2):
                x, y, z = i * voxel_size, j * voxel_size, k * voxel_size
                half = 0.5 * voxel_size
                ex = max(0.0, abs(ox - x) - half)
                ey = max(0.0, abs(oy - y) - half)
                ez = max(0.0, abs(oz - z) - half)
                if ex * ex + ey * ey + ez * ez > reach:
                    continue
                position = hash_slot(
                    voxels.table, voxels.keys, np.int64(voxels.keys[voxel, 0] + i),
                    np.int64(voxels.keys[voxel, 1] + j), np.int64(voxels.keys[voxel, 2] + k),
                )  # fmt: skip
                other = voxels.table[position]
                if other == EMPTY:
                    continue
                for cell in range(voxels.counts[other]):
                    dx = voxels.offsets[other, cell, 0] + x - ox
                    dy = voxels.offsets[other, cell, 1] + y - oy
                    dz = voxels.offsets[other, cell, 2] + z - oz
                    if dx * dx + dy * dy + dz * dz <= reach and num_cells < MOST_CELLS:
                        _merge_cell(voxels.moments[other, cell], x, y, z, total, means[num_cells])
                        num_cells += 1
    return num_cells


@njit()
def _merge_cell(moments, x, y, z, total, mean):
    """Add one cell's moments, shifted by (x, y, z)."""
    count = np.float64(moments[0])
    sx, sy, sz = np.float64(moments[1]), np.float64(moments[2]), np.float64(moments[3])
    total[0] += count
    total[1] += sx + count * x
    total[2] += sy + count * y
    total[3] += sz + count * z
    total[4] += moments[4] + 2.0 * sx * x + count * x * x
    total[5] += moments[5] + sx * y + sy * x + count * x * y
    total[6] += moments[6] + sx * z + sz * x + count * x * z
    total[7] += moments[7] + 2.0 * sy * y + count * y * y
    total[8] += moments[8] + sy * z + sz * y + count * y * z
    total[9] += moments[9] + 2.0 * sz * z + count * z * z
    mean[0], mean[1], mean[2] = sx / count + x, sy / count + y, sz / count + z
    mean[3] = count
