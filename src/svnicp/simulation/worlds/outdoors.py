# SPDX-License-Identifier: MIT
"""Under the open sky: fields, trails, streets and a long bridge.

``flat_field`` has a plane and nothing else; ``offroad`` uneven ground and scattered trees;
``bridge`` repeats one panel for kilometres; ``street`` is rich.
"""

from collections.abc import Iterator

import numpy as np

from svnicp.simulation.geometry import Scene
from svnicp.simulation.movers import Mover, car, person
from svnicp.simulation.scene import street as street_scene
from svnicp.simulation.worlds.ground import bumpy_ground, flat_ground
from svnicp.simulation.worlds.routes import directions, meander, straight
from svnicp.simulation.worlds.shapes import ENDLESS_M, Shapes
from svnicp.simulation.worlds.world import World

STREET_START_M = -85.0
"""Where the way along the street, which is 200 m long about x = 0, begins [m]."""
PANEL_M = 8.0
"""Length of one panel of the bridge's trusses [m]."""


def flat_field(rng: np.random.Generator, length_m: float) -> World:
    """Return a plane: position, and the turn about the vertical, cannot be seen at all."""
    way = meander(rng, length_m, 0.5, 80.0)
    return World(Scene("flat_field", terrain=flat_ground(0.0)), way, corner_m=1.5)


def street(rng: np.random.Generator, length_m: float) -> World:
    """Return a street with facades, parked cars and posts, and with people on the pavements."""
    way = straight(length_m, STREET_START_M)
    walkers = tuple(
        person(
            (x, y, 0.0),
            (x + rng.uniform(20.0, 40.0), y, 0.0),
            speed_mps=rng.uniform(0.9, 1.5),
            phase_s=rng.uniform(0.0, 40.0),
        )
        for x, y in zip(rng.uniform(-90.0, 60.0, 4), (-5.9, 5.9, -5.7, 5.7), strict=True)
    )
    return World(street_scene(int(rng.integers(1000))), way, movers=walkers)


def offroad(rng: np.random.Generator, length_m: float) -> World:
    """Return a trail over uneven ground with scattered trees, bushes and stones."""
    way = meander(rng, length_m, 1.0, 50.0)
    terrain = bumpy_ground(rng, way, 105.0, 0.5, [(0.9, 60.0), (0.12, 6.0), (0.03, 2.0)])
    shapes = Shapes()
    along = directions(way)
    for place in np.arange(-40.0, len(way) + 40.0, 2.5):
        index = int(np.clip(place, 0, len(way) - 1))
        here = way[index] + (place - index) * along[index]
        left = np.array([-along[index, 1], along[index, 0], 0.0])
        side = rng.choice([-1.0, 1.0]) * (4.0 + rng.exponential(14.0))
        x, y, _ = here + side * left
        if np.min(np.linalg.norm(way[:, :2] - (x, y), axis=1)) < 3.5:
            continue
        _plant(shapes, rng, x, y, float(terrain.height(np.array([[x, y]]))[0]))
    way[:, 2] = terrain.height(way[:, :2])
    return World(shapes.scene("offroad", terrain=terrain), way, corner_m=0.8)


def bridge(rng: np.random.Generator, length_m: float) -> World:
    """Return a long bridge: a deck, two parapets, and trusses of equal panels; cars pass by."""
    ends = (-ENDLESS_M, length_m + ENDLESS_M)
    shapes = Shapes()
    shapes.box(ends, (-13.0, 13.0), (-1.5, 0.0))
    for side in (-1.0, 1.0):
        shapes.box(ends, (side * 11.4, side * 11.7), (0.0, 1.0))
        shapes.bar((ends[0], side * 12.4, 7.0), (ends[1], side * 12.4, 7.0), 0.25)
        for x in np.arange(ends[0], ends[1], PANEL_M):
            y = side * 12.4
            shapes.bar((x, y, 0.0), (x, y, 7.0), 0.1)
            shapes.bar((x, y, 7.0), (x + PANEL_M, y, 0.0), 0.08)
    cars = tuple(_traffic(rng, ends))
    way = straight(length_m, y=-3.5)
    return World(shapes.scene("bridge"), way, movers=cars)


def _traffic(rng: np.random.Generator, ends: tuple[float, float]) -> Iterator[Mover]:
    """Yield cars that overtake, are overtaken, or come the other way."""
    for y, speed, same_way in ((-7.5, 13.0, True), (0.5, 18.0, True), (4.2, 17.0, False)):
        start, end = ends if same_way else ends[::-1]
        ahead_m = (-100.0, 150.0) if same_way else (100.0, 700.0)
        for place in rng.uniform(*ahead_m, 3):  # where it is when the recording starts
            pace = speed * rng.uniform(0.9, 1.1)
            phase_s = abs(place - start) / pace
            yield car((start, y, 0.0), (end, y, 0.0), speed_mps=pace, phase_s=phase_s)


def _plant(shapes: Shapes, rng: np.random.Generator, x: float, y: float, ground: float) -> None:
    """Put a tree, a bush or a stone on the ground."""
    kind = rng.choice(["tree", "bush", "stone"], p=[0.45, 0.35, 0.2])
    if kind == "tree":
        shapes.tree(x, y, ground, rng.uniform(3.0, 8.0))
    elif kind == "bush":
        size = rng.uniform(0.4, 1.0)
        shapes.ball((x, y, ground + 0.6 * size), size)
        shapes.ball((x + 0.6 * size, y - 0.4 * size, ground + 0.4 * size), 0.7 * size)
    else:
        shapes.ball((x, y, ground + 0.05), rng.uniform(0.2, 0.6))
