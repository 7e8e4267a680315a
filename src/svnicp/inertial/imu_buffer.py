# SPDX-License-Identifier: MIT
"""IMU readings between two times, without losing or repeating any time.

Readings are kept until they are older than what can still be asked for; a dead driver has
none. Between two readings the signal is a smooth curve; the intervals handed out end exactly at the
times asked for.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats
from svnicp.errors import InputError
from svnicp.inertial.imu_curve import means_between
from svnicp.inertial.repeats import Repeats

SPIKE_RATE_RAD_S, SPIKE_FORCE_M_S2 = 10.0, 100.0
"""A reading that differs this much from both neighbours is no motion, but a fault."""

CLOCK_BACK_NS = 10**9
"""A stamp that is this much too early is no delay [ns]."""
CLOCK_READINGS = 10
"""So many in a row and the clock was set back."""
LATE_NS = 250_000_000
"""As many that span this time, each later than the one before, and it was, by however little."""
FASTEST_RAD_S, STRONGEST_M_S2 = 500.0, 5000.0
"""No sensor on a body with a LiDAR reads more: 29 000 degrees per second, 500 g."""
NUM_STEPS = 50
"""Steps between readings that tell the usual one."""


class ImuBuffer:
    """Readings of one IMU, in the order of time."""

    def __init__(self) -> None:
        self._stamps: list[int] = []
        self._readings: list[Floats] = []
        self.num_dropped = 0
        """Readings that came with a stamp not later than the one before."""
        self._num_back, self._num_late, self._late_ns, self._first_late_ns = 0, 0, 0, 0
        self.num_impossible = 0
        """Readings left out because no sensor can give them."""
        self.num_spikes = 0
        """Single readings far from both neighbours, which were replaced by the neighbours' mean."""
        self.num_stale = 0
        """Readings left out because they repeat the one before, again and again."""
        self._repeats = Repeats()
        self._steps_ns: deque[int] = deque(maxlen=NUM_STEPS)

    def __len__(self) -> int:
        return len(self._stamps)

    @property
    def first_ns(self) -> int:
        """Stamp of the oldest reading kept [ns]."""
        return self._stamps[0]

    @property
    def last_ns(self) -> int:
        """Stamp of the newest reading [ns]."""
        return self._stamps[-1]

    def add(
        self, stamp_ns: int, angular_velocity: npt.ArrayLike, linear_acceleration: npt.ArrayLike
    ) -> None:
        """Append a reading (3,) [rad/s] and (3,) [m/s^2]; one that is not later is dropped."""
        reading = _checked(stamp_ns, angular_velocity, linear_acceleration)
        if self._stamps and stamp_ns <= self._stamps[-1]:
            self._is_late(stamp_ns)
            return
        self._num_back = self._num_late = 0
        if not _is_possible(reading):
            self.num_impossible += 1
            return
        self._repeats.add(reading)
        if self._repeats.are_no_chance:
            self._leave_out_repeats()
            return
        if self._stamps:
            self._steps_ns.append(int(stamp_ns) - self._stamps[-1])
        if len(self._readings) >= 2 and _is_spike(self._readings[-2], self._readings[-1], reading):
            self._readings[-1] = 0.5 * (self._readings[-2] + reading)
            self.num_spikes += 1
        self._stamps.append(int(stamp_ns))
        self._readings.append(reading)

    def _leave_out_repeats(self) -> None:
        """Leave the present reading out, and those before it that repeat the same one."""
        first = len(self._readings) - 1
        while first > 0 and np.array_equal(self._readings[first - 1], self._readings[first]):
            first -= 1
        known = len(self._readings) - 1 - first
        del self._stamps[first + 1 :], self._readings[first + 1 :]
        self.num_stale += known + 1

    def _is_late(self, stamp_ns: int) -> None:
        """Count a reading that is not later; when many are, and in order, the clock was set back.

        Then the readings before are of no use any more.
        """
        self.num_dropped += 1
        far = stamp_ns < self._stamps[-1] - CLOCK_BACK_NS
        self._num_back = self._num_back + 1 if far else 0
        if self._num_late == 0 or stamp_ns <= self._late_ns:
            self._num_late, self._first_late_ns = 0, int(stamp_ns)
        self._num_late, self._late_ns = self._num_late + 1, int(stamp_ns)
        lasts = self._num_late >= CLOCK_READINGS and stamp_ns >= self._first_late_ns + LATE_NS
        if self._num_back == CLOCK_READINGS or lasts:
            self._stamps.clear()
            self._readings.clear()
            self._num_back = self._num_late = 0

    def forget_before(self, stamp_ns: int) -> None:
        """Drop readings that no interval after this time needs: all but three before it."""
        keep = max(0, bisect_right(self._stamps, stamp_ns) - 3)
        del self._stamps[:keep], self._readings[:keep]

    @property
    def period_s(self) -> float:
        """Usual time between two readings [s]; zero before there are two."""
        return float(np.median(self._steps_ns)) * 1e-9 if self._steps_ns else 0.0

    def window(self, start_ns: int, end_ns: int) -> Floats:
        """Readings (n, 6) with start <= stamp <= end."""
        first, last = bisect_left(self._stamps, start_ns), bisect_right(self._stamps, end_ns)
        return np.array(self._readings[first:last]).reshape(-1, 6)

    def longest_gap_s(self, start_ns: int, end_ns: int) -> float:
        """Longest time without a reading between two times [s]."""
        # The readings at or just outside of the ends bound the gaps there.
        first = max(bisect_right(self._stamps, start_ns) - 1, 0)
        stamps = self._stamps[first : bisect_left(self._stamps, end_ns) + 1]
        if not stamps or stamps[0] > start_ns:
            stamps = [start_ns, *stamps]
        if stamps[-1] < end_ns:
            stamps = [*stamps, end_ns]
        return max((b - a for a, b in pairwise(stamps)), default=0) * 1e-9

    def intervals(self, start_ns: int, end_ns: int, *, longest_s: float = np.inf) -> Floats:
        """Mean readings (n, 7) of consecutive intervals from start to end: [s], rates, forces.

        They end at readings, and between them where one would be longer than ``longest_s``. The
        first row is the interval just before the start (zero seconds long when there is none), for
        coning and sculling. Before the first and after the last reading the signal is held.
        """
        before = bisect_left(self._stamps, start_ns) - 1
        inside = slice(bisect_right(self._stamps, start_ns), bisect_left(self._stamps, end_ns))
        stamps = [start_ns, *self._stamps[inside], end_ns]
        if before >= 0:
            stamps = [self._stamps[before], *stamps]
        times_s = _refined((np.array(stamps) - start_ns) * 1e-9, longest_s)
        around = slice(max(before - 1, 0), inside.stop + 2)
        known_s = (np.array(self._stamps[around]) - start_ns) * 1e-9
        rows = np.zeros((len(times_s) - (before >= 0), 7))
        told = rows if before >= 0 else rows[1:]
        told[:, 0] = np.diff(times_s)
        told[:, 1:] = means_between(known_s, np.array(self._readings[around]), times_s)
        return rows


def _refined(times_s: Floats, longest_s: float) -> Floats:
    """Times (n,) with others in between, so that those after 0 are at most so far apart [s]."""
    steps = np.diff(times_s)
    parts = np.where(times_s[:-1] < 0.0, 1, np.ceil(steps / longest_s - 1e-9)).clip(1).astype(int)
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    inner = np.repeat(times_s[:-1], parts) + number * np.repeat(steps / parts, parts)
    return np.append(inner, times_s[-1])


def _is_possible(reading: Floats) -> bool:
    """Whether a sensor can give a reading (6,)."""
    rate, force = (float(np.abs(part).max()) for part in np.split(reading, 2))
    return rate <= FASTEST_RAD_S and force <= STRONGEST_M_S2


def _is_spike(before: Floats, reading: Floats, after: Floats) -> bool:
    """Whether a reading (6,) is far from both neighbours, which are near each other."""
    limits = SPIKE_RATE_RAD_S, SPIKE_FORCE_M_S2
    for axes, limit in zip((slice(0, 3), slice(3, 6)), limits, strict=True):
        apart = float(np.linalg.norm(after[axes] - before[axes]))
        off = float(np.linalg.norm(reading[axes] - 0.5 * (before[axes] + after[axes])))
        if off > max(limit, 2.0 * apart):
            return True
    return False


def _checked(
    stamp_ns: int, angular_velocity: npt.ArrayLike, linear_acceleration: npt.ArrayLike
) -> Floats:
    """Reading (6,) of finite numbers."""
    whole = isinstance(stamp_ns, int | np.integer) and not isinstance(stamp_ns, bool)
    if not whole or abs(int(stamp_ns)) > np.iinfo(np.int64).max:
        raise InputError(
            f"The stamp of an IMU reading must be whole nanoseconds of 64 bits, not {stamp_ns!r}."
        )
    try:
        given = [np.asarray(part) for part in (angular_velocity, linear_acceleration)]
        real = all(part.dtype.kind != "c" for part in given)
        parts = [part.astype(np.float64) for part in given] if real else []
        good = real and all(part.shape == (3,) and np.isfinite(part).all() for part in parts)
    except (TypeError, ValueError):
        parts, good = [], False
    if not good:
        given = " ".join(f"{angular_velocity} and {linear_acceleration}".split())
        raise InputError(
            f"The IMU reading at {stamp_ns} ns must be three rates and three accelerations, all "
            f"finite, not {given}."
        )
    return np.concatenate(parts)
