# SPDX-License-Identifier: MIT
"""Readings that are the same again and again, to the last bit: of a dead driver, or a coarse IMU.

In: readings, one by one. Out: whether the last ones can be by chance, given how often this IMU
repeated itself when it was calmest. One that did so most of the time, such as one without noise, or
coarse and at rest, is never suspected: a block of repeats comes before there are too many of them.
"""

import numpy as np

from svnicp.arrays import Floats

BLOCK = 50
"""Readings whose share of repeats is looked at together."""
LEAST_SHARE = 0.05
"""A share of repeats that any IMU may have."""
CHANCE = 1e-9
"""Repeats in a row that are less likely than this are no chance."""


class Repeats:
    """How often an IMU repeats itself, and for how many readings it does so now."""

    def __init__(self) -> None:
        self.in_a_row = 0
        """Readings that are equal to the one before, up to now."""
        self._last: Floats | None = None
        self._share: float | None = None
        self._num, self._num_same = 0, 0

    @property
    def are_no_chance(self) -> bool:
        """Whether the last readings repeat more often than this IMU ever did."""
        if self._share is None:
            return False
        return bool(self.in_a_row * np.log(max(self._share, LEAST_SHARE)) < np.log(CHANCE))

    def add(self, reading: Floats) -> None:
        """Take a reading (6,) into account."""
        same = self._last is not None and np.array_equal(reading, self._last)
        self._last = reading
        self.in_a_row = self.in_a_row + 1 if same else 0
        if self.are_no_chance:
            self._num, self._num_same = 0, 0  # nothing is learnt from a dead driver
            return
        self._num, self._num_same = self._num + 1, self._num_same + same
        if self._num == BLOCK:
            self._share = max(self._share or 0.0, self._num_same / BLOCK)
            self._num, self._num_same = 0, 0
