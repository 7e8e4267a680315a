# SPDX-License-Identifier: MIT
"""How a filter began: at rest, hovering or at speed, and what the first scans showed of it.

After a start in motion the first seconds of a map are made while gravity and velocity are hardly
known. Where scans show little, that map is bent by what was not known, and shows it again in every
scan: taken at their word, they would teach the filter gravity and biases from it.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.config import InertialConfig
from svnicp.odometry.hovering import Hovering
from svnicp.odometry.inertial_start import UNSEEN_SPEED_M_S, place_is_seen
from svnicp.odometry.motion import CERTAIN
from svnicp.pose_gaussian import PoseGaussian


class Beginning:
    """When and how a filter began."""

    def __init__(self, config: InertialConfig) -> None:
        self._config = config
        self.at_rest = True
        """Whether the body did not move."""
        self.stamp_ns = 0
        """When it was [ns]."""
        self.unseen_m_s = UNSEEN_SPEED_M_S
        """How fast a body may be that scans do not show to travel [m/s]."""
        self.hovering = Hovering()
        self._hardly_seen = False

    def in_motion(self, stamp_ns: int, velocity: Floats, found: PoseGaussian | None) -> None:
        """Take note that it was in motion, at this velocity (3,) [m/s].

        ``found``: the second scan in the map of the first, if it was found there.
        """
        if not self.at_rest and self.unseen_m_s == UNSEEN_SPEED_M_S:
            self.hovering.begin(stamp_ns, velocity)
        seen = found is not None and place_is_seen(found)
        self.at_rest, self._hardly_seen = False, self.hovering.goes_on and not seen

    def anew(self, unseen_m_s: float) -> None:
        """Take it as a start in motion of which nothing is known but how fast it may be [m/s]."""
        self.at_rest, self.unseen_m_s = False, unseen_m_s
        self.hovering.end()

    def set_clock(self, change_ns: int) -> None:
        """Keep how long ago it was, when the clock is set [ns]."""
        self.stamp_ns += change_ns
        self.hovering.end()

    def is_recent(self, stamp_ns: int, seconds: float) -> bool:
        """Whether it was no longer ago than this, at a time [ns]."""
        return stamp_ns < self.stamp_ns + int(seconds * 1e9)

    def makes_map(self, stamp_ns: int) -> bool:
        """Whether the map is still one of a start in motion."""
        return not self.at_rest and self.is_recent(stamp_ns, self._config.first_map_s)

    def makes_doubtful_map(self, stamp_ns: int) -> bool:
        """Whether, besides, the body swings to and fro, and two scans did not show where."""
        return self.makes_map(stamp_ns) and self._hardly_seen

    def map_doubt(self, stamp_ns: int) -> Covariance:
        """(6, 6) of how far such a map is off; zero otherwise."""
        stds = self._config.start_doubt_m, self._config.start_doubt_rad
        doubtful = self.makes_doubtful_map(stamp_ns)
        return np.diag(np.repeat(np.square(stds), 3)) if doubtful else CERTAIN
