# SPDX-License-Identifier: MIT
"""Walls of simulated scenes: the border of a union of free shapes, plain, blended or rough.

A ray leaves a plain union at a range known in closed form. A blended or rough wall is the zero of
a distance function and is found by sphere tracing. All functions take the indices of the free
shapes that the ray meets.
"""

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.kernels.njit import njit
from svnicp.kernels.scene_arrays import Ray, Wall
from svnicp.kernels.shapes import shape_distance, shape_span
from svnicp.kernels.value_noise import rock_noise

MAX_STEPS = 2000
"""Only rays that skim a rough wall for a long way need more than a few dozen."""
ON_SURFACE_M = 5e-5
"""A ray this close to a rough or blended wall has hit it."""
MIN_STEP_M = 2e-5
"""No step is shorter, or a ray that just misses an edge would never get past it."""
BLEND_REACH = 1.25
"""A free shape that is farther than this many blends does not change the distance there."""
CLEAR = 1.25
"""This many times deeper than rock can stand out, it is not worth asking where it does."""
SECANT_M = 0.02
"""The surface is extrapolated linearly when the hit is expected within this length."""


@njit()
def plain_wall_range(
    ray: Ray, rows: Floats, chosen: Integers, num_chosen: int, grown: float, spans: Floats,
    max_range: float,
) -> tuple[float, int]:  # fmt: skip
    """Return the range at which the ray leaves the union of free shapes [m], and the last of them.

    It goes on from shape to shape as long as one of them contains where it is. The shapes can be
    taken as grown by a length. ``spans`` receives where the ray is inside each of them.
    """
    for k in range(num_chosen):
        spans[k, 0], spans[k, 1] = shape_span(
            rows, chosen[k], grown, ray.ox, ray.oy, ray.oz, ray.ux, ray.uy, ray.uz
        )
    reach, last, moved = 0.0, -1, True
    while moved and reach <= max_range:
        moved = False
        for k in range(num_chosen):
            if spans[k, 0] <= reach < spans[k, 1]:
                reach, last, moved = spans[k, 1], chosen[k], True
    return reach, last


@njit()
def keep_reached(chosen: Integers, num_chosen: int, spans: Floats, max_range: float) -> int:
    """Drop the shapes that the ray does not enter up to a range; return how many are left."""
    num_kept = 0
    for k in range(num_chosen):
        if spans[k, 0] <= spans[k, 1] and spans[k, 0] <= max_range and spans[k, 1] >= 0.0:
            chosen[num_kept] = chosen[k]
            num_kept += 1
    return num_kept


@njit()
def wall_distance(
    rows: Floats, chosen: Integers, num_chosen: int, wall: Wall, x: float, y: float, z: float
) -> float:
    """Return a lower bound of the distance to the walls of some free shapes, exact on them [m].

    A ball inside one free shape is inside their union: the deepest shape bounds the distance. Two
    shapes of similar depth a >= b join smoothly: a + max(0, blend - (a - b))^2 / (4 blend).
    """
    deepest, second = -np.inf, -np.inf
    for k in range(num_chosen):
        depth = -shape_distance(rows, chosen[k], x, y, z)
        if depth > deepest:
            deepest, second = depth, deepest
        elif depth > second:
            second = depth
    if wall.blend > 0.0 and deepest - second < wall.blend:
        deepest += (wall.blend - (deepest - second)) ** 2 / (4.0 * wall.blend)
    if wall.roughness == 0.0:
        return deepest
    if deepest > CLEAR * wall.roughness:
        return deepest - wall.roughness
    f = wall.frequency
    return (deepest - wall.roughness * rock_noise(x * f, y * f, z * f, wall.seed)) / wall.steepness


@njit()
def traced_wall_range(
    ray: Ray, rows: Floats, chosen: Integers, num_chosen: int, wall: Wall, start: float,
    max_range: float,
) -> float:  # fmt: skip
    """Return the range of a rough or blended wall [m]; infinity when it is beyond ``max_range``.

    The ray is known to be free up to ``start`` [m].

    Notation: d is the distance at range t, s the rate at which d shrank over the last step. Steps
    are as long as a plane of that slope allows, 2 d / (1 + s); the balls around both ends cover
    such a step if it is not longer than the sum of their radii, otherwise a plain step follows.
    """
    ox, oy, oz, ux, uy, uz = ray
    t, s = start, 1.0
    x, y, z = ox + t * ux, oy + t * uy, oz + t * uz
    d = wall_distance(rows, chosen, num_chosen, wall, x, y, z)
    for _ in range(MAX_STEPS):
        if d < ON_SURFACE_M:
            return t
        if d < SECANT_M * s:
            # A skimming ray nears a wall by a constant factor per step; its root is known sooner.
            root = t + d / s
            x, y, z = ox + root * ux, oy + root * uy, oz + root * uz
            if abs(wall_distance(rows, chosen, num_chosen, wall, x, y, z)) < ON_SURFACE_M:
                return root
        step = max(max(1.0, 1.98 / max(1.0 + s, 0.05)) * d, MIN_STEP_M)
        end = t + step
        x, y, z = ox + end * ux, oy + end * uy, oz + end * uz
        d_end = wall_distance(rows, chosen, num_chosen, wall, x, y, z)
        if step > d and step > d + d_end:
            step = max(d, MIN_STEP_M)
            end = t + step
            x, y, z = ox + end * ux, oy + end * uy, oz + end * uz
            d_end = wall_distance(rows, chosen, num_chosen, wall, x, y, z)
        s = (d - d_end) / step
        if d_end < 0.0:
            return t + d / s
        t, d = end, d_end
        if t > max_range:
            return np.inf
    return np.inf
