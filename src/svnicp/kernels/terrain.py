# SPDX-License-Identifier: MIT
"""Ground of simulated scenes: heights on a square grid, bilinear in between, solid below.

Outside the grid the ground goes on at the height of its edge. A ray walks over the grid: blocks of
cells that it passes above are skipped at once, in the others it is met with the bilinear surface
of each cell exactly, which is a quadratic equation. ``heights`` is (nx, ny) [m]; ``grid`` holds x
and y of the first height, the length of a cell [m] and the steepest slope; ``tile_tops`` is the
highest point of each block, where cells that surround the grid count as well [m].
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.kernels.njit import njit

TILE_CELLS = 8
"""Cells on a side of a block."""
NUDGE_M = 1e-6
"""A ray is taken this far past a border, so that rounding cannot hold it there."""
PARALLEL = 1e-6
"""A ray that turns towards a border by less never reaches it."""


@njit()
def _cell(position: float, first: float, cell: float, num_corners: int) -> int:
    """Return the cell along one axis: -1 before the first corner, num_corners - 1 past the last."""
    index = np.floor((position - first) / cell)
    return int(min(max(index, -1.0), num_corners - 1.0))


@njit()
def _patch(heights: Floats, i: int, j: int) -> tuple[float, float, float, float]:
    """Return height, both differences and the mixed one of a cell: h + a dx + b dy + a b dxy."""
    i0, i1 = max(i, 0), min(i + 1, heights.shape[0] - 1)
    j0, j1 = max(j, 0), min(j + 1, heights.shape[1] - 1)
    corner, dx, dy = heights[i0, j0], heights[i1, j0], heights[i0, j1]
    return corner, dx - corner, dy - corner, heights[i1, j1] - dx - dy + corner


@njit()
def ground_height(heights: Floats, grid: Floats, x: float, y: float) -> float:
    """Return the height of the ground [m]."""
    x0, y0, cell = grid[0], grid[1], grid[2]
    i = _cell(x, x0, cell, heights.shape[0])
    j = _cell(y, y0, cell, heights.shape[1])
    corner, dx, dy, mixed = _patch(heights, i, j)
    a, b = (x - x0) / cell - i, (y - y0) / cell - j
    return corner + a * dx + b * dy + a * b * mixed


@njit()
def _border(position: float, rate: float, lower: float, upper: float) -> float:
    """Return the range at which a coordinate leaves an interval [m]."""
    if abs(rate) < PARALLEL:
        return np.inf
    return ((upper if rate > 0.0 else lower) - position) / rate


@njit()
def _leave(
    heights: Floats,
    grid: Floats,
    i: int,
    j: int,
    size: int,
    x: float,
    y: float,
    ux: float,
    uy: float,
) -> float:
    """Return how far it is to the border of the block of cells from (i, j) on [m]."""
    x0, y0, cell = grid[0], grid[1], grid[2]
    nx, ny = heights.shape
    left = x0 + i * cell if i >= 0 else -np.inf
    right = x0 + (i + size) * cell if i + size < nx else np.inf
    low = y0 + j * cell if j >= 0 else -np.inf
    high = y0 + (j + size) * cell if j + size < ny else np.inf
    return min(_border(x, ux, left, right), _border(y, uy, low, high))


@njit()
def _first_root(a: float, b: float, c: float) -> float:
    """Return the first positive root of a t^2 + b t + c with c > 0, infinity when none."""
    if abs(a) < 1e-14:
        return -c / b if b < 0.0 else np.inf
    discriminant = b * b - 4.0 * a * c
    if discriminant < 0.0:
        return np.inf
    q = -0.5 * (b + np.copysign(np.sqrt(discriminant), b))
    first = c / q if q != 0.0 else np.inf
    second = q / a
    first = first if first > 0.0 else np.inf
    second = second if second > 0.0 else np.inf
    return min(first, second)


@njit()
def _hit_in_cell(
    heights: Floats, grid: Floats, i: int, j: int, x: float, y: float, z: float,
    ux: float, uy: float, uz: float,
) -> float:  # fmt: skip
    """Return how far it is to the surface of a cell [m]; zero from below it."""
    x0, y0, cell = grid[0], grid[1], grid[2]
    corner, dx, dy, mixed = _patch(heights, i, j)
    a, b = (x - x0) / cell - i, (y - y0) / cell - j
    da, db = ux / cell, uy / cell
    clearance = z - (corner + a * dx + b * dy + a * b * mixed)
    if clearance <= 0.0:
        return 0.0
    rate = uz - (da * dx + db * dy + (a * db + b * da) * mixed)
    return _first_root(-da * db * mixed, rate, clearance)


@njit()
def ground_range(
    heights: Floats, grid: Floats, tile_tops: Floats, ox: float, oy: float, oz: float,
    ux: float, uy: float, uz: float, max_range: float,
) -> float:  # fmt: skip
    """Return the range at which a ray meets the ground [m]; infinity when it does not."""
    x0, y0, cell = grid[0], grid[1], grid[2]
    nx, ny = heights.shape
    t = 0.0
    while t <= max_range:
        x, y, z = ox + t * ux, oy + t * uy, oz + t * uz
        i, j = _cell(x, x0, cell, nx), _cell(y, y0, cell, ny)
        tile_i, tile_j = (i + 1) // TILE_CELLS, (j + 1) // TILE_CELLS
        first_i, first_j = tile_i * TILE_CELLS - 1, tile_j * TILE_CELLS - 1
        out = min(_leave(heights, grid, first_i, first_j, TILE_CELLS, x, y, ux, uy), max_range - t)
        if min(z, z + out * uz) > tile_tops[tile_i, tile_j]:
            t += out + NUDGE_M
            continue
        out = _leave(heights, grid, i, j, 1, x, y, ux, uy)
        reach = _hit_in_cell(heights, grid, i, j, x, y, z, ux, uy, uz)
        if reach <= out + NUDGE_M:
            return t + reach
        t += out + NUDGE_M
    return np.inf
