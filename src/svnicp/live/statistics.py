# SPDX-License-Identifier: MIT
"""What a live run counts and measures about itself: scans, drops, latency."""

from dataclasses import dataclass

import numpy as np

LONGEST_MS = 10_000
"""Latencies above this count as this, but for the maximum [ms]."""


@dataclass(frozen=True, kw_only=True)
class LiveStatistics:
    """How a live run is going; a snapshot."""

    num_scans: int
    """Scans that came in."""
    num_samples: int
    """IMU readings that came in."""
    num_estimates: int
    """Scans that gave an estimate, which was published."""
    num_dropped: int
    """Scans dropped because the machine was too slow for them."""
    num_samples_dropped: int
    """IMU readings dropped because too many waited, or because they came too late."""
    num_uncovered: int
    """Scans processed although the IMU's readings did not reach their end in time."""
    num_without: int
    """Scans without an estimate: before the filter's start, or not later than the one before."""
    num_refused: int
    """Scans or readings that could not be used at all; the log says why."""
    num_waiting: int
    """Scans that wait now."""
    latency_median_s: float
    """From the arrival of a scan to the publication of its estimate [s]; NaN before the first."""
    latency_p95_s: float
    """The 95th percentile."""
    latency_max_s: float
    """The longest."""

    def in_words(self) -> str:
        """Return a line for people."""
        words = [
            f"{self.num_scans} scans, {self.num_samples} IMU readings",
            f"{self.num_estimates} estimates",
            f"{self.num_dropped} dropped",
        ]
        if self.num_estimates:
            words.append(
                f"latency {1e3 * self.latency_median_s:.0f} ms, "
                f"95 % under {1e3 * self.latency_p95_s:.0f} ms, "
                f"at most {1e3 * self.latency_max_s:.0f} ms"
            )
        named = {
            "without enough IMU readings": self.num_uncovered,
            "without an estimate": self.num_without,
            "refused": self.num_refused,
            "IMU readings dropped": self.num_samples_dropped,
        }
        return ", ".join([*words, *(f"{count} {what}" for what, count in named.items() if count)])


class Latencies:
    """Latencies of all scans, counted by the millisecond: memory does not grow with the run."""

    def __init__(self) -> None:
        self._counts = np.zeros(LONGEST_MS + 1, dtype=np.int64)
        self._max_s = float("nan")

    def add(self, seconds: float) -> None:
        """Take one more [s]."""
        self._counts[min(int(np.ceil(1e3 * seconds)), LONGEST_MS)] += 1
        self._max_s = max(seconds, self._max_s) if self._counts.sum() > 1 else seconds

    def percentile_s(self, percent: float) -> float:
        """Return what this share of all stayed within, rounded up to a millisecond [s]."""
        counts = np.cumsum(self._counts)
        if counts[-1] == 0:
            return float("nan")
        return 1e-3 * float(np.searchsorted(counts, 0.01 * percent * counts[-1]))

    @property
    def max_s(self) -> float:
        """The longest [s]; NaN before the first."""
        return self._max_s
