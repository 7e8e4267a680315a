# SPDX-License-Identifier: MIT
"""Plane fits around stored map points, from all points that ever arrived near them.

A patch merges the moments of the cells within a radius. An edge, a curved or a rough surface, or
noise that neighbours share tilts a normal far more than independent noise of every arrival would;
the same then bends the surface. The normal's covariance therefore rests on the lack of fit: how
much of the heights a bent surface explains beyond the plane. For a plane under white noise that is
the noise variance itself.
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


@njit()
def claim_stale(voxels, indices, limits, epoch):
    """Stored points among ``indices`` (n,) whose plane must be fitted, each once.

    ``limits``: largest residual standard deviation [m], smallest patch width (standard deviation
    of the second axis) [m], smallest ratio of second to third axis variance, fewest cells, growth
    of the own count that makes a fit stale, epochs after which it is stale anyway, and the largest
    standard deviation of the normal [rad].
    """
    cap = voxels.offsets.shape[1]
    stale = np.empty(len(indices), dtype=np.int64)
    count = 0
    for stored in indices:
        if stored == EMPTY:
            continue
        plane = voxels.planes[stored // cap, stored % cap]
        own = voxels.moments[stored // cap, stored % cap, 0]
        fresh = own <= limits[4] * plane[OWN_COUNT] and epoch - plane[EPOCH] < limits[5]
        if plane[STATE] == UNKNOWN or not fresh:
            plane[STATE] = ROUGH
            plane[OWN_COUNT] = own
            plane[EPOCH] = epoch
            stale[count] = stored
            count += 1
    return stale[:count]


@njit(parallel=True)
def fit_planes(voxels, voxel_size, stored, radius, limits):
    """Fit the plane of each stored point (unique indices, n,); limits as in ``claim_stale``."""
    cap = voxels.offsets.shape[1]
    for n in prange(len(stored)):
        voxel, slot = stored[n] // cap, stored[n] % cap
        # Where the map is sparse a wider patch must do.
        if not _fit(voxels, voxel_size, voxel, slot, radius, limits):
            _fit(voxels, voxel_size, voxel, slot, min(2.0 * radius, voxel_size / 1.3), limits)


@njit()
def _fit(voxels, voxel_size, voxel, slot, radius, limits):
    """Fit the patch of one stored point twice and write its plane record; False if too few cells.

    The second fit takes the cells by their distance within the first plane: taken by distance in
    space, noise across the surface would decide which cells at the rim belong, and tilt the normal.
    """
    plane = voxels.planes[voxel, slot]
    plane[STATE] = ROUGH
    cells = np.empty((MOST_CELLS, 10))
    num_cells = _collect(voxels, voxel_size, voxel, slot, min(1.3 * radius, voxel_size), cells)
    centre = voxels.offsets[voxel, slot]
    keep = np.zeros(num_cells, dtype=np.bool_)
    for n in range(num_cells):
        dx, dy, dz = _from_centre(cells[n], centre)
        keep[n] = dx * dx + dy * dy + dz * dz <= radius * radius
    count, mean, values, vectors = _principal(cells, keep)
    if count < 10:
        return False
    band = 3.0 * np.sqrt(max(values[0], 0.0) / (count - 3.0)) + 0.1 * radius
    offset = 0.0
    for axis in range(3):
        offset += (mean[axis] - centre[axis]) * vectors[axis, 0]
    for n in range(num_cells):
        dx, dy, dz = _from_centre(cells[n], centre)
        height = dx * vectors[0, 0] + dy * vectors[1, 0] + dz * vectors[2, 0]
        inside = dx * dx + dy * dy + dz * dz - height * height <= radius * radius
        keep[n] = inside and abs(height - offset) < band
    count, mean, values, vectors = _principal(cells, keep)
    if count < 10:
        return False
    used = 0
    for n in range(num_cells):
        if keep[n]:
            cells[used] = cells[n]
            used += 1
    if used < limits[3]:
        return False
    _write(plane, cells[:used], count, mean, values, vectors, radius, limits)
    return True


@njit()
def _write(plane, cells, count, mean, values, vectors, radius, limits):
    """Judge a fitted patch and write its record."""
    plane[CENTROID], plane[CENTROID + 1], plane[CENTROID + 2] = mean[0], mean[1], mean[2]
    plane[NORMAL], plane[NORMAL + 1], plane[NORMAL + 2] = (
        vectors[0, 0],
        vectors[1, 0],
        vectors[2, 0],
    )
    residual_var = max(values[0], 0.0) / (count - 5.0)  # Student's t: few points may fit by luck
    centred = _centred(cells, mean, vectors)
    along_width, along_length = _lack_of_fit(centred, radius)
    plane[RESIDUAL_VAR] = residual_var
    plane[HEIGHT_VAR] = max(along_width, along_length, residual_var) / count
    width_var, length_var = values[1] / count, values[2] / count
    if (
        residual_var < limits[0] ** 2
        and width_var > limits[1] ** 2
        and width_var > limits[2] * length_var
        and width_var > 4.0 * residual_var
        and along_width < limits[6] ** 2 * values[1]
        and _fills_area(centred, limits[1] ** 2)
    ):
        plane[STATE] = PLANAR
        field = NORMAL_COV
        for i in range(3):
            for j in range(i, 3):
                plane[field] = (
                    along_width * vectors[i, 1] * vectors[j, 1] / values[1]
                    + along_length * vectors[i, 2] * vectors[j, 2] / values[2]
                )
                field += 1


@njit()
def _from_centre(cell, centre):
    """Offset of a cell's mean from the patch's centre."""
    count = cell[0]
    return cell[1] / count - centre[0], cell[2] / count - centre[1], cell[3] / count - centre[2]


@njit()
def _principal(cells, keep):
    """Count, mean (3,), ascending eigenvalues and eigenvectors of the scatter of kept cells."""
    total = np.zeros(10)
    for n in range(len(keep)):
        if keep[n]:
            for k in range(10):
                total[k] += cells[n, k]
    count = total[0]
    mean = total[1:4] / max(count, 1.0)
    mx, my, mz = mean
    values, vectors = eigh3(
        total[4] - count * mx * mx, total[5] - count * mx * my, total[6] - count * mx * mz,
        total[7] - count * my * my, total[8] - count * my * mz, total[9] - count * mz * mz,
    )  # fmt: skip
    return count, mean, values, vectors


@njit()
def _centred(cells, mean, vectors):
    """Cell means (n, 4) about the centroid in the plane's axes: height, width, length, count."""
    out = np.empty((len(cells), 4))
    for n in range(len(cells)):
        x, y, z = _from_centre(cells[n], mean)
        for axis in range(3):
            out[n, axis] = x * vectors[0, axis] + y * vectors[1, axis] + z * vectors[2, axis]
        out[n, 3] = cells[n, 0]
    return out


@njit()
def _lack_of_fit(centred, radius):
    """Mean squares, per arrival, of what bending along width and along length explains of heights.

    Ten terms up to the third order are fitted to the cells' heights; those beyond the plane explain
    one noise variance each when there is nothing but noise, and much more on an edge or a curved
    surface. A fold bends across itself and not along: terms that change the slope along the width
    (w², w³, w v²) and along the length (v², v³, w² v) are kept apart. Smooth terms, because noise
    across the surface decides which of two cells behind each other an arrival falls into: their
    difference is no lack of fit.
    """
    terms = np.empty(10)
    normal, right = np.zeros((10, 10)), np.zeros(10)
    for n in range(len(centred)):
        height, count = centred[n, 0], centred[n, 3]
        w, v = centred[n, 1] / radius, centred[n, 2] / radius
        terms[0], terms[1], terms[2] = 1.0, w, v
        terms[3], terms[4], terms[5] = w * w, w * v, v * v
        terms[6], terms[7], terms[8], terms[9] = w * w * w, w * w * v, w * v * v, v * v * v
        for i in range(10):
            right[i] += count * terms[i] * height
            for j in range(i + 1):
                normal[i, j] += count * terms[i] * terms[j]
    solution = np.zeros(10)
    for i in range(10):
        for j in range(i + 1):
            value = normal[i, j]
            for k in range(j):
                value -= normal[i, k] * normal[j, k]
            if i == j:
                normal[i, i] = np.sqrt(max(value, 1e-9 * normal[i, i] + 1e-12))
            else:
                normal[i, j] = value / normal[j, j]
        value = right[i]
        for k in range(i):
            value -= normal[i, k] * solution[k]
        solution[i] = value / normal[i, i]
    along_width = (solution[3] ** 2 + solution[6] ** 2 + solution[8] ** 2) / 3.0
    along_length = (solution[5] ** 2 + solution[9] ** 2 + solution[7] ** 2) / 3.0
    return along_width, along_length


@njit()
def _fills_area(centred, min_width_var):
    """Whether the patch is a surface rather than a curve that lies in some plane.

    One scan ring that turns round a corner, or curves over the ground, is flat as any plane and has
    width, but its width is a function of its length: what a parabola leaves of it must still be
    wide.
    """
    count = len(centred)
    s1 = s2 = s3 = s4 = t0 = t1 = t2 = squares = 0.0
    for n in range(count):
        width, length = centred[n, 1], centred[n, 2]
        square = length * length
        s1, s2, s3, s4 = s1 + length, s2 + square, s3 + square * length, s4 + square * square
        t0, t1, t2 = t0 + width, t1 + width * length, t2 + width * square
        squares += width * width
    # Sums of squares explained by 1, then by length, then by length², each freed of the former.
    mean, mean_width = s1 / count, t0 / count
    linear = s2 - s1 * mean
    slope = (t1 - t0 * mean) / max(linear, 1e-12)
    tilt = (s3 - s2 * mean) / max(linear, 1e-12)
    bend = s4 - s2 * s2 / count - tilt * tilt * linear
    bend_width = t2 - s2 * mean_width - tilt * (t1 - t0 * mean)
    left = squares - t0 * mean_width - slope * slope * linear
    left -= bend_width * bend_width / max(bend, 1e-12)
    return left / max(count - 3, 1) > min_width_var


@njit()
def _collect(voxels, voxel_size, voxel, slot, reach, cells):
    """Moments of all cells within reach, about the voxel's centre, into ``cells``; their number."""
    ox, oy, oz = voxels.offsets[voxel, slot]
    keys = voxels.keys[voxel]
    num_cells = 0
    half = 0.5 * voxel_size
    for i in range(-1, 2):
        for j in range(-1, 2):
            for k in range(-1, 2):
                x, y, z = i * voxel_size, j * voxel_size, k * voxel_size
                ex = max(0.0, abs(ox - x) - half)
                ey = max(0.0, abs(oy - y) - half)
                ez = max(0.0, abs(oz - z) - half)
                if ex * ex + ey * ey + ez * ez > reach * reach:
                    continue
                position = hash_slot(
                    voxels.table, voxels.keys,
                    np.int64(keys[0] + i), np.int64(keys[1] + j), np.int64(keys[2] + k),
                )  # fmt: skip
                other = voxels.table[position]
                if other == EMPTY:
                    continue
                for cell in range(voxels.counts[other]):
                    dx = voxels.offsets[other, cell, 0] + x - ox
                    dy = voxels.offsets[other, cell, 1] + y - oy
                    dz = voxels.offsets[other, cell, 2] + z - oz
                    if dx * dx + dy * dy + dz * dz <= reach * reach and num_cells < MOST_CELLS:
                        _shift(voxels.moments[other, cell], x, y, z, cells[num_cells])
                        num_cells += 1
    return num_cells


@njit()
def _shift(moments, x, y, z, out):
    """Moments (10,) of the same points moved by (x, y, z)."""
    count = np.float64(moments[0])
    sx, sy, sz = np.float64(moments[1]), np.float64(moments[2]), np.float64(moments[3])
    out[0] = count
    out[1] = sx + count * x
    out[2] = sy + count * y
    out[3] = sz + count * z
    out[4] = moments[4] + 2.0 * sx * x + count * x * x
    out[5] = moments[5] + sx * y + sy * x + count * x * y
    out[6] = moments[6] + sx * z + sz * x + count * x * z
    out[7] = moments[7] + 2.0 * sy * y + count * y * y
    out[8] = moments[8] + sy * z + sz * y + count * y * z
    out[9] = moments[9] + 2.0 * sz * z + count * z * z
