# SPDX-License-Identifier: MIT
"""Static scenes: free space, a union of boxes, minus solid boxes and vertical cylinders.

Every scene has its floor at z = 0 and is free within 0.5 m of ``SENSOR_START``, so a sensor
can start there. Corridors run along x. What each scene offers a registration is in its docstring.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from svnicp.simulation.geometry import Scene

SENSOR_START = (0.0, 0.0, 1.5)
"""A position that is free in every scene [m]."""

ENDLESS_M = 120.0
"""An endless corridor reaches from minus to plus this along x [m]."""
FAR_M = 400.0
"""Half side of the box that stands for open space; beyond the range of any sensor [m]."""


def room() -> Scene:
    """Return a furnished room, 8 x 6 x 3 m: all six directions are well determined."""
    walls = [[-4.0, -3.0, 0.0, 4.0, 3.0, 3.0], [1.2, 2.0, 0.9, 3.0, 3.3, 2.3]]  # with a window
    furniture = [
        [-4.0, -3.0, 0.0, -3.4, -1.2, 2.0],  # cupboard
        [-3.2, 2.6, 0.0, -1.0, 3.0, 1.8],  # shelf
        [1.0, -1.9, 0.70, 2.6, -1.0, 0.75],  # table top
        [1.1, -1.5, 0.0, 1.2, -1.4, 0.70],  # its legs
        [2.4, -1.5, 0.0, 2.5, -1.4, 0.70],
        [3.1, 0.2, 0.0, 4.0, 2.0, 0.45],  # sofa
        [3.8, 0.2, 0.45, 4.0, 2.0, 0.9],
        [-1.6, -3.0, 0.0, -1.2, -2.6, 3.0],  # pillar
    ]
    lamp = [[-2.4, 0.9, 0.12, 0.0, 1.6]]
    return Scene("room", np.array(walls), np.array(furniture), np.array(lamp))


def closed_corridor() -> Scene:
    """Return a bare corridor of 20 m: only its end walls tell where along it the sensor is."""
    return Scene("closed_corridor", np.array([_corridor_box(10.0)]))


def bare_corridor() -> Scene:
    """Return a corridor with nothing to see along it; its ends are out of range near x = 0."""
    return Scene("bare_corridor", np.array([_corridor_box(ENDLESS_M)]))


def door_corridor(
    recess_m: float = 0.10, width_m: float = 1.0, height_m: float = 2.1, spacing_m: float = 7.5
) -> Scene:
    """Return an endless corridor in which only recessed doors tell the position along it.

    Doors come every ``spacing_m`` on alternating sides, so each side has one every two spacings.

    Parameters
    ----------
    recess_m
        How far a door lies behind the wall [m].
    width_m, height_m
        Size of a door [m].
    spacing_m
        Distance from a door to the next, which is on the other side [m].
    """
    boxes = [_corridor_box(ENDLESS_M)]
    half_width = 1.5
    last = int((ENDLESS_M - width_m) / spacing_m)
    for k in range(-last, last + 1):
        left, right = k * spacing_m - width_m / 2, k * spacing_m + width_m / 2
        if k % 2 == 0:
            boxes.append([left, 0.0, 0.0, right, half_width + recess_m, height_m])
        else:
            boxes.append([left, -half_width - recess_m, 0.0, right, 0.0, height_m])
    return Scene("door_corridor", np.array(boxes))


def street(seed: int = 0) -> Scene:
    """Return 200 m of a street along x: facades with bays, parked cars, trunks and lamp posts.

    There is no ceiling, and no wall at the ends; the ground goes on.

    Parameters
    ----------
    seed
        Which street; the same seed gives the same street.
    """
    rng = np.random.default_rng(seed)
    open_space = np.array([[-FAR_M, -FAR_M, 0.0, FAR_M, FAR_M, FAR_M]])
    solids: list[list[float]] = []
    posts: list[list[float]] = []
    for side in (-1.0, 1.0):
        solids += _facades(rng, side)
        solids += _parked_cars(rng, side)
        posts += _trunks_and_posts(rng, side)
    return Scene(f"street_{seed}", open_space, np.array(solids), np.array(posts))


def _corridor_box(half_length_m: float) -> list[float]:
    """Return a free box along x, 3 m wide and 2.7 m high."""
    return [-half_length_m, -1.5, 0.0, half_length_m, 1.5, 2.7]


def _beside(side: float, x: tuple[float, float], y: tuple[float, float], top: float) -> list[float]:
    """Return a box on the ground at distances ``y`` from the street's axis, on one side."""
    near, far = sorted((side * y[0], side * y[1]))
    return [x[0], near, 0.0, x[1], far, top]


def _facades(rng: np.random.Generator, side: float) -> list[list[float]]:
    """Return the houses of one side: own setback and height each, one or two bays, some gaps."""
    boxes: list[list[float]] = []
    x = -100.0
    while x < 88.0:
        end = min(x + rng.uniform(10.0, 18.0), 100.0)
        front = rng.uniform(8.5, 10.0)
        height = rng.uniform(7.0, 15.0)
        boxes.append(_beside(side, (x, end), (front, front + 12.0), height))
        borders = np.linspace(x, end, rng.integers(2, 4))
        for left, right in pairwise(borders):
            width = rng.uniform(1.5, 3.0)
            start = rng.uniform(left + 0.5, right - 0.5 - width)
            depth = rng.uniform(0.4, 1.0)
            bay = (front - depth, front + 0.5)
            boxes.append(_beside(side, (start, start + width), bay, rng.uniform(3.0, height)))
        x = end + rng.choice([0.0, 0.0, 3.0])
    return boxes


def _parked_cars(rng: np.random.Generator, side: float) -> list[list[float]]:
    """Return the cars along one kerb, a body and a cabin each."""
    boxes: list[list[float]] = []
    x = -95.0 + rng.uniform(0.0, 10.0)
    while x < 92.0:
        length, height = rng.uniform(3.8, 4.9), rng.uniform(1.4, 1.8)
        near = rng.uniform(3.4, 3.7)
        body, cabin = (near, near + 1.8), (near + 0.15, near + 1.65)
        boxes.append(_beside(side, (x, x + length), body, 0.6 * height))
        boxes.append(_beside(side, (x + 0.25 * length, x + 0.85 * length), cabin, height))
        x += length + rng.uniform(1.0, 14.0)
    return boxes


def _trunks_and_posts(rng: np.random.Generator, side: float) -> list[list[float]]:
    """Return trunks (thick, low) and lamp posts (thin, high) on one pavement."""
    cylinders: list[list[float]] = []
    x = -98.0 + rng.uniform(0.0, 8.0)
    while x < 98.0:
        y = side * rng.uniform(6.2, 6.8)
        trunk = [rng.uniform(0.15, 0.3), 0.0, rng.uniform(3.0, 5.0)]
        post = [rng.uniform(0.06, 0.1), 0.0, 8.0]
        cylinders.append([x, y, *(trunk if rng.random() < 0.7 else post)])
        x += rng.uniform(6.0, 14.0)
    return cylinders


SCENES: dict[str, Callable[[], Scene]] = {
    "room": room,
    "closed_corridor": closed_corridor,
    "bare_corridor": bare_corridor,
    "door_corridor": door_corridor,
    "street": street,
}
"""Each scene's builder by name."""
