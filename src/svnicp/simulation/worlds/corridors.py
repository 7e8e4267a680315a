# SPDX-License-Identifier: MIT
"""Corridors of buildings: little or nothing tells the position along them.

``long_corridor`` has doors that lie 10 cm behind the wall, and a stretch without any; in
``bare_corridor`` nothing can be seen along the axis, not even an end; ``urban`` strings storage
rooms on plain corridors.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.simulation.movers import person
from svnicp.simulation.worlds.routes import loop, serpentine, straight
from svnicp.simulation.worlds.shapes import ENDLESS_M, Shapes
from svnicp.simulation.worlds.world import World

RING_M = (330.0, 34.0)
"""Sides of the ring of corridors [m]."""
START_M = 104.0
"""Where on the first side the way starts: the corner behind is out of range [m]."""
BARE_STRETCH_M = (148.0, 190.0)
"""Where the first side of the ring has no doors [m]."""
CORRIDOR_WIDTH_M, CORRIDOR_HEIGHT_M = 2.4, 2.7
DOOR_WIDTH_M, DOOR_HEIGHT_M, DOOR_RECESS_M = 1.0, 2.1, 0.1


def long_corridor(rng: np.random.Generator, length_m: float) -> World:
    """Return a ring of corridors with recessed doors; its first side is bare in the middle."""
    east, north = RING_M
    ring = [(0.0, 0.0), (east, 0.0), (east, north), (0.0, north)]
    shapes = Shapes()
    shapes.corridor(np.array([*ring, ring[0]]), CORRIDOR_WIDTH_M, CORRIDOR_HEIGHT_M)
    for y, (start, end) in ((0.0, (6.0, BARE_STRETCH_M[0])), (0.0, (BARE_STRETCH_M[1], east - 6.0)),
                            (north, (6.0, east - 6.0))):  # fmt: skip
        for x in _places(rng, start, end, 6.0, 9.0):
            _door(shapes, rng, x, y)
    for x in (0.0, east):
        for y in _places(rng, 6.0, north - 6.0, 6.0, 9.0):
            _door(shapes, rng, y, x, along_y=True)
    for x, y in ring:  # a bin in each corner, out of the way
        out_x, out_y = np.sign(x - 1.0), np.sign(y - 1.0)
        shapes.cylinder(x + 0.95 * out_x, y + 0.95 * out_y, 0.2, (0.0, rng.uniform(0.6, 0.9)))
    way = loop([(START_M, 0.0), *ring[1:], (0.0, 0.0)], length_m)
    return World(shapes.scene("long_corridor"), way, corner_m=0.6)


def bare_corridor(rng: np.random.Generator, length_m: float) -> World:  # noqa: ARG001
    """Return a straight corridor whose ends are out of any sensor's range."""
    shapes = Shapes()
    shapes.free_box((-ENDLESS_M, length_m + ENDLESS_M), (-1.5, 1.5), (0.0, 2.7))
    return World(shapes.scene("bare_corridor"), straight(length_m))


def urban(rng: np.random.Generator, length_m: float) -> World:
    """Return plain corridors that join storage rooms full of equal shelves; people walk about."""
    row_m, pitch_m, width = 44.0, 13.0, 2.6
    way = serpentine(length_m, row_m, pitch_m)
    shapes = Shapes()
    shapes.corridor(way[:, :2], width, 2.8)
    num_rows = len(way) // 2
    for row in range(num_rows):
        _storage_room(shapes, rng, (14.0, 30.0), row * pitch_m)
        for x in _places(rng, 3.0, 12.0, 3.0, 6.0) + _places(rng, 33.0, 41.0, 3.0, 6.0):
            _cabinet(shapes, rng, x, row * pitch_m, width / 2)
    walkers = [
        person(
            (4.0, row * pitch_m - 0.75, 0.0),
            (40.0, row * pitch_m - 0.75, 0.0),
            speed_mps=rng.uniform(0.7, 1.3),
            phase_s=rng.uniform(0.0, 60.0),
        )
        for row in range(num_rows)
    ]
    return World(shapes.scene("urban"), way, movers=tuple(walkers))


def _places(
    rng: np.random.Generator, start: float, end: float, nearest: float, farthest: float
) -> list[float]:
    """Return places between two limits, each within a range of distances from the one before."""
    steps = rng.uniform(nearest, farthest, int((end - start) / nearest) + 1)
    places: Floats = start + np.cumsum(steps) - steps[0] * rng.random()
    return [float(place) for place in places if place < end]


def _door(
    shapes: Shapes, rng: np.random.Generator, along: float, axis: float, *, along_y: bool = False
) -> None:
    """Clear a door's recess on one side of a corridor whose axis is at y (or x) = ``axis``."""
    span = (along - DOOR_WIDTH_M / 2, along + DOOR_WIDTH_M / 2)
    side = rng.choice([-1.0, 1.0])
    across = (axis, axis + side * (CORRIDOR_WIDTH_M / 2 + DOOR_RECESS_M))
    x, y = (across, span) if along_y else (span, across)
    shapes.free_box(x, y, (0.0, DOOR_HEIGHT_M))


def _cabinet(
    shapes: Shapes, rng: np.random.Generator, x: float, axis: float, half_width: float
) -> None:
    """Add a flat cabinet to one wall of a corridor."""
    side = rng.choice([-1.0, 1.0])
    depth, length = rng.uniform(0.08, 0.2), rng.uniform(0.4, 0.9)
    bottom = rng.uniform(0.3, 1.2)
    across = (axis + side * (half_width - depth), axis + side * (half_width + 0.2))
    shapes.box((x, x + length), across, (bottom, bottom + rng.uniform(0.5, 1.0)))


def _storage_room(
    shapes: Shapes, rng: np.random.Generator, x: tuple[float, float], axis: float
) -> None:
    """Clear a room about a corridor, with rows of equal shelves on both sides of the aisle."""
    shapes.free_box(x, (axis - 4.6, axis + 4.6), (0.0, 3.6))
    for side in (-1.0, 1.0):
        for start in np.arange(x[0] + 1.0, x[1] - 1.5, 2.6):
            across = (axis + side * 1.9, axis + side * 4.2)
            for level in (0.1, 0.9, 1.7, 2.5):
                shapes.box((start, start + 0.8), across, (level, level + 0.06))
            if rng.random() < 0.6:  # goods on a shelf
                near = rng.uniform(1.9, 3.4)
                goods = (axis + side * near, axis + side * (near + rng.uniform(0.4, 0.8)))
                shapes.box((start + 0.1, start + 0.7), goods, (0.95, rng.uniform(1.2, 1.6)))
