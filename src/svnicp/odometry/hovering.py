# SPDX-License-Identifier: MIT
"""A body that hovers or bobs about after a start in motion: it goes nowhere until it sets off.

A start in motion knows gravity to some tenths of m/s² only, which in seconds are metres per second.
But a drone in the air or a boat at its mooring swings to and fro: its velocity is about zero again
and again, which says which way is up. That ends with a push that no swaying explains, or with scans
that show another velocity.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.inertial import Eskf, ImuBuffer

HOVERING_M_S = 0.3
"""How fast a body swings to and fro [m/s]."""
SWINGS_S = 0.3
"""After this long its velocity is another one, and tells something new [s]."""
PUSHED_S = 0.3
"""A push lasts at least this long [s]."""
SETS_OFF_M_S2 = 1.5
"""A larger horizontal acceleration is no swaying [m/s^2]."""
DOUBT_SIGMA = 2.0
"""Scans that are so sure of another velocity end it; see ``Eskf.stop``."""


class Hovering:
    """Whether a body hovers, and when its filter was told last."""

    def __init__(self) -> None:
        self._told_ns: int | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it has not set off yet."""
        return self._told_ns is not None

    def begin(self, stamp_ns: int, velocity: Floats) -> None:
        """Take a body that is seen at this velocity (3,) to hover, if that is slow [m/s]."""
        slow = float(np.linalg.norm(velocity)) < 2.0 * HOVERING_M_S
        self._told_ns = stamp_ns if slow else None

    def end(self) -> None:
        """Take it to have set off."""
        self._told_ns = None

    def tell(self, eskf: Eskf, imu: ImuBuffer, stamp_ns: int) -> None:
        """Tell the filter now and then, unless readings of late show that the body has set off."""
        if self._told_ns is None:
            return
        if sets_off(eskf, imu.window(stamp_ns - int(PUSHED_S * 1e9), stamp_ns)[:, 3:]):
            self.end()
        elif (stamp_ns - self._told_ns) * 1e-9 >= SWINGS_S:
            self._told_ns = stamp_ns
            if not eskf.stop(HOVERING_M_S, doubt_sigma=DOUBT_SIGMA):
                self.end()


def sets_off(eskf: Eskf, forces: Floats) -> bool:
    """Whether forces (n, 3) [m/s^2] push the body along the ground more than swaying does."""
    if len(forces) == 0:
        return True
    pushed = eskf.rotation @ (forces.mean(axis=0) - eskf.accel_bias) + eskf.gravity
    return float(np.linalg.norm(pushed[:2])) > SETS_OFF_M_S2
