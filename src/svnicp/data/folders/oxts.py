# SPDX-License-Identifier: MIT
"""OXTS, the GPS/INS of KITTI raw: one small text file per sample, IMU and ground truth in one.

A file has 30 numbers: latitude, longitude, altitude, roll, pitch, yaw, velocities, accelerations
and angular rates in the axes of the car (x forward, y left, z up), and accuracies.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.data.dataset import Finding
from svnicp.data.folders.find_files import clouds_in
from svnicp.data.folders.scan_times import timed_files
from svnicp.data.measurements import ImuSample
from svnicp.data.stamps import median_period_s
from svnicp.data.text_rows import Row, read_lines
from svnicp.data.trajectory import Trajectory
from svnicp.errors import DatasetError
from svnicp.lie import make_transform, so3_exp

EARTH_RADIUS_M = 6_378_137.0
LATITUDE, LONGITUDE, ALTITUDE = 0, 1, 2
ANGLES = [3, 4, 5]
"""Roll, pitch, yaw [rad]; yaw is zero towards east and counts to the left."""
ACCELERATION = [11, 12, 13]
ANGULAR_RATE = [17, 18, 19]
NUM_VALUES = 25
"""Numbers that every version of the format has at least."""


class Oxts:
    """Samples of the GPS/INS in ``oxts/``: an IMU source, and the ground truth of the IMU."""

    def __init__(self, folder: Path) -> None:
        paths = clouds_in(folder / "data", (".txt",))
        if not paths:
            raise DatasetError(f"{folder / 'data'}: there are no OXTS files (.txt); restore them.")
        self._files = timed_files(paths, folder / "timestamps.txt")
        stamps_ns = self._files.stamps_ns
        self.period_s = median_period_s(stamps_ns)
        self.span_ns = int(stamps_ns[0]), int(stamps_ns[-1])
        rate_hz = 1.0 / self.period_s if self.period_s else 0.0
        self.findings = (
            Finding("IMU", f"OXTS at {rate_hz:.0f} Hz, {_rate_in_words(rate_hz)}", str(folder)),
            *(finding for finding in self._files.findings if finding.what != "scan times"),
        )

    def samples(self) -> Iterator[ImuSample]:
        """Yield the samples, each read from its file when it is asked for."""
        for path, stamp_ns in zip(self._files.paths, self._files.stamps_ns, strict=True):
            row = _packet(path)
            yield ImuSample(int(stamp_ns), row.numbers(ANGULAR_RATE), row.numbers(ACCELERATION))

    @cached_property
    def ground_truth(self) -> Trajectory:
        """Poses of the IMU in a level world (x east, y north) with its origin at the first one."""
        rows = [_packet(path) for path in self._files.paths]
        places = np.array([row.numbers([LATITUDE, LONGITUDE, ALTITUDE]) for row in rows])
        angles = np.array([row.numbers(ANGLES) for row in rows])
        positions = mercator(places)
        return Trajectory(
            self._files.stamps_ns, make_transform(_rotations(angles), positions - positions[0])
        )

    @property
    def stamps_ns(self) -> Integers:
        """(n,) stamps of the samples [ns]."""
        return self._files.stamps_ns


def mercator(places: Floats) -> Floats:
    """Metres east, north and up of (n, 3) latitudes, longitudes [deg] and altitudes [m].

    The scale of the projection is that of the first latitude, as in the KITTI development kit.
    """
    latitude, longitude = np.deg2rad(places[:, LATITUDE]), np.deg2rad(places[:, LONGITUDE])
    radius_m = EARTH_RADIUS_M * np.cos(latitude[0])
    north = radius_m * np.log(np.tan(0.25 * np.pi + 0.5 * latitude))
    return np.stack([radius_m * longitude, north, places[:, ALTITUDE]], axis=1)


def _rotations(angles: Floats) -> Floats:
    """Rotations of (n, 3) roll, pitch and yaw [rad]: about z, then y, then x."""
    about = angles[:, :, None] * np.eye(3)
    return so3_exp(about[:, 2]) @ so3_exp(about[:, 1]) @ so3_exp(about[:, 0])


def _packet(path: Path) -> Row:
    row = next(read_lines(path), None)
    if row is None:
        raise DatasetError(f"{path}: the file is empty; copy it again.")
    row.expect(NUM_VALUES)
    return row


def _rate_in_words(rate_hz: float) -> str:
    if rate_hz > 50.0:
        return "the full rate of the unsynchronised (extract) recording"
    return "thinned out to the scans (sync): too slow for inertial odometry, use the extract one"
