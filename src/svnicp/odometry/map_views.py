# SPDX-License-Identifier: MIT
"""From how many places a map has been seen.

However many scans a standing body takes, their rings hit the same lines: of what lies between them
the map knows nothing, and what a fit makes of a few lines moves along with the sensor. Only scans
from elsewhere show what a surface is like.
"""

import numpy as np

from svnicp.arrays import Floats

KNOWN_VIEWS = 10
"""A map that was seen from so many places may contradict an IMU."""


class MapViews:
    """Counts the places, each so far from the one before that rings hit other surfaces."""

    def __init__(self) -> None:
        self.count = 0
        self._place: Floats | None = None

    @property
    def are_many(self) -> bool:
        """Whether a scan that fits may stand against an IMU that contradicts it."""
        return self.count >= KNOWN_VIEWS

    def add(self, place: Floats, apart_m: float) -> None:
        """Take note of a scan from this place (3,), a view of its own if it is far enough."""
        if self._place is None or np.linalg.norm(place - self._place) >= apart_m:
            self.count += 1
            self._place = place.copy()
