# SPDX-License-Identifier: MIT
"""The three nearest stored points of a place, or fewer: what ``voxel_map.nearest`` mostly asks for.

The list stays in registers, and every point goes through it the same way: whether it belongs there
cannot be foreseen, and a branch that is guessed wrong takes longer than all three comparisons.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.voxel_arrays import EMPTY, hash_slot

FEW = 3
"""Length of the list."""


@njit(borrows=True)
def few_nearest_of_some(begin, end, voxels, voxel_size, queries, max_distance, indices, squared):
    """``voxel_map.nearest`` of at most FEW neighbours for some of the queries."""
    count = indices.shape[1]
    for n in range(begin, end):
        names, distances = _few_nearest_of(voxels, voxel_size, queries[n], max_distance, count)
        for m in range(count):
            if names[m] != EMPTY:
                indices[n, m], squared[n, m] = np.int64(names[m]), distances[m]


@njit(inlined=True, borrows=True)
def _few_nearest_of(voxels, voxel_size, query, max_distance, count):
    """Search shells of voxels outwards until ``count`` are found and no nearer one can exist."""
    x = np.int64(np.floor(query[0] / voxel_size))
    y = np.int64(np.floor(query[1] / voxel_size))
    z = np.int64(np.floor(query[2] / voxel_size))
    nothing, worst = np.float64(EMPTY), np.nextafter(max_distance * max_distance, np.inf)
    n0 = n1 = n2 = nothing
    s0 = s1 = s2 = worst
    for shell in range(np.int64(np.ceil(max_distance / voxel_size)) + 1):
        reached = (shell - 1) * voxel_size
        if shell > 0 and worst <= reached * reached:
            break
        for i in range(x - shell, x + shell + 1):
            apart_x = gap_squared(query[0], i, voxel_size)
            if apart_x > worst:
                continue
            for j in range(y - shell, y + shell + 1):
                apart_xy = apart_x + gap_squared(query[1], j, voxel_size)
                if apart_xy > worst:
                    continue
                inside = abs(i - x) != shell and abs(j - y) != shell
                step = 2 * shell if inside and shell > 0 else 1
                for k in range(z - shell, z + shell + 1, step):
                    if apart_xy + gap_squared(query[2], k, voxel_size) > worst:
                        continue
                    voxel = np.int64(voxels.table[hash_slot(voxels.table, voxels.keys, i, j, k)])
                    if voxel == EMPTY:
                        continue
                    start = np.int64(voxels.starts[voxel])
                    first = np.float64(voxel * voxels.cap)
                    qx = query[0] - (i + 0.5) * voxel_size
                    qy = query[1] - (j + 0.5) * voxel_size
                    qz = query[2] - (k + 0.5) * voxel_size
                    for slot in range(np.uint64(voxels.counts[voxel])):
                        record = np.uint64(start) + slot
                        dx = qx - voxels.offsets[record, 0]
                        dy = qy - voxels.offsets[record, 1]
                        dz = qz - voxels.offsets[record, 2]
                        distance, name = dx * dx + dy * dy + dz * dz, first + np.float64(slot)
                        # Ones and zeros, and products with them: choices would become branches.
                        in0 = 1.0 if distance < s0 else 0.0
                        in1 = 1.0 if distance < s1 else 0.0
                        in2 = 1.0 if distance < s2 else 0.0
                        n2 = (1.0 - in2) * n2 + (in1 * n1 + (in2 - in1) * name)
                        n1 = (1.0 - in1) * n1 + (in0 * n0 + (in1 - in0) * name)
                        n0 = (1.0 - in0) * n0 + in0 * name
                        later = max(s0, distance)
                        s0, s2 = min(s0, distance), min(s2, max(s1, later))
                        s1 = min(s1, later)
                    worst = s2 if count == 3 else (s1 if count == 2 else s0)
    return (n0, n1, n2), (s0, s1, s2)


@njit(inlined=True, borrows=True)
def gap_squared(coordinate, number, voxel_size):
    """Squared distance along one axis from a coordinate to the voxels of this number."""
    gap = max(0.0, abs(coordinate - (number + 0.5) * voxel_size) - 0.5 * voxel_size)
    return gap * gap
