# SPDX-License-Identifier: MIT
"""What the IMU's readings are good for: gaps in them, dead drivers, and IMUs that are slow.

A gap is longer than ``inertial.max_gap_s`` and than the IMU's own period. What happens between the
readings of an IMU that is slower than that is not known; how rough they are says how much it is. Of
a faster one only the ends of a step are lost, where it begins and ends between two readings.
"""

import logging

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.inertial import ImuBuffer
from svnicp.odometry.inertial_start import TURNING_RAD_S

log = logging.getLogger(__name__)

AGO_NS, MANY_LATE = 10**9, 50
"""So many readings that are less than this older than the last scan come too late [ns]."""
LATE_PERIODS = 1.5
"""A reading may come after so many of its IMU's periods."""
SWING_S = 0.2
"""Time over which a body that is swung about changes its rate of turning [s]."""
LOST_AT_AN_END = 1.0 / 32.0
"""Of what a signal changes from one reading to the next, this share of a period is not integrated
at a time between two: more than the curve through readings that are means over a period misses."""


class Readings:
    """Counts gaps in the readings, and says once what is wrong with them."""

    def __init__(self) -> None:
        self.num_gaps = 0
        """Scans in whose interval the readings had a gap."""
        self.num_late = 0
        """Readings that came after a scan that they were needed for."""
        self._lateness = 0.0
        """Those of late, beyond one for each four that came in time."""
        self.said: list[str] = []

    def hear(self, stamp_ns: int, scan_ns: int | None) -> None:
        """Say, after a while, that readings come later than the scans of their time [ns]."""
        if scan_ns is None or not scan_ns - AGO_NS < stamp_ns <= scan_ns:
            self._lateness = max(self._lateness - 0.25, 0.0)
            return
        self.num_late += 1
        self._lateness += 1.0
        if self._lateness >= MANY_LATE:
            self._say_once(
                "late",
                "IMU readings come after the scans of their time, too late to carry the pose to "
                "them: add all readings up to the end of a scan before the scan. This is said "
                "once.",
            )

    def have_gap(self, imu: ImuBuffer, begin_ns: int, end_ns: int, config: InertialConfig) -> bool:
        """Whether readings are missing between two times [ns], or cannot be believed."""
        gap = len(imu) == 0 or imu.longest_gap_s(begin_ns, end_ns) > longest_s(imu, config)
        self.num_gaps += gap
        if gap:
            self._say_once(
                "gap",
                f"The IMU's readings have a gap around {end_ns * 1e-9:.3f} s: the pose goes on as "
                "the body went, and the covariance opens up; this is said once.",
            )
        if imu.num_stale and gap:
            self._say_once(
                "stale",
                "The IMU repeats one reading, to the last bit: its driver seems to be dead. Such "
                "readings are left out, and the covariance opens up; this is said once.",
            )
        if imu.num_impossible:
            self._say_once(
                "impossible",
                "The IMU gave readings that no sensor can give, of more than 500 rad/s or 500 g. "
                "They are left out, and the covariance opens up; this is said once.",
            )
        if _mean_rate(imu, begin_ns, end_ns) > TURNING_RAD_S:
            self._say_once(
                "degrees",
                "The IMU says that the body turns by more than 10 rad/s: are its rates in degrees "
                "per second? Give rad/s, or leave the IMU out; this is said once.",
            )
        if is_slow(imu, config):
            self._say_once(
                "slow",
                f"The IMU gives {1.0 / imu.period_s:.0f} readings per second, too few to follow a "
                "motion: what lies between them is added to its noise. Record 100 or more, or "
                "compare with a run without the IMU (imu=False, --no-imu).",
            )
        return gap

    def _say_once(self, subject: str, words: str) -> None:
        if subject not in self.said:
            self.said.append(subject)
            log.warning("%s", words)


def _mean_rate(imu: ImuBuffer, begin_ns: int, end_ns: int) -> float:
    """How fast the body turned between two times [ns], by the readings [rad/s]."""
    rates = imu.window(begin_ns, end_ns)[:, :3]
    return float(np.linalg.norm(rates, axis=1).mean()) if len(rates) else 0.0


def longest_s(imu: ImuBuffer, config: InertialConfig) -> float:
    """Longest time between two readings that is no gap [s]."""
    return max(config.max_gap_s, LATE_PERIODS * imu.period_s)


def is_slow(imu: ImuBuffer, config: InertialConfig) -> bool:
    """Whether a gap is shorter than what lies between two readings anyhow."""
    return imu.period_s > config.max_gap_s


def between_readings(imu: ImuBuffer, begin_ns: int, end_ns: int) -> Floats:
    """Variances per second (2,) of what a slow IMU misses, rates and forces.

    What is not linear from one reading between two times [ns] to the next is taken for white noise:
    second differences have six times the variance of a reading.
    """
    readings = imu.window(begin_ns, end_ns)
    if len(readings) < 3:
        return np.zeros(2)
    variances = np.mean(np.diff(readings, 2, axis=0) ** 2, axis=0) / 6.0
    return variances.reshape(2, 3).max(axis=1) * imu.period_s


def swinging(imu: ImuBuffer, begin_ns: int, end_ns: int) -> float:
    """How much the rate of turning changed between two times [ns], over sqrt(time) [rad/s/√s]."""
    rates, steps = imu.window(begin_ns, end_ns)[:, :3], round(SWING_S / max(imu.period_s, 1e-4))
    if steps == 0 or len(rates) <= steps:
        return 0.0
    changes = rates[steps:] - rates[:-steps]
    return float(np.sqrt(np.mean(changes**2, axis=0).max() / SWING_S))


def lost_at_ends(imu: ImuBuffer, begin_ns: int, end_ns: int, noise: ImuNoise) -> Floats:
    """Variances (2,) of what the two ends of a step lose, of angles [rad^2] and velocities.

    By how much readings between two times [ns] change from one to the next, noise apart: a body
    that shakes or trots is not quite where a quiet gyroscope says.
    """
    readings, period_s = imu.window(begin_ns, end_ns), imu.period_s
    if len(readings) < 3:
        return np.zeros(2)
    changes = np.mean(np.diff(readings, axis=0) ** 2, axis=0).reshape(2, 3).max(axis=1)
    white = np.array([noise.gyroscope, noise.accelerometer]) ** 2 / period_s
    return 2.0 * np.maximum(changes - 2.0 * white, 0.0) * (LOST_AT_AN_END * period_s) ** 2
