# SPDX-License-Identifier: MIT
"""The cells around a stored point, and the moments of any subset of them.

A patch is collected once: mean and count of every cell in reach, and where its moments are. Cells
come voxel by voxel, so that moments are summed as they are stored and shifted to the patch's own
voxel once per neighbouring voxel, not once per cell.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.voxel_arrays import EMPTY, hash_slot

MOST_CELLS = 256
"""A patch takes at most this many cells."""
MOST_SOURCES = MOST_CELLS + 128
"""With room for those of one more voxel, of which the last one would not be taken."""

X, Y, Z, COUNT = 0, 1, 2, 3
"""Columns of a patch's cells: mean relative to the patch's centre, number of arrivals."""


@njit(inlined=True)
def collect(voxels, voxel_size, voxel, record, reach, cells, sources):
    """Fill in the cells within reach of a stored point; returns their number.

    ``cells`` (MOST_CELLS, 4) gets their means and counts, ``sources`` (MOST_SOURCES, 2) the
    record of their moments and which of the 27 voxels around it is in.
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
        before, first = num_cells, np.int64(voxels.starts[other])
        # Written in any case and counted if it is near: a branch is guessed wrong half of the time.
        for cell in range(first, first + voxels.counts[other]):
            dx = voxels.offsets[cell, 0] + x
            dy = voxels.offsets[cell, 1] + y
            dz = voxels.offsets[cell, 2] + z
            sources[num_cells, 0], sources[num_cells, 1] = cell, neighbour
            num_cells += np.int64(dx * dx + dy * dy + dz * dz <= reach * reach)
        num_cells = min(num_cells, MOST_CELLS)
        for n in range(before, num_cells):
            moments = voxels.moments[sources[n, 0]]
            count = np.float64(moments[0])
            share = 1.0 / count
            cells[n, X] = moments[1] * share + x
            cells[n, Y] = moments[2] * share + y
            cells[n, Z] = moments[3] * share + z
            cells[n, COUNT] = count
    return num_cells


@njit(inlined=True)
def summed(voxels, voxel_size, sources, keep, totals):
    """Moments (10,) of the kept cells about the centre of the patch's own voxel, into totals."""
    totals[:] = 0.0
    n, num_cells = 0, len(keep)
    while n < num_cells:
        neighbour = sources[n, 1]
        m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = m8 = m9 = 0.0
        while n < num_cells and sources[n, 1] == neighbour:
            if keep[n]:
                m = voxels.moments[sources[n, 0]]
                m0, m1, m2, m3, m4 = m0 + m[0], m1 + m[1], m2 + m[2], m3 + m[3], m4 + m[4]
                m5, m6, m7, m8, m9 = m5 + m[5], m6 + m[6], m7 + m[7], m8 + m[8], m9 + m[9]
            n += 1
        x = (neighbour // 9 - 1) * voxel_size
        y = (neighbour // 3 % 3 - 1) * voxel_size
        z = (neighbour % 3 - 1) * voxel_size
        totals[0] += m0
        totals[1] += m1 + m0 * x
        totals[2] += m2 + m0 * y
        totals[3] += m3 + m0 * z
        totals[4] += m4 + 2.0 * m1 * x + m0 * x * x
        totals[5] += m5 + m1 * y + m2 * x + m0 * x * y
        totals[6] += m6 + m1 * z + m3 * x + m0 * x * z
        totals[7] += m7 + 2.0 * m2 * y + m0 * y * y
        totals[8] += m8 + m2 * z + m3 * y + m0 * y * z
        totals[9] += m9 + 2.0 * m3 * z + m0 * z * z
