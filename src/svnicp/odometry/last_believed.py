# SPDX-License-Identifier: MIT
"""The inertial filter as it was at the last scan that was believed.

From there a scan is predicted again when it contradicts the readings since, and how the body turned
until then tells how it goes on turning where readings are missing.
"""

import copy

import numpy as np

from svnicp.config import InertialConfig
from svnicp.inertial import Eskf
from svnicp.lie import so3_log

SECOND_OPINION_S = 2.0
"""Readings since a scan that was believed can be done without for this long [s]."""


class LastBelieved:
    """A copy of the filter, and the rate of turning between the last two such scans."""

    def __init__(self) -> None:
        self.stamp_ns = 0
        self.turning = np.zeros(3)
        """(3,) in body axes [rad/s]."""
        self._filter: Eskf | None = None

    @property
    def is_known(self) -> bool:
        """Whether there was one."""
        return self._filter is not None

    def keep(self, eskf: Eskf, stamp_ns: int) -> None:
        """Remember the filter, which a scan has just corrected."""
        seconds = (stamp_ns - self.stamp_ns) * 1e-9
        if self._filter is not None and seconds > 0.0:
            self.turning = so3_log(self._filter.rotation.T @ eskf.rotation) / seconds
        self._filter, self.stamp_ns = copy.deepcopy(eskf), stamp_ns

    def doubting_readings(
        self, present: Eskf, stamp_ns: int, config: InertialConfig
    ) -> Eskf | None:
        """A filter to start again from, with biases that are less known; None: too long ago.

        Its step is relative to the same pose as that of the present filter, which is at this time.
        """
        if self._filter is None or (stamp_ns - self.stamp_ns) * 1e-9 > SECOND_OPINION_S:
            return None
        again = copy.deepcopy(self._filter)
        again.step_from(present)
        again.doubt_biases(config.gyroscope_bias_std, config.accelerometer_bias_std)
        return again
