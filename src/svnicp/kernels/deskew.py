# SPDX-License-Identifier: MIT
"""Bring every point of a scan to the body's frame at one time, in compiled code."""

import numpy as np

from svnicp.kernels.njit import njit
from svnicp.kernels.threads import share

CHUNK = 8192
"""Points that a thread takes at once."""


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
    place = np.int64(0)
    for n in range(begin, end):
        point, when[n] = points[kept[n]], seconds[kept[n]]
        x, y, z = np.float64(point[0]), np.float64(point[1]), np.float64(point[2])
        bx = T_body_lidar[0, 0] * x + T_body_lidar[0, 1] * y + T_body_lidar[0, 2] * z
        by = T_body_lidar[1, 0] * x + T_body_lidar[1, 1] * y + T_body_lidar[1, 2] * z
        bz = T_body_lidar[2, 0] * x + T_body_lidar[2, 1] * y + T_body_lidar[2, 2] * z
        bx, by, bz = bx + T_body_lidar[0, 3], by + T_body_lidar[1, 3], bz + T_body_lidar[2, 3]
        place = _interval(node_seconds, when[n], place)
        span = node_seconds[place + 1] - node_seconds[place]
        along = (when[n] - node_seconds[place]) / span
        _move(nodes[place], turns[place], moves[place], along, bx, by, bz, out[n])


@njit()
def moved(T, points):
    """Points (n, 3) of one frame in another, by the pose (4, 4) of the one in the other."""
    out = np.empty((len(points), 3))
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        for i in range(3):
            out[n, i] = T[i, 0] * x + T[i, 1] * y + T[i, 2] * z + T[i, 3]
    return out


@njit()
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


@njit()
def _move(node, turn, move, share, x, y, z, out):
    """Apply the pose ``share`` of the way along an interval to a point."""
    a, b, c = share * turn[0], share * turn[1], share * turn[2]
    squared = a * a + b * b + c * c
    # Steps between nodes are small: sin(s)/s and (1 - cos(s))/s² by their first terms, which are
    # right to 3e-6 even where points far outside of the nodes make the step a radian long.
    first = 1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0))
    second = 0.5 - squared / 24.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0))
    cx, cy, cz = b * z - c * y, c * x - a * z, a * y - b * x
    x, y, z = (
        x + first * cx + second * (b * cz - c * cy),
        y + first * cy + second * (c * cx - a * cz),
        z + first * cz + second * (a * cy - b * cx),
    )
    for i in range(3):
        out[i] = node[3 * i] * x + node[3 * i + 1] * y + node[3 * i + 2] * z
        out[i] += node[9 + i] + share * move[i]
