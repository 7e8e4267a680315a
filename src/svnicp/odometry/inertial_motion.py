# SPDX-License-Identifier: MIT
"""The motion model with an IMU: readings are buffered, and carried through when a scan asks.

Before the first scan is used the filter needs a start: rest long enough to average gravity and the
gyroscope's bias, or else what can be had in motion. An IMU cannot tell rest from a steady ride: the
first two scans do. A gap in the readings is bridged at constant velocity, and the covariance says
so.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers, Transform
from svnicp.config import InertialConfig, MotionConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.inertial import Eskf, ImuBuffer, start_at_rest
from svnicp.inertial.eskf import Correction
from svnicp.inertial.start import CERTAIN, at_rest, start_in_motion
from svnicp.lie import make_transform
from svnicp.odometry.motion import PAIR_FACTOR, Moving, PoseMeasurement, Prediction
from svnicp.pose_gaussian import PoseGaussian
from svnicp.preprocess import PoseTrack, track_from

SLOW_M_S = 0.1
"""How fast a body may move that seems to be at rest by its IMU, before scans are asked [m/s]."""
SEEN_TO_MOVE = 3.0
"""It does move when the first two scans are apart by this many standard deviations."""
REST_CHECK_S = 0.7
"""Scans of this long are asked before it is taken to be at rest indeed [s]."""
VISIBLE_M = 0.002
"""A scan is deskewed again when its last point moves by more than this by a new velocity [m]."""
UNSEEN_SPEED_M_S = 1.0
"""Where scans do not show the first velocity it is taken to be within this [m/s] of rest."""
FIRST_DOUBT = 0.3
"""Doubt about the first velocity, as a share of it."""


class InertialMotion:
    """Error-state Kalman filter fed by an IMU."""

    def __init__(self, config: InertialConfig, motion: MotionConfig, noise: ImuNoise) -> None:
        self.imu = ImuBuffer()
        self.stamp_ns: int | None = None
        self.started_at_rest = True
        self._start_ns = 0
        self._start_over = False
        self._velocity_step = 0.0
        self._config, self._motion = config, motion
        self._noise = noise.scaled(config.noise_factor)
        self._filter: Eskf | None = None
        self._last_rate = np.zeros(3)
        self._rate_var = 0.0
        self.num_gaps = 0
        """Scans in whose interval the readings had a gap."""

    @property
    def eskf(self) -> Eskf:
        """The filter; it exists once ``ready`` has said so."""
        assert self._filter is not None, "ready() comes first"
        return self._filter

    def ready(self, scan: Scan) -> bool:
        """Start the filter at the end of a scan, if the readings before it allow."""
        end_ns = scan.mean_ns
        if self._filter is not None:
            return True
        if len(self.imu) == 0:
            return False
        seconds = (end_ns - self.imu.first_ns) * 1e-9
        if seconds < self._config.start_s:
            return False
        window = self.imu.window(end_ns - int(self._config.start_s * 1e9), end_ns)
        if len(window) == 0:
            return False
        resting = at_rest(window, self._config)
        if not resting and seconds < self._config.max_start_s:
            return False
        self.started_at_rest = resting
        if resting:
            start = start_at_rest(window, self._config, velocity_std=SLOW_M_S)
        else:
            known = self.imu.intervals(self.imu.first_ns, end_ns)
            start = start_in_motion(known, self._motion.first_speed_m_s, self._config)
        self._filter = Eskf(start, self._noise, estimate_gravity=self._config.estimate_gravity)
        self.stamp_ns, self._start_ns = end_ns, scan.stamp_ns
        return True

    @property
    def T_world_body(self) -> Transform:
        """(4, 4) pose at the time of the state."""
        return self.eskf.T_world_body

    @property
    def pose_covariance(self) -> Covariance:
        """(6, 6) of the pose relative to the map."""
        return self.eskf.pose_covariance

    @property
    def step(self) -> PoseGaussian:
        """Pose of the body in that of the last scan."""
        return self.eskf.step

    def at_rest(self, scan: Scan) -> Transform:
        """Where the body is at a scan if it had no velocity at the last one."""
        assert self.stamp_ns is not None, "ready() comes first"
        track = self.eskf.preview(self.imu.intervals(self.stamp_ns, scan.mean_ns))
        return make_transform(track[-1, :9].reshape(3, 3), track[-1, 9:])

    def begin_moving(self, first: Scan, second: Scan, found: PoseGaussian) -> PoseTrack | None:
        """Start anew at the first scan, moving so that the second is where it was found.

        At rest, by the IMU, and not seen to move by the scans either: nothing to be done.
        """
        seconds = (second.mean_ns - first.mean_ns) * 1e-9
        moved = found.T_world_body[:3, 3] - self.at_rest(second)[:3, 3]
        R_world = found.T_world_body[:3, :3]
        moved_cov = PAIR_FACTOR * R_world @ found.covariance[:3, :3] @ R_world.T
        still_cov = moved_cov + np.eye(3) * (SLOW_M_S * seconds) ** 2
        if self.started_at_rest and moved @ np.linalg.solve(still_cov, moved) < SEEN_TO_MOVE**2:
            return None
        self.started_at_rest = False
        velocity = moved / seconds
        doubt = FIRST_DOUBT * np.linalg.norm(velocity) + SLOW_M_S
        seen_cov = moved_cov / seconds**2 + np.eye(3) * doubt**2
        unseen_cov = np.eye(3) * UNSEEN_SPEED_M_S**2
        likely_cov: Covariance = seen_cov @ np.linalg.solve(seen_cov + unseen_cov, unseen_cov)
        self.eskf.take_velocity(velocity, 0.5 * (likely_cov + likely_cov.T))
        return self._track_around(first)

    def _track_around(self, scan: Scan) -> PoseTrack | None:
        """Poses during a scan at whose mean time the filter is, before and after it."""
        if scan.end_ns <= scan.stamp_ns:
            return None
        before = self.imu.intervals(scan.stamp_ns, scan.mean_ns)
        after = self.imu.intervals(scan.mean_ns, scan.end_ns)
        turned = self.eskf.rotation.T @ self.eskf.preview(before)[-1, :9].reshape(3, 3)
        to_mean = self.eskf.preview(before, self.eskf.rotation @ turned.T)
        to_mean[:, 9:] += self.eskf.position - to_mean[-1, 9:]
        nodes = np.concatenate([to_mean, self.eskf.preview(after)[1:]])
        stamps = np.concatenate([_stamps(scan.stamp_ns, before), _stamps(scan.mean_ns, after)[1:]])
        return track_from(stamps, nodes, len(to_mean) - 1)

    def predict(self, scan: Scan) -> Prediction:
        """Carry the filter through all readings up to the mean time of a scan.

        The scan shows the pose there: noise of the readings before and after tilts it, but does not
        shift it.
        """
        assert self.stamp_ns is not None, "ready() comes first"
        begin_ns, self.stamp_ns = self.stamp_ns, scan.mean_ns
        if self.imu.longest_gap_s(begin_ns, scan.end_ns) > self._config.max_gap_s:
            self.num_gaps += 1
            track = self._coast(begin_ns, scan)
        else:
            track = self._navigate(begin_ns, scan)
        if self._start_over:
            self.imu.forget_before(scan.stamp_ns)
        return Prediction(self.T_world_body, self.pose_covariance, track, self._scan_noise(scan))

    def _scan_noise(self, scan: Scan) -> Covariance:
        """What the gyroscope's noise during a scan leaves in its pose.

        The rotation error walks away from the mean time to both sides; the points' mean of such a
        walk over the time T has the variance σ² T / 12.
        """
        seconds = (scan.end_ns - scan.stamp_ns) * 1e-9
        return np.diag([CERTAIN] * 3 + [self._noise.gyroscope**2 * seconds / 12.0] * 3)

    def _navigate(self, begin_ns: int, scan: Scan) -> PoseTrack | None:
        """Integrate the readings up to the mean time of a scan, and look ahead to its end."""
        rows = self.imu.intervals(begin_ns, scan.mean_ns)
        nodes, stamps = self.eskf.predict(rows), _stamps(begin_ns, rows)
        self._last_rate = rows[-1, 1:4].copy()
        self._rate_var = self._noise.gyroscope**2 / max(float(np.mean(rows[1:, 0])), 1e-4)
        reference = len(stamps) - 1
        if scan.end_ns > scan.mean_ns:
            ahead = self.imu.intervals(scan.mean_ns, scan.end_ns)
            nodes = np.concatenate([nodes, self.eskf.preview(ahead)[1:]])
            stamps = np.concatenate([stamps, _stamps(scan.mean_ns, ahead)[1:]])
        return track_from(stamps, nodes, reference)

    def _coast(self, begin_ns: int, scan: Scan) -> PoseTrack:
        """Go on at constant velocity, where readings are missing."""
        before = self._pose_row()
        seconds = (scan.mean_ns - begin_ns) * 1e-9
        self.eskf.coast(seconds, self._motion.acceleration, self._motion.angular_acceleration)
        return track_from(
            np.array([begin_ns, scan.mean_ns]), np.array([before, self._pose_row()]), 1
        )

    def _pose_row(self) -> Floats:
        """The present pose as a row (12,) of a track."""
        return np.r_[self.eskf.rotation.ravel(), self.eskf.position]

    def correct(self, measurement: PoseMeasurement) -> Correction:
        """Fuse a pose."""
        lag = measurement.lag[:, :3]
        velocity = self.eskf.velocity.copy()
        correction = self.eskf.correct(measurement.innovation, measurement.covariance, lag)
        self._velocity_step = float(np.linalg.norm(self.eskf.velocity - velocity))
        if not self._start_over:
            self._end_start()
        return correction

    def _end_start(self) -> None:
        """Once, after the first scans: if neither readings nor scans show motion, it is rest."""
        assert self.stamp_ns is not None, "ready() comes first"
        if self.stamp_ns < self._start_ns + int(REST_CHECK_S * 1e9):
            return
        self._start_over = True
        readings = self.imu.window(self._start_ns, self.stamp_ns)
        if self.started_at_rest and at_rest(readings, self._config):
            self.eskf.stop()

    def give_way(self) -> bool:
        """No: an IMU is a witness."""
        return False

    def anchor(self) -> None:
        """Take the pose as exact: a new map begins here."""
        self.eskf.anchor()

    def clone(self) -> None:
        """Make the present pose the one that the next step is relative to."""
        self.eskf.clone()

    def track(self, scan: Scan) -> PoseTrack | None:
        """Poses during a scan by the corrected velocity; None where that hardly differs."""
        seconds = (scan.end_ns - scan.stamp_ns) * 1e-9
        if self._velocity_step * seconds < VISIBLE_M:
            return None
        return self._track_around(scan)

    def moving(self) -> Moving:
        """Velocity and biases."""
        twist, covariance = self.eskf.twist(self._last_rate, self._rate_var)
        return Moving(
            twist, covariance, self.eskf.velocity.copy(), self.eskf.gyro_bias.copy(),
            self.eskf.accel_bias.copy(),
        )  # fmt: skip


def _stamps(begin_ns: int, rows: Floats) -> Integers:
    """Stamps (n,) at the ends of intervals (n, 7), the first of which lies before the beginning."""
    return begin_ns + np.cumsum(np.r_[0.0, rows[1:, 0]] * 1e9).round().astype(np.int64)
