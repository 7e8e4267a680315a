# SPDX-License-Identifier: MIT
"""Odometry on live measurements: a worker thread between the inbox and whoever listens.

Sources (a replay, a WebSocket, ROS) put measurements in from their threads; the worker feeds the
very same ``Odometry`` as a recording would, in the order of time, and hands every estimate with
its scan to the listeners, which publish it.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from svnicp.data.measurements import ImuSample, Scan
from svnicp.errors import SvnicpError
from svnicp.estimate import Estimate
from svnicp.live.inbox import Inbox, InboxConfig, Work
from svnicp.live.statistics import Latencies, LiveStatistics
from svnicp.odometry import Odometry
from svnicp.odometry.inertial_motion import InertialMotion

log = logging.getLogger(__name__)

JUMP_BACK_NS = 1_000_000_000
"""A scan older than the last estimate by more than this is of another clock [ns]."""


FIRST_SCANS, LONGEST_START = 3, 30
"""Estimates after which the start is over: if no scan waits, and in any case."""


class LiveEstimate(NamedTuple):
    """What listeners get."""

    estimate: Estimate
    scan: Scan
    """The scan that it is about."""
    statistics: LiveStatistics
    """How the run is going."""


Listener = Callable[[LiveEstimate], object]


class LiveOdometry:
    """Odometry in a thread of its own; used in a ``with`` statement.

    Parameters
    ----------
    odometry
        With or without an IMU; nobody else may touch it while this runs.
    listeners
        Called in the worker's thread with every estimate.
    config
        Bounds of the queues; see ``InboxConfig``.
    """

    def __init__(
        self,
        odometry: Odometry,
        listeners: Sequence[Listener] = (),
        config: InboxConfig | None = None,
    ) -> None:
        self.uses_imu = isinstance(odometry.motion, InertialMotion)
        """Whether IMU readings are wanted."""
        self._odometry = odometry
        self._listeners = list(listeners)
        self._inbox = Inbox(config or InboxConfig(), with_imu=self.uses_imu)
        self._latencies = Latencies()
        self._counts = Counter[str]()
        self._last_ns: int | None = None
        self._told_of_jump = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="svnicp-live", daemon=True)

    def __enter__(self) -> "LiveOdometry":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._inbox.clear()
        self.finish()

    def add_scan(self, scan: Scan) -> None:
        """Take a scan; returns at once."""
        self._inbox.put_scan(scan)

    def add_imu(self, sample: ImuSample) -> None:
        """Take an IMU reading; returns at once."""
        if self.uses_imu:
            self._inbox.put_imu(sample)

    def finish(self) -> None:
        """Process what waits and end the worker; raises what ended it before its time, if so."""
        self._inbox.close()
        self._thread.join()
        self.check()

    def check(self) -> None:
        """Raise the exception that ended the worker, if one did."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    @property
    def alive(self) -> bool:
        """Whether the worker runs."""
        return self._thread.is_alive()

    def refuse(self, reason: str) -> None:
        """Count a measurement that could not be read, and say so the first time."""
        if self._counts["refused"] == 0:
            log.warning("a measurement was left out, and so will others like it: %s", reason)
        self._counts["refused"] += 1

    def statistics(self) -> LiveStatistics:
        """Return how the run is going."""
        inbox = self._inbox
        return LiveStatistics(
            num_scans=inbox.num_scans,
            num_samples=inbox.num_samples,
            num_dropped=inbox.num_dropped,
            num_samples_dropped=inbox.num_samples_dropped,
            num_waiting=inbox.num_waiting,
            num_estimates=self._counts["estimates"],
            num_uncovered=self._counts["uncovered"],
            num_without=self._counts["without"],
            num_refused=self._counts["refused"],
            latency_median_s=self._latencies.percentile_s(50.0),
            latency_p95_s=self._latencies.percentile_s(95.0),
            latency_max_s=self._latencies.max_s,
        )

    def _work(self) -> None:
        """Process scans until the inbox is closed and empty."""
        try:
            while (work := self._inbox.take()) is not None:
                try:
                    self._process(work)
                except SvnicpError as error:
                    self.refuse(str(error))
        except BaseException as error:  # check() raises it again, where the caller sees it
            self._failure = error

    def _process(self, work: Work) -> None:
        """Feed one scan and the readings before it, and publish the estimate."""
        for sample in work.samples:
            self._odometry.add_imu(
                sample.stamp_ns, sample.angular_velocity, sample.linear_acceleration
            )
        self._counts["uncovered"] += not work.covered
        scan = work.arrival.scan
        estimate = self._odometry.process(scan)
        if estimate is None:
            self._counts["without"] += 1
            self._tell_of_jump(scan)
            return
        self._last_ns = estimate.stamp_ns
        self._counts["estimates"] += 1
        self._settle()
        for listener in self._listeners:
            listener(LiveEstimate(estimate, scan, self.statistics()))
        self._latencies.add(time.monotonic() - work.arrival.arrived_s)

    def _settle(self) -> None:
        """End the start: when it has caught up after the first scans, or if it never does."""
        number = self._counts["estimates"]
        if number == LONGEST_START or (number >= FIRST_SCANS and self._inbox.num_waiting == 0):
            self._inbox.settle()

    def _tell_of_jump(self, scan: Scan) -> None:
        """Say once that stamps went back, after which nothing more comes."""
        if self._last_ns is None or scan.stamp_ns > self._last_ns - JUMP_BACK_NS:
            return
        if not self._told_of_jump:
            log.warning(
                "the stamps of scans went back by %.1f s; nothing is estimated until they have "
                "caught up: start svnicp live again if the clock or the recording began anew.",
                (self._last_ns - scan.stamp_ns) * 1e-9,
            )
        self._told_of_jump = True
