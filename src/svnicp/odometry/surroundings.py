# SPDX-License-Identifier: MIT
"""The map of an odometry, from how many places it was seen, and how far it has drifted.

Scans are put in at the pose of the motion model, which hands its error over to the map as far as
that is made anew.
"""

import numpy as np

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.kernels.deskew import moved
from svnicp.local_map import VoxelMap
from svnicp.odometry.belief import lies_in
from svnicp.odometry.drift import MapDrift
from svnicp.odometry.map_scale import finest_scale, fitting_scale
from svnicp.odometry.map_views import MapViews
from svnicp.odometry.motion import MotionModel
from svnicp.odometry.outcome import Outcome
from svnicp.pose_gaussian import PoseGaussian
from svnicp.preprocess import thinned

PRUNE_EVERY = 10
"""Scans between two prunings of the map."""


class Surroundings:
    """A map around the body, and what is known about it."""

    def __init__(self, config: Config) -> None:
        self.local_map = VoxelMap(config.map)
        self.views = MapViews()
        self.drift = MapDrift(config.drift)
        self._has_one_scan = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no map yet."""
        return self.local_map.num_voxels == 0

    def begin(self, motion: MotionModel, config: Config) -> None:
        """Begin a map at the present pose: it takes over what is not known of that."""
        motion.hand_over(1.0)
        self.local_map, self.views = VoxelMap(config.map), MapViews()
        self._has_one_scan = True

    def replace(self, config: Config) -> None:
        """Forget the map, but not what is known about it: the next scan takes its place."""
        self.local_map = VoxelMap(config.map)

    def put(self, points: Points, motion: MotionModel, config: Config) -> float:
        """Add points (n, 3) of the body frame; returns the share of the map that is new."""
        kept = thinned(points, config.preprocess.max_map_points)
        return self.local_map.insert(moved(motion.T_world_body, kept))

    def follow(self, step: PoseGaussian, outcome: Outcome) -> PoseGaussian:
        """Carry the map's error along with a step; returns it with what may hold it back."""
        self.drift.move(step.T_world_body)
        if outcome.measurement is None or not outcome.fate.used:
            return step
        held_back = self.drift.hold_back(step.T_world_body, outcome.measurement.scan_covariance)
        return PoseGaussian(step.T_world_body, step.covariance + held_back)

    def insert(
        self, points: Points, outcome: Outcome, motion: MotionModel, config: Config, number: int
    ) -> None:
        """Add a believed scan (n, 3), and let the map's error grow by what it brings.

        ``number``: of the scan, by which it is decided when the map forgets what is far away.
        """
        share, place = self.put(points, motion, config), motion.T_world_body[:3, 3]
        self.views.add(place, config.map.plane_radius_m)
        motion.hand_over(share)
        if outcome.measurement is not None and outcome.fate.used:
            scan_cov = outcome.measurement.scan_covariance
            if self._has_one_scan:
                self.drift.begin(scan_cov)
                self._has_one_scan = False
            taken = self.drift.renew(share, scan_cov, outcome.predicted_cov)
            motion.map_turned(taken[3:, 3:])
        if number % PRUNE_EVERY == 0:
            self.local_map.prune(place, config.odometry.map_radius_m)

    def is_witness(self, outcome: Outcome, config: Config) -> bool:
        """Whether a scan may contradict an IMU: much of it is matched, or the map is well known."""
        matched = outcome.result.num_matches if outcome.result is not None else 0
        return self.views.are_many or 2 * matched >= config.source.max_points

    def shows_no_surface(self, points: Points, motion: MotionModel, config: Config) -> bool:
        """Whether a scan (n, 3) lies in the map, which is too thin for planes there.

        Sparse scans make surfaces together, or never: none of them can be matched before.
        """
        reach = config.match.max_distance_m
        place_var = np.linalg.eigvalsh(motion.pose_covariance[:3, :3])[-1]
        return place_var <= reach**2 and lies_in(self.local_map, points, motion.T_world_body, reach)


def scaled_to(points: Points, config: Config, *, carried: bool) -> Config:
    """Configuration with voxels that fit a first scan (n, 3), if they are to be chosen by it.

    ``carried``: whether an IMU carries the body.
    """
    if not config.odometry.auto_voxel or config.match.metric != "plane":
        return config
    return finest_scale(points, config) if carried else fitting_scale(points, config)
