# SPDX-License-Identifier: MIT
"""Which scans come in their turn: late ones are left out, but clocks are also set.

A scan that is late comes among others that are not. After the clock was set back all scans are far
too early: without a remedy every one until the old time is reached would be lost, and the body be
where it was that long ago. A clock that was set forward looks like a pause of the recording: no
motion can be predicted through it, and the body is looked for where it was.
"""

import enum

CLOCK_BACK_NS = 10**9
"""A scan that is this much too early is no delay [ns]."""
CLOCK_SCANS = 3
"""So many in a row and the clock was set back."""
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
        self._num_back = 0

    @property
    def before_ns(self) -> int:
        """How long before a scan that set the clock the last one was processed [ns]."""
        return CLOCK_SCANS * self._period_ns

    def turn(self, scan_ns: int, last_ns: int) -> Turn:
        """Judge a scan of this mean time [ns]."""
        if scan_ns > last_ns + PAUSE_NS:
            return Turn.CLOCK_SET
        if scan_ns >= last_ns + self._min_step_ns:
            self._period_ns, self._num_back = scan_ns - last_ns, 0
            return Turn.NEXT
        self._num_back = self._num_back + 1 if scan_ns < last_ns - CLOCK_BACK_NS else 0
        if self._num_back < CLOCK_SCANS:
            return Turn.LATE
        self._num_back = 0
        return Turn.CLOCK_SET
