# SPDX-License-Identifier: MIT
"""The motion model with an IMU: readings are buffered, and carried through when a scan asks.

Before the first scan is used the filter needs a start: rest long enough to average gravity and the
gyroscope's bias, or else what can be had in motion. An IMU cannot tell rest from a steady ride: the
first two scans do. A gap in the readings is bridged at constant velocity, and the covariance says
so.
"""

import copy

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import InertialConfig, MotionConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.inertial import Eskf, ImuBuffer
from svnicp.inertial.eskf import Correction
from svnicp.lie import make_transform
from svnicp.odometry.beginning import Beginning
from svnicp.odometry.carrying import Carrying
from svnicp.odometry.inertial_start import REST_SPANS, first_state, first_velocity
from svnicp.odometry.inertial_tracks import track_around
from svnicp.odometry.last_believed import LastBelieved
from svnicp.odometry.motion import Moving, PoseMeasurement, Prediction
from svnicp.odometry.readings import Readings
from svnicp.odometry.standing_still import stand_still
from svnicp.odometry.surprises import PUSHING_SCANS
from svnicp.pose_gaussian import PoseGaussian
from svnicp.preprocess import PoseTrack

REST_CHECK_S = 0.7
"""Scans of this long are asked before it is taken to be at rest indeed [s]."""
UNSEEN_REST_M_S = 0.03
"""How fast a body may be that seems to be at rest by its IMU and by two scans [m/s]."""
TAKEN_OVER = 0.1
"""Share of a few scans in the map around them."""
VISIBLE_M = 0.002
"""A scan is deskewed again when its last point moves by more than this by a new velocity [m]."""


class InertialMotion:
    """Error-state Kalman filter fed by an IMU."""

    def __init__(self, config: InertialConfig, motion: MotionConfig, noise: ImuNoise) -> None:
        self.imu, self.readings = ImuBuffer(), Readings()
        self.stamp_ns: int | None = None
        self.beginning = Beginning(config)
        self._velocity_step = 0.0
        self._config, self._motion = config, motion
        self._rest_ns = int(config.start_s * 1e9)
        self._noise = noise.scaled(config.noise_factor)
        self._filter: Eskf | None = None
        self._last_believed = LastBelieved()
        self._believed = False
        self._with_readings: tuple[Eskf, Carrying] | None = None
        self._guessed_map = False
        self._carrying = Carrying(config, motion, self._noise)

    @property
    def eskf(self) -> Eskf:
        """The filter; it exists once ``ready`` has said so."""
        assert self._filter is not None, "ready() comes first"
        return self._filter

    def ready(self, scan: Scan) -> bool:
        """Start the filter at the mean time of a scan, if the readings before it allow."""
        if self._filter is not None:
            return True
        first = first_state(self.imu, scan, self._config, self._motion.first_speed_m_s)
        if first is None:
            self.wait(scan)
            return False
        start, self.beginning.at_rest = first
        self._filter = Eskf(start, self._noise, estimate_gravity=self._config.estimate_gravity)
        self.stamp_ns, self.beginning.stamp_ns = scan.mean_ns, scan.stamp_ns
        return True

    def wait(self, scan: Scan) -> None:
        """Keep what a start at a later scan needs of the readings, and no more."""
        longest_s = max(REST_SPANS * self._config.start_s, self._config.max_start_s)
        self.imu.forget_before(scan.stamp_ns - int(longest_s * 1e9))

    @property
    def T_world_body(self) -> Transform:
        """(4, 4) pose at the time of the state."""
        return self.eskf.T_world_body

    @property
    def pose_covariance(self) -> Covariance:
        """(6, 6) of the pose relative to the map."""
        return self.eskf.pose_covariance

    @property
    def absolute_covariance(self) -> Covariance:
        """(6, 6) of the pose since the start: in the map, and the map's own."""
        return self.eskf.absolute_covariance

    @property
    def step(self) -> PoseGaussian:
        """Pose of the body in that of the last scan."""
        return self.eskf.step

    def at_rest(self, scan: Scan) -> Transform:
        """Where the body is at a scan if it had no velocity at the last one."""
        assert self.stamp_ns is not None, "ready() comes first"
        if len(self.imu) == 0:  # the IMU's clock was set just now
            return self.T_world_body
        track = self.eskf.preview(self.imu.intervals(self.stamp_ns, scan.mean_ns))
        return make_transform(track[-1, :9].reshape(3, 3), track[-1, 9:])

    def begin_moving(
        self, first: Scan, second: Scan, found: PoseGaussian | None
    ) -> PoseTrack | None:
        """Start anew at the first scan, moving so that the second is where it was found.

        At rest, by the IMU, and not seen to move by the scans either: nothing to be done.
        """
        seconds = (second.mean_ns - first.mean_ns) * 1e-9
        seen = first_velocity(
            found, self.at_rest(second), seconds,
            resting=self.beginning.at_rest, unseen_m_s=self.beginning.unseen_m_s,
        )  # fmt: skip
        if seen is None:
            self.eskf.stop(UNSEEN_REST_M_S)
            return None
        self.beginning.in_motion(first.mean_ns, seen[0], found)
        self.eskf.take_velocity(*seen)
        self._guessed_map = True
        return track_around(self.eskf, self.imu, first)

    def has_just_begun(self, seconds: float) -> bool:
        """Whether the filter began no longer ago than this [s]."""
        assert self.stamp_ns is not None, "ready() comes first"
        return self.beginning.is_recent(self.stamp_ns, seconds)

    def predict(self, scan: Scan) -> Prediction:
        """Carry the filter through all readings up to the mean time of a scan.

        The scan shows the pose there: noise of the readings before and after tilts it, but does not
        shift it.
        """
        assert self.stamp_ns is not None, "ready() comes first"
        begin_ns, self.stamp_ns = self.stamp_ns, scan.mean_ns
        if self.readings.have_gap(self.imu, begin_ns, scan.end_ns, self._config):
            track = self._coast(begin_ns, scan)
        else:
            track = self._carrying.navigate(self.eskf, self.imu, begin_ns, scan)
        self._go_nowhere()
        self.imu.forget_before(min(scan.stamp_ns, self.stamp_ns - self._rest_ns))
        return self._prediction(scan, track)

    def without_readings(self, scan: Scan) -> Prediction | None:
        """Predict again, from the last scan that was believed and without any reading since.

        ``with_readings`` takes it back. None where there is no such scan, or too long ago.
        """
        assert self.stamp_ns is not None, "ready() comes first"
        again = self._last_believed.doubting_readings(self.eskf, self.stamp_ns, self._config)
        if again is None:
            return None
        self._with_readings, self._filter = (self.eskf, copy.copy(self._carrying)), again
        track = self._coast(self._last_believed.stamp_ns, scan)
        return self._prediction(scan, track)

    def with_readings(self) -> None:
        """Take ``without_readings`` back."""
        assert self._with_readings is not None, "without_readings() comes first"
        (self._filter, self._carrying), self._with_readings = self._with_readings, None

    def missed(self, begin_ns: int, end_ns: int) -> Floats:
        """What the readings of a step do not show, for ``Eskf.predict``."""
        return self._carrying.missed(self.imu, begin_ns, end_ns)

    def _coast(self, begin_ns: int, scan: Scan) -> PoseTrack:
        """Go on as the body went, where readings are missing."""
        last = self._last_believed
        unseen_s = max(begin_ns - last.stamp_ns, 0) * 1e-9 if last.is_known else 0.0
        return self._carrying.coast(self.eskf, begin_ns, scan, last.turning, unseen_s)

    def _go_nowhere(self) -> None:
        """Take note of rest; in the first scans those have a say, see ``begin_moving``."""
        assert self.stamp_ns is not None, "ready() comes first"
        coasted = self._carrying.coasted_s > 0.0
        if coasted or not self.has_just_begun(self._config.hovering_s):
            self.beginning.hovering.end()
        self.beginning.hovering.tell(self.eskf, self.imu, self.stamp_ns)
        if not coasted and not self.has_just_begun(REST_CHECK_S):
            readings = self.imu.window(self.stamp_ns - self._rest_ns, self.stamp_ns)
            stand_still(self.eskf, readings, self._config)

    def _prediction(self, scan: Scan, track: PoseTrack) -> Prediction:
        """The present state, at the mean time of a scan."""
        noise, doubt = self._carrying.scan_noise(scan), self.beginning.map_doubt(scan.mean_ns)
        return Prediction(self.T_world_body, self.pose_covariance, track, noise, doubt)

    def predict_again(
        self, scan: Scan, prediction: Prediction, measurement: PoseMeasurement,
    ) -> None:  # fmt: skip
        """Nothing: readings know better than scans how the body moved during them."""

    def predict_stop(self, scan: Scan, prediction: Prediction) -> None:
        """Nothing: readings would have shown it."""

    def correct(self, measurement: PoseMeasurement) -> Correction:
        """Fuse a pose; without readings the rate of turning that deskewed it is a guess."""
        lag, turning_lag = measurement.lag[:, :3], measurement.lag[:, 3:]
        turning_cov = self._carrying.turning_var * turning_lag @ turning_lag.T
        noise = measurement.covariance + turning_cov
        velocity = self.eskf.velocity.copy()
        correction = self.eskf.correct(measurement.innovation, noise, lag)
        if self._guessed_map:
            self.eskf.doubt_map(lag, velocity)
            self._guessed_map = False
        self._believed = True
        self._velocity_step = float(np.linalg.norm(self.eskf.velocity - velocity))
        return correction

    def give_way(self) -> bool:
        """No: an IMU is a witness."""
        return False

    def hand_over(self, share: float) -> None:
        """Let the map take over the pose's error, as far as it is made anew."""
        self.eskf.hand_over(share)
        self._believed = self._believed or share >= 1.0

    def doubt_readings(self, innovation: Floats) -> None:
        """Learn the motion and the biases anew: scans were off the same way again and again.

        As far as such an innovation (6,), after that many scans, may be their fault.
        """
        shifted, turned = (float(np.linalg.norm(part)) for part in np.split(innovation, 2))
        scan_s = max((self.stamp_ns or 0) - self._last_believed.stamp_ns, 1) * 1e-9
        pushed_s = PUSHING_SCANS * scan_s
        self.eskf.doubt_motion(shifted, turned, shifted / scan_s)
        self.mapped_wrong(shifted, turned)
        self.eskf.doubt_biases(
            np.hypot(self._config.gyroscope_bias_std, turned / pushed_s),
            np.hypot(self._config.accelerometer_bias_std, shifted / scan_s / pushed_s),
        )

    def mapped_wrong(self, shifted_m: float, turned_rad: float) -> None:
        """The last scans entered the map that far off, which takes over a share of it."""
        self.eskf.spread_map(TAKEN_OVER * shifted_m, TAKEN_OVER * turned_rad)

    def set_clock(self, stamp_ns: int) -> None:
        """Take the state to be of another time: the clock was set [ns]."""
        assert self.stamp_ns is not None, "ready() comes first"
        self.beginning.set_clock(stamp_ns - self.stamp_ns)
        self.stamp_ns = self._last_believed.stamp_ns = stamp_ns

    def surrender(self) -> bool:
        """Begin anew: the velocity is unknown, and the biases are as at a start in motion."""
        self.beginning.anew(self._motion.first_speed_m_s)
        self.eskf.take_velocity(np.zeros(3), np.eye(3) * self._motion.first_speed_m_s**2)
        self.eskf.doubt_biases(self._config.gyroscope_bias_std, self._config.accelerometer_bias_std)
        return True

    def begin_again(self) -> None:
        """Take the start to be at the next scan; in motion, by the IMU, at an unknown velocity."""
        if not self.beginning.at_rest:
            self.surrender()

    def map_turned(self, turn_cov: Covariance) -> None:
        """Gravity is known in the map's axes, which turn a little as the map renews itself."""
        self.eskf.tilt_gravity(turn_cov)

    def clone(self) -> None:
        """Make the present pose the one that the next step is relative to."""
        assert self.stamp_ns is not None, "ready() comes first"
        self.eskf.clone()
        if self._believed:
            self._last_believed.keep(self.eskf, self.stamp_ns)
        self._believed, self._with_readings = False, None

    def track(self, scan: Scan) -> PoseTrack | None:
        """Poses during a scan by the corrected velocity; None where that hardly differs."""
        seconds = (scan.end_ns - scan.stamp_ns) * 1e-9
        if self._carrying.coasted_s > 0.0 or self._velocity_step * seconds < VISIBLE_M:
            return None
        return track_around(self.eskf, self.imu, scan)

    def moving(self) -> Moving:
        """Velocity and biases."""
        twist, covariance = self.eskf.twist(self._carrying.rate, self._carrying.rate_var)
        return Moving(
            twist, covariance, self.eskf.velocity.copy(), self.eskf.gyro_bias.copy(),
            self.eskf.accel_bias.copy(),
        )  # fmt: skip
