# SPDX-License-Identifier: MIT
"""The two experiments of the demo: a map of a few simulated scans, and a new scan registered in it.

The map's poses are exact and its points noisy; the new scan is noisy and its guess is drawn from
the prior that the registration is told. The truth is known, so the answer can be checked.
"""

import time
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Covariance, Points, Tangent, Transform
from svnicp.cli.euler import rotation_from_rpy
from svnicp.config import Config
from svnicp.lie import make_transform, se3_exp, se3_inverse, se3_log, transform_points
from svnicp.local_map import VoxelMap
from svnicp.registration import RegistrationResult, register_in_map
from svnicp.simulation import SCENES, LidarPattern, Scene, scan

SCENE_NAMES = ("room", "bare_corridor")

NUM_RINGS, NUM_COLUMNS = 32, 512
RANGE_NOISE_M = 0.02
PRIOR_STD_M, PRIOR_STD_DEG = 0.1, 1.0
"""How good the guess is, per axis."""

MAP_POSITIONS = np.column_stack(
    [np.linspace(-0.9, 0.5, 8), 0.1 * np.sin(np.arange(8.0)), np.full(8, 1.5)]
)
"""(8, 3) where the scans of the map are taken [m]."""
T_WORLD_LIDAR = make_transform(
    rotation_from_rpy(np.radians([1.0, -1.0, 8.0])), np.array([0.8, 0.15, 1.48])
)
"""(4, 4) true pose of the new scan."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """One scan registered in one scene, with the truth."""

    name: str
    """The scene's name."""
    target: Points
    """(n, 3) points of the map [m]."""
    source: Points
    """(n, 3) points of the new scan in its own frame [m]."""
    guess: Transform
    """(4, 4) the prior's mean."""
    prior_covariance: Covariance
    """(6, 6) covariance of the guess."""
    result: RegistrationResult
    seconds: float
    """Time of the registration in the finished map, everything compiled [s]."""

    @property
    def title(self) -> str:
        """The scene's name for people."""
        return self.name.replace("_", " ").capitalize()

    @property
    def error(self) -> Tangent:
        """(6,) truth seen from the estimate, in source axes [m, rad]."""
        return se3_log(se3_inverse(self.result.T_target_source) @ T_WORLD_LIDAR)

    @property
    def nees(self) -> float:
        """Squared error in standard deviations over all six axes; 6 is expected."""
        return float(self.result.pose.mahalanobis_squared(T_WORLD_LIDAR))


def perform(name: str, seed: int) -> Experiment:
    """Simulate the scene of this name and register the new scan in it."""
    rng = np.random.default_rng([seed, SCENE_NAMES.index(name)])
    scene, pattern = SCENES[name](), LidarPattern.rings(NUM_RINGS, NUM_COLUMNS)
    target = map_points(scene, pattern, rng)
    source = scan(scene, T_WORLD_LIDAR, pattern, rng, RANGE_NOISE_M)
    sigmas = np.array([PRIOR_STD_M] * 3 + [np.radians(PRIOR_STD_DEG)] * 3)
    guess = T_WORLD_LIDAR @ se3_exp(sigmas * rng.standard_normal(6))
    config = Config.preset("default")
    local_map = VoxelMap(config.map)
    local_map.insert(target)

    def timed() -> tuple[RegistrationResult, float]:
        began = time.perf_counter()
        result = register_in_map(
            source, local_map, T_target_source=guess, prior_covariance=np.diag(sigmas**2),
            config=config, rng=np.random.default_rng(seed),
        )  # fmt: skip
        return result, time.perf_counter() - began

    timed()  # compiles, and fits the planes of the map
    result, seconds = timed()
    return Experiment(name, target, source, guess, np.diag(sigmas**2), result, seconds)


def map_points(scene: Scene, pattern: LidarPattern, rng: np.random.Generator) -> Points:
    """(n, 3) points of all scans of the map, in the world [m]."""
    scans = []
    for number, position in enumerate(MAP_POSITIONS):
        yaw = np.array([0.0, 0.0, 0.05 * number])
        T_world_lidar = make_transform(rotation_from_rpy(yaw), position)
        points = scan(scene, T_world_lidar, pattern, rng, RANGE_NOISE_M)
        scans.append(transform_points(T_world_lidar, points))
    return np.concatenate(scans)
