# SPDX-License-Identifier: MIT
"""A spinning LiDAR in a scene: which rays it sends, and where they end.

In: a scene, the sensor's pose, a pattern of rays. Out: the rays that hit something, with exact
ranges; range noise is added when points are asked for, so that it can be redrawn without casting
again. The sensor stands still during a scan.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.errors import ConfigError, InputError
from svnicp.kernels.sphere_trace import trace_rays
from svnicp.simulation.geometry import Scene


@dataclass(frozen=True, eq=False)
class LidarPattern:
    """The rays of one revolution: every elevation at every column.

    Parameters
    ----------
    elevations_rad
        (num_rings,) angles above the sensor's x-y plane [rad].
    num_columns
        Number of azimuths, evenly spread over the circle, the first along x.
    max_range_m, min_range_m
        Ranges outside of this are not returned [m].
    """

    elevations_rad: Floats
    num_columns: int
    max_range_m: float = 100.0
    min_range_m: float = 0.3

    def __post_init__(self) -> None:
        if not 0.0 <= self.min_range_m < self.max_range_m:
            raise ConfigError(
                "The ranges of a LiDAR must satisfy 0 <= min_range_m < max_range_m, "
                f"got {self.min_range_m} and {self.max_range_m}."
            )
        if self.num_columns < 1 or len(self.elevations_rad) < 1:
            raise ConfigError("A LiDAR needs at least one ring and one column.")

    @classmethod
    def rings(
        cls,
        num_rings: int = 64,
        num_columns: int = 1024,
        lowest_deg: float = -25.0,
        highest_deg: float = 15.0,
        max_range_m: float = 100.0,
    ) -> "LidarPattern":
        """Return a pattern of evenly spaced rings between two elevations [deg]."""
        elevations = np.radians(np.linspace(lowest_deg, highest_deg, num_rings))
        return cls(elevations, num_columns, max_range_m)

    def directions(self) -> Points:
        """Return (num_columns * num_rings, 3) unit vectors in the LiDAR frame, column by column."""
        azimuths = np.arange(self.num_columns) * (2.0 * np.pi / self.num_columns)
        azimuth, elevation = np.meshgrid(azimuths, self.elevations_rad, indexing="ij")
        horizontal = np.cos(elevation)
        components = (
            horizontal * np.cos(azimuth),
            horizontal * np.sin(azimuth),
            np.sin(elevation),
        )
        return np.stack(components, axis=-1).reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class Rays:
    """Rays that hit something, and where.

    Parameters
    ----------
    directions
        (n, 3) unit vectors in the LiDAR frame.
    ranges
        (n,) exact ranges [m].
    """

    directions: Points
    ranges: Floats

    def points(self, rng: np.random.Generator | None = None, range_noise_m: float = 0.0) -> Points:
        """Return (n, 3) points in the LiDAR frame [m], with new range noise at every call.

        Parameters
        ----------
        rng
            Source of the noise; needed when there is any.
        range_noise_m
            Standard deviation of the range along the beam [m].
        """
        if range_noise_m < 0.0:
            raise InputError(f"range_noise_m must not be negative, got {range_noise_m}.")
        if range_noise_m == 0.0:
            return self.directions * self.ranges[:, None]
        if rng is None:
            raise InputError("Range noise needs a random generator: pass rng.")
        noisy = self.ranges + range_noise_m * rng.standard_normal(len(self.ranges))
        return self.directions * noisy[:, None]


def cast(scene: Scene, T_world_lidar: Transform, pattern: LidarPattern) -> Rays:
    """Return the rays of one revolution that hit the scene within the sensor's range.

    Parameters
    ----------
    scene
        What surrounds the sensor.
    T_world_lidar
        (4, 4) pose of the sensor, which must be in free space.
    pattern
        The sensor's rays.
    """
    origin_world = T_world_lidar[:3, 3]
    if not scene.distance(origin_world[None])[0] > 0.0:
        raise InputError(
            f"The sensor at {origin_world} is inside a solid of scene {scene.name!r}; "
            "move it into free space."
        )
    directions = pattern.directions()
    ranges, _ = trace_rays(
        np.tile(origin_world, (len(directions), 1)),
        np.ascontiguousarray(directions @ T_world_lidar[:3, :3].T),
        pattern.max_range_m,
        scene.arrays,
    )
    seen = np.isfinite(ranges) & (ranges >= pattern.min_range_m)
    return Rays(directions[seen], ranges[seen])


def scan(
    scene: Scene,
    T_world_lidar: Transform,
    pattern: LidarPattern,
    rng: np.random.Generator,
    range_noise_m: float = 0.02,
) -> Points:
    """Return (n, 3) noisy points of one revolution in the LiDAR frame [m].

    Parameters
    ----------
    scene, T_world_lidar, pattern
        As in ``cast``.
    rng
        Source of the range noise.
    range_noise_m
        Standard deviation of the range along the beam [m].
    """
    return cast(scene, T_world_lidar, pattern).points(rng, range_noise_m)
