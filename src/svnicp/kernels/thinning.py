# SPDX-License-Identifier: MIT
"""Spatial thinning of a cloud in compiled code.

Neighbouring returns share their errors; points at least about a plane-fit radius apart carry
nearly all the information of a scan, and an honest amount of it.
"""

import numpy as np

from svnicp.kernels.njit import njit

FREE = -1
"""An entry of the leaves' table that is not in use."""
BITS = 20
"""Bits per axis in the key of a leaf: 2^19 leaves to every side."""


@njit(borrows=True)
def leaf_key(points, n, leaf):
    """Key of the leaf that point n is in: neighbours along an axis differ by a constant."""
    x = np.int64(np.floor(points[n, 0] / leaf))
    y = np.int64(np.floor(points[n, 1] / leaf))
    z = np.int64(np.floor(points[n, 2] / leaf))
    return (x << (2 * BITS)) + (y << BITS) + z


@njit(borrows=True)
def _leaf_position(table, keys, key):
    """Place in the table of the leaf with this key, or where its number would be put.

    Leaves above each other have places beside each other, as far as they are free: they are asked
    for together.
    """
    mask = len(table) - 1
    mixed = np.uint64(key >> BITS) * np.uint64(11400714819323198485) >> np.uint64(32)
    position = np.int64(mixed + np.uint64(key)) & mask
    while table[position] != FREE and keys[table[position]] != key:
        position = (position + 1) & mask
    return position


@njit()
def _empty_table(least):
    """Table of numbers of leaves without one, at least this long."""
    size = 16
    while size < least:
        size *= 2
    table = np.empty(size, dtype=np.int32)
    for place in range(size):
        table[place] = FREE
    return table


@njit()
def count_leaves(points, leaf):
    """Number of every point's leaf (n,); key and number of points of every leaf, as they come."""
    table = _empty_table(2 * len(points))
    numbers, keys = np.empty(len(points), dtype=np.int64), np.empty(len(points), dtype=np.int64)
    counts, used = np.zeros(len(points), dtype=np.int64), 0
    for n in range(len(points)):
        key = leaf_key(points, n, leaf)
        place = _leaf_position(table, keys, key)
        if table[place] == FREE:
            table[place], keys[used] = used, key
            used += 1
        numbers[n] = table[place]
        counts[numbers[n]] += 1
    return numbers, keys[:used], counts[:used]


@njit()
def num_leaves(points, leaf):
    """Number of leaves that the points (n, 3) are in."""
    _, keys, _ = count_leaves(points, leaf)
    return len(keys)


@njit()
def spread(points, leaf, count, sparse):
    """Indices of about ``count`` points, evenly over the surfaces rather than over the beams.

    A point is kept with probability proportional to one over its crowd, the number of points in the
    27 leaves around it, by systematic sampling in the order given. Where the crowd is smaller than
    ``sparse`` no surface can be told, and the probability falls with its share of that. Keeping
    "one per leaf" instead would prefer outliers: a leaf that only noise reaches always keeps its
    point, and a wall that runs obliquely through the leaves then pulls the rotation.
    """
    if len(points) <= count:
        return np.arange(len(points))
    numbers, keys, counts = count_leaves(points, leaf)
    chances = _crowds(keys, counts)
    for number in range(len(chances)):
        crowd = chances[number]
        chances[number] = min(1.0, crowd / sparse) ** 2 / crowd
    share = _share_for(chances, counts, count)
    for number in range(len(chances)):
        chances[number] = min(1.0, share * chances[number])
    kept = np.empty(len(points), dtype=np.int64)
    used, passed = 0, 0.5
    for n in range(len(points)):
        passed += chances[numbers[n]]
        if passed >= 1.0:
            passed -= 1.0
            kept[used] = n
            used += 1
    return kept[:used]


@njit()
def _crowds(keys, counts):
    """Number of points (m,) in each of the leaves and the 26 around it.

    Of two neighbours the one with the smaller key looks the other up, and both count it: in a table
    of their own, mostly empty, so that leaves without points are told at the first look.
    """
    table = _empty_table(8 * len(keys))
    for number in range(len(keys)):
        table[_leaf_position(table, keys, keys[number])] = number
    crowds = np.zeros(len(keys))
    for number in range(len(keys)):
        crowds[number] += counts[number]
        for neighbour in range(14, 27):
            i, j, k = neighbour // 9 - 1, neighbour // 3 % 3 - 1, neighbour % 3 - 1
            key = keys[number] + (i << (2 * BITS)) + (j << BITS) + k
            other = table[_leaf_position(table, keys, key)]
            if other != FREE:
                crowds[number] += counts[other]
                crowds[other] += counts[number]
    return crowds


@njit(borrows=True)
def _share_for(chances, counts, count):
    """Factor of the leaves' chances with which about ``count`` points are kept in all."""
    least = chances[0]
    for number in range(1, len(chances)):
        least = min(least, chances[number])
    low, high = 0.0, 1.0 / least
    share = high
    for _ in range(40):
        share = 0.5 * (low + high)
        expected = 0.0
        for number in range(len(chances)):
            expected += counts[number] * min(1.0, share * chances[number])
        if abs(expected - count) < 0.002 * count:
            break
        if expected < count:
            low = share
        else:
            high = share
    return share


MOST_DIRECTIONS = 64
SAME_DIRECTION = 0.87
"""Cosine of the angle (30 degrees) within which normals count as one direction."""


@njit()
def balance_directions(normals, count):
    """Indices of ``count`` rows, as equal a share per direction of the normal as there are rows.

    Normals (n, 3) are grouped by direction without sign; a rare direction (a door jamb among
    corridor walls) is kept whole while the common ones are thinned evenly. The groups are far wider
    than a normal's error, so that rows are not chosen for their noise.
    """
    groups, sizes = _group_directions(normals)
    share = _fair_share(sizes, count)
    kept = np.empty(len(normals), dtype=np.int64)
    used = 0
    seen = np.zeros(len(sizes), dtype=np.int64)
    for n in range(len(normals)):
        g = groups[n]
        wanted = min(sizes[g], share)
        # Evenly through the group: row i of s is kept when i * wanted / s passes an integer.
        if (seen[g] + 1) * wanted // sizes[g] > seen[g] * wanted // sizes[g]:
            kept[used] = n
            used += 1
        seen[g] += 1
    return kept[:used]


@njit()
def _group_directions(normals):
    """Group (n,) of every normal and the size of every group; the first of a kind starts one."""
    first = np.empty((MOST_DIRECTIONS, 3))
    sizes = np.zeros(MOST_DIRECTIONS, dtype=np.int64)
    groups = np.empty(len(normals), dtype=np.int64)
    num_groups = 0
    for n in range(len(normals)):
        best, closest = 0, -1.0
        for g in range(num_groups):
            cosine = abs(
                normals[n, 0] * first[g, 0]
                + normals[n, 1] * first[g, 1]
                + normals[n, 2] * first[g, 2]
            )
            if cosine > closest:
                best, closest = g, cosine
        if closest < SAME_DIRECTION and num_groups < MOST_DIRECTIONS:
            best = num_groups
            for i in range(3):
                first[best, i] = normals[n, i]
            num_groups += 1
        groups[n] = best
        sizes[best] += 1
    return groups, sizes[: max(num_groups, 1)]


@njit(borrows=True)
def _fair_share(sizes, count):
    """Largest number per bin with which all bins together keep at most ``count``."""
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        total = 0
        for size in sizes:
            total += min(size, middle)
        if total <= count:
            low = middle
        else:
            high = middle - 1
    return low
