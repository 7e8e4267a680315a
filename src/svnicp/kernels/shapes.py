# SPDX-License-Identifier: MIT
"""Convex shapes of simulated scenes: signed distances to them and where rays pass through.

A table holds one shape per row: its kind, then eight numbers. ``BOX``: centre, half sizes, cosine
and sine of its yaw. ``CYLINDER`` (vertical): centre, radius, half height. ``CAPSULE``: start, way
to the end, radius, one over the squared length (zero for a sphere). Lengths are in metres. Rows
are addressed as (table, index): a view per row would count references across threads.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.kernels.njit import njit

BOX, CYLINDER, CAPSULE = 0.0, 1.0, 2.0
"""Kinds of shapes."""
SHAPE_WIDTH = 9
"""Numbers in a row."""


@njit()
def _outside(across: float, up: float) -> float:
    """Return the distance from two excesses over a cross-section, negative inside both [m]."""
    if max(across, up) <= 0.0:
        return max(across, up)
    return np.sqrt(max(across, 0.0) ** 2 + max(up, 0.0) ** 2)


@njit()
def _box_distance(table: Floats, i: int, x: float, y: float, z: float) -> float:
    """Return the signed distance to a box."""
    dx, dy = x - table[i, 1], y - table[i, 2]
    along = abs(table[i, 7] * dx + table[i, 8] * dy) - table[i, 4]
    side = abs(table[i, 7] * dy - table[i, 8] * dx) - table[i, 5]
    up = abs(z - table[i, 3]) - table[i, 6]
    if max(along, side, up) <= 0.0:
        return max(along, side, up)
    return np.sqrt(max(along, 0.0) ** 2 + max(side, 0.0) ** 2 + max(up, 0.0) ** 2)


@njit()
def _cylinder_distance(table: Floats, i: int, x: float, y: float, z: float) -> float:
    """Return the signed distance to a vertical cylinder."""
    dx, dy = x - table[i, 1], y - table[i, 2]
    radial = np.sqrt(dx * dx + dy * dy) - table[i, 4]
    return _outside(radial, abs(z - table[i, 3]) - table[i, 5])


@njit()
def _capsule_distance(table: Floats, i: int, x: float, y: float, z: float) -> float:
    """Return the signed distance to a capsule."""
    dx, dy, dz = x - table[i, 1], y - table[i, 2], z - table[i, 3]
    along = dx * table[i, 4] + dy * table[i, 5] + dz * table[i, 6]
    along = min(max(along * table[i, 8], 0.0), 1.0)
    dx -= along * table[i, 4]
    dy -= along * table[i, 5]
    dz -= along * table[i, 6]
    return np.sqrt(dx * dx + dy * dy + dz * dz) - table[i, 7]


@njit()
def shape_distance(table: Floats, i: int, x: float, y: float, z: float) -> float:
    """Return the signed distance of a point to shape i, negative inside [m]."""
    if table[i, 0] == BOX:
        return _box_distance(table, i, x, y, z)
    if table[i, 0] == CYLINDER:
        return _cylinder_distance(table, i, x, y, z)
    return _capsule_distance(table, i, x, y, z)


@njit()
def slab_span(
    position: float, rate: float, half: float, span: tuple[float, float]
) -> tuple[float, float]:
    """Return the part of a span of ranges in which |position + range * rate| <= half."""
    if rate == 0.0:
        return span if abs(position) <= half else (np.inf, -np.inf)
    inverse = 1.0 / rate
    middle, reach = -position * inverse, half * abs(inverse)
    return max(span[0], middle - reach), min(span[1], middle + reach)


@njit()
def _round_span(
    quadratic: float, half_linear: float, constant: float, span: tuple[float, float]
) -> tuple[float, float]:
    """Return the part of a span in which quadratic t^2 + 2 half_linear t + constant <= 0."""
    if quadratic <= 0.0:
        return span if constant <= 0.0 else (np.inf, -np.inf)
    root = half_linear * half_linear - quadratic * constant
    if root < 0.0:
        return np.inf, -np.inf
    # Adding numbers of equal sign keeps all digits of both roots.
    largest = -half_linear - np.copysign(np.sqrt(root), half_linear)
    first = largest / quadratic
    second = constant / largest if largest != 0.0 else first
    return max(span[0], min(first, second)), min(span[1], max(first, second))


@njit()
def _ball_span(
    dx: float, dy: float, dz: float, ux: float, uy: float, uz: float, radius: float
) -> tuple[float, float]:
    """Return where a ray passes through a ball; (dx, dy, dz) leads from its centre to the ray."""
    linear = dx * ux + dy * uy + dz * uz
    constant = dx * dx + dy * dy + dz * dz - radius * radius
    return _round_span(1.0, linear, constant, (-np.inf, np.inf))


@njit()
def _capsule_span(
    table: Floats, i: int, grown: float,
    ox: float, oy: float, oz: float, ux: float, uy: float, uz: float,
) -> tuple[float, float]:  # fmt: skip
    """Return where a ray passes through a capsule: the hull of its spans in the three parts."""
    ax, ay, az, radius = table[i, 4], table[i, 5], table[i, 6], table[i, 7] + grown
    if radius <= 0.0:
        return np.inf, -np.inf
    dx, dy, dz = ox - table[i, 1], oy - table[i, 2], oz - table[i, 3]
    start = _ball_span(dx, dy, dz, ux, uy, uz, radius)
    length_squared = ax * ax + ay * ay + az * az
    if length_squared == 0.0:
        return start
    end = _ball_span(dx - ax, dy - ay, dz - az, ux, uy, uz, radius)
    along, rate = dx * ax + dy * ay + dz * az, ux * ax + uy * ay + uz * az
    middle = slab_span(along - 0.5 * length_squared, rate, 0.5 * length_squared, (-np.inf, np.inf))
    # The part of the ray across the axis: perpendicular offset and direction.
    along, rate = along / length_squared, rate / length_squared
    px, py, pz = dx - along * ax, dy - along * ay, dz - along * az
    vx, vy, vz = ux - rate * ax, uy - rate * ay, uz - rate * az
    middle = _round_span(
        vx * vx + vy * vy + vz * vz,
        px * vx + py * vy + pz * vz,
        px * px + py * py + pz * pz - radius * radius,
        middle,
    )
    if middle[0] > middle[1]:
        middle = (np.inf, -np.inf)
    return min(start[0], end[0], middle[0]), max(start[1], end[1], middle[1])


@njit()
def shape_span(
    table: Floats, i: int, grown: float,
    ox: float, oy: float, oz: float, ux: float, uy: float, uz: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the ranges at which a ray enters and leaves shape i [m]; enter > leave: missed.

    Parameters
    ----------
    table, i
        The shape.
    grown
        How much larger in radius and half sizes the shape is taken, or smaller when negative [m].
    ox, oy, oz, ux, uy, uz
        Origin [m] and unit direction of the ray; the span may begin behind the origin.
    """
    if table[i, 0] == CAPSULE:
        return _capsule_span(table, i, grown, ox, oy, oz, ux, uy, uz)
    span = (-np.inf, np.inf)
    dx, dy, dz = ox - table[i, 1], oy - table[i, 2], oz - table[i, 3]
    if table[i, 0] == BOX:
        cosine, sine = table[i, 7], table[i, 8]
        span = slab_span(
            cosine * dx + sine * dy, cosine * ux + sine * uy, table[i, 4] + grown, span
        )
        span = slab_span(
            cosine * dy - sine * dx, cosine * uy - sine * ux, table[i, 5] + grown, span
        )
        return slab_span(dz, uz, table[i, 6] + grown, span)
    span = slab_span(dz, uz, table[i, 5] + grown, span)
    quadratic, half_linear = ux * ux + uy * uy, dx * ux + dy * uy
    radius = max(table[i, 4] + grown, 0.0)
    constant = dx * dx + dy * dy - radius * radius
    return _round_span(quadratic, half_linear, constant, span)
