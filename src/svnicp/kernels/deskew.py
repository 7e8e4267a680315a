# SPDX-License-Identifier: MIT
"""Bring every point of a scan to the body's frame at one time, in compiled code."""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.threads import share

CHUNK = 8192
"""Points that a thread takes at once."""
BLOCK = 128
"""Points that are moved by the same vector instructions, in the first-level cache."""


@njit()
def within(points, limits):
    """Indices of the points (n, 3) whose range is within ``limits`` (2,) [m]; never that of NaN."""
    kept, used = np.empty(len(points), dtype=np.int64), 0
    for n in range(len(points)):
        x, y, z = np.float64(points[n, 0]), np.float64(points[n, 1]), np.float64(points[n, 2])
        squared = x * x + y * y + z * z
        kept[used] = n
        used += np.int64(limits[0] * limits[0] <= squared <= limits[1] * limits[1])
    return kept[:used]


def deskew(points, seconds, kept, node_seconds, nodes, T_body_lidar):
    """Some points in the body frame that the nodes are given in, each moved by its own time.

    ``nodes`` (m, 12) are poses of the body in that frame (rotation by rows, position) at
    ``node_seconds`` (m,), ascending; between them poses are interpolated, before and after them the
    first and last interval is continued. Returns the points (k, 3) with indices ``kept`` (k,), and
    their seconds (k,).
    """
    out, when = np.empty((len(kept), 3)), np.empty(len(kept))
    share(
        deskew_some, len(kept), CHUNK, points, seconds, kept, node_seconds, nodes, T_body_lidar,
        out, when,
    )  # fmt: skip
    return out, when


@njit()
def deskew_some(begin, end, points, seconds, kept, node_seconds, nodes, T_body_lidar, out, when):
    """``deskew`` for some of the points, into ``out`` (k, 3) and ``when`` (k,)."""
    turns, moves = _steps(nodes)
    block = np.empty((4, BLOCK))
    place, first = np.int64(0), begin
    while first < end:
        place = _interval(node_seconds, seconds[kept[first]], place)
        used = _gather(points, seconds, kept, node_seconds, place, first, end, block, when)
        _to_body(T_body_lidar, block, used)
        start, span = node_seconds[place], node_seconds[place + 1] - node_seconds[place]
        _move(nodes[place], turns[place], moves[place], start, span, block, used)
        for n in range(used):
            out[first + n, 0], out[first + n, 1] = block[0, n], block[1, n]
            out[first + n, 2] = block[2, n]
        first += used


@njit(inlined=True, borrows=True)
def _gather(points, seconds, kept, node_seconds, place, first, end, block, when):
    """Points in a row that were taken in one interval, at most BLOCK: their number.

    Into ``block`` (4, BLOCK) go x, y, z and the time.
    """
    low = node_seconds[place] if place > 0 else -np.inf
    high = node_seconds[place + 1] if place < len(node_seconds) - 2 else np.inf
    used = np.int64(0)
    for n in range(first, min(first + BLOCK, end)):
        point, now = points[kept[n]], seconds[kept[n]]
        if now >= high or now < low:
            break
        block[0, used], block[1, used], block[2, used] = point[0], point[1], point[2]
        when[n] = block[3, used] = now
        used += 1
    return used


@njit()
def moved(T, points):
    """Points (n, 3) of one frame in another, by the pose (4, 4) of the one in the other."""
    out = np.empty((len(points), 3))
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        for i in range(3):
            out[n, i] = T[i, 0] * x + T[i, 1] * y + T[i, 2] * z + T[i, 3]
    return out


@njit(borrows=True)
def _interval(node_seconds, when, place):
    """Index of the interval that a time is in, looking on from where the last point was."""
    last = len(node_seconds) - 2
    while place < last and when >= node_seconds[place + 1]:
        place += 1
    while place > 0 and when < node_seconds[place]:
        place -= 1
    return place


@njit()
def _steps(nodes):
    """Rotation vectors (m - 1, 3) and translations (m - 1, 3) between neighbouring nodes."""
    turns, moves = np.empty((len(nodes) - 1, 3)), np.empty((len(nodes) - 1, 3))
    for n in range(len(nodes) - 1):
        a, b = nodes[n, :9].reshape(3, 3), nodes[n + 1, :9].reshape(3, 3)
        relative = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    relative[i, j] += a[k, i] * b[k, j]
        trace = relative[0, 0] + relative[1, 1] + relative[2, 2]
        angle = np.arccos(min(1.0, max(-1.0, 0.5 * (trace - 1.0))))
        factor = 0.5 if angle < 1e-6 else 0.5 * angle / np.sin(angle)
        turns[n, 0] = factor * (relative[2, 1] - relative[1, 2])
        turns[n, 1] = factor * (relative[0, 2] - relative[2, 0])
        turns[n, 2] = factor * (relative[1, 0] - relative[0, 1])
        for i in range(3):
            moves[n, i] = nodes[n + 1, 9 + i] - nodes[n, 9 + i]
    return turns, moves


@njit(borrows=True)
def _to_body(T, block, used):
    """Bring the points of a block from the LiDAR's frame into the body's, each at its own time."""
    r00, r01, r02, r10, r11, r12 = T[0, 0], T[0, 1], T[0, 2], T[1, 0], T[1, 1], T[1, 2]
    r20, r21, r22, t0, t1, t2 = T[2, 0], T[2, 1], T[2, 2], T[0, 3], T[1, 3], T[2, 3]
    xs, ys, zs = block[0], block[1], block[2]
    for n in range(used):
        x, y, z = xs[n], ys[n], zs[n]
        xs[n] = r00 * x + r01 * y + r02 * z + t0
        ys[n] = r10 * x + r11 * y + r12 * z + t1
        zs[n] = r20 * x + r21 * y + r22 * z + t2


@njit(borrows=True)
def _move(node, turn, move, start, span, block, used):
    """Apply to every point of a block the pose that an interval has at its time.

    A loop without a choice in it: the compiler makes vector instructions of it.
    """
    r00, r01, r02, r10, r11, r12 = node[0], node[1], node[2], node[3], node[4], node[5]
    r20, r21, r22, t0, t1, t2 = node[6], node[7], node[8], node[9], node[10], node[11]
    u0, u1, u2, m0, m1, m2 = turn[0], turn[1], turn[2], move[0], move[1], move[2]
    xs, ys, zs, times = block[0], block[1], block[2], block[3]
    for n in range(used):
        share, x, y, z = (times[n] - start) / span, xs[n], ys[n], zs[n]
        a, b, c = share * u0, share * u1, share * u2
        squared = a * a + b * b + c * c
        # Steps between nodes are small: sin(s)/s and (1 - cos(s))/s² by their first terms, which
        # are right to 3e-6 even where points far outside of the nodes make the step a radian long.
        first = 1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0))
        second = 0.5 - squared / 24.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0))
        cx, cy, cz = b * z - c * y, c * x - a * z, a * y - b * x
        x += first * cx + second * (b * cz - c * cy)
        y += first * cy + second * (c * cx - a * cz)
        z += first * cz + second * (a * cy - b * cx)
        xs[n] = r00 * x + r01 * y + r02 * z + t0 + share * m0
        ys[n] = r10 * x + r11 * y + r12 * z + t1 + share * m1
        zs[n] = r20 * x + r21 * y + r22 * z + t2 + share * m2
