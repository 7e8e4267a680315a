# SPDX-License-Identifier: MIT
"""What a static world is made of: free space, solids, rough walls, ground.

In: primitives as rows of numbers. Out: a ``Scene``, one signed-distance function that rays can be
traced in. Free space is the union of the free shapes (everything when there are none) above the
ground, minus the solid shapes.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from svnicp.arrays import Floats, Points
from svnicp.errors import InputError
from svnicp.kernels.scene_arrays import SceneArrays, Wall
from svnicp.kernels.sphere_trace import scene_distances
from svnicp.kernels.terrain import TILE_CELLS
from svnicp.kernels.value_noise import STEEPEST
from svnicp.kernels.walls import BLEND_REACH
from svnicp.simulation.shape_tables import (
    box_rows,
    capsule_rows,
    cylinder_rows,
    shape_table,
    yaw_box_rows,
)

_WIDTHS = {
    "free_boxes": 6,
    "solid_boxes": 6,
    "solid_cylinders": 5,
    "free_tubes": 7,
    "free_yaw_boxes": 7,
    "solid_bars": 7,
    "solid_yaw_boxes": 7,
}


@dataclass(frozen=True, eq=False)
class Terrain:
    """Ground as heights on a square grid, bilinear in between; beyond the grid as at its edge.

    Parameters
    ----------
    heights
        (nx, ny) heights; the first index goes along x [m].
    origin_xy
        Where ``heights[0, 0]`` is [m].
    cell_m
        Distance from one height to the next [m].
    """

    heights: Floats
    origin_xy: tuple[float, float]
    cell_m: float

    def __post_init__(self) -> None:
        heights = np.ascontiguousarray(self.heights, dtype=np.float64)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.all(np.isfinite(heights)):
            raise InputError(
                "The heights of a terrain must be a grid of at least 2 x 2 finite numbers, got "
                f"shape {heights.shape}."
            )
        if not self.cell_m > 0.0:
            raise InputError(f"cell_m of a terrain must be positive, got {self.cell_m}.")
        object.__setattr__(self, "heights", heights)

    @cached_property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Heights, grid and highest points of blocks, as in ``svnicp.kernels.terrain``."""
        slope_x = np.abs(np.diff(self.heights, axis=0)).max() / self.cell_m
        slope_y = np.abs(np.diff(self.heights, axis=1)).max() / self.cell_m
        grid = np.array([*self.origin_xy, self.cell_m, np.hypot(slope_x, slope_y)])
        return self.heights, grid, _tile_tops(self.heights)

    def height(self, xy: Floats) -> Floats:
        """Return the heights of the ground at (n, 2) positions [m]."""
        last = np.array(self.heights.shape) - 1.0
        cells = np.clip((np.asarray(xy) - self.origin_xy) / self.cell_m, 0.0, last)
        i, j = np.minimum(cells, last - 1.0).astype(np.int64).T
        a, b = (cells - np.column_stack([i, j])).T
        near = (1.0 - a) * self.heights[i, j] + a * self.heights[i + 1, j]
        far = (1.0 - a) * self.heights[i, j + 1] + a * self.heights[i + 1, j + 1]
        return (1.0 - b) * near + b * far


def _tile_tops(heights: Floats) -> Floats:
    """Return the highest corner of every block of cells, one row of cells around the grid kept."""
    num_tiles = [-(-(size + 1) // TILE_CELLS) for size in heights.shape]
    missing = [num * TILE_CELLS - size for num, size in zip(num_tiles, heights.shape, strict=True)]
    corners = np.pad(heights, [(1, missing[0]), (1, missing[1])], mode="edge")
    tops = np.full(num_tiles, -np.inf)
    for i in range(TILE_CELLS + 1):
        for j in range(TILE_CELLS + 1):
            corner = corners[i : i + num_tiles[0] * TILE_CELLS : TILE_CELLS]
            tops = np.maximum(tops, corner[:, j : j + num_tiles[1] * TILE_CELLS : TILE_CELLS])
    return tops


@dataclass(frozen=True, eq=False)
class Scene:
    """Static surroundings as one signed-distance function.

    Parameters
    ----------
    name
        What the scene is called in tables and file names.
    free_boxes
        (m, 6) lower corner, then upper corner [m]. Neighbours must overlap: where two free shapes
        only touch, the distance is zero and a ray stops as if there were a wall.
    solid_boxes
        (m, 6) boxes that stand in the free space [m].
    solid_cylinders
        (m, 5) vertical cylinders: x, y, radius, bottom, top [m].
    free_tubes, solid_bars
        (m, 7) capsules: start, end, radius [m]; a sphere when both ends are the same.
    free_yaw_boxes, solid_yaw_boxes
        (m, 7) boxes that are turned about z: centre, half sizes [m], yaw [rad].
    blend_m
        Length over which the free shapes join smoothly [m].
    roughness_m, roughness_length_m, roughness_seed
        The walls of the free shapes stand out into free space by up to this much [m], varying over
        this length [m]; the seed chooses how. Solids and terrain stay smooth.
    terrain
        Ground that is solid below, None for no ground.
    """

    name: str
    free_boxes: Floats = field(default_factory=lambda: np.empty((0, 6)))
    solid_boxes: Floats = field(default_factory=lambda: np.empty((0, 6)))
    solid_cylinders: Floats = field(default_factory=lambda: np.empty((0, 5)))
    free_tubes: Floats = field(kw_only=True, default_factory=lambda: np.empty((0, 7)))
    free_yaw_boxes: Floats = field(kw_only=True, default_factory=lambda: np.empty((0, 7)))
    solid_bars: Floats = field(kw_only=True, default_factory=lambda: np.empty((0, 7)))
    solid_yaw_boxes: Floats = field(kw_only=True, default_factory=lambda: np.empty((0, 7)))
    blend_m: float = field(kw_only=True, default=0.0)
    roughness_m: float = field(kw_only=True, default=0.0)
    roughness_length_m: float = field(kw_only=True, default=1.0)
    roughness_seed: int = field(kw_only=True, default=0)
    terrain: Terrain | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        for attribute, width in _WIDTHS.items():
            values = np.ascontiguousarray(getattr(self, attribute), dtype=np.float64)
            if values.ndim != 2 or values.shape[1] != width:
                raise InputError(
                    f"{attribute} of scene {self.name!r} must have shape (m, {width}), "
                    f"got {values.shape}."
                )
            object.__setattr__(self, attribute, values)
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Refuse shapes without an inside, and negative lengths."""
        boxes = np.concatenate([self.free_boxes, self.solid_boxes])
        if not np.all(boxes[:, :3] < boxes[:, 3:]):
            raise InputError(
                f"A box of scene {self.name!r} is empty: give its lower corner first, then its "
                "upper corner."
            )
        turned = np.concatenate([self.free_yaw_boxes, self.solid_yaw_boxes])
        capsules = np.concatenate([self.free_tubes, self.solid_bars])
        lengths = (turned[:, 3:6], capsules[:, 6], self.solid_cylinders[:, 2])
        if not all(np.all(values > 0.0) for values in lengths):
            raise InputError(
                f"A turned box, capsule or cylinder of scene {self.name!r} has no inside: its "
                "half sizes and radius must be positive."
            )
        if min(self.blend_m, self.roughness_m) < 0.0 or not self.roughness_length_m > 0.0:
            raise InputError(
                f"blend_m and roughness_m of scene {self.name!r} must not be negative, and "
                "roughness_length_m must be positive."
            )

    @cached_property
    def arrays(self) -> SceneArrays:
        """The same for compiled code."""
        free = np.concatenate(
            [
                box_rows(self.free_boxes),
                yaw_box_rows(self.free_yaw_boxes),
                capsule_rows(self.free_tubes),
            ]
        )
        solid = np.concatenate(
            [
                box_rows(self.solid_boxes),
                yaw_box_rows(self.solid_yaw_boxes),
                capsule_rows(self.solid_bars),
                cylinder_rows(self.solid_cylinders),
            ]
        )
        no_ground = np.empty((0, 0)), np.zeros(4), np.empty((0, 0))
        heights, grid, tile_tops = no_ground if self.terrain is None else self.terrain.arrays
        return SceneArrays(
            *shape_table(free, margin_m=BLEND_REACH * self.blend_m),
            *shape_table(solid),
            wall=self._wall(enclosed=len(free) > 0),
            heights=heights,
            grid=grid,
            tile_tops=tile_tops,
        )

    def _wall(self, *, enclosed: bool) -> Wall:
        """Return how the border of the free shapes looks."""
        frequency = 1.0 / self.roughness_length_m
        return Wall(
            enclosed,
            blend=float(self.blend_m),
            roughness=float(self.roughness_m),
            frequency=frequency,
            seed=int(self.roughness_seed),
            steepness=1.0 + STEEPEST * self.roughness_m * frequency,
        )

    def distance(self, points_world: Points) -> Floats:
        """Return the signed distance of each point to the surface, positive in free space.

        Parameters
        ----------
        points_world
            (n, 3) positions [m].

        Returns
        -------
        (n,) distances [m]: zero exactly on the surface, in free space never too long.
        """
        return scene_distances(np.ascontiguousarray(points_world, dtype=np.float64), self.arrays)

    def ground_height(self, xy: Floats) -> Floats:
        """Return the heights of the terrain at (n, 2) positions [m]."""
        if self.terrain is None:
            raise InputError(f"Scene {self.name!r} has no terrain to ask the height of.")
        return self.terrain.height(xy)
