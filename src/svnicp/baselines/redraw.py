# SPDX-License-Identifier: MIT
"""New clouds of known rays: what changes from one scan of a place to the next.

Exact rays of some map scans and one source scan come in, from ``simulation.cast`` or from exact
points; every call draws range noise, a range bias for each sensor sweep, and which points return.
It is the ``Redraw`` of ``monte_carlo.spread_over_redraws``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.config import MapConfig
from svnicp.errors import InputError
from svnicp.lie import transform_points
from svnicp.local_map import VoxelMap
from svnicp.simulation import Rays


@dataclass(frozen=True, eq=False)
class RayRedraw:
    """Draws a source cloud and a map of the same place again and again.

    Raises
    ------
    InputError
        If there is no map scan, or a share or deviation that cannot be.
    """

    T_target_map: Transform
    """(m, 4, 4) exact poses of the map's scans."""
    map_rays: list[Rays]
    """m exact scans that make the map, each in its sensor's frame."""
    source_rays: Rays
    """The exact scan to be registered, in its sensor's frame."""
    map_config: MapConfig
    range_noise_m: float = 0.02
    """Standard deviation of every range [m]."""
    bias_m: float = 0.0
    """Standard deviation of what all ranges of one scan have in common [m]."""
    kept_share: float = 1.0
    """Share of the rays that return, drawn anew for each scan."""

    def __post_init__(self) -> None:
        if not self.map_rays or len(self.map_rays) != len(self.T_target_map):
            raise InputError(
                f"A redraw needs a pose for each of one or more map scans, got "
                f"{len(self.T_target_map)} poses and {len(self.map_rays)} scans."
            )
        if not (0.0 < self.kept_share <= 1.0 and self.bias_m >= 0.0 and self.range_noise_m >= 0.0):
            raise InputError(
                "kept_share must be in (0, 1], bias_m and range_noise_m not negative, got "
                f"{self.kept_share}, {self.bias_m} and {self.range_noise_m}."
            )

    def __call__(self, rng: np.random.Generator) -> tuple[Points, VoxelMap]:
        """New source points (n, 3) in the sensor's frame, and a new map [m]."""
        local_map = VoxelMap(self.map_config)
        for T, rays in zip(self.T_target_map, self.map_rays, strict=True):
            local_map.insert(transform_points(T, self._draw(rays, rng)))
        return self._draw(self.source_rays, rng), local_map

    def _draw(self, rays: Rays, rng: np.random.Generator) -> Points:
        """Noisy points (n, 3) of one scan in its sensor's frame [m]."""
        if self.kept_share < 1.0:
            kept = rng.random(len(rays.ranges)) < self.kept_share
            rays = Rays(rays.directions[kept], rays.ranges[kept])
        bias = self.bias_m * rng.standard_normal()
        return rays.points(rng, self.range_noise_m) + bias * rays.directions


def rays_of(points: Floats) -> Rays:
    """Rays of exact points (n, 3) in the sensor's frame [m]; a point at the sensor is left out."""
    ranges = np.linalg.norm(points, axis=1)
    away = ranges > 0.0
    return Rays(points[away] / ranges[away, None], ranges[away])
