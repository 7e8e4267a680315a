# SPDX-License-Identifier: MIT
"""Points go into the voxel hash map, in compiled code.

Most points of a scan arrive in cells that have a stored point already: these are added first, by
several threads. The others, which open cells and voxels, follow in their order.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.prefetch import prefetch
from svnicp.kernels.threads import share
from svnicp.kernels.voxel_arrays import (
    EMPTY,
    STRETCH,
    copy_records,
    hash_slot,
    leave_stretch,
    take_stretch,
)

SETTLED_COUNT = 1000.0
"""Sums are of this many arrivals at most: they are known by then, and float32 holds no more. Later
ones are counted, so that a wall on the border of two cells stays between them: see ``patches``."""
FIRST_VISITS = 1000
"""What the first insertion counts for: there is nothing else to go by."""
ABSENCE = 10
"""A voxel that so many insertions did not reach has lost what was in it, or its sight."""
STRIPES = 2
"""Parts into which voxels are divided when points are added, a power of two."""
BLOCK = 128
"""Points that are looked up together."""


def add_to_known(voxels, points, voxel_size, cells, epoch):
    """Add the points (n, 3) that arrive in cells with a stored point; the others are left.

    Returns which are left (n,), and how many voxels were reached. A cell gets all its arrivals of a
    scan here, or all from ``insert_points``, in their order: same bits for any number of threads.
    """
    left = np.ones(len(points), dtype=np.bool_)
    reached = np.zeros(STRIPES, dtype=np.int64)
    if cells > 0:
        share(
            add_in_stripes, STRIPES, 1, voxels, points, voxel_size, cells, epoch, left, reached
        )  # fmt: skip
    return left, int(reached.sum())


@njit()
def add_in_stripes(begin, end, voxels, points, voxel_size, cells, epoch, left, reached):
    """``add_to_known`` for voxels in some of the stripes, which divide them like a chessboard.

    In steps of a block of points each, so that what one point waits for does not hold up the next.
    """
    places, cell_of = np.empty((6, BLOCK)), np.empty(BLOCK, dtype=np.int64)
    voxel_of, record_of = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    reached[begin] = _add_blocks(
        begin, end, voxels, points, voxel_size, cells, epoch, left, places, cell_of, voxel_of,
        record_of,
    )  # fmt: skip


@njit(borrows=True)
def _add_blocks(
    begin, end, voxels, points, voxel_size, cells, epoch, left, places, cell_of, voxel_of, record_of
):
    """``add_in_stripes`` with scratch memory for a block; returns how many voxels are reached."""
    reached = 0
    for start in range(0, len(points), BLOCK):
        used = np.int64(min(BLOCK, len(points) - start))
        _locate(points, start, used, voxel_size, cells, places, cell_of)
        reached += _find_known(begin, end, voxels, places, used, epoch, voxel_of)
        for n in range(used):
            record_of[n] = EMPTY
            if voxel_of[n] == EMPTY:
                continue
            slot = np.int64(voxels.cell_slots[voxel_of[n], cell_of[n]])
            if slot != EMPTY:
                record_of[n] = voxels.starts[voxel_of[n]] + slot
                prefetch(voxels.moments, record_of[n])
        for n in range(used):
            if record_of[n] != EMPTY:
                left[start + n] = False
                dx, dy, dz = places[3, n], places[4, n], places[5, n]
                _add_moments(voxels.moments[record_of[n]], dx, dy, dz)
    return reached


@njit(borrows=True)
def _locate(points, start, used, voxel_size, cells, places, cell_of):
    """Voxel of some points, offset from its centre (both into ``places``, (6, BLOCK)), and cell."""
    px, py, pz, dx, dy, dz = places[0], places[1], places[2], places[3], places[4], places[5]
    for n in range(used):
        x, y, z = points[start + n, 0], points[start + n, 1], points[start + n, 2]
        px[n], py[n] = np.floor(x / voxel_size), np.floor(y / voxel_size)
        pz[n] = np.floor(z / voxel_size)
        dx[n] = x - (px[n] + 0.5) * voxel_size
        dy[n] = y - (py[n] + 0.5) * voxel_size
        dz[n] = z - (pz[n] + 0.5) * voxel_size
    for n in range(used):
        cell_of[n] = _cell(dx[n], dy[n], dz[n], voxel_size, cells)


@njit(inlined=True, borrows=True)
def _find_known(begin, end, voxels, places, used, epoch, voxel_of):
    """Voxels of some points, EMPTY where there is none in the stripes; how many are reached now."""
    voxel, reached = np.int64(EMPTY), 0
    at_x = at_y = at_z = np.int64(0)
    for n in range(used):
        x, y, z = np.int64(places[0, n]), np.int64(places[1, n]), np.int64(places[2, n])
        voxel_of[n] = EMPTY
        if not begin <= (x + y + z) & (STRIPES - 1) < end:
            continue
        if voxel == EMPTY or x != at_x or y != at_y or z != at_z:  # neighbours often share one
            at_x, at_y, at_z = x, y, z
            voxel = np.int64(voxels.table[hash_slot(voxels.table, voxels.keys, x, y, z)])
            if voxel == EMPTY:
                continue
            if voxels.touched[voxel] != epoch:
                _visit(voxels, voxel, epoch)
                reached += 1
        voxel_of[n] = voxel
    return reached


@njit(borrows=True)
def insert_points(voxels, num_voxels, points, left, start, voxel_size, cells, epoch):
    """Insert what is left of points[start:]; returns voxels in use, first point not inserted.

    The third number is that of voxels reached for the first time. The second one is smaller than
    len(points) when the memory is full: grow it and go on.
    """
    reached = 0
    for n in range(start, len(points)):
        if not left[n]:
            continue
        x = np.int64(np.floor(points[n, 0] / voxel_size))
        y = np.int64(np.floor(points[n, 1] / voxel_size))
        z = np.int64(np.floor(points[n, 2] / voxel_size))
        position = hash_slot(voxels.table, voxels.keys, x, y, z)
        voxel = np.int64(voxels.table[position])
        if voxel == EMPTY:
            if num_voxels == len(voxels.keys):
                return num_voxels, n, reached
            voxel = np.int64(num_voxels)
            num_voxels += 1
            voxels.table[position] = voxel
            _open_voxel(voxels, voxel, x, y, z)
        if voxels.touched[voxel] != epoch:
            _visit(voxels, voxel, epoch)
            reached += 1
        dx = points[n, 0] - (x + 0.5) * voxel_size
        dy = points[n, 1] - (y + 0.5) * voxel_size
        dz = points[n, 2] - (z + 0.5) * voxel_size
        slot, cell = np.int64(EMPTY), np.int64(0)
        if cells > 0:
            cell = _cell(dx, dy, dz, voxel_size, cells)
            slot = np.int64(voxels.cell_slots[voxel, cell])
        if slot == EMPTY:
            slot = np.int64(voxels.counts[voxel])
            if slot == voxels.cap:
                continue
            if not _store_point(voxels, voxel, slot, dx, dy, dz):
                return num_voxels, n, reached
            if cells > 0:
                voxels.cell_slots[voxel, cell] = slot
        _add_moments(voxels.moments[voxels.starts[voxel] + slot], dx, dy, dz)
    return num_voxels, len(points), reached


@njit(borrows=True)
def _open_voxel(voxels, voxel, x, y, z):
    """Make an empty voxel of a slot."""
    voxels.keys[voxel, 0], voxels.keys[voxel, 1], voxels.keys[voxel, 2] = x, y, z
    voxels.counts[voxel] = 0
    for cell in range(voxels.cell_slots.shape[1]):
        voxels.cell_slots[voxel, cell] = EMPTY
    for block in range(voxels.leaders.shape[1]):
        voxels.leaders[voxel, block] = EMPTY
    voxels.touched[voxel] = -1
    voxels.visits[voxel] = 0


@njit(inlined=True, borrows=True)
def _visit(voxels, voxel, epoch):
    """Count an insertion that reaches a voxel; after a long absence the count begins anew."""
    if epoch == 0:
        voxels.visits[voxel] = FIRST_VISITS
    elif epoch - voxels.touched[voxel] > ABSENCE:
        voxels.visits[voxel] = 1
    else:
        voxels.visits[voxel] += 1
    voxels.touched[voxel] = epoch


@njit(inlined=True, borrows=True)
def _cell(dx, dy, dz, voxel_size, cells):
    """Cell of a voxel that an offset from its centre is in."""
    scale = cells / voxel_size
    i = min(cells - 1, max(0, int((dx + 0.5 * voxel_size) * scale)))
    j = min(cells - 1, max(0, int((dy + 0.5 * voxel_size) * scale)))
    k = min(cells - 1, max(0, int((dz + 0.5 * voxel_size) * scale)))
    return (i * cells + j) * cells + k


@njit(inlined=True, borrows=True)
def _store_point(voxels, voxel, slot, dx, dy, dz):
    """Make the next slot of a voxel a stored point; False when the pool is used up."""
    if slot % STRETCH == 0 and not _lengthen(voxels, voxel, slot):
        return False
    record = voxels.starts[voxel] + slot
    voxels.offsets[record, 0], voxels.offsets[record, 1], voxels.offsets[record, 2] = dx, dy, dz
    for i in range(voxels.moments.shape[1]):
        voxels.moments[record, i] = 0.0
    for i in range(voxels.planes.shape[1]):
        voxels.planes[record, i] = 0.0
    voxels.counts[voxel] = slot + 1
    return True


@njit(borrows=True)
def _lengthen(voxels, voxel, count):
    """Move a voxel's stored points to a longer stretch; False when there is no room for it."""
    place = take_stretch(voxels, count // STRETCH + 1)
    if place == EMPTY:
        return False
    copy_records(voxels, np.int64(voxels.starts[voxel]), voxels, place, count)
    leave_stretch(voxels, voxel)
    voxels.starts[voxel] = place
    return True


@njit(inlined=True, borrows=True)
def summed_arrivals(moments):
    """How many of a cell's arrivals its sums are of."""
    return min(np.float64(moments[0]), SETTLED_COUNT)


@njit(borrows=True)
def _add_moments(moments, dx, dy, dz):
    """Add one arrival to count, sum and sum of squares; these are of the first ones only."""
    moments[0] += 1.0
    if moments[0] > SETTLED_COUNT:
        return
    moments[1] += dx
    moments[2] += dy
    moments[3] += dz
    moments[4] += dx * dx
    moments[5] += dx * dy
    moments[6] += dx * dz
    moments[7] += dy * dy
    moments[8] += dy * dz
    moments[9] += dz * dz
