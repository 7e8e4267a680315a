# SPDX-License-Identifier: MIT
"""Ranges of rays in a scene that is one signed-distance function.

In: a scene as arrays and rays in the world frame. Out: the distance of points to the nearest
surface, or the range and the incidence of each ray. Where a ray meets plain shapes or the ground
is known in closed form; rough or blended walls are sphere-traced. The simulation of LiDAR scans
stands on it; a new kind of shape only has to be added to ``shapes``.
"""

import numpy as np

from svnicp.arrays import Floats, Integers, Points
from svnicp.kernels.njit import njit
from svnicp.kernels.scene_arrays import GROUP_SIZE, Ray, SceneArrays, Wall
from svnicp.kernels.shapes import shape_distance, shape_span, slab_span
from svnicp.kernels.terrain import ground_height, ground_range
from svnicp.kernels.threads import share
from svnicp.kernels.walls import (
    BLEND_REACH,
    keep_reached,
    plain_wall_range,
    traced_wall_range,
    wall_distance,
)

BLOCK_RAYS = 2048
"""Rays, or points, that a thread takes at once."""
CULL_M = 1e-3
"""A shape is left out when the ray passes its bounding box at more than this."""
PROBE_M = 5e-4
"""Normals are differences of distances over this length."""


@njit()
def _shapes_on_ray(
    ray: Ray, bounds: Floats, groups: Floats, max_range: float, chosen: Integers
) -> int:
    """Write the indices of the shapes whose bounding boxes the ray meets; return their number."""
    num_chosen, num_shapes = 0, len(bounds)
    for g in range(len(groups)):
        if not _meets(ray, groups, g, max_range):
            continue
        for i in range(g * GROUP_SIZE, min((g + 1) * GROUP_SIZE, num_shapes)):
            if _meets(ray, bounds, i, max_range):
                chosen[num_chosen] = i
                num_chosen += 1
    return num_chosen


@njit()
def _meets(ray: Ray, bounds: Floats, i: int, max_range: float) -> bool:
    """Return whether the ray meets bounding box i."""
    span = (0.0, max_range)
    span = slab_span(ray.ox - bounds[i, 0], ray.ux, bounds[i, 3] + CULL_M, span)
    span = slab_span(ray.oy - bounds[i, 1], ray.uy, bounds[i, 4] + CULL_M, span)
    span = slab_span(ray.oz - bounds[i, 2], ray.uz, bounds[i, 5] + CULL_M, span)
    return span[0] <= span[1]


@njit()
def _solid_hit(ray: Ray, rows: Floats, chosen: Integers, num_chosen: int) -> tuple[float, int]:
    """Return the range of the first solid shape ahead and its index; infinity and -1 for none."""
    nearest, which = np.inf, -1
    for k in range(num_chosen):
        enter, leave = shape_span(
            rows, chosen[k], 0.0, ray.ox, ray.oy, ray.oz, ray.ux, ray.uy, ray.uz
        )
        if enter <= leave and leave >= 0.0 and max(enter, 0.0) < nearest:
            nearest, which = max(enter, 0.0), chosen[k]
    return nearest, which


@njit()
def _ground_distance(heights: Floats, grid: Floats, x: float, y: float, z: float) -> float:
    """Return a lower bound of the distance to the ground, negative in it [m]."""
    # No ground is steeper than grid[3]: the distance is the height over it times a cosine, or more.
    return (z - ground_height(heights, grid, x, y)) / np.sqrt(1.0 + grid[3] ** 2)


def scene_distances(points_world: Points, scene: SceneArrays) -> Floats:
    """Return the signed distance of each point, positive in free space.

    Parameters
    ----------
    points_world
        (n, 3) positions [m].
    scene
        What surrounds them.

    Returns
    -------
    (n,) distances [m]; zero exactly on the surface, never too long in free space.
    """
    distances = np.empty(len(points_world))
    share(distances_of_some, len(points_world), BLOCK_RAYS, points_world, scene, distances)
    return distances


@njit()
def distances_of_some(
    begin: int, end: int, points_world: Points, scene: SceneArrays, distances: Floats
) -> None:
    """``scene_distances`` for some of the points, into ``distances`` (n,)."""
    free_rows, solid_rows = scene.free_rows, scene.solid_rows
    heights, grid = scene.heights, scene.grid
    every = np.arange(len(free_rows))
    for i in range(begin, end):
        x, y, z = points_world[i, 0], points_world[i, 1], points_world[i, 2]
        nearest = np.inf
        if scene.wall.enclosed:
            nearest = wall_distance(free_rows, every, len(every), scene.wall, x, y, z)
        if len(heights) > 0:
            nearest = min(nearest, _ground_distance(heights, grid, x, y, z))
        for k in range(len(solid_rows)):
            nearest = min(nearest, shape_distance(solid_rows, k, x, y, z))
        distances[i] = nearest


@njit()
def _cosine(ray: Ray, nx: float, ny: float, nz: float) -> float:
    """Return the cosine between a ray and a normal of any length."""
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    if length == 0.0:
        return 1.0
    return min(abs(nx * ray.ux + ny * ray.uy + nz * ray.uz) / length, 1.0)


@njit()
def shape_incidence(ray: Ray, t: float, rows: Floats, i: int) -> float:
    """Return the cosine between a ray and the surface of shape i where it ends."""
    x, y, z, h = ray.ox + t * ray.ux, ray.oy + t * ray.uy, ray.oz + t * ray.uz, PROBE_M
    nx = shape_distance(rows, i, x + h, y, z) - shape_distance(rows, i, x - h, y, z)
    ny = shape_distance(rows, i, x, y + h, z) - shape_distance(rows, i, x, y - h, z)
    nz = shape_distance(rows, i, x, y, z + h) - shape_distance(rows, i, x, y, z - h)
    return _cosine(ray, nx, ny, nz)


@njit()
def _wall_incidence(
    ray: Ray, t: float, rows: Floats, chosen: Integers, num_chosen: int, wall: Wall
) -> float:
    """Return the cosine between a ray and the rough or blended wall where it ends."""
    x, y, z, h = ray.ox + t * ray.ux, ray.oy + t * ray.uy, ray.oz + t * ray.uz, PROBE_M
    # The distance at the end itself is zero: differences to one side will do.
    nx = wall_distance(rows, chosen, num_chosen, wall, x + h, y, z)
    ny = wall_distance(rows, chosen, num_chosen, wall, x, y + h, z)
    nz = wall_distance(rows, chosen, num_chosen, wall, x, y, z + h)
    return _cosine(ray, nx, ny, nz)


@njit()
def _ground_incidence(ray: Ray, t: float, heights: Floats, grid: Floats) -> float:
    """Return the cosine between a ray and the ground where it ends."""
    x, y, h = ray.ox + t * ray.ux, ray.oy + t * ray.uy, PROBE_M
    nx = ground_height(heights, grid, x - h, y) - ground_height(heights, grid, x + h, y)
    ny = ground_height(heights, grid, x, y - h) - ground_height(heights, grid, x, y + h)
    return _cosine(ray, nx, ny, 2.0 * h)


@njit()
def _wall_hit(
    ray: Ray, rows: Floats, chosen: Integers, num_chosen: int, wall: Wall, spans: Floats,
    max_range: float,
) -> tuple[float, float]:  # fmt: skip
    """Return range and incidence at which a ray meets the wall; infinity when it does not."""
    # Rock narrows the shapes, and blending widens them by less than its reach: no wall is farther
    # than that of the grown shapes, and only those on the way there count.
    grown = BLEND_REACH * wall.blend
    reach, last = plain_wall_range(ray, rows, chosen, num_chosen, grown, spans, max_range)
    if wall.blend == 0.0 and wall.roughness == 0.0:
        if reach > max_range:
            return np.inf, 0.0
        return reach, shape_incidence(ray, reach, rows, last) if last >= 0 else 1.0
    num_chosen = keep_reached(chosen, num_chosen, spans, min(reach, max_range))
    # Deeper inside a shape than rock stands out, all is free.
    start, _ = plain_wall_range(ray, rows, chosen, num_chosen, -wall.roughness, spans, max_range)
    reach = traced_wall_range(ray, rows, chosen, num_chosen, wall, start, max_range)
    if reach > max_range:
        return np.inf, 0.0
    return reach, _wall_incidence(ray, reach, rows, chosen, num_chosen, wall)


def trace_rays(
    origins_world: Points, directions_world: Points, max_range: float, scene: SceneArrays
) -> tuple[Floats, Floats]:
    """Return where each ray meets the scene's surface, and how steeply.

    Parameters
    ----------
    origins_world
        (n, 3) starting points in free space [m].
    directions_world
        (n, 3) unit vectors.
    max_range
        Rays are followed up to here [m].
    scene
        What surrounds them.

    Returns
    -------
    (n,) ranges [m], infinity where nothing is hit within ``max_range``; (n,) cosines of the angle
    between ray and surface normal, 0 where nothing is hit.
    """
    num_rays = len(directions_world)
    ranges, cosines = np.full(num_rays, np.inf), np.zeros(num_rays)
    # Rays are independent and write only their own result: same bits for any number of threads.
    share(
        trace_some, num_rays, BLOCK_RAYS, origins_world, directions_world, max_range, scene, ranges,
        cosines,
    )  # fmt: skip
    return ranges, cosines


@njit()
def trace_some(
    begin: int, end: int, origins_world: Points, directions_world: Points, max_range: float,
    scene: SceneArrays, ranges: Floats, cosines: Floats,
) -> None:  # fmt: skip
    """``trace_rays`` for some of the rays, into ranges (n,) and cosines (n,)."""
    free_rows, solid_rows, wall = scene.free_rows, scene.solid_rows, scene.wall
    heights, grid, tops = scene.heights, scene.grid, scene.tile_tops
    chosen = np.empty(max(len(free_rows), len(solid_rows)), np.int64)
    spans = np.empty((len(free_rows), 2))
    for i in range(begin, end):
        ox, oy, oz = origins_world[i, 0], origins_world[i, 1], origins_world[i, 2]
        ux, uy, uz = directions_world[i, 0], directions_world[i, 1], directions_world[i, 2]
        ray = Ray(ox, oy, oz, ux, uy, uz)
        limit = max_range
        num_chosen = _shapes_on_ray(ray, scene.solid_bounds, scene.solid_groups, limit, chosen)
        reach, which = _solid_hit(ray, solid_rows, chosen, num_chosen)
        if reach <= limit:
            limit = ranges[i] = reach
            cosines[i] = shape_incidence(ray, reach, solid_rows, which)
        if len(heights) > 0:
            reach = ground_range(heights, grid, tops, ox, oy, oz, ux, uy, uz, limit)
            if reach <= limit:
                limit = ranges[i] = reach
                cosines[i] = _ground_incidence(ray, reach, heights, grid)
        if wall.enclosed:
            num_chosen = _shapes_on_ray(ray, scene.free_bounds, scene.free_groups, limit, chosen)
            reach, cosine = _wall_hit(ray, free_rows, chosen, num_chosen, wall, spans, limit)
            if reach <= limit:
                ranges[i], cosines[i] = reach, cosine
