# SPDX-License-Identifier: MIT
"""For the tests of the simulator: a ride from rest with all six degrees of freedom, and a map."""

import numpy as np

from svnicp.cli.euler import rotation_from_rpy
from svnicp.lie import make_transform, transform_points
from svnicp.simulation import LidarPattern, Scene, scan
from svnicp.simulation.motion import Motion


def ride(duration_s=12.0, rest_s=2.0, length_m=6.0, turn_rad=0.8, start=(0.0, 0.0, 1.5)):
    """Return a motion that rests, sets off smoothly, weaves, nods and rolls."""
    times = np.linspace(0.0, duration_s, round(duration_s / 0.02) + 1)
    moved = np.clip((times - rest_s) / (duration_s - rest_s), 0.0, 1.0)
    moved = moved**4 * (35.0 - 84.0 * moved + 70.0 * moved**2 - 20.0 * moved**3)
    positions = np.column_stack(
        [length_m * moved, 0.3 * np.sin(3.0 * moved), 0.02 * moved * np.sin(9.0 * times)]
    )
    angles = np.column_stack(
        [
            turn_rad * moved,
            0.06 * moved * np.sin(7.0 * times),
            0.05 * moved * np.sin(5.0 * times + 1.0),
        ]
    )
    return Motion(times, positions + np.array(start), angles)


def map_points(scene: Scene, pattern: LidarPattern, rng: np.random.Generator) -> np.ndarray:
    """Return the points (n, 3) of eight scans one behind the other, in the world [m]."""
    scans = []
    for number, x in enumerate(np.linspace(-0.9, 0.5, 8)):
        position = np.array([x, 0.1 * np.sin(number), 1.5])
        yaw = np.array([0.0, 0.0, 0.05 * number])
        T_world_lidar = make_transform(rotation_from_rpy(yaw), position)
        scans.append(transform_points(T_world_lidar, scan(scene, T_world_lidar, pattern, rng)))
    return np.concatenate(scans)
