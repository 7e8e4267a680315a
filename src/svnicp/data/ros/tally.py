# SPDX-License-Identifier: MIT
"""What was wrong with a stream of measurements, counted as it goes by and said once at the end.

A recording of an hour with a bad minute should give one line for it, not six hundred, and the other
59 minutes.
"""

from collections import Counter
from collections.abc import Callable


class Tally:
    """Counts the faults of one stream and keeps its stamps increasing.

    Parameters
    ----------
    what
        What the stream is made of, in the plural: "scans of /points".
    where
        Name of the file that it is in.
    """

    def __init__(self, what: str, where: str = "") -> None:
        self.what = what
        self.where = where
        self.num_messages = 0
        self.counts: Counter[str] = Counter()
        """How often each fault was met."""
        self._first: dict[str, str] = {}
        self._latest_ns: int | None = None

    def message(self) -> None:
        """Count one more message; faults that are met from now on are of this one."""
        self.num_messages += 1

    def fault(self, fault: str, reason: str = "") -> None:
        """Count a fault of the present message."""
        self.counts[fault] += 1
        place = f"message {self.num_messages}"
        self._first.setdefault(fault, f"{place}: {reason}" if reason else place)

    def is_later(self, stamp_ns: int) -> bool:
        """Whether a stamp is later than all before; counts it as a fault otherwise."""
        latest_ns = self._latest_ns
        if latest_ns is not None and stamp_ns <= latest_ns:
            self.fault(REPEATED if stamp_ns == latest_ns else BACKWARD)
            return False
        self._latest_ns = stamp_ns
        return True

    def report(self, warn: Callable[..., None]) -> None:
        """Warn of every kind of fault that was met, by a logger's ``warning`` or the like."""
        for fault, count in self.counts.items():
            warn(
                "%s%d of %d %s %s (first: %s).",
                f"{self.where}: " if self.where else "",
                count,
                self.num_messages,
                self.what,
                fault,
                self._first[fault].rstrip("."),
            )


UNREADABLE = "could not be read and were left out"
REPEATED = "had the same stamp as the one before and were left out"
BACKWARD = "had a stamp earlier than one before and were left out"
EMPTY = "had no valid point"
ODD_TIMES = "had impossible point times, which were ignored"
