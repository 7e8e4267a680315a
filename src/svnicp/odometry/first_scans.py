# SPDX-License-Identifier: MIT
"""The first scans, which tell how the body moves before there is a prediction.

Two are enough for a LiDAR alone, for which there is nothing else, and for a slow body. With an IMU
a fast motion between them is believed when the next scan lies where it leads; until then the second
one waits, and has no estimate of its own.
"""

from typing import NamedTuple

from svnicp.arrays import Points, Transform
from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.local_map import VoxelMap
from svnicp.odometry.belief import lies_in
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.first_motion import FirstMotion, FirstMotions, first_motion, is_confirmed
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.inputs import num_places
from svnicp.pose_gaussian import PoseGaussian
from svnicp.preprocess import body_points

UNFIT_S = 0.35
"""With an IMU, scans that fit nowhere in the first one are passed over for so long [s]; then it was
the first one that shows something else, and the map begins anew."""

FEW_UNFIT = 2
"""Fewer scans than this do not make the first one wrong."""


class Look(NamedTuple):
    """What scans are looked at with."""

    motion: ConstantVelocity | InertialMotion
    """At the time of the first scan."""
    local_map: VoxelMap
    """Holds the first scan."""
    T_body_lidar: Transform
    config: Config

    def points(self, scan: Scan) -> Points:
        """Points (n, 3) of a scan in the body frame, not deskewed."""
        return body_points(scan, None, self.T_body_lidar, self.config.preprocess).points

    def is_around(self, scan: Scan) -> bool:
        """Whether a scan lies where the map is, too thin for surfaces, if the body stayed there."""
        T_at_rest, reach_m = self.motion.at_rest(scan), self.config.match.max_distance_m
        return lies_in(self.local_map, self.points(scan), T_at_rest, reach_m)


class Shown(NamedTuple):
    """How the body moved between the first two scans."""

    second: Scan
    found: PoseGaussian | None
    """Pose of the second scan in the map of the first; None if it was not found there."""
    elsewhere: bool = False
    """Whether the scans show other things than the first one did."""


class FirstScans:
    """Remembers them until they have shown the motion."""

    def __init__(self) -> None:
        self.first: Scan | None = None
        self._held_back: Scan | None = None
        self._num_unfit = 0

    def begin_with(self, scan: Scan | None) -> None:
        """A map begins with this scan; None: there is nothing to be shown any more."""
        self.first, self._held_back, self._num_unfit = scan, None, 0

    def can_use(self, scan: Scan, look: Look) -> bool:
        """Whether a scan can tell something about the first one: it is later, and not empty."""
        last = self._held_back or self.first
        assert last is not None, "begin_with() comes first"
        later = (scan.mean_ns - last.mean_ns) * 1e-9 >= look.config.odometry.min_step_s
        return later and num_places(look.points(scan)) >= look.config.match.min_matches

    def show(self, scan: Scan, look: Look) -> Shown | None:
        """How the body moved, by the scan after the first; None: it waits, or fits nowhere."""
        assert self.first is not None, "begin_with() comes first"
        second = self._held_back or scan
        motions = _motions_between(self.first, second, look)
        alone = isinstance(look.motion, ConstantVelocity)
        if motions is None and not alone:
            self._num_unfit += 1
            if _seconds(self.first, scan) < UNFIT_S or self._num_unfit < FEW_UNFIT:
                return None
            return Shown(second, None, elsewhere=not look.is_around(scan))
        if motions is None or alone or not motions.likeliest.is_fast:
            return Shown(second, None if motions is None else motions.likeliest.pose)
        if self._held_back is None:
            self._held_back = scan
            return None
        if _leads_to(scan, motions.likeliest, self.first, look):
            return Shown(second, motions.likeliest.pose)
        slower = motions.unconfirmed
        return Shown(second, None if slower is None else slower.pose)


def _seconds(first: Scan, later: Scan) -> float:
    """From the mean time of a scan to that of a later one [s]."""
    return (later.mean_ns - first.mean_ns) * 1e-9


def _motions_between(first: Scan, second: Scan, look: Look) -> FirstMotions | None:
    """What the first two scans say."""
    seconds, T_at_rest = _seconds(first, second), look.motion.at_rest(second)
    return first_motion(look.points(second), look.local_map, T_at_rest, seconds, look.config)


def _leads_to(third: Scan, motion: FirstMotion, first: Scan, look: Look) -> bool:
    """Whether a third scan lies where a motion leads."""
    seconds, T_at_rest = _seconds(first, third), look.motion.at_rest(third)
    return is_confirmed(
        motion.velocity, look.points(third), look.local_map, T_at_rest, seconds, look.config
    )
