# SPDX-License-Identifier: MIT
"""Which scans come in their turn: late ones are left out, but clocks are also set.

A scan that is late comes among others that are not. After the clock was set back all scans are too
early, one after the other: without a remedy every one until the old time is reached would be lost,
and the body be where it was that long ago. A clock that was set forward looks like a pause of the
recording: no motion can be predicted through it, and the body is looked for where it was.
"""

import enum

CLOCK_BACK_NS = 10**9
"""A scan that is this much too early is no delay [ns]."""
CLOCK_SCANS = 3
"""So many in a row and the clock was set back."""
LATE_SCANS = 5
"""So many in a row, each later than the one before, and it was, by however little."""
USUAL_PERIOD_NS = 10**8
"""Between two scans until two have come [ns]."""
PAUSE_NS = 30 * 10**9
"""A longer time without scans is a pause, or the clock was set forward [ns]."""


class Turn(enum.Enum):
    """Whether a scan is to be processed."""

    NEXT = "it comes after the last one"
    LATE = "it does not, and is left out"
    CLOCK_SET = "the clock was set, or the recording paused: time goes on with this scan"


class ScanOrder:
    """Compares the time of every scan with that of the last one that was processed."""

    def __init__(self, min_step_s: float) -> None:
        self._min_step_ns = int(min_step_s * 1e9)
        self._period_ns = USUAL_PERIOD_NS
        self._num_back, self._num_late, self._late_ns = 0, 0, 0
        self._num_left_out = CLOCK_SCANS

    @property
    def before_ns(self) -> int:
        """How long before a scan that set the clock the last one was processed [ns]."""
        return self._num_left_out * self._period_ns

    def turn(self, scan_ns: int, last_ns: int) -> Turn:
        """Judge a scan of this mean time [ns]."""
        if scan_ns > last_ns + PAUSE_NS:
            self._num_left_out = CLOCK_SCANS
            return Turn.CLOCK_SET
        if scan_ns >= last_ns + self._min_step_ns:
            self._period_ns, self._num_back, self._num_late = scan_ns - last_ns, 0, 0
            return Turn.NEXT
        self._num_back = self._num_back + 1 if scan_ns < last_ns - CLOCK_BACK_NS else 0
        follows = self._num_late > 0 and scan_ns >= self._late_ns + self._min_step_ns
        self._num_late, self._late_ns = self._num_late + 1 if follows else 1, scan_ns
        if self._num_back < CLOCK_SCANS and self._num_late < LATE_SCANS:
            return Turn.LATE
        self._num_left_out = max(self._num_back, self._num_late)
        self._num_back, self._num_late = 0, 0
        return Turn.CLOCK_SET
