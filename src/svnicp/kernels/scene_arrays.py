# SPDX-License-Identifier: MIT
"""A simulated scene as arrays that compiled code can take, and the rays that are sent through it.

Python builds them (``svnicp.simulation.geometry``), ``sphere_trace`` reads them. Inner loops are
handed the arrays one by one: taking one out of a tuple counts references, which costs more than
the arithmetic.
"""

from typing import NamedTuple

from svnicp.arrays import Floats

GROUP_SIZE = 8
"""Neighbouring shapes that share a bounding box."""


class Wall(NamedTuple):
    """How the border of the free shapes looks."""

    enclosed: bool
    """Whether only the free shapes are free; otherwise all space is, and there is no wall."""
    blend: float
    """Length over which the union of free shapes is smoothed [m]."""
    roughness: float
    """Rock stands out into free space by at most this much [m]."""
    frequency: float
    """One over the length over which it varies [1/m]."""
    seed: int
    """Which rock."""
    steepness: float
    """Lipschitz constant of the distance to the rough wall; 1 when smooth."""


class SceneArrays(NamedTuple):
    """A scene: free space is a union of shapes above the ground, minus solid shapes.

    Shapes come in an order in which neighbours in space are neighbours in the table.
    """

    free_rows: Floats
    """(m, 9) free shapes as in ``svnicp.kernels.shapes``."""
    free_bounds: Floats
    """(m, 6) centres and half sizes of their bounding boxes [m]."""
    free_groups: Floats
    """(ceil(m / GROUP_SIZE), 6) the same for groups of consecutive shapes [m]."""
    solid_rows: Floats
    """(k, 9) solid shapes, then their boxes and the boxes of their groups."""
    solid_bounds: Floats
    solid_groups: Floats
    wall: Wall
    heights: Floats
    """(nx, ny) heights of the ground [m], empty without ground; see ``svnicp.kernels.terrain``."""
    grid: Floats
    """x and y of the first height [m], length of a cell [m], steepest slope."""
    tile_tops: Floats
    """Highest point of each block of cells [m]."""


class Ray(NamedTuple):
    """Origin [m] and unit direction of a ray in the world."""

    ox: float
    oy: float
    oz: float
    ux: float
    uy: float
    uz: float
