# SPDX-License-Identifier: MIT
"""A body that stands still, by its readings: what an IMU adds where scans are no witnesses.

In: the filter and the last readings. Out: whether they are of a body at rest, and the filter with a
velocity of zero where nothing contradicts it. Rest and a steady ride give the same readings, but a
body that gently speeds up does not.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.inertial import Eskf
from svnicp.inertial.error_state import VELOCITY
from svnicp.inertial.start import at_rest

STANDING_M_S = 0.02
"""How fast a body may be whose readings are at rest, however long they are [m/s]."""
SPEEDING_UP_M_S2 = 0.01
"""A body whose acceleration is larger than this is about to leave [m/s^2]."""


def stand_still(eskf: Eskf, readings: Floats, config: InertialConfig) -> None:
    """Take the velocity as zero while readings (n, 6) are at rest, unless scans told otherwise.

    Scans of a body at rest are not the witnesses for that: its rings hit the same few lines of a
    map that knows nothing but them.
    """
    if np.linalg.eigvalsh(eskf.covariance[VELOCITY, VELOCITY])[-1] < STANDING_M_S**2:
        return  # rest that lasts is no new evidence
    if at_rest(readings, config) and not speeds_up(eskf, readings):
        eskf.stop(STANDING_M_S)


def speeds_up(eskf: Eskf, readings: Floats) -> bool:
    """Whether the last readings (n, 6) show an acceleration, however steady it is."""
    last = readings[-max(len(readings) // 2, 1) :, 3:]
    pushed = eskf.rotation @ (last.mean(axis=0) - eskf.accel_bias)
    noise = float(np.linalg.norm(last.std(axis=0))) / np.sqrt(len(last))
    return float(np.linalg.norm(pushed + eskf.gravity)) > SPEEDING_UP_M_S2 + 3.0 * noise
