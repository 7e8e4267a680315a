# SPDX-License-Identifier: MIT
"""What odometry waits for before an estimate, said once instead of never.

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
"""Clouds whose typical point is farther than this are hardly in metres [m]."""


class Wait:
    """Warnings about an estimate that does not come, each at most once."""

    def __init__(self) -> None:
        self.first_ns: int | None = None
        self.said: list[str] = []

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

    def for_next_scan(self) -> None:
        """Say that a scan was of no use at the start: empty, late, or to be confirmed."""
        self._say_once(
            "next",
            "A scan right after the first has no estimate: it is empty, not later, or shows a fast "
            "start, which the next scan has to confirm.",
            logging.INFO,
        )

    def for_points(self, scan: Scan, num_points: int, config: PreprocessConfig) -> None:
        """Say that a scan has too few points in range for a map to begin."""
        hint = ""
        if len(scan.points):
            typical_m = float(np.median(np.linalg.norm(scan.points, axis=1)))
            if typical_m > FAR_M:
                hint = f" A typical point is {typical_m:.3g} m away: are they in millimetres?"
        self._say_once(
            "points",
            f"The scan at {scan.stamp_ns * 1e-9:.3f} s has {num_points} points from "
            f"{config.min_range_m:g} to {config.max_range_m:g} m, too few to begin a map; the "
            f"first scan with enough will.{hint}",
        )

    def for_readings(self, scan: Scan, imu: ImuBuffer, config: InertialConfig) -> None:
        """Say, after a while, that there are no IMU readings of the time of the scans."""
        if self.first_ns is None:
            self.first_ns = scan.stamp_ns
        if (scan.stamp_ns - self.first_ns) * 1e-9 < config.max_start_s + PATIENCE_S:
            return
        known = "there is no IMU reading"
        if len(imu):
            away_s = (imu.last_ns - scan.mean_ns) * 1e-9
            known = f"the last IMU reading is {away_s:+.3g} s from the last scan"
        self._say_once(
            "readings",
            f"No estimate yet: scans have come for {config.max_start_s + PATIENCE_S:g} s, but "
            f"{known}. Are both clocks the same, in nanoseconds, and are readings added before the "
            "scans that they belong to?",
        )

    def _say_once(self, subject: str, words: str, level: int = logging.WARNING) -> None:
        """Say something about a subject, the first time."""
        if subject not in self.said:
            self.said.append(subject)
            log.log(level, "%s", words)
