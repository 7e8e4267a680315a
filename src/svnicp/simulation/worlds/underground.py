# SPDX-License-Identifier: MIT
"""Tunnels, pipes and caves: round, long, and alike from one metre to the next.

A way winds through the rock and free capsules follow it. In ``tunnel``, ``uneven_tunnel`` and
``sewerage`` the axis is hard to see; in ``cave`` and ``laurel_caverns`` there is structure
everywhere, but none of it is flat.
"""

from itertools import pairwise

import numpy as np

from svnicp.arrays import Floats, Points
from svnicp.simulation.effects import Effects
from svnicp.simulation.geometry import Scene
from svnicp.simulation.worlds.ground import bumpy_ground, flat_ground
from svnicp.simulation.worlds.routes import directions, meander, on_floor, serpentine, wave
from svnicp.simulation.worlds.shapes import Shapes, up
from svnicp.simulation.worlds.world import World

CAVE_ROUGHNESS_M = 0.32
"""How far the roughness of the caves below reaches into them [m]."""


def tunnel(rng: np.random.Generator, length_m: float) -> World:
    """Return a mine drift: slightly rough walls, equal steel frames every 2.5 m."""
    way = meander(rng, length_m, 0.7, 60.0)
    shapes = Shapes()
    _bore(shapes, _lengthened(way, 60.0), 5, 1.9, 1.0)
    across = _to_the_left(way)
    frames = np.arange(5, len(way) - 5, 2.5)
    for place, left in zip(_at(way, frames), _at(across, frames), strict=True):
        foot, head, other_head = 1.72 * left, 1.45 * left + up(2.25), -1.45 * left + up(2.25)
        shapes.bar(place + foot, place + head, 0.09)
        shapes.bar(place - foot, place + other_head, 0.09)
        shapes.bar(place + head, place + other_head, 0.09)
    scene = shapes.scene(
        "tunnel",
        roughness_m=0.1,
        roughness_length_m=1.1,
        roughness_seed=_noise_seed(rng),
        terrain=flat_ground(0.0),
    )
    return World(scene, way)


def uneven_tunnel(rng: np.random.Generator, length_m: float) -> World:
    """Return a metro tunnel in the making: a smooth bore, equal arches, pipes, a bumpy floor."""
    way = meander(rng, length_m, 0.12, 200.0)
    shapes = Shapes()
    radius, axis_height = 2.75, 1.8
    _bore(shapes, _lengthened(way, 120.0), 10, radius, axis_height)
    across = _to_the_left(way)
    arches = np.arange(1.0, len(way) - 1, 3.0)
    for place, left in zip(_at(way, arches), _at(across, arches), strict=True):
        _arch(shapes, place + up(axis_height), left, radius - 0.02)
    for offset, height, pipe in ((2.25, 2.7, 0.1), (-2.3, 2.4, 0.06), (0.0, 4.15, 0.3)):
        rail = way[::10] + offset * across[::10] + up(height)
        for start, end in pairwise(rail):
            shapes.bar(start, end, pipe)
    for place in np.arange(18.0, len(way) - 10, rng.uniform(26.0, 34.0)):
        here, left = _at(way, np.array([place]))[0], _at(across, np.array([place]))[0]
        x, y = (here + rng.choice([-1.0, 1.0]) * rng.uniform(1.45, 1.65) * left)[:2]
        yaw = np.arctan2(left[1], left[0]) - np.pi / 2
        size = (rng.uniform(0.8, 2.0), 0.6)
        shapes.turned_box((x, y), (-0.5, rng.uniform(0.7, 1.3)), size, yaw)
    scene = shapes.scene(
        "uneven_tunnel",
        roughness_m=0.02,
        roughness_length_m=0.5,
        roughness_seed=_noise_seed(rng),
        terrain=bumpy_ground(rng, way, 10.0, 0.25, [(0.04, 3.0), (0.015, 1.2)]),
    )
    way[:, 2] = scene.ground_height(way[:, :2])
    return World(scene, way, effects=Effects(fog_visibility_m=120.0))


def sewerage(rng: np.random.Generator, length_m: float) -> World:
    """Return smooth sewers with a flat sole; only inlets and shafts tell the place along them."""
    way = serpentine(length_m, 65.0, 26.0)
    shapes = Shapes()
    shapes.tunnel(way[0] - (80.0, 0.0, 0.0), way[0], 1.9)
    for start, end in pairwise(way):
        shapes.tunnel(start, end, 1.9)
        along = (end - start) / np.linalg.norm(end - start)
        left = np.array([-along[1], along[0], 0.0])
        place = rng.uniform(8.0, 20.0)
        while place < np.linalg.norm(end - start) - 4.0:
            here, side = start + place * along, rng.choice([-1.0, 1.0])
            if rng.random() < 0.6:
                shapes.tunnel(here + up(0.5), here + side * 3.2 * left + up(0.9), 0.35)
            else:
                shapes.tunnel(here, here + up(5.0), 0.45)
            place += rng.uniform(14.0, 30.0)
    scene = shapes.scene(
        "sewerage",
        roughness_m=0.015,
        roughness_length_m=0.3,
        roughness_seed=_noise_seed(rng),
        terrain=flat_ground(-1.3),
    )
    return World(scene, way + up(0.1), corner_m=1.2)


def cave(rng: np.random.Generator, length_m: float) -> World:
    """Return a natural cave: width and floor change, rough rock, boulders along the sides."""
    way = meander(rng, length_m, 0.9, 45.0)
    distance = np.arange(len(way), dtype=np.float64)
    way[:, 2] = 2.5 * wave(rng, distance, 40.0, 120.0)
    nodes = way[::3]
    radii = 2.4 + 1.0 * wave(rng, 3.0 * np.arange(len(nodes), dtype=np.float64), 10.0, 45.0)
    radii[rng.random(len(nodes)) < 0.1] += 1.3  # chambers
    shapes = Shapes()
    _hollow(shapes, nodes, radii)
    for node, left in zip(nodes, _to_the_left(nodes), strict=True):  # side passages
        if rng.random() < 0.2:
            reach = rng.choice([-1.0, 1.0]) * rng.uniform(3.5, 7.0)
            branch = np.array([node, node + reach * left + up(rng.uniform(-0.5, 1.0))])
            _hollow(shapes, branch, np.full(2, rng.uniform(0.9, 1.5)))
    _boulders(shapes, rng, nodes, radii)
    scene = _rock("cave", shapes, rng)
    return World(scene, way, corner_m=0.8, effects=Effects(fog_visibility_m=150.0))


def laurel_caverns(rng: np.random.Generator, length_m: float) -> World:
    """Return a sloping maze of parallel galleries with cross passages, all of rough rock."""
    row_m, pitch_m = 32.0, 9.0
    corners = serpentine(length_m, row_m, pitch_m)
    way = on_floor(_every_metre(corners)[:, :2])
    distance = np.arange(len(way), dtype=np.float64)
    way[:, 1] += 0.8 * wave(rng, distance, 14.0, 30.0)
    way[:, 2] = 0.12 * way[:, 0] + 0.05 * way[:, 1]
    nodes = way[::4]
    radii = 2.3 + 0.4 * wave(rng, 4.0 * np.arange(len(nodes), dtype=np.float64), 12.0, 40.0)
    shapes = Shapes()
    _hollow(shapes, nodes, radii)
    for y in np.arange(0.0, corners[:, 1].max() - 1.0, pitch_m):
        for x in rng.uniform(4.0, row_m - 4.0, 2):  # cross passages
            ends = np.array([[x, y, 0.0], [x + rng.uniform(-2.0, 2.0), y + pitch_m, 0.0]])
            ends[:, 2] = 0.12 * ends[:, 0] + 0.05 * ends[:, 1]
            _hollow(shapes, ends, np.full(2, rng.uniform(1.3, 1.7)))
    _boulders(shapes, rng, nodes, radii)
    return World(_rock("laurel_caverns", shapes, rng), way)


def _bore(shapes: Shapes, way: Points, every: int, radius: float, axis_height: float) -> None:
    """Clear a tunnel of one radius along a way, its axis above the floor."""
    axis = np.concatenate([way[:-1:every], way[-1:]]) + up(axis_height)
    for start, end in pairwise(axis):
        shapes.tunnel(start, end, radius)


def _hollow(shapes: Shapes, nodes: Points, radii: Floats) -> None:
    """Clear a cave of changing radius whose sole stays just below the nodes."""
    for start, end, radius in zip(nodes[:-1], nodes[1:], radii[:-1], strict=True):
        lift = up(radius - CAVE_ROUGHNESS_M)
        shapes.tunnel(start + lift, end + lift, radius)


def _boulders(shapes: Shapes, rng: np.random.Generator, nodes: Points, radii: Floats) -> None:
    """Put boulders where the sole meets the sides of a cave."""
    across = _to_the_left(nodes)
    for node, left, radius in zip(nodes[1:], across[1:], radii[1:], strict=True):
        if rng.random() < 0.6:
            side = rng.choice([-1.0, 1.0]) * rng.uniform(0.85, 0.95) * radius
            shapes.ball(node + side * left, rng.uniform(0.3, 0.8) * (radius - 1.0))


def _arch(shapes: Shapes, centre: Floats, left: Floats, radius: float) -> None:
    """Add half a ring of steel across a tunnel."""
    angles = np.linspace(-0.25, np.pi + 0.25, 7)
    ring = [centre + radius * (np.cos(a) * left + up(np.sin(a))) for a in angles]
    for start, end in pairwise(ring):
        shapes.bar(start, end, 0.08)


def _rock(name: str, shapes: Shapes, rng: np.random.Generator) -> Scene:
    """Return a cave's scene, its walls as rough as rock."""
    return shapes.scene(
        name,
        blend_m=0.5,
        roughness_m=CAVE_ROUGHNESS_M,
        roughness_length_m=1.7,
        roughness_seed=_noise_seed(rng),
    )


def _to_the_left(way: Points) -> Points:
    """Return (n, 3) horizontal unit vectors to the left of a way."""
    along = directions(way)
    return np.column_stack([-along[:, 1], along[:, 0], np.zeros(len(way))])


def _at(values: Points, places: Floats) -> Points:
    """Return values given every metre at other places along the way [m]."""
    metres = np.arange(len(values))
    return np.column_stack([np.interp(places, metres, values[:, axis]) for axis in range(3)])


def _lengthened(way: Points, by_m: float) -> Points:
    """Return a way that goes straight on at both ends, out of sight."""
    first, last = directions(way)[[0, -1]]
    return np.concatenate([way[:1] - by_m * first, way, way[-1:] + by_m * last])


def _every_metre(corners: Points) -> Points:
    """Return points about every metre between corners."""
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    distance = np.concatenate([[0.0], np.cumsum(lengths)])
    places = np.arange(0.0, distance[-1])
    return np.column_stack([np.interp(places, distance, corners[:, axis]) for axis in range(3)])


def _noise_seed(rng: np.random.Generator) -> int:
    """Return a seed for the roughness of walls."""
    return int(rng.integers(1, 100_000))
