# SPDX-License-Identifier: MIT
"""The voxel hash map in compiled code: prune and k nearest neighbours.

A voxel holds up to ``cap`` stored points. With ``cells`` > 0 it is divided into cells^3 cells, one
stored point each: the first arrival fixes the position, every later arrival in the cell adds to its
moments, from which planes are fitted (``kernels.planes``). With ``cells`` = 0 points are stored as
they come until the voxel is full. Offsets are relative to the voxel's centre, so that float32 is
exact enough however far the drive goes.
"""

import numpy as np

from svnicp.kernels.few_nearest import FEW, few_nearest_of_some, gap_squared
from svnicp.kernels.njit import njit
from svnicp.kernels.threads import share
from svnicp.kernels.voxel_arrays import (
    EMPTY,
    VoxelArrays,
    hash_slot,
    leave_stretch,
    rebuild_table,
)

__all__ = ["VoxelArrays", "nearest", "prune_far"]  # caches look for the first here

QUERIES = 256
"""Searches that a thread does at once."""


@njit(borrows=True)
def prune_far(voxels, num_voxels, center, radius, voxel_size):
    """Drop voxels whose centre is farther than radius, close the gaps, return voxels in use."""
    kept = np.int64(0)
    for voxel in range(num_voxels):
        squared = 0.0
        for axis in range(3):
            squared += ((voxels.keys[voxel, axis] + 0.5) * voxel_size - center[axis]) ** 2
        if squared > radius * radius:
            leave_stretch(voxels, voxel)
            continue
        if kept != voxel:
            _move_voxel(voxels, voxel, kept)
        kept += 1
    rebuild_table(voxels, kept)
    return kept


@njit(borrows=True)
def _move_voxel(voxels, voxel, place):
    """Make a voxel another one's successor; its stored points stay where they are."""
    for axis in range(3):
        voxels.keys[place, axis] = voxels.keys[voxel, axis]
    voxels.counts[place] = voxels.counts[voxel]
    voxels.touched[place] = voxels.touched[voxel]
    voxels.visits[place] = voxels.visits[voxel]
    voxels.starts[place] = voxels.starts[voxel]
    for cell in range(voxels.cell_slots.shape[1]):
        voxels.cell_slots[place, cell] = voxels.cell_slots[voxel, cell]
    for block in range(voxels.leaders.shape[1]):
        voxels.leaders[place, block] = voxels.leaders[voxel, block]


def nearest(voxels, voxel_size, queries, num_neighbours, max_distance):
    """The nearest stored points of each query, ascending, exact within max_distance.

    Returns stored-point indices (Q, num_neighbours), voxel * P + slot or EMPTY, and squared
    distances (Q, num_neighbours), infinite where there is none.
    """
    indices = np.full((len(queries), num_neighbours), EMPTY, dtype=np.int64)
    squared = np.full((len(queries), num_neighbours), np.inf)
    search = few_nearest_of_some if num_neighbours <= FEW else nearest_of_some
    share(
        search, len(queries), QUERIES, voxels, voxel_size, queries, max_distance, indices, squared
    )
    return indices, squared


@njit(borrows=True)
def nearest_of_some(begin, end, voxels, voxel_size, queries, max_distance, indices, squared):
    """``nearest`` for some of the queries."""
    for n in range(begin, end):
        _nearest_of(voxels, voxel_size, queries[n], max_distance, indices[n], squared[n])


@njit(inlined=True, borrows=True)
def _nearest_of(voxels, voxel_size, query, max_distance, indices, squared):
    """Search shells of voxels outwards until no nearer stored point can exist."""
    limit = max_distance * max_distance
    last = len(squared) - 1
    x = np.int64(np.floor(query[0] / voxel_size))
    y = np.int64(np.floor(query[1] / voxel_size))
    z = np.int64(np.floor(query[2] / voxel_size))
    for shell in range(np.int64(np.ceil(max_distance / voxel_size)) + 1):
        reached = (shell - 1) * voxel_size
        if shell > 0 and squared[last] <= reached * reached:
            return
        for i in range(x - shell, x + shell + 1):
            apart_x = gap_squared(query[0], i, voxel_size)
            if apart_x > min(limit, squared[last]):
                continue
            for j in range(y - shell, y + shell + 1):
                apart_xy = apart_x + gap_squared(query[1], j, voxel_size)
                if apart_xy > min(limit, squared[last]):
                    continue
                inside = abs(i - x) != shell and abs(j - y) != shell
                step = 2 * shell if inside and shell > 0 else 1
                for k in range(z - shell, z + shell + 1, step):
                    apart = apart_xy + gap_squared(query[2], k, voxel_size)
                    if apart <= min(limit, squared[last]):
                        _scan_voxel(voxels, voxel_size, query, i, j, k, limit, indices, squared)


@njit(inlined=True, borrows=True)
def _scan_voxel(voxels, voxel_size, query, i, j, k, limit, indices, squared):
    """Merge the stored points of one voxel into the sorted short list."""
    voxel = np.int64(voxels.table[hash_slot(voxels.table, voxels.keys, i, j, k)])
    if voxel == EMPTY:
        return
    last = len(squared) - 1
    worst = min(squared[last], np.nextafter(limit, np.inf))
    start = np.int64(voxels.starts[voxel])
    qx = query[0] - (i + 0.5) * voxel_size
    qy = query[1] - (j + 0.5) * voxel_size
    qz = query[2] - (k + 0.5) * voxel_size
    for slot in range(np.int64(voxels.counts[voxel])):
        dx = qx - voxels.offsets[start + slot, 0]
        dy = qy - voxels.offsets[start + slot, 1]
        dz = qz - voxels.offsets[start + slot, 2]
        distance = dx * dx + dy * dy + dz * dz
        if distance >= worst:
            continue
        place = last
        while place > 0 and squared[place - 1] > distance:
            squared[place] = squared[place - 1]
            indices[place] = indices[place - 1]
            place -= 1
        squared[place] = distance
        indices[place] = voxel * voxels.cap + slot
        worst = min(worst, squared[last])
