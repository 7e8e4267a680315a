# SPDX-License-Identifier: MIT
"""A recording as if it were live: every measurement when it would have been complete.

In: any dataset. Out: its measurements, put into the live odometry by the clock, faster or slower by
a factor.
"""

import threading
import time
from itertools import chain

from svnicp.data.dataset import Dataset
from svnicp.data.measurements import Scan
from svnicp.errors import ConfigError
from svnicp.live.live_odometry import LiveOdometry


class Replay:
    """Plays a dataset into live odometry, in a thread of its own.

    Parameters
    ----------
    dataset
        What to play.
    live
        Gets the measurements.
    rate
        Seconds of the recording per second.
    max_scans
        Scans after which to end; None for all.
    """

    def __init__(
        self, dataset: Dataset, live: LiveOdometry, rate: float = 1.0, max_scans: int | None = None
    ) -> None:
        if not rate > 0.0:
            raise ConfigError(f"The rate of a replay must be positive, got {rate}.")
        self.lag_s = 0.0
        """By how much the slowest measurement came late, because it could not be read sooner."""
        self._dataset, self._live, self._rate = dataset, live, rate
        self._max_scans = max_scans
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="svnicp-replay", daemon=True)

    def start(self) -> None:
        """Begin to play."""
        self._thread.start()

    def stop(self) -> None:
        """End it now; raises what went wrong while reading, if anything did."""
        self._stopped.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    @property
    def ended(self) -> bool:
        """Whether all has been played."""
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._play()
        except BaseException as error:  # stop() raises it again, where the caller sees it
            self._failure = error

    def _play(self) -> None:
        """Hand on the measurements, each when it is due; the time starts with the first."""
        measurements = self._dataset.measurements()
        first = next(measurements, None)
        if first is None:
            return
        begin_ns = first.end_ns if isinstance(first, Scan) else first.stamp_ns
        begin_s = time.monotonic()
        num_scans = 0
        for one in chain([first], measurements):
            due_ns = one.end_ns if isinstance(one, Scan) else one.stamp_ns
            wait_s = begin_s + (due_ns - begin_ns) * 1e-9 / self._rate - time.monotonic()
            self.lag_s = max(self.lag_s, -wait_s)
            if self._stopped.wait(max(wait_s, 0.0)):
                return
            if not isinstance(one, Scan):
                self._live.add_imu(one)
                continue
            self._live.add_scan(one)
            num_scans += 1
            if num_scans == self._max_scans:
                return
