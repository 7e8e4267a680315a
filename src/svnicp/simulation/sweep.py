# SPDX-License-Identifier: MIT
"""One scan of a moving LiDAR: every ray is sent at its own time, from its own pose.

In: a scene, a motion, a sensor, what moves and what disturbs. Out: the points as the sensor
reports them, in its frame at the time of each. Motion distortion is therefore what it is in real
scans.
"""

from dataclasses import dataclass, field

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.errors import InputError
from svnicp.kernels.moving_shapes import meet_movers
from svnicp.kernels.sphere_trace import trace_rays
from svnicp.simulation.effects import Effects, measured_ranges
from svnicp.simulation.geometry import Scene
from svnicp.simulation.motion import Motion
from svnicp.simulation.movers import Mover, rows_and_velocities
from svnicp.simulation.ray_patterns import Lidar
from svnicp.simulation.shape_tables import nearby


@dataclass(frozen=True, eq=False)
class Sweep:
    """The points of one scan."""

    points: Points
    """(n, 3) in the LiDAR frame at the time of each point [m]."""
    times_s: Floats
    """(n,) times since the motion began [s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Surroundings:
    """What a sensor moves in, and how."""

    scene: Scene
    """What stands still."""
    motion: Motion
    """How the body moves."""
    T_body_lidar: Transform
    """(4, 4) where the sensor sits on the body."""
    movers: tuple[Mover, ...] = ()
    """What else moves."""
    effects: Effects = field(default_factory=Effects)
    """What happens to beams."""
    instantaneous: bool = False
    """Whether all rays of a scan are sent at its start."""


def sweep(surroundings: Surroundings, sensor: Lidar, scan: int, rng: np.random.Generator) -> Sweep:
    """Return the points of one scan.

    Parameters
    ----------
    surroundings
        What the sensor moves in, and how.
    sensor
        The LiDAR.
    scan
        Number of the scan; it starts after ``scan / sensor.rate_hz`` seconds.
    rng
        Source of noise and loss.
    """
    shots = sensor.shots(scan)
    start_s = scan / sensor.rate_hz
    delays_s = np.zeros_like(shots.times_s) if surroundings.instantaneous else shots.times_s
    origins, directions = _rays_world(surroundings, shots.directions, start_s, delays_s)
    _check_free(surroundings.scene, origins[:1], start_s)
    reach = sensor.max_range_m
    scene = nearby(
        surroundings.scene.arrays, origins.min(axis=0) - reach, origins.max(axis=0) + reach
    )
    ranges, cosines = trace_rays(origins, directions, reach, scene)
    if surroundings.movers:
        period_s = 1.0 / sensor.rate_hz
        rows, velocities = rows_and_velocities(surroundings.movers, start_s, period_s)
        meet_movers(origins, directions, delays_s, rows, velocities, ranges, cosines)
    measured = measured_ranges(
        surroundings.effects, origins, directions, ranges, cosines,
        sensor.max_range_m, sensor.range_noise_m, rng,
    )  # fmt: skip
    kept = (measured >= sensor.min_range_m) & (measured <= sensor.max_range_m)
    points = shots.directions[kept] * measured[kept, None]
    return Sweep(points, start_s + delays_s[kept])


def _rays_world(
    surroundings: Surroundings, directions_lidar: Points, start_s: float, delays_s: Floats
) -> tuple[Points, Points]:
    """Return (n, 3) origins [m] and (n, 3) directions of rays in the world."""
    # Rays that are fired together share a pose.
    moments, which = np.unique(delays_s, return_inverse=True)
    T_world_lidar = surroundings.motion.T_world_body(start_s + moments) @ surroundings.T_body_lidar
    directions = np.einsum("nij,nj->ni", T_world_lidar[which, :3, :3], directions_lidar)
    return T_world_lidar[which, :3, 3], directions


def _check_free(scene: Scene, origin_world: Points, time_s: float) -> None:
    """Refuse a motion that has led the sensor into a wall."""
    if not scene.distance(origin_world)[0] > 0.0:
        raise InputError(
            f"At {time_s:g} s the sensor is inside a solid of scene {scene.name!r}, at "
            f"{origin_world[0]}; move it through free space."
        )
