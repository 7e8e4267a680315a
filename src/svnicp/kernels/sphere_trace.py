# SPDX-License-Identifier: MIT
"""Ranges of rays in a scene that is one signed-distance function.

In: a scene as arrays and rays in the world frame. Out: the distance of points to the nearest
surface, or the range and the incidence of each ray. Where a ray meets plain shapes or the ground
is known in closed form; rough or blended walls are sphere-traced. The simulation of LiDAR scans
stands on it; a new kind of shape only has to be added to ``shapes``.
"""

import numpy as np
from numba import prange

from svnicp.arrays import Floats, Integers, Points
from svnicp.kernels.njit import njit
from svnicp.kernels.scene_arrays import GROUP_SIZE, Ray, SceneArrays
from svnicp.kernels.shapes import shape_distance, shape_span, slab_span
from svnicp.kernels.terrain import ground_height, ground_range
from svnicp.kernels.walls import plain_wall_range, traced_wall_range, wall_distance

BLOCK_RAYS = 256
"""Rays that share scratch memory."""
CULL_M = 1e-3
"""A shape is left out when the ray passes its bounding box at more than this."""
PROBE_M = 1e-4
"""Normals are differences of distances over this length."""
WALL, GROUND = -1, -2
"""What was hit, when it was no solid shape."""


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
def _solid_hit(
    ray: Ray, rows: Floats, chosen: Integers, num_chosen: int, max_range: float
) -> tuple[float, int]:
    """Return the range of the first solid shape ahead and its index; infinity and -1 for none."""
    nearest, which = np.inf, -1
    for k in range(num_chosen):
        enter, leave = shape_span(rows, chosen[k], ray.ox, ray.oy, ray.oz, ray.ux, ray.uy, ray.uz)
        if enter <= leave and leave >= 0.0 and max(enter, 0.0) < nearest:
            nearest, which = max(enter, 0.0), chosen[k]
    return (nearest, which) if nearest <= max_range else (np.inf, -1)


@njit()
def _scene_distance(scene: SceneArrays, every: Integers, x: float, y: float, z: float) -> float:
    """Return a lower bound of the distance to the surface, exact on it; negative in solids [m]."""
    nearest = np.inf
    if scene.enclosed:
        nearest = wall_distance(scene, every, len(every), x, y, z)
    if len(scene.heights) > 0:
        # No ground steeper than this: its distance is at least the height over it times a cosine.
        cosine = 1.0 / np.sqrt(1.0 + scene.grid[3] ** 2)
        nearest = min(nearest, (z - ground_height(scene.heights, scene.grid, x, y)) * cosine)
    for i in range(len(scene.solid_rows)):
        nearest = min(nearest, shape_distance(scene.solid_rows, i, x, y, z))
    return nearest


@njit(parallel=True)
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
    every = np.arange(len(scene.free_rows))
    for i in prange(len(points_world)):
        distances[i] = _scene_distance(
            scene, every, points_world[i, 0], points_world[i, 1], points_world[i, 2]
        )
    return distances


@njit()
def _probe(
    scene: SceneArrays, hit: int, chosen: Integers, num_free: int, x: float, y: float, z: float
) -> float:
    """Return the distance to what was hit, up to a factor."""
    if hit == WALL:
        return wall_distance(scene, chosen, num_free, x, y, z)
    if hit == GROUND:
        return z - ground_height(scene.heights, scene.grid, x, y)
    return shape_distance(scene.solid_rows, hit, x, y, z)


@njit()
def _incidence(
    ray: Ray, t: float, scene: SceneArrays, hit: int, chosen: Integers, num_free: int
) -> float:
    """Return the cosine between a ray and the normal where it ends."""
    x, y, z = ray.ox + t * ray.ux, ray.oy + t * ray.uy, ray.oz + t * ray.uz
    h = PROBE_M
    nx = _probe(scene, hit, chosen, num_free, x + h, y, z)
    nx -= _probe(scene, hit, chosen, num_free, x - h, y, z)
    ny = _probe(scene, hit, chosen, num_free, x, y + h, z)
    ny -= _probe(scene, hit, chosen, num_free, x, y - h, z)
    nz = _probe(scene, hit, chosen, num_free, x, y, z + h)
    nz -= _probe(scene, hit, chosen, num_free, x, y, z - h)
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    if length == 0.0:
        return 1.0
    return min(abs(nx * ray.ux + ny * ray.uy + nz * ray.uz) / length, 1.0)


@njit()
def _trace_one(
    ray: Ray, scene: SceneArrays, max_range: float, chosen: Integers, spans: Floats
) -> tuple[float, float]:
    """Return range and incidence of one ray; infinity and 0 when nothing is hit."""
    num_solid = _shapes_on_ray(ray, scene.solid_bounds, scene.solid_groups, max_range, chosen)
    nearest, hit = _solid_hit(ray, scene.solid_rows, chosen, num_solid, max_range)
    if len(scene.heights) > 0:
        ox, oy, oz, ux, uy, uz = ray
        reach = ground_range(
            scene.heights, scene.grid, scene.tile_tops,
            ox, oy, oz, ux, uy, uz, min(nearest, max_range),
        )  # fmt: skip
        if reach < nearest:
            nearest, hit = reach, GROUND
    num_free = 0
    if scene.enclosed:
        limit = min(nearest, max_range)
        num_free = _shapes_on_ray(ray, scene.free_bounds, scene.free_groups, limit, chosen)
        if scene.blend == 0.0 and len(scene.roughness) == 0:
            reach = plain_wall_range(ray, scene.free_rows, chosen, num_free, spans, limit)
        else:
            reach = traced_wall_range(ray, scene, chosen, num_free, limit)
        if reach < nearest:
            nearest, hit = reach, WALL
    if nearest > max_range:
        return np.inf, 0.0
    return nearest, _incidence(ray, nearest, scene, hit, chosen, num_free)


@njit(parallel=True)
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
    ranges, cosines = np.empty(num_rays), np.empty(num_rays)
    num_shapes = max(len(scene.free_rows), len(scene.solid_rows))
    # Rays are independent and write only their own result: same bits for any number of threads.
    for block in prange((num_rays + BLOCK_RAYS - 1) // BLOCK_RAYS):
        chosen = np.empty(num_shapes, np.int64)
        spans = np.empty((len(scene.free_rows), 2))
        for i in range(block * BLOCK_RAYS, min((block + 1) * BLOCK_RAYS, num_rays)):
            ray = Ray(
                origins_world[i, 0], origins_world[i, 1], origins_world[i, 2],
                directions_world[i, 0], directions_world[i, 1], directions_world[i, 2],
            )  # fmt: skip
            ranges[i], cosines[i] = _trace_one(ray, scene, max_range, chosen, spans)
    return ranges, cosines
