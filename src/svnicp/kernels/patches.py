# SPDX-License-Identifier: MIT
"""The cells around a stored point, and the moments of any subset of them.

A patch is collected once: moments and mean of every cell in reach, one series of numbers for each.
A subset is a series of ones and zeros; its moments are sums over all cells then, without a choice
in them, which vector instructions take.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.voxel_arrays import EMPTY, hash_slot
from svnicp.kernels.voxel_insert import SETTLED_COUNT, summed_arrivals

MOST_CELLS = 256
"""A patch takes at most this many cells."""
MOST_SOURCES = MOST_CELLS + 128
"""With room for those of one more voxel, of which the last one would not be taken."""

COUNT, MEAN, KEEP, HEIGHT, WIDTH, LENGTH, ARRIVALS = 0, 10, 13, 14, 15, 16, 17
"""Series of a patch's cells. Ten are moments (as in the map) about the centre of the patch's own
voxel, COUNT the first; MEAN (3) is relative to the stored point. KEEP is 1 for the cells that are
taken, 0 for others and after the last one; what follows are those cells in a plane's axes, and
their numbers of arrivals."""
NUM_SERIES = 18
SPACING = MOST_CELLS + 16
"""Numbers from series to series: a power of two would put all of them into one part of the cache.
"""


@njit(inlined=True, borrows=True)
def collect(voxels, voxel_size, voxel, record, reach, series, sources):
    """Fill in moments and means of the cells within reach of a stored point; returns their number.

    ``series`` (NUM_SERIES, SPACING) gets them, ``sources`` (MOST_SOURCES,) is scratch memory.
    """
    ox, oy, oz = voxels.offsets[record]
    num_cells = 0
    half = 0.5 * voxel_size
    for neighbour in range(27):
        i, j, k = neighbour // 9 - 1, neighbour // 3 % 3 - 1, neighbour % 3 - 1
        x, y, z = i * voxel_size - ox, j * voxel_size - oy, k * voxel_size - oz
        ex, ey, ez = max(0.0, abs(x) - half), max(0.0, abs(y) - half), max(0.0, abs(z) - half)
        if ex * ex + ey * ey + ez * ez > reach * reach:
            continue
        other = np.int64(voxel)
        if neighbour != 13:
            keys = voxels.keys[voxel]
            position = hash_slot(
                voxels.table, voxels.keys,
                np.int64(keys[0] + i), np.int64(keys[1] + j), np.int64(keys[2] + k),
            )  # fmt: skip
            other = np.int64(voxels.table[position])
            if other == EMPTY:
                continue
        before, first = num_cells, np.uint64(voxels.starts[other])
        # Written in any case and counted if it is near: a branch is guessed wrong half of the time.
        for cell in range(first, first + np.uint64(voxels.counts[other])):
            dx = voxels.offsets[cell, 0] + x
            dy = voxels.offsets[cell, 1] + y
            dz = voxels.offsets[cell, 2] + z
            sources[num_cells] = cell
            num_cells += np.int64(dx * dx + dy * dy + dz * dz <= reach * reach)
        num_cells = min(num_cells, MOST_CELLS)
        for n in range(before, num_cells):
            _shift(voxels.moments[sources[n]], x + ox, y + oy, z + oz, series, n)
            share = 1.0 / series[COUNT, n]
            series[MEAN, n] = series[1, n] * share - ox
            series[MEAN + 1, n] = series[2, n] * share - oy
            series[MEAN + 2, n] = series[3, n] * share - oz
    _level(series, num_cells)
    return num_cells


@njit(borrows=True)
def _level(series, num_cells):
    """Let the cell with most arrivals count for what its sums are of, and the others in proportion.

    Noise spreads a wall over the cells on both sides of a border. If each counted for its sums
    alone, the far side, where fewer arrive, would weigh more by and by, and the wall come nearer.
    """
    counts, most = series[COUNT], 0.0
    for n in range(num_cells):
        most = max(most, counts[n])
    if most > SETTLED_COUNT:
        for i in range(COUNT, MEAN):
            values = series[i]
            for n in range(num_cells):
                values[n] *= SETTLED_COUNT / most


@njit(inlined=True, borrows=True)
def _shift(moments, x, y, z, series, n):
    """Moments of all of a cell's arrivals about a point (-x, -y, -z) from where they were taken."""
    count = summed_arrivals(moments)
    m1, m2, m3 = np.float64(moments[1]), np.float64(moments[2]), np.float64(moments[3])
    s1, s2, s3 = m1 + count * x, m2 + count * y, m3 + count * z
    series[0, n], series[1, n], series[2, n], series[3, n] = count, s1, s2, s3
    series[4, n] = moments[4] + (m1 + s1) * x
    series[5, n] = moments[5] + m1 * y + s2 * x
    series[6, n] = moments[6] + m1 * z + s3 * x
    series[7, n] = moments[7] + (m2 + s2) * y
    series[8, n] = moments[8] + m2 * z + s3 * y
    series[9, n] = moments[9] + (m3 + s3) * z
    if moments[0] > count:
        for i in range(COUNT, MEAN):
            series[i, n] *= moments[0] / count


@njit(borrows=True)
def summed(series, size, totals):
    """Moments (10,) of the kept cells, into totals; ``size`` is their padded number."""
    keep = series[KEEP]
    c0, c1, c2, c3, c4 = series[0], series[1], series[2], series[3], series[4]
    c5, c6, c7, c8, c9 = series[5], series[6], series[7], series[8], series[9]
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = m8 = m9 = 0.0
    for n in range(size):
        k = keep[n]
        m0, m1, m2, m3, m4 = (
            m0 + k * c0[n], m1 + k * c1[n], m2 + k * c2[n], m3 + k * c3[n], m4 + k * c4[n]
        )  # fmt: skip
        m5, m6, m7, m8, m9 = (
            m5 + k * c5[n], m6 + k * c6[n], m7 + k * c7[n], m8 + k * c8[n], m9 + k * c9[n]
        )  # fmt: skip
    totals[0], totals[1], totals[2], totals[3], totals[4] = m0, m1, m2, m3, m4
    totals[5], totals[6], totals[7], totals[8], totals[9] = m5, m6, m7, m8, m9
