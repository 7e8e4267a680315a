# SPDX-License-Identifier: MIT
"""Large rooms: columns, machines and furniture that look alike, and the galleries between them.

``room`` is easy on purpose. ``nuclear1`` and ``nuclear2`` are bare concrete with equal columns and
long plain galleries; ``factory`` is rich, but flown through fast.
"""

import numpy as np

from svnicp.simulation.worlds.routes import loop, on_floor, serpentine
from svnicp.simulation.worlds.shapes import Shapes
from svnicp.simulation.worlds.world import World


def room(rng: np.random.Generator, length_m: float) -> World:
    """Return a furnished room of 12 x 9 x 3.2 m: every direction is well determined."""
    shapes = Shapes()
    shapes.free_box((-6.0, 6.0), (-4.5, 4.5), (0.0, 3.2))
    for x in (-3.5, 0.5, 3.5):  # windows
        shapes.free_box((x, x + 1.5), (4.0, 4.8), (0.9, 2.4))
    shapes.free_box((-6.3, -5.5), (-0.5, 0.5), (0.0, 2.1))  # a door
    for side in (-1.0, 1.0):
        x = -5.0 + rng.uniform(0.0, 1.0)
        while x < 4.0:
            width, depth = rng.uniform(0.6, 1.6), rng.uniform(0.35, 0.9)
            across = (side * (4.5 - depth), side * 4.5)
            shapes.box((x, x + width), across, (0.0, rng.uniform(0.5, 2.2)))
            x += width + rng.uniform(0.3, 1.5)
    shapes.box((-0.9, 0.9), (-0.6, 0.6), (0.7, 0.76))  # a table in the middle, on four legs
    for x in (-0.8, 0.8):
        for y in (-0.5, 0.5):
            shapes.cylinder(x, y, 0.04, (0.0, 0.72))
    shapes.cylinder(5.5, -1.0, 0.15, (0.0, 1.8))
    shapes.box((5.6, 6.0), (0.5, 2.2), (0.0, 0.8))
    way = loop([(-3.6, -2.2), (3.6, -2.2), (3.6, 2.2), (-3.6, 2.2)], length_m)
    return World(shapes.scene("room"), way, corner_m=0.7)


def nuclear1(rng: np.random.Generator, length_m: float) -> World:  # noqa: ARG001
    """Return a plain concrete gallery between two halls of equal columns."""
    shapes = Shapes()
    shapes.free_box((0.0, 40.5), (0.0, 24.0), (0.0, 7.0))
    shapes.free_box((37.0, 78.0), (10.3, 13.7), (0.0, 3.6))  # reaches into both halls
    shapes.free_box((74.5, 102.0), (2.0, 22.0), (0.0, 7.0))
    _columns(shapes, np.arange(6.0, 37.0, 6.0), np.arange(6.0, 19.0, 6.0), 7.0)
    _columns(shapes, np.arange(80.0, 99.0, 6.0), np.array([5.5, 16.0]), 7.0)
    for x in rng.uniform(45.0, 72.0, 4):
        side = rng.choice([-1.0, 1.0])
        wall = 12.0 + side * 1.7
        shapes.box((x, x + 0.4), (wall - side * 0.15, wall), (0.4, rng.uniform(0.9, 1.6)))
    for _ in range(8):  # rubble and crates along the walls of the halls
        x, side = rng.choice([rng.uniform(2.0, 34.0), rng.uniform(77.0, 95.0)]), rng.random()
        y = rng.uniform(0.3, 0.8) if side < 0.5 else rng.uniform(23.2, 23.7)
        y = np.clip(y, 2.8, 21.2) if x > 60.0 else y
        shapes.turned_box((x, y), (0.0, 0.9), (1.2, 0.8), side)
    corners = [(44.0, 12.0), (99.5, 12.0), (99.5, 19.2), (77.0, 19.2), (77.0, 12.0), (38.2, 12.0),
               (38.2, 3.0), (3.0, 3.0)]  # fmt: skip
    return World(shapes.scene("nuclear1"), on_floor(corners), corner_m=0.8)


def nuclear2(rng: np.random.Generator, length_m: float) -> World:
    """Return long plain galleries of concrete, every second one through a hall of columns."""
    row_m, pitch_m, width, height = 80.0, 15.0, 3.4, 3.8
    way = serpentine(length_m, row_m, pitch_m)
    shapes = Shapes()
    shapes.corridor(way[:, :2], width, height)
    for row in range(len(way) // 2):
        y = row * pitch_m
        if row % 2:
            shapes.free_box((28.0, 52.0), (y - 5.8, y + 5.8), (0.0, 6.5))
            _columns(shapes, np.arange(31.0, 50.0, 6.0), np.array([y - 3.2, y + 3.2]), 6.5)
        else:
            pipe = y + rng.choice([-1.0, 1.0]) * 1.5
            shapes.bar((2.0, pipe, 3.2), (row_m - 2.0, pipe, 3.2), 0.12)
            for x in rng.uniform(6.0, row_m - 6.0, 3):  # niches
                side = rng.choice([-1.0, 1.0])
                shapes.free_box((x, x + 1.2), (y, y + side * (width / 2 + 0.25)), (0.0, 2.2))
    return World(shapes.scene("nuclear2"), way, corner_m=0.8)


def factory(rng: np.random.Generator, length_m: float) -> World:
    """Return a factory hall of 84 x 44 x 14 m with columns, machines and pipes; lanes to fly in."""
    shapes = Shapes()
    shapes.free_box((-42.0, 42.0), (-22.0, 22.0), (0.0, 14.0))
    for y in (-10.0, 0.0, 10.0):
        for x in np.arange(-25.0, 26.0, 10.0):
            shapes.cylinder(x, y, 0.35, (0.0, 14.0))
            if rng.random() < 0.8:
                _machine(shapes, rng, x + rng.uniform(3.5, 6.5), y)
        height = rng.uniform(7.5, 9.0)
        shapes.bar((-30.0, y + 0.6, height), (30.0, y + 0.6, height), 0.25)
        shapes.bar((-30.0, y - 0.6, height + 0.8), (30.0, y - 0.6, height + 0.8), 0.15)
    for x in np.arange(-40.0, 41.0, 8.0):  # roof beams and crates along the walls
        shapes.box((x - 0.15, x + 0.15), (-22.0, 22.0), (12.6, 13.4))
        for side in (-1.0, 1.0):
            if rng.random() < 0.6:
                y, size = side * rng.uniform(20.0, 21.0), rng.uniform(0.8, 1.6)
                yaw = rng.uniform(-0.4, 0.4)
                shapes.turned_box((x + 2.0, y), (0.0, size), (1.5 * size, size), yaw)
    lanes = [(-35, -15), (35, -15), (35, -5), (-35, -5), (-35, 5), (35, 5), (35, 15), (-35, 15)]
    heights = [2.0, 3.5, 5.0, 6.0, 4.0, 2.5, 3.0, 5.5]
    corners = [(x, y, z) for (x, y), z in zip(lanes, heights, strict=True)]
    return World(shapes.scene("factory"), loop(corners, length_m), corner_m=2.2)


def _columns(shapes: Shapes, xs: np.ndarray, ys: np.ndarray, height: float) -> None:
    """Put square columns of 0.6 m on a grid."""
    for x in xs:
        for y in ys:
            shapes.box((x - 0.3, x + 0.3), (y - 0.3, y + 0.3), (0.0, height))


def _machine(shapes: Shapes, rng: np.random.Generator, x: float, y: float) -> None:
    """Add a machine: a turned base, a smaller box on it, and a pipe upwards."""
    height, yaw = rng.uniform(1.2, 3.0), rng.uniform(-0.3, 0.3)
    size = (rng.uniform(1.5, 3.0), rng.uniform(1.2, 2.0))
    shapes.turned_box((x, y), (0.0, height), size, yaw)
    shapes.turned_box((x, y), (height, height + 1.2), (0.9, 0.8), yaw + 0.4)
    shapes.cylinder(x + 0.3, y, 0.12, (height, height + rng.uniform(2.0, 4.0)))
