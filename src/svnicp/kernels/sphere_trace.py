# SPDX-License-Identifier: MIT
"""Ranges of rays in a scene that is one signed-distance function over simple primitives.

In: a scene as arrays (free boxes, solid boxes, solid cylinders) and rays in the world frame. Out:
the distance of points to the nearest surface, or the range of each ray. The simulation of LiDAR
scans stands on it; a new primitive only has to add its distance to ``_distance``.
"""

import numpy as np
from numba import prange

from svnicp.arrays import Floats, Points
from svnicp.kernels.njit import njit

MAX_STEPS = 2000
"""Only rays that skim a wall for a long way need more than a few dozen."""
ON_SURFACE_M = 1e-8
"""A ray this close to a surface has hit it."""
MIN_STEP_M = 2e-5
"""No step is shorter, or a ray that just misses a pole would never get past it."""
CULL_M = 1e-6
"""A primitive that the ray passes at more than this is left out."""
SECANT_M = 0.02
"""The surface is extrapolated linearly when the hit is expected within this length."""


# Rows are addressed as (array, index): a view per row would count references across threads.


@njit()
def _depth(x: float, y: float, z: float, boxes: Floats, i: int) -> float:
    """Return the depth inside box i [m]; minus the distance to it from outside."""
    dx = max(boxes[i, 0] - x, x - boxes[i, 3])
    dy = max(boxes[i, 1] - y, y - boxes[i, 4])
    dz = max(boxes[i, 2] - z, z - boxes[i, 5])
    outside = max(dx, dy, dz)
    if outside <= 0.0:
        return -outside
    return -np.sqrt(max(dx, 0.0) ** 2 + max(dy, 0.0) ** 2 + max(dz, 0.0) ** 2)


@njit()
def _cylinder_distance(x: float, y: float, z: float, cylinders: Floats, i: int) -> float:
    """Return the signed distance to vertical cylinder i, positive outside [m]."""
    dx, dy = x - cylinders[i, 0], y - cylinders[i, 1]
    radial = np.sqrt(dx * dx + dy * dy) - cylinders[i, 2]
    vertical = max(cylinders[i, 3] - z, z - cylinders[i, 4])
    outside = max(radial, vertical)
    if outside <= 0.0:
        return outside
    return np.sqrt(max(radial, 0.0) ** 2 + max(vertical, 0.0) ** 2)


@njit()
def _distance(
    x: float, y: float, z: float, free_boxes: Floats, solid_boxes: Floats, cylinders: Floats
) -> float:
    """Return a lower bound of the distance to the surface, exact on it; negative in solids [m].

    A ball inside one free box is inside their union: the deepest box bounds the distance.
    """
    nearest = -np.inf
    for i in range(len(free_boxes)):
        nearest = max(nearest, _depth(x, y, z, free_boxes, i))
    for i in range(len(solid_boxes)):
        nearest = min(nearest, -_depth(x, y, z, solid_boxes, i))
    for i in range(len(cylinders)):
        nearest = min(nearest, _cylinder_distance(x, y, z, cylinders, i))
    return nearest


@njit(parallel=True)
def scene_distances(
    points_world: Points, free_boxes: Floats, solid_boxes: Floats, cylinders: Floats
) -> Floats:
    """Return the signed distance of each point, positive in free space.

    Parameters
    ----------
    points_world
        (n, 3) positions [m].
    free_boxes, solid_boxes
        (m, 6) lower corner, then upper corner [m].
    cylinders
        (m, 5) x, y, radius, bottom, top [m].

    Returns
    -------
    (n,) distances [m]; exact on the surface, never too long in free space.
    """
    distances = np.empty(len(points_world))
    for i in prange(len(points_world)):
        x, y, z = points_world[i]
        distances[i] = _distance(x, y, z, free_boxes, solid_boxes, cylinders)
    return distances


@njit()
def _narrow(
    origin: float, direction: float, lower: float, upper: float, span: tuple[float, float]
) -> tuple[float, float]:
    """Return the part of a span of ranges in which one coordinate is within its limits [m]."""
    below, above = lower - CULL_M - origin, upper + CULL_M - origin
    if direction == 0.0:
        return span if below <= 0.0 <= above else (np.inf, -np.inf)
    first, second = below / direction, above / direction
    return max(span[0], min(first, second)), min(span[1], max(first, second))


@njit()
def _boxes_on_ray(origin: Floats, direction: Floats, max_range: float, boxes: Floats) -> Floats:
    """Return the boxes that the ray meets; the others cannot change where it ends."""
    kept = np.empty_like(boxes)
    num_kept = 0
    for i in range(len(boxes)):
        span = (0.0, max_range)
        for axis in range(3):
            lower, upper = boxes[i, axis], boxes[i, axis + 3]
            span = _narrow(origin[axis], direction[axis], lower, upper, span)
        if span[0] <= span[1]:
            kept[num_kept, :] = boxes[i, :]
            num_kept += 1
    return kept[:num_kept]


@njit()
def _cylinders_on_ray(
    origin: Floats, direction: Floats, max_range: float, cylinders: Floats
) -> Floats:
    """Return the cylinders whose bounding box the ray meets."""
    kept = np.empty_like(cylinders)
    num_kept = 0
    for i in range(len(cylinders)):
        span = (0.0, max_range)
        radius = cylinders[i, 2]
        for axis in range(2):
            centre = cylinders[i, axis]
            lower, upper = centre - radius, centre + radius
            span = _narrow(origin[axis], direction[axis], lower, upper, span)
        span = _narrow(origin[2], direction[2], cylinders[i, 3], cylinders[i, 4], span)
        if span[0] <= span[1]:
            kept[num_kept, :] = cylinders[i, :]
            num_kept += 1
    return kept[:num_kept]


@njit()
def _trace_one(
    origin: Floats,
    direction: Floats,
    max_range: float,
    free_boxes: Floats,
    solid_boxes: Floats,
    cylinders: Floats,
) -> float:
    """Return the range of one ray [m]; infinity when nothing is hit up to ``max_range``.

    Notation: d is the distance at range t, s the rate at which d shrank over the last step. Steps
    are as long as a plane of that slope allows, 2 d / (1 + s); the balls around both ends cover
    such a step if it is not longer than the sum of their radii, otherwise a plain step follows.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    ux, uy, uz = direction[0], direction[1], direction[2]
    t = 0.0
    d = _distance(ox, oy, oz, free_boxes, solid_boxes, cylinders)
    s = 1.0
    for _ in range(MAX_STEPS):
        if d < ON_SURFACE_M:
            return t
        if d < SECANT_M * s:
            # A skimming ray nears a plane by a constant factor per step; its root is known sooner.
            # The floor under a solid is no hit: just before the root there must be free space.
            before, root = t + 0.999 * d / s, t + d / s
            x, y, z = ox + before * ux, oy + before * uy, oz + before * uz
            free = _distance(x, y, z, free_boxes, solid_boxes, cylinders) > 0.0
            x, y, z = ox + root * ux, oy + root * uy, oz + root * uz
            d_root = _distance(x, y, z, free_boxes, solid_boxes, cylinders)
            if free and abs(d_root) < ON_SURFACE_M:
                return root
        step = max(max(1.0, 1.98 / max(1.0 + s, 0.05)) * d, MIN_STEP_M)
        end = t + step
        x, y, z = ox + end * ux, oy + end * uy, oz + end * uz
        d_end = _distance(x, y, z, free_boxes, solid_boxes, cylinders)
        if step > d and step > d + d_end:
            step = max(d, MIN_STEP_M)
            end = t + step
            x, y, z = ox + end * ux, oy + end * uy, oz + end * uz
            d_end = _distance(x, y, z, free_boxes, solid_boxes, cylinders)
        s = (d - d_end) / step
        if d_end < 0.0:
            return t + d / s
        t, d = end, d_end
        if t > max_range:
            return np.inf
    return np.inf


@njit(parallel=True)
def trace_rays(
    origins_world: Points,
    directions_world: Points,
    max_range: float,
    free_boxes: Floats,
    solid_boxes: Floats,
    cylinders: Floats,
) -> Floats:
    """Return the range at which each ray meets the scene's surface.

    Parameters
    ----------
    origins_world
        (n, 3) starting points in free space [m].
    directions_world
        (n, 3) unit vectors.
    max_range
        Rays are followed up to here [m].
    free_boxes, solid_boxes, cylinders
        As in ``scene_distances``.

    Returns
    -------
    (n,) ranges [m]; infinity where nothing is hit within ``max_range``.
    """
    ranges = np.empty(len(directions_world))
    for i in prange(len(directions_world)):  # rays are independent: same bits for any threads
        origin, direction = origins_world[i], directions_world[i]
        reached = _trace_one(
            origin,
            direction,
            max_range,
            _boxes_on_ray(origin, direction, max_range, free_boxes),
            _boxes_on_ray(origin, direction, max_range, solid_boxes),
            _cylinders_on_ray(origin, direction, max_range, cylinders),
        )
        ranges[i] = reached if reached <= max_range else np.inf
    return ranges
