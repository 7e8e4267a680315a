# SPDX-License-Identifier: MIT
"""On and under water: little to see, and the water itself returns nothing.

``waterway_short`` and ``waterway_long`` are canals between long straight banks; ``ocean`` is open
water over a smooth sea bed with a few rocks and a wreck.
"""

import numpy as np

from svnicp.simulation.effects import Effects
from svnicp.simulation.worlds.ground import bumpy_ground
from svnicp.simulation.worlds.routes import loop, straight
from svnicp.simulation.worlds.shapes import ENDLESS_M, Shapes
from svnicp.simulation.worlds.world import World


def waterway_short(rng: np.random.Generator, length_m: float) -> World:
    """Return a canal 30 m wide with trees, sheds and moored boats, and a stretch without."""
    return _canal("waterway_short", rng, length_m, 30.0, (18.0, 45.0), 90.0)


def waterway_long(rng: np.random.Generator, length_m: float) -> World:
    """Return a canal 56 m wide whose banks are bare for hundreds of metres."""
    return _canal("waterway_long", rng, length_m, 56.0, (60.0, 140.0), 300.0)


def ocean(rng: np.random.Generator, length_m: float) -> World:
    """Return a sea bed of low dunes with few rocks and a wreck, in slightly murky water."""
    angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False) + rng.uniform(0.0, 2.0 * np.pi)
    ring = np.column_stack(
        [
            62.0 * np.cos(angles),
            48.0 * np.sin(angles),
            7.5 + 1.5 * np.sin(3.0 * angles) + rng.uniform(-0.5, 0.5),
        ]
    )
    shapes = Shapes()
    for angle in rng.uniform(0.0, 2.0 * np.pi, 14):
        reach = rng.choice([rng.uniform(0.3, 0.75), rng.uniform(1.25, 1.7)])
        centre = np.array([62.0 * reach * np.cos(angle), 48.0 * reach * np.sin(angle), 0.0])
        for _ in range(rng.integers(1, 4)):
            shapes.ball(centre + rng.uniform(-2.0, 2.0, 3), rng.uniform(0.8, 3.0))
        if rng.random() < 0.35:  # a spire that reaches the height of the flight
            shapes.cylinder(centre[0], centre[1], rng.uniform(0.6, 1.2), (-2.0, rng.uniform(7, 12)))
    x, y, yaw = rng.uniform(-18.0, 18.0), rng.uniform(-12.0, 12.0), rng.uniform(0.0, 3.14)
    shapes.turned_box((x, y), (-1.0, 3.0), (22.0, 6.0), yaw)  # the wreck: a hull, a bridge, a mast
    shapes.turned_box((x, y), (3.0, 6.5), (5.0, 5.0), yaw)
    shapes.cylinder(x + 4.0 * np.cos(yaw), y + 4.0 * np.sin(yaw), 0.3, (3.0, 11.0))
    scene = shapes.scene("ocean", terrain=bumpy_ground(rng, ring, 120.0, 2.0, [(0.35, 40.0)]))
    murky = Effects(fog_visibility_m=250.0, early_return_share=0.002)
    return World(scene, loop(ring, length_m), corner_m=4.0, effects=murky)


def _canal(
    name: str,
    rng: np.random.Generator,
    length_m: float,
    width_m: float,
    spacing_m: tuple[float, float],
    bare_m: float,
) -> World:
    """Return a straight canal; its banks carry something every ``spacing_m``, with bare stretches.

    Parameters
    ----------
    name, rng, length_m
        As for every builder; the first bare stretch begins at 20 m.
    width_m
        Width of the water [m].
    spacing_m
        Shortest and longest distance between two things on one bank [m].
    bare_m
        Length of each bare stretch; as much again lies between two [m].
    """
    shapes = Shapes()
    ends = (-ENDLESS_M, length_m + ENDLESS_M)
    for side in (-1.0, 1.0):
        edge = side * width_m / 2
        # Land starts at the water's level: what is below is never lit.
        shapes.box(ends, (edge, edge + side * 120.0), (0.0, 0.9))
        shapes.box(ends, (edge + side * 6.0, edge + side * 120.0), (0.0, 1.8))
        x = ends[0]
        while x < ends[1]:
            if not _is_bare(x, bare_m):
                _thing_on_the_bank(shapes, rng, x, edge, side)
            x += rng.uniform(*spacing_m)
    for x in np.arange(20.0 + 1.6 * bare_m, length_m, 4.0 * bare_m):  # bridges
        shapes.box((x, x + 7.0), (-width_m, width_m), (7.0, 8.0))
        for y in (-width_m / 2 - 1.0, width_m / 2 + 1.0):
            shapes.box((x + 1.0, x + 6.0), (y - 0.6, y + 0.6), (0.0, 7.5))
    return World(shapes.scene(name), straight(length_m))


def _is_bare(x: float, bare_m: float) -> bool:
    """Tell whether nothing stands on the banks at x."""
    return x > 20.0 and (x - 20.0) % (2.0 * bare_m) < bare_m


def _thing_on_the_bank(
    shapes: Shapes, rng: np.random.Generator, x: float, edge: float, side: float
) -> None:
    """Put a tree, a group of trees, a shed or a moored boat at the edge of a bank."""
    kind = rng.choice(["tree", "trees", "shed", "boat"], p=[0.4, 0.3, 0.15, 0.15])
    if kind == "shed":
        near = edge + side * rng.uniform(3.0, 10.0)
        shapes.box((x, x + rng.uniform(4.0, 9.0)), (near, near + side * 6.0), (0.0, 5.0))
    elif kind == "boat":
        length, yaw = rng.uniform(5.0, 9.0), rng.uniform(-0.06, 0.06)
        berth = edge - side * 1.4
        shapes.turned_box((x, berth), (0.0, 0.9), (length, 2.0), yaw)
        shapes.turned_box((x - 0.5, berth), (0.9, 1.8), (0.4 * length, 1.6), yaw)
    else:
        for _ in range(1 if kind == "tree" else rng.integers(3, 6)):
            y = edge + side * rng.uniform(1.5, 9.0)
            shapes.tree(x + rng.uniform(-5.0, 5.0), y, 0.9, rng.uniform(4.0, 9.0))
