# SPDX-License-Identifier: MIT
"""Which plane fits are due, and which of them a neighbour's fit can stand for.

A voxel is divided into blocks. The first cell of a block that needs a plane leads: its
patch is fitted, and the other cells of the block take over the record if they are in that patch
and on its plane; their own fits would see nearly the same points. A cell off the plane (the jamb
beside a wall) is fitted on its own. Claiming is serial, so that the outcome does not depend on the
number of threads.
"""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.planes import (
    CENTROID,
    EPOCH,
    HEIGHT_VAR,
    NORMAL,
    NORMAL_COV,
    OWN_COUNT,
    PLANAR,
    RESIDUAL_VAR,
    ROUGH,
    STATE,
    UNKNOWN,
)
from svnicp.kernels.prefetch import prefetch
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.kernels.voxel_insert import summed_arrivals

ON_PLANE_SIGMAS = 3.0
"""A cell's mean this many standard deviations off the leader's plane is not on it."""
LEADING_STD = 0.03
"""A plane whose normal is less certain than this [rad] stands for nobody else: an edge is near."""

AHEAD = 8
"""Rows by which memory is asked for ahead of its use."""


@njit()
def claim_stale(voxels, voxel_size, indices, limits, blocks, epoch):
    """Split the stored points in ``indices`` (Q, M) whose plane is due into leaders and followers.

    Rows are the neighbours of one query, nearest first; all but the first may also follow the
    first. Returns leaders (a,), to be fitted, and followers (b, 2), each with its leader, to be
    given to ``follow`` afterwards. Every stored point appears once. ``limits`` as in
    ``planes.fit_planes``; a voxel has ``blocks`` per edge, with 0 every stored point leads.
    """
    leaders = np.empty(indices.size, dtype=np.int64)
    followers = np.empty((indices.size, 2), dtype=np.int64)
    num_leaders, num_followers = _split_stale(
        voxels, voxel_size, indices, limits, blocks, epoch, leaders, followers
    )
    return leaders[:num_leaders], followers[:num_followers]


@njit(borrows=True)
def _split_stale(voxels, voxel_size, indices, limits, blocks, epoch, leaders, followers):
    """``claim_stale`` into arrays that are long enough; returns how many of each there are."""
    cap = voxels.cap
    num_leaders, num_followers = 0, 0
    for row in range(indices.shape[0]):
        _ask_for(voxels, indices, row + AHEAD)
        for column in range(indices.shape[1]):
            stored = indices[row, column]
            if stored == EMPTY:
                break
            if not _claim(voxels, _record(voxels, stored), limits, epoch):
                continue
            leader = EMPTY
            if blocks > 0:
                block = _block(voxels, stored, voxel_size, blocks)
                leader = _leader(voxels, stored, block, limits, epoch)
                if leader == EMPTY and column > 0:
                    leader = indices[row, 0]
                if leader == EMPTY:
                    voxels.leaders[stored // cap, block] = stored % cap
            if leader == EMPTY:
                leaders[num_leaders] = stored
                num_leaders += 1
            else:
                followers[num_followers, 0] = stored
                followers[num_followers, 1] = leader
                num_followers += 1
    return num_leaders, num_followers


@njit(inlined=True, borrows=True)
def _ask_for(voxels, indices, row):
    """Bring what a row of stored points will need into the cache."""
    if row < indices.shape[0]:
        for column in range(indices.shape[1]):
            if indices[row, column] != EMPTY:
                record = np.int64(_record(voxels, indices[row, column]))
                prefetch(voxels.planes, record)
                prefetch(voxels.planes[:, EPOCH:], record)
                prefetch(voxels.moments, record)
                prefetch(voxels.leaders, indices[row, column] // voxels.cap)


@njit(inlined=True, borrows=True)
def _record(voxels, stored):
    """Where a stored point is in the pool."""
    return voxels.starts[stored // voxels.cap] + stored % voxels.cap


@njit(inlined=True, borrows=True)
def _claim(voxels, record, limits, epoch):
    """Whether this plane is due; if so, it counts as fitted now, though not (yet) as a plane."""
    plane = voxels.planes[record]
    own = voxels.moments[record, 0]
    if plane[STATE] != UNKNOWN and _fresh(plane, own, limits, epoch):
        return False
    plane[STATE], plane[OWN_COUNT], plane[EPOCH] = ROUGH, own, epoch
    return True


@njit(borrows=True)
def _fresh(plane, own, limits, epoch):
    """Whether a fit still stands for its cell: not much grown, not old."""
    return own <= limits[4] * plane[OWN_COUNT] and epoch - plane[EPOCH] < limits[5]


@njit(inlined=True, borrows=True)
def _leader(voxels, stored, block, limits, epoch):
    """Leader of a block: one with a fresh plane, or claimed in this very call; otherwise EMPTY."""
    cap = voxels.cap
    voxel = stored // cap
    slot = np.int64(voxels.leaders[voxel, block])
    if slot == EMPTY or slot == stored % cap:
        return EMPTY
    record = voxels.starts[voxel] + slot
    plane = voxels.planes[record]
    fresh = _fresh(plane, voxels.moments[record, 0], limits, epoch)
    if plane[EPOCH] == epoch or (plane[STATE] == PLANAR and fresh):
        return voxel * cap + slot
    return EMPTY


@njit(inlined=True, borrows=True)
def _block(voxels, stored, voxel_size, blocks):
    """Block of a stored point, from its offset to the voxel's centre."""
    number, record = 0, _record(voxels, stored)
    for axis in range(3):
        share = voxels.offsets[record, axis] / voxel_size + 0.5
        number = number * blocks + min(blocks - 1, max(0, int(share * blocks)))
    return number


@njit()
def follow(voxels, voxel_size, followers, radius):
    """Give followers their leader's plane; returns those that need a fit of their own (c,).

    In the order given, so that a follower can lead those after it.
    """
    alone = np.empty(len(followers), dtype=np.int64)
    return alone[: _follow_all(voxels, voxel_size, followers, radius, alone)]


@njit(borrows=True)
def _follow_all(voxels, voxel_size, followers, radius, alone):
    """``follow`` into an array that is long enough; returns how many are alone."""
    num_alone = 0
    for n in range(len(followers)):
        voxel, leader = followers[n, 0] // voxels.cap, followers[n, 1] // voxels.cap
        record = _record(voxels, followers[n, 0])
        theirs = voxels.planes[_record(voxels, followers[n, 1])]
        away = (
            (voxels.keys[leader, 0] - voxels.keys[voxel, 0]) * voxel_size + theirs[CENTROID],
            (voxels.keys[leader, 1] - voxels.keys[voxel, 1]) * voxel_size + theirs[CENTROID + 1],
            (voxels.keys[leader, 2] - voxels.keys[voxel, 2]) * voxel_size + theirs[CENTROID + 2],
        )
        if _is_flat(theirs) and _is_in(voxels.moments[record], theirs, away, radius):
            plane = voxels.planes[record]
            own = plane[OWN_COUNT]
            for i in range(len(plane)):
                plane[i] = theirs[i]
            plane[OWN_COUNT] = own
            plane[CENTROID], plane[CENTROID + 1], plane[CENTROID + 2] = away
        else:
            alone[num_alone] = followers[n, 0]
            num_alone += 1
    return num_alone


@njit(borrows=True)
def _is_flat(plane):
    """Whether a record is that of a plane whose normal is well known."""
    c = NORMAL_COV
    return plane[STATE] == PLANAR and plane[c] + plane[c + 3] + plane[c + 5] < LEADING_STD**2


@njit(borrows=True)
def _is_in(moments, plane, centroid, radius):
    """Whether a cell's mean is within the patch and on its plane, as far as noise allows."""
    count = summed_arrivals(moments)
    dx = moments[1] / count - centroid[0]
    dy = moments[2] / count - centroid[1]
    dz = moments[3] / count - centroid[2]
    if dx * dx + dy * dy + dz * dz > radius * radius:
        return False
    height = dx * plane[NORMAL] + dy * plane[NORMAL + 1] + dz * plane[NORMAL + 2]
    c = plane[NORMAL_COV : NORMAL_COV + 6]
    leverage = (
        c[0] * dx * dx + c[3] * dy * dy + c[5] * dz * dz
        + 2.0 * (c[1] * dx * dy + c[2] * dx * dz + c[4] * dy * dz)
    )  # fmt: skip
    variance = plane[RESIDUAL_VAR] / count + plane[HEIGHT_VAR] + leverage
    return height * height < ON_PLANE_SIGMAS**2 * variance
