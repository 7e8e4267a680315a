# SPDX-License-Identifier: MIT
"""Plane fits around stored map points, from all points that ever arrived near them.

A patch merges the moments of the cells within a radius. An edge, a curved or a rough surface, or
noise that neighbours share tilts a normal far more than independent noise of every arrival would;
the same then bends the surface. The normal's covariance therefore rests on the lack of fit: how
much of the heights a bent surface explains beyond what is used of it. For a plane under white noise
that is the noise variance itself. A curved surface that is sampled askew tilts the plane by a known
angle, which is added.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.kernels.bending import (
    COLUMNS,
    NUM_TERMS,
    bending,
    curved_tilt,
    left_by_bend,
    solve_quadratic,
)
from svnicp.kernels.bent_surface import write_bend
from svnicp.kernels.eigen3 import eigh3
from svnicp.kernels.njit import njit
from svnicp.kernels.patches import (
    ARRIVALS,
    COUNT,
    HEIGHT,
    KEEP,
    LENGTH,
    MEAN,
    MOST_SOURCES,
    NUM_SERIES,
    SPACING,
    WIDTH,
    collect,
    summed,
)
from svnicp.kernels.small import padded
from svnicp.kernels.threads import share

UNKNOWN, PLANAR, ROUGH = 0.0, 1.0, 2.0
"""Values of the STATE field: never fitted, a plane, or anything else (edge, line, clutter)."""

STATE, OWN_COUNT, NORMAL, CENTROID, NORMAL_COV, HEIGHT_VAR, RESIDUAL_VAR, EPOCH = (
    0, 1, 2, 5, 8, 14, 15, 16,
)  # fmt: skip
"""Fields of a plane record; NORMAL_COV is xx xy xz yy yz zz, CENTROID relative to the voxel. Those
of ``bent_surface`` follow."""

TOLD = 0.25
"""Share of bending along the width that must be told from a slope: three lines show a third, two
nothing. Two rings, one below and one above an edge, would be a plane that is not there."""
FITS = 64
"""Fits that a thread does at once, with the same scratch memory."""


class Scratch(NamedTuple):
    """Memory of one fit, see ``_scratch``."""

    series: npt.NDArray[np.float64]
    sources: npt.NDArray[np.int64]
    totals: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    vectors: npt.NDArray[np.float64]
    work: npt.NDArray[np.float64]


def fit_planes(voxels, voxel_size, stored, radius, limits):
    """Fit the plane of each stored point (unique indices, n,).

    ``limits``: largest residual standard deviation [m], smallest patch width (standard deviation
    of the second axis) [m], smallest ratio of second to third axis variance, fewest cells, growth
    of the own count that makes a fit stale, epochs after which it is stale anyway, and the largest
    standard deviation of the normal [rad].
    """
    share(fit_some, len(stored), FITS, voxels, voxel_size, stored, radius, limits)


@njit()
def fit_some(begin, end, voxels, voxel_size, stored, radius, limits):
    """``fit_planes`` for some of the stored points."""
    scratch = _scratch()
    for n in range(begin, end):
        voxel = stored[n] // voxels.cap
        record = voxels.starts[voxel] + stored[n] % voxels.cap
        # Where the map is sparse a wider patch must do.
        for tried in (radius, min(2.0 * radius, voxel_size / 1.3)):
            if _fit(voxels, voxel_size, voxel, record, tried, limits, scratch):
                break


@njit()
def _scratch():
    """Memory for one patch, taken once for many fits: allocation is as dear as an eigenvalue."""
    return Scratch(
        np.zeros((NUM_SERIES, SPACING)), np.empty(MOST_SOURCES, dtype=np.int64), np.empty(10),
        np.empty(3), np.empty((3, 3)), np.empty((NUM_TERMS + 1, COLUMNS)),
    )  # fmt: skip


@njit(inlined=True)
def _fit(voxels, voxel_size, voxel, record, radius, limits, scratch):
    """Fit the patch of one stored point twice and write its plane record; False if too few cells.

    The second fit takes the cells by their distance within the first plane: taken by distance in
    space, noise across the surface would decide which cells at the rim belong, and tilt the normal.
    """
    plane = voxels.planes[record]
    plane[STATE] = ROUGH
    series, totals = scratch.series, scratch.totals
    reach = min(1.3 * radius, voxel_size)
    num_cells = collect(voxels, voxel_size, voxel, record, reach, series, scratch.sources)
    size = padded(num_cells)
    _choose_near(series, num_cells, size, radius)
    summed(series, size, totals)
    if totals[0] < 10.0:
        return False
    centre = voxels.offsets[record]
    mean = _principal(totals, scratch.values, scratch.vectors)
    _choose(series, num_cells, mean, centre, totals[0], scratch.values, scratch.vectors, radius)
    summed(series, size, totals)
    if totals[0] < 10.0:
        return False
    mean = _principal(totals, scratch.values, scratch.vectors)
    used = _turn(series, size, mean, centre, scratch.vectors)
    if used < limits[3]:
        return False
    _write(plane, size, used, mean, radius, limits, scratch)
    return True


@njit()
def _choose_near(series, num_cells, size, radius):
    """Keep the cells whose mean is within the radius of the stored point."""
    x, y, z, keep = series[MEAN], series[MEAN + 1], series[MEAN + 2], series[KEEP]
    for n in range(num_cells):
        near = x[n] * x[n] + y[n] * y[n] + z[n] * z[n] <= radius * radius
        keep[n] = 1.0 if near else 0.0
    for n in range(num_cells, size):
        keep[n] = 0.0


@njit()
def _choose(series, num_cells, mean, centre, count, values, vectors, radius):
    """Keep the cells within the radius along the first plane, and near it across."""
    x, y, z, keep = series[MEAN], series[MEAN + 1], series[MEAN + 2], series[KEEP]
    nx, ny, nz = vectors[0, 0], vectors[1, 0], vectors[2, 0]
    band = 3.0 * np.sqrt(max(values[0], 0.0) / (count - 3.0)) + 0.1 * radius
    offset = (mean[0] - centre[0]) * nx + (mean[1] - centre[1]) * ny + (mean[2] - centre[2]) * nz
    for n in range(num_cells):
        height = x[n] * nx + y[n] * ny + z[n] * nz
        away = x[n] * x[n] + y[n] * y[n] + z[n] * z[n] - height * height
        keep[n] = 1.0 if (away <= radius * radius) & (abs(height - offset) < band) else 0.0


@njit()
def _principal(totals, values, vectors):
    """Mean (3,) of moments (10,); writes eigenvalues (ascending) and -vectors of their scatter."""
    count = totals[0]
    mx, my, mz = totals[1] / count, totals[2] / count, totals[3] / count
    eigh3(
        totals[4] - count * mx * mx, totals[5] - count * mx * my, totals[6] - count * mx * mz,
        totals[7] - count * my * my, totals[8] - count * my * mz, totals[9] - count * mz * mz,
        values, vectors,
    )  # fmt: skip
    return mx, my, mz


@njit()
def _turn(series, size, mean, centre, vectors):
    """Heights, widths and lengths of cells about the centroid in the plane's axes; number of kept.

    Their arrivals are zero where they are not kept.
    """
    ox, oy, oz = mean[0] - centre[0], mean[1] - centre[1], mean[2] - centre[2]
    v00, v01, v02 = vectors[0, 0], vectors[0, 1], vectors[0, 2]
    v10, v11, v12 = vectors[1, 0], vectors[1, 1], vectors[1, 2]
    v20, v21, v22 = vectors[2, 0], vectors[2, 1], vectors[2, 2]
    mx, my, mz = series[MEAN], series[MEAN + 1], series[MEAN + 2]
    keep, count = series[KEEP], series[COUNT]
    height, width, length = series[HEIGHT], series[WIDTH], series[LENGTH]
    arrivals, used = series[ARRIVALS], 0.0
    for n in range(size):
        x, y, z = mx[n] - ox, my[n] - oy, mz[n] - oz
        height[n] = x * v00 + y * v10 + z * v20
        width[n] = x * v01 + y * v11 + z * v21
        length[n] = x * v02 + y * v12 + z * v22
        arrivals[n] = keep[n] * count[n]
        used += keep[n]
    return used


@njit(inlined=True)
def _write(plane, size, used, mean, radius, limits, scratch):
    """Judge a fitted patch of ``used`` cells, as ``_turn`` leaves them, and write its record."""
    count, values, vectors = scratch.totals[0], scratch.values, scratch.vectors
    plane[CENTROID], plane[CENTROID + 1], plane[CENTROID + 2] = mean
    for i in range(3):
        plane[NORMAL + i] = vectors[i, 0]
    residual_var = max(values[0], 0.0) / (count - 5.0)  # Student's t: few points may fit by luck
    plane[RESIDUAL_VAR] = residual_var
    width_var, length_var = values[1] / count, values[2] / count
    if (
        residual_var >= limits[0] ** 2
        or width_var <= limits[1] ** 2
        or width_var <= limits[2] * length_var
        or width_var <= 4.0 * residual_var
        or not _fills_area(scratch.series, size, used, limits[1] ** 2)
    ):
        return
    work = scratch.work
    told, length_told = bending(scratch.series, size, radius, work)
    if told < TOLD:
        return
    solve_quadratic(work)
    share = write_bend(plane, work, vectors, radius, values, count, min(told, length_told))
    along_width, along_length, residual_var = left_by_bend(work, share, values[0], count)
    plane[RESIDUAL_VAR] = residual_var
    plane[HEIGHT_VAR] = max(along_width, along_length, residual_var) / count
    if along_width >= limits[6] ** 2 * values[1]:
        return
    plane[STATE] = PLANAR
    # As far as normals do not follow the parabola, it may be right after all.
    slope_width, slope_length = curved_tilt(work, radius, values[0], count)
    tilt_width, tilt_length = (1.0 - share) * slope_width, (1.0 - share) * slope_length
    field = NORMAL_COV
    for i in range(3):
        tilt = tilt_width * vectors[i, 1] + tilt_length * vectors[i, 2]
        for j in range(i, 3):
            plane[field] = (
                along_width * vectors[i, 1] * vectors[j, 1] / values[1]
                + along_length * vectors[i, 2] * vectors[j, 2] / values[2]
                + tilt * (tilt_width * vectors[j, 1] + tilt_length * vectors[j, 2])
            )
            field += 1


@njit()
def _fills_area(series, size, count, min_width_var):
    """Whether the patch is a surface rather than a curve that lies in some plane.

    One scan ring that turns round a corner, or curves over the ground, is flat as any plane and has
    width, but its width is a function of its length: what a parabola leaves of it must still be
    wide.
    """
    keep, widths, lengths = series[KEEP], series[WIDTH], series[LENGTH]
    s1 = s2 = s3 = s4 = t0 = t1 = t2 = squares = 0.0
    for n in range(size):
        width, length = keep[n] * widths[n], keep[n] * lengths[n]
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
    return left / max(count - 3.0, 1.0) > min_width_var
