# SPDX-License-Identifier: MIT
"""Where the body was during a scan, by the filter and its readings: the track that deskews it.

In: the filter, the buffered readings and a scan. Out: poses over time, around the mean time of the
scan's points, and what deskewing by them leaves in the scan's pose. Looking ahead leaves the filter
where it is; ``navigate`` and ``coast`` carry it on.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers
from svnicp.config import MotionConfig
from svnicp.data.measurements import Scan
from svnicp.inertial import Eskf, ImuBuffer
from svnicp.inertial.start import CERTAIN
from svnicp.lie import so3_exp
from svnicp.preprocess import PoseTrack, stamps_through, track_from

NODE_S = 0.0025
"""Poses of a track are at most so far apart [s]: between them points are deskewed along lines."""


def navigate(
    eskf: Eskf, imu: ImuBuffer, begin_ns: int, scan: Scan, missed: Floats
) -> tuple[PoseTrack, Floats]:
    """Integrate the readings up to the mean time of a scan, and look ahead to its end.

    Returns the track, and the intervals (n, 7) up to the mean time; for ``missed`` see ``Eskf``.
    """
    rows = imu.intervals(begin_ns, scan.mean_ns, longest_s=NODE_S)
    nodes, stamps = eskf.predict(rows, missed), _stamps(begin_ns, rows)
    reference = len(stamps) - 1
    if scan.end_ns > scan.mean_ns:
        ahead = imu.intervals(scan.mean_ns, scan.end_ns, longest_s=NODE_S)
        nodes = np.concatenate([nodes, eskf.preview(ahead)[1:]])
        stamps = np.concatenate([stamps, _stamps(scan.mean_ns, ahead)[1:]])
    return track_from(stamps, nodes, reference), rows


def coast(eskf: Eskf, config: MotionConfig, begin_ns: int, scan: Scan, rate: Floats) -> PoseTrack:
    """Go on as the body went, turning at ``rate`` (3,) [rad/s], where readings are missing."""
    eskf.coast(
        (scan.mean_ns - begin_ns) * 1e-9, config.acceleration, config.angular_acceleration, rate
    )
    stamps = stamps_through(scan)
    seconds = ((stamps - scan.mean_ns) * 1e-9)[:, None]
    rotations = so3_exp(rate * seconds).reshape(-1, 9)
    positions = eskf.rotation.T @ eskf.velocity * seconds
    return PoseTrack(scan.mean_ns, stamps, np.concatenate([rotations, positions], axis=1))


def track_around(eskf: Eskf, imu: ImuBuffer, scan: Scan) -> PoseTrack | None:
    """Poses during a scan at whose mean time the filter is, before and after it."""
    if scan.end_ns <= scan.stamp_ns or len(imu) == 0:
        return None
    before = imu.intervals(scan.stamp_ns, scan.mean_ns, longest_s=NODE_S)
    after = imu.intervals(scan.mean_ns, scan.end_ns, longest_s=NODE_S)
    to_mean = eskf.look_back(before)
    nodes = np.concatenate([to_mean, eskf.preview(after)[1:]])
    stamps = np.concatenate([_stamps(scan.stamp_ns, before), _stamps(scan.mean_ns, after)[1:]])
    return track_from(stamps, nodes, len(to_mean) - 1)


def scan_noise(
    scan: Scan, gyroscope_var: float, config: MotionConfig, coasted_s: float
) -> Covariance:
    """What motion during a scan that is not known leaves in its pose, (6, 6).

    With readings, the rotation error walks away from the mean time to both sides; the points' mean
    of such a walk over the time T has the variance σ² T / 12. Without, after coasting for a time
    [s], an acceleration a puts the points' mean off the pose at their mean time by a T² / 24.
    """
    seconds = (scan.end_ns - scan.stamp_ns) * 1e-9
    if coasted_s == 0.0:
        return np.diag([CERTAIN] * 3 + [gyroscope_var * seconds / 12.0] * 3)
    changes = config.acceleration, config.angular_acceleration
    change_var = np.square(np.repeat(changes, 3)) / max(coasted_s, 0.01)
    return np.diag(change_var * (seconds**2 / 24.0) ** 2 + CERTAIN)


def _stamps(begin_ns: int, rows: Floats) -> Integers:
    """Stamps (n,) at the ends of intervals (n, 7), the first of which lies before the beginning."""
    return begin_ns + np.cumsum(np.r_[0.0, rows[1:, 0]] * 1e9).round().astype(np.int64)
