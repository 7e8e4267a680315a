# SPDX-License-Identifier: MIT
"""Where live measurements wait for the worker: bounded, in the order of time, never for ever.

In: scans and IMU readings from any thread, in any order. Out: one scan at a time together with the
readings that belong before it. A scan waits until readings reach its end, up to a time limit. When
scans come faster than they are taken, the oldest is dropped and counted; so no delay builds up.
"""

import threading
import time
from bisect import bisect_right, insort
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from svnicp.data.measurements import ImuSample, Scan
from svnicp.errors import ConfigError

_stamp = attrgetter("stamp_ns")


@dataclass(frozen=True, kw_only=True)
class InboxConfig:
    """How much may wait, and for how long."""

    max_scans: int = 2
    """Scans that may wait while another is processed; one more drops the oldest."""
    max_start_scans: int = 20
    """The same at the start: the second scan takes a second or so, as the speed is searched for."""
    max_samples: int = 20_000
    """IMU readings that may wait; a hundred seconds at 200 Hz."""
    imu_wait_s: float = 0.1
    """How long a scan waits for readings that reach its end, from its arrival on [s]."""

    def __post_init__(self) -> None:
        if self.max_scans < 1 or self.max_samples < 1:
            raise ConfigError("A queue must have room for at least one scan and one IMU reading.")
        if not self.imu_wait_s >= 0.0:
            raise ConfigError(f"imu_wait_s must not be negative, got {self.imu_wait_s}.")


class Arrival(NamedTuple):
    """A scan that waits."""

    scan: Scan
    end_ns: int
    """Time of its last point [ns]."""
    arrived_s: float
    """When it arrived, by the monotonic clock [s]."""


class Work(NamedTuple):
    """What the worker does next: first the readings, then the scan."""

    samples: list[ImuSample]
    arrival: Arrival
    covered: bool
    """Whether the readings reach the end of the scan."""


class Inbox:
    """Scans and readings that wait; safe to use from several threads."""

    def __init__(self, config: InboxConfig, *, with_imu: bool) -> None:
        self._config = config
        self._with_imu = with_imu
        self._changed = threading.Condition()
        self._scans: list[Arrival] = []
        self._samples: list[ImuSample] = []
        self._handed_ns: int | None = None
        self._closed = False
        self._starting = True
        self.num_scans = 0
        """Scans that came in."""
        self.num_samples = 0
        """Readings that came in."""
        self.num_dropped = 0
        """Scans dropped because others waited already."""
        self.num_samples_dropped = 0
        """Readings dropped: too many waited, or scans after them had been processed."""

    def put_scan(self, scan: Scan) -> None:
        """Let a scan wait; the oldest is dropped when there are too many."""
        arrival = Arrival(scan, scan.end_ns, time.monotonic())
        with self._changed:
            self.num_scans += 1
            insort(self._scans, arrival, key=attrgetter("end_ns"))
            self._drop_oldest()
            self._changed.notify_all()

    def put_imu(self, sample: ImuSample) -> None:
        """Let a reading wait for the scans that need it."""
        with self._changed:
            self.num_samples += 1
            if self._handed_ns is not None and sample.stamp_ns <= self._handed_ns:
                self.num_samples_dropped += 1
                return
            insort(self._samples, sample, key=_stamp)
            if len(self._samples) > self._config.max_samples:
                del self._samples[0]
                self.num_samples_dropped += 1
            self._changed.notify_all()

    def settle(self) -> None:
        """End the start, in which more scans may wait."""
        with self._changed:
            self._starting = False
            self._drop_oldest()

    def take(self) -> Work | None:
        """Wait for the next scan that can be processed; None once closed and empty."""
        with self._changed:
            while True:
                if not self._scans:
                    if self._closed:
                        return None
                    self._changed.wait()
                    continue
                first = self._scans[0]
                covered = self._covers(first.end_ns)
                left_s = first.arrived_s + self._config.imu_wait_s - time.monotonic()
                if covered or left_s <= 0.0 or self._closed:
                    del self._scans[0]
                    return Work(self._samples_until(first.end_ns), first, covered)
                self._changed.wait(left_s)

    def close(self) -> None:
        """Let ``take`` return what still waits, at once as no more comes, and then None."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def clear(self) -> None:
        """Forget all scans that wait, as dropped."""
        with self._changed:
            self.num_dropped += len(self._scans)
            self._scans.clear()
            self._changed.notify_all()

    @property
    def num_waiting(self) -> int:
        """Scans that wait now."""
        return len(self._scans)

    def _drop_oldest(self) -> None:
        """Drop scans until no more wait than may."""
        start = self._config.max_start_scans if self._starting else 0
        while len(self._scans) > max(self._config.max_scans, start):
            del self._scans[0]
            self.num_dropped += 1

    def _covers(self, end_ns: int) -> bool:
        """Whether readings reach this time, as far as there is an IMU."""
        if not self._with_imu:
            return True
        newest_ns = self._samples[-1].stamp_ns if self._samples else self._handed_ns
        return newest_ns is not None and newest_ns >= end_ns

    def _samples_until(self, end_ns: int) -> list[ImuSample]:
        """Take the readings up to a time: those that a recording would have before the scan."""
        count = bisect_right(self._samples, end_ns, key=_stamp)
        taken, self._samples = self._samples[:count], self._samples[count:]
        if taken:
            self._handed_ns = taken[-1].stamp_ns
        return taken
