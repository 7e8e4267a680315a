# SPDX-License-Identifier: MIT
"""Scans without an estimate: how many, and why, said once instead of never.

A user who feeds stamps of two clocks, or clouds in millimetres, would otherwise get no estimate and
not a word.
"""

import logging

import numpy as np

from svnicp.config import InertialConfig, PreprocessConfig
from svnicp.data.measurements import Scan
from svnicp.inertial import ImuBuffer

log = logging.getLogger(__name__)

PATIENCE_S = 1.0
"""Scans may wait for readings this much longer than a start can take [s]."""
FAR_M = 1000.0
SOON_NS = 10**8
"""Readings that end so little before a scan are of its time [ns]."""
"""Clouds whose typical point is farther than this are hardly in metres [m]."""


WITHOUT_ESTIMATE = {
    "without_points": "with too few points in range to begin a map",
    "before_start": "before the IMU's readings sufficed for a start",
    "held_back": "held back at the start: a fast motion, which the next had to confirm, or no fit",
    "unusable_second": "of no use after the first: empty, or not later",
    "late": "not later than the scan before",
}
"""Why a scan has no estimate, in words."""


class Wait:
    """Counts scans without an estimate, and warns about each reason at most once."""

    def __init__(self) -> None:
        self.first_ns: int | None = None
        self.said: list[str] = []
        self._reasons: list[str] = []
        self._counts: list[int] = []

    @property
    def counts(self) -> dict[str, int]:
        """Scans without an estimate, by the reason, a key of ``WITHOUT_ESTIMATE``."""
        return dict(zip(self._reasons, self._counts, strict=True))

    def _count(self, reason: str) -> None:
        """Count a scan."""
        if reason not in self._reasons:
            self._reasons.append(reason)
            self._counts.append(0)
        self._counts[self._reasons.index(reason)] += 1

    def reading_unused(self) -> None:
        """Mention that there is no use for IMU readings: who compares may well want that."""
        self._say_once(
            "unused",
            "IMU readings are not used: this odometry was made for LiDAR alone. Give it imu=, "
            "such as ImuNoise.model('xsens_mti30').",
            logging.INFO,
        )

    def scan_left_out(self, mean_ns: int, last_ns: int, min_step_s: float) -> None:
        """Say that a scan is too early: a few are late now and then, but stamps may be wrong."""
        self._count("late")
        self._say_once(
            "late",
            f"A scan is left out: its stamp is {(mean_ns - last_ns) * 1e-9:+.3g} s from that of "
            f"the last one, and should be {min_step_s:g} s later at least. Stamps are whole "
            "nanoseconds; this is said once.",
        )

    def clock_was_set(self, seconds: float) -> None:
        """Say, every time, that the stamps of scans jumped."""
        log.warning(
            "The stamps of scans jumped by %.1f s: the clock was set, or the recording paused; the "
            "body is looked for where it was.", seconds,
        )  # fmt: skip

    def for_second_scan(self) -> None:
        """Say that a scan right after the first was of no use."""
        self._count("unusable_second")
        self._say_once(
            "second",
            "A scan right after the first has no estimate: it is empty, or not later.",
            logging.INFO,
        )

    def for_confirmation(self) -> None:
        """Say that a scan right after the first waits for the next one."""
        self._count("held_back")
        self._say_once(
            "confirmation",
            "The scan after the first shows a fast motion, which the next one has to confirm, or "
            "fits nowhere: it has no estimate of its own.",
            logging.INFO,
        )

    def for_points(self, scan: Scan, num_points: int, config: PreprocessConfig) -> None:
        """Say that a scan has too few points in range for a map to begin."""
        self._count("without_points")
        hint = ""
        if len(scan.points):
            typical_m = float(np.median(np.linalg.norm(scan.points, axis=1)))
            if typical_m > FAR_M:
                hint = f" A typical point is {typical_m:.3g} m away: are they in millimetres?"
        self._say_once(
            "points",
            f"The scan at {scan.stamp_ns * 1e-9:.3f} s has {num_points} points from "
            f"{config.min_range_m:g} to {config.max_range_m:g} m, at too few places to begin a "
            f"map; the first scan with enough will.{hint}",
        )

    def for_readings(self, scan: Scan, imu: ImuBuffer, config: InertialConfig) -> None:
        """Say, after a while, that there are no IMU readings of the time of the scans."""
        self._count("before_start")
        if self.first_ns is None:
            self.first_ns = scan.stamp_ns
        if (scan.stamp_ns - self.first_ns) * 1e-9 < config.max_start_s + PATIENCE_S:
            return
        since = f"No estimate yet: scans have come for {config.max_start_s + PATIENCE_S:g} s, but"
        if len(imu) and imu.first_ns < scan.mean_ns < imu.last_ns + SOON_NS:
            before_s = (scan.mean_ns - imu.first_ns) * 1e-9
            self._say_once("began", f"{since} IMU readings only {before_s:.2g} s before the last.")
            return
        known = "there is no IMU reading"
        if len(imu):
            away_s = (imu.last_ns - scan.mean_ns) * 1e-9
            known = f"the last IMU reading is {away_s:+.3g} s from the last scan"
        self._say_once(
            "readings",
            f"{since} {known}. Are both clocks the same, in nanoseconds, and are readings added "
            "before the scans that they belong to?",
        )

    def _say_once(self, subject: str, words: str, level: int = logging.WARNING) -> None:
        """Say something about a subject, the first time."""
        if subject not in self.said:
            self.said.append(subject)
            log.log(level, "%s", words)
