# SPDX-License-Identifier: MIT
"""A pencil for worlds: shapes are added one by one and end as the arrays of a ``Scene``.

Everything is in metres. A span is a pair (from, to) along one axis, in any order; a point is
(x, y, z).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from svnicp.arrays import Floats, Points
from svnicp.simulation.geometry import Scene, Terrain

Span: TypeAlias = tuple[float, float]
Point: TypeAlias = Sequence[float] | Floats

ENDLESS_M = 250.0
"""How far something goes on past the ends of the way when no sensor should see where it ends."""


def up(height_m: float) -> Floats:
    """Return the vector that points up by this much [m]."""
    return np.array([0.0, 0.0, height_m])


class Shapes:
    """Shapes drawn so far."""

    def __init__(self) -> None:
        self._rows: dict[str, list[list[float]]] = {}

    def free_box(self, x: Span, y: Span, z: Span) -> None:
        """Clear a box; neighbouring free boxes must overlap."""
        self._add("free_boxes", _corners(x, y, z))

    def box(self, x: Span, y: Span, z: Span) -> None:
        """Add a solid box."""
        self._add("solid_boxes", _corners(x, y, z))

    def cylinder(self, x: float, y: float, radius: float, z: Span) -> None:
        """Add a solid, upright cylinder."""
        self._add("solid_cylinders", [x, y, radius, *sorted(z)])

    def tunnel(self, start: Point, end: Point, radius: float) -> None:
        """Clear a tunnel with round ends."""
        self._add("free_tubes", [*start, *end, radius])

    def bar(self, start: Point, end: Point, radius: float) -> None:
        """Add a solid round bar: a pipe, a rail, a branch."""
        self._add("solid_bars", [*start, *end, radius])

    def ball(self, centre: Point, radius: float) -> None:
        """Add a solid ball: a boulder, the crown of a tree."""
        self._add("solid_bars", [*centre, *centre, radius])

    def turned_box(self, xy: Point, z: Span, size: tuple[float, float], yaw: float) -> None:
        """Add a solid box about (x, y) whose size is (length along ``yaw`` [rad], width)."""
        middle, half = 0.5 * (z[0] + z[1]), 0.5 * abs(z[1] - z[0])
        row = [xy[0], xy[1], middle, 0.5 * size[0], 0.5 * size[1], half, yaw]
        self._add("solid_yaw_boxes", row)

    def corridor(self, corners: Points, width: float, height: float) -> None:
        """Clear a corridor whose straights, between (n, 2) corners, run along x or y."""
        for a, b in pairwise(corners):
            low, high = np.minimum(a, b) - width / 2, np.maximum(a, b) + width / 2
            self.free_box((low[0], high[0]), (low[1], high[1]), (0.0, height))

    def tree(self, x: float, y: float, ground: float, height: float) -> None:
        """Add a trunk with a crown of three balls."""
        crown = 0.28 * height
        self.cylinder(x, y, 0.03 * height, (ground - 0.5, ground + 0.7 * height))
        for turn, lift in ((0.3, 0.62), (2.4, 0.72), (4.5, 0.82)):
            side = 0.45 * crown
            centre = (x + side * np.cos(turn), y + side * np.sin(turn), ground + lift * height)
            self.ball(centre, 0.75 * crown)

    def scene(
        self,
        name: str,
        *,
        blend_m: float = 0.0,
        roughness_m: float = 0.0,
        roughness_length_m: float = 1.0,
        roughness_seed: int = 0,
        terrain: Terrain | None = None,
    ) -> Scene:
        """Return the scene of all shapes; the options are those of ``Scene``."""
        return Scene(
            name,
            **{kind: np.array(values) for kind, values in self._rows.items()},
            blend_m=blend_m,
            roughness_m=roughness_m,
            roughness_length_m=roughness_length_m,
            roughness_seed=roughness_seed,
            terrain=terrain,
        )

    def _add(self, kind: str, row: list[float]) -> None:
        self._rows.setdefault(kind, []).append([float(value) for value in row])


def _corners(x: Span, y: Span, z: Span) -> list[float]:
    """Return lower and upper corner of the box between three spans."""
    spans = [sorted(span) for span in (x, y, z)]
    return [span[0] for span in spans] + [span[1] for span in spans]
