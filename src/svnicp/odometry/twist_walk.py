# SPDX-License-Identifier: MIT
"""How fast a body's twist changes, learnt from how well the predictions were.

The twist walks at random, over the real time between scans. A car and a walking robot differ by
orders of magnitude, so the walk grows after surprises, at once, and shrinks without, by and by.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.config import MotionConfig

LITTLE_GAIN = 0.5
"""Along a direction with a smaller gain the prediction told more than the scan."""
LEARNING = 0.15
"""Weight of one scan in what is learnt about the walk of the twist."""
FASTEST = 3.0
"""The walk's variance grows by at most this factor at once."""
SLOWEST_WALK, FASTEST_WALK = (3e-3, 0.03), 10.0
"""Limits of the walk's variance over what ``MotionConfig`` says; slowest of translation and of
rotation: a body at rest may be shaken next, and scans that turn are distorted most."""


class TwistWalk:
    """Variance of the twist's walk: what the configuration says, times factors that are learnt."""

    def __init__(self, config: MotionConfig) -> None:
        walk = [config.acceleration] * 3 + [config.angular_acceleration] * 3
        self._full_var = np.square(walk)
        self._factors = np.ones(2)
        self._unseen = np.zeros((6, 6))

    @property
    def variance(self) -> Floats:
        """(6,) that was learnt, per second."""
        return self._full_var * np.repeat(self._factors, 3)

    def over(self, *, gap: bool) -> Covariance:
        """(6, 6) per second: what was learnt, or over a gap no less than the full one.

        Along directions that scans do not see nothing is learnt, and the walk is the full one.
        """
        factors = np.maximum(self._factors, 1.0) if gap else self._factors
        return self._walk(factors)

    def give_way(self) -> Covariance:
        """Walk as fast as can be from now on; returns (6, 6) per second of what that adds."""
        added = self._walk(FASTEST_WALK - self._factors)
        self._factors[:] = FASTEST_WALK
        return added

    def _walk(self, factors: Floats) -> Covariance:
        """Walk (6, 6) with factors (2,) for translation and rotation."""
        missing = np.diag(self._full_var * np.repeat(np.maximum(1.0 - factors, 0.0), 3))
        return np.diag(self._full_var * np.repeat(factors, 3)) + missing @ self._unseen

    def learn(self, innovation: Floats, expected: Covariance, gain: Floats) -> None:
        """Learn from an innovation (6,), its covariance (6, 6), and the pose's gain (6, 6)."""
        for kind, axes in enumerate((slice(0, 3), slice(3, 6))):
            part = innovation[axes]
            surprise = part @ np.linalg.solve(expected[axes, axes], part) / 3.0
            factor = np.clip(1.0 + LEARNING * (surprise - 1.0), 1.0 - LEARNING, FASTEST)
            self._factors[kind] = np.clip(
                self._factors[kind] * factor, SLOWEST_WALK[kind], FASTEST_WALK
            )
        self._unseen = _unseen(gain)


def _unseen(gain: Floats) -> Floats:
    """(6, 6) projection onto directions of the body that a measurement with this gain told little.

    Block by block: a direction is of translation or of rotation.
    """
    out = np.zeros((6, 6))
    for axes in (slice(0, 3), slice(3, 6)):
        values, vectors = np.linalg.eigh(0.5 * (gain[axes, axes] + gain[axes, axes].T))
        little = vectors[:, values < LITTLE_GAIN]
        out[axes, axes] = little @ little.T
    return out
