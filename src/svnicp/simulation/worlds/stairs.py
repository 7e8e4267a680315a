# SPDX-License-Identifier: MIT
"""Staircases: narrow, every storey like the one below, and left fast in the vertical.

A storey is two flights of ten steps with a landing between; ``stair`` climbs and descends one
staircase, ``multi_floor`` leaves it on every floor for a corridor.
"""

import numpy as np

from svnicp.arrays import Points
from svnicp.simulation.worlds.shapes import Shapes
from svnicp.simulation.worlds.world import World

STOREY_M = 3.2
"""Height from floor to floor [m]."""
NUM_STEPS, TREAD_M = 10, 0.28
LANDING_M, FLIGHT_WIDTH_M, WALL_M = 1.6, 1.25, 0.1
SLAB_M = 0.2
SHAFT_M = (2 * LANDING_M + NUM_STEPS * TREAD_M, 2 * FLIGHT_WIDTH_M + WALL_M)
"""Length and width of the staircase [m]."""
STOREY_WAY_M = 11.5
"""Length of the way up one storey, with rounded corners [m]."""


def stair(rng: np.random.Generator, length_m: float) -> World:
    """Return a staircase in which the way goes up for half its length, then down again."""
    num_storeys = int(np.ceil(0.5 * (length_m + 10.0) / STOREY_WAY_M))
    shapes = Shapes()
    _staircase(shapes, num_storeys + 1)
    for storey in range(num_storeys + 1):
        floor = storey * STOREY_M
        shapes.free_box((-0.1, 0.3), (0.15, 1.05), (floor, floor + 2.05))  # a door on the landing
        sill = floor + STOREY_M / 2 + rng.uniform(0.9, 1.1)
        shapes.free_box((SHAFT_M[0] - 0.3, SHAFT_M[0] + 0.25), (0.7, 1.9), (sill, sill + 1.0))
    up = np.concatenate([_climb(storey) for storey in range(num_storeys)])
    # A small loop on the last landing, then down the same steps.
    turn = [[0.55, 1.98], [0.55, 0.7], [1.05, 0.7], [1.05, 1.6]]
    top = np.full(len(turn), num_storeys * STOREY_M)
    down = np.concatenate([_climb(storey)[::-1] for storey in reversed(range(num_storeys))])
    way = np.concatenate([up[:-1], np.column_stack([turn, top]), down[1:]])
    return World(shapes.scene("stair"), way, corner_m=0.25)


def multi_floor(rng: np.random.Generator, length_m: float) -> World:
    """Return equal corridors above each other, joined by a staircase at their end."""
    corridor_m, out_m = 45.0, 30.0
    num_storeys = int(np.ceil(length_m / (STOREY_WAY_M + 2.0 * out_m))) + 1
    shapes = Shapes()
    _staircase(shapes, num_storeys + 1)
    middle = SHAFT_M[1] / 2
    for storey in range(num_storeys + 1):
        floor = storey * STOREY_M
        across = (middle - 1.2, middle + 1.2)
        shapes.free_box((-corridor_m, 2.0 * LANDING_M), across, (floor, floor + 2.7))
        for x in np.arange(-corridor_m + 4.0, -2.0, rng.uniform(5.0, 8.0)):
            side = rng.choice([-1.0, 1.0])
            shapes.free_box((x, x + 1.0), (middle, middle + side * 1.3), (floor, floor + 2.1))
    way = [np.array([[-14.0, middle, 0.0], [-1.0, middle - 0.2, 0.0]])]
    for storey in range(num_storeys):
        floor = (storey + 1) * STOREY_M
        way.append(_climb(storey))
        leave = [[-1.0, middle + 0.45], [-out_m, middle + 0.45], [-out_m, middle - 0.45]]
        leave.append([-1.0, middle - 0.45])
        way.append(np.column_stack([np.array(leave), np.full(4, floor)]))
    return World(shapes.scene("multi_floor"), np.concatenate(way), corner_m=0.3)


def _staircase(shapes: Shapes, num_storeys: int) -> None:
    """Clear a shaft and build the flights, landings and the wall between the flights."""
    length, width = SHAFT_M
    shapes.free_box((0.0, length), (0.0, width), (0.0, num_storeys * STOREY_M))
    wall = (FLIGHT_WIDTH_M, FLIGHT_WIDTH_M + WALL_M)
    shapes.box((LANDING_M, length - LANDING_M), wall, (0.0, num_storeys * STOREY_M))
    for storey in range(num_storeys):
        floor = storey * STOREY_M
        half = floor + STOREY_M / 2
        if storey > 0:
            shapes.box((0.0, LANDING_M), (0.0, width), (floor - SLAB_M, floor))
        shapes.box((length - LANDING_M, length), (0.0, width), (half - SLAB_M, half))
        for step in range(NUM_STEPS):
            rise = (step + 1) * STOREY_M / 2 / NUM_STEPS
            start = LANDING_M + step * TREAD_M
            _step(shapes, (start, start + TREAD_M), (0.0, FLIGHT_WIDTH_M), floor + rise)
            end = length - LANDING_M - step * TREAD_M
            _step(shapes, (end - TREAD_M, end), (FLIGHT_WIDTH_M + WALL_M, width), half + rise)


def _step(shapes: Shapes, x: tuple[float, float], y: tuple[float, float], top: float) -> None:
    """Add one step, thick enough to overlap the next."""
    shapes.box(x, y, (top - 0.3, top))


def _climb(storey: int) -> Points:
    """Return the way up one storey, from its landing to the foot of the next flight."""
    near, far = 0.75, SHAFT_M[0] - 0.75
    right, left = FLIGHT_WIDTH_M / 2, SHAFT_M[1] - FLIGHT_WIDTH_M / 2
    floor = storey * STOREY_M
    half, top = floor + STOREY_M / 2, floor + STOREY_M
    start, end = LANDING_M, SHAFT_M[0] - LANDING_M
    return np.array(
        [
            [near, right, floor],
            [start, right, floor],
            [end, right, half],
            [far, right, half],
            [far, left, half],
            [end, left, half],
            [start, left, top],
            [near, left, top],
        ]
    )
