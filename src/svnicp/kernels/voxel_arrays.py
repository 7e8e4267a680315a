# SPDX-License-Identifier: MIT
"""The map's memory: voxels in a hash table, and their stored points in one pool.

A voxel has a stretch of consecutive records in the pool, a multiple of STRETCH long and just long
enough for its stored points; most voxels hold far fewer than they may. When it is full the points
move to a longer stretch, and the old one is kept in a list of its length until another voxel needs
it. A stored point's index, voxel * cap + slot, does not change when it moves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.kernels.njit import njit

EMPTY = -1
STRETCH = 8
"""Records by which a voxel's memory grows."""


class VoxelArrays(NamedTuple):
    """V voxels and R records of stored points of capacity."""

    table: npt.NDArray[np.int32]
    """(2^n,) open-addressing hash table of voxels, or EMPTY."""
    keys: npt.NDArray[np.int32]
    """(V, 3) integer voxel coordinates."""
    counts: npt.NDArray[np.int32]
    """(V,) stored points."""
    cell_slots: npt.NDArray[np.int8]
    """(V, cells^3) stored point of each cell, or EMPTY; (V, 0) without cells."""
    touched: npt.NDArray[np.int32]
    """(V,) number of the last insertion that reached the voxel."""
    visits: npt.NDArray[np.int32]
    """(V,) how many insertions reached the voxel, without a long absence."""
    leaders: npt.NDArray[np.int8]
    """(V, blocks^3) stored point whose fit others of its block share, or EMPTY."""
    starts: npt.NDArray[np.int32]
    """(V,) record of the voxel's first stored point."""
    offsets: npt.NDArray[np.float32]
    """(R, 3) position of a stored point relative to the voxel's centre [m]."""
    moments: npt.NDArray[np.float32]
    """(R, 10) of the arrivals: count, sum (3), sum of squares (xx xy xz yy yz zz)."""
    planes: npt.NDArray[np.float32]
    """(R, 34) cached plane fit, see ``kernels.planes``."""
    links: npt.NDArray[np.int32]
    """(R / STRETCH,) for a stretch that is not in use: the next one of its length, or EMPTY."""
    spare: npt.NDArray[np.int32]
    """First stretch not in use of every length (1, 2, ... times STRETCH), or EMPTY; at [0] the
    number of records that were ever in use."""
    cap: int
    """Stored points per voxel at most."""


@njit()
def hash_slot(table, keys, x, y, z):
    """Position in the table where voxel (x, y, z) is, or where it would be put."""
    mask = len(table) - 1
    mixed = np.uint64(x * 73856093) ^ np.uint64(y * 19349669) ^ np.uint64(z * 83492791)
    mixed = (mixed * np.uint64(11400714819323198485)) >> np.uint64(32)
    position = np.int64(mixed) & mask
    while True:
        voxel = table[position]
        if voxel == EMPTY or (keys[voxel, 0] == x and keys[voxel, 1] == y and keys[voxel, 2] == z):
            return position
        position = (position + 1) & mask


@njit()
def rebuild_table(voxels, num_voxels):
    """Enter all voxels in use into an emptied hash table."""
    for position in range(len(voxels.table)):
        voxels.table[position] = EMPTY
    for voxel in range(num_voxels):
        x, y, z = voxels.keys[voxel, 0], voxels.keys[voxel, 1], voxels.keys[voxel, 2]
        position = hash_slot(voxels.table, voxels.keys, np.int64(x), np.int64(y), np.int64(z))
        voxels.table[position] = voxel


@njit()
def take_stretch(voxels, length):
    """First record of a stretch of ``length`` times STRETCH records; EMPTY if there is no room."""
    start = np.int64(voxels.spare[length])
    if start != EMPTY:
        voxels.spare[length] = voxels.links[start // STRETCH]
        return start
    start = np.int64(voxels.spare[0])
    if start + length * STRETCH > len(voxels.offsets):
        return np.int64(EMPTY)
    voxels.spare[0] = start + length * STRETCH
    return start


@njit()
def leave_stretch(voxels, voxel):
    """Give back the stretch of a voxel."""
    length = (voxels.counts[voxel] + STRETCH - 1) // STRETCH
    if length > 0:
        start = voxels.starts[voxel]
        voxels.links[start // STRETCH] = voxels.spare[length]
        voxels.spare[length] = start


@njit()
def copy_records(source, start, target, place, count):
    """Copy stored points from one place in a pool to another, or into another pool."""
    for n in range(count):
        for i in range(3):
            target.offsets[place + n, i] = source.offsets[start + n, i]
        for i in range(source.moments.shape[1]):
            target.moments[place + n, i] = source.moments[start + n, i]
        for i in range(source.planes.shape[1]):
            target.planes[place + n, i] = source.planes[start + n, i]


@njit()
def repack(source, target, num_voxels):
    """Put the stored points of all voxels into another pool, in order and without gaps.

    All else in ``target`` is in place already; its pool must have room.
    """
    for voxel in range(num_voxels):
        count = np.int64(source.counts[voxel])
        if count == 0:
            continue
        place = take_stretch(target, (count + STRETCH - 1) // STRETCH)
        copy_records(source, np.int64(source.starts[voxel]), target, place, count)
        target.starts[voxel] = place
