# SPDX-License-Identifier: MIT
"""The motion model without an IMU: the body goes on as it went, more or less.

A Kalman filter over pose and twist (velocity in body axes), which walks as ``TwistWalk`` learns.
Before the second scan the speed is unknown, not zero, so that a start at speed is no surprise. A
scan that shows another motion than was predicted can be deskewed again by that: where a body is
shaken, the predicted twist distorts a scan by far more than its noise.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.config import MotionConfig
from svnicp.data.measurements import Scan
from svnicp.inertial.eskf import Correction
from svnicp.kernels.constant_twist import carried_errors, poses_on_the_way
from svnicp.kernels.lie import se3_exp
from svnicp.lie import orthonormalise, se3_adjoint, se3_inverse, se3_log
from svnicp.odometry.motion import PAIR_FACTOR, Moving, PoseMeasurement, Prediction
from svnicp.odometry.no_readings import NoReadings
from svnicp.odometry.twist_walk import TwistWalk
from svnicp.pose_gaussian import PoseGaussian
from svnicp.preprocess import PoseTrack, stamps_through

POSE, TWIST, PREVIOUS = slice(0, 6), slice(6, 12), slice(12, 18)
MAP = slice(18, 24)
"""How far the map around the body is off, in the body tangent; considered, never corrected."""
SIZE = 24
CERTAIN = 1e-12
FIRST_DOUBT = 0.3
"""Doubt about the first twist: this share of it, and this much besides [m/s]."""
SAME_TRACK = np.repeat([0.005, 0.001], 3)
"""Tracks whose ends differ by less than this [m], [rad] are the same."""
GAP_S = 0.5
"""Scans farther apart than this are a gap [s]."""


class ConstantVelocity(NoReadings):
    """Pose and twist of the body, with covariance."""

    def __init__(self, config: MotionConfig) -> None:
        self._config = config
        self.stamp_ns: int | None = None
        self.T_world_body: Transform = np.eye(4)
        self.twist = np.zeros(6)
        self.T_world_previous = np.eye(4)
        self.covariance = np.eye(SIZE) * CERTAIN
        first = [config.first_speed_m_s] * 3 + [config.first_rate_rad_s] * 3
        self.covariance[TWIST, TWIST] = np.diag(np.square(first))
        self._walk = TwistWalk(config)
        self._last_dt_s = self._unseen_s = 0.0
        self._T_world_seen = np.eye(4)
        self.speed_known = False

    @property
    def pose_covariance(self) -> Covariance:
        """(6, 6) of the pose relative to the map."""
        return self.covariance[POSE, POSE].copy()

    @property
    def absolute_covariance(self) -> Covariance:
        """(6, 6) of the pose since the start: in the map, and the map's own."""
        P = self.covariance
        return P[POSE, POSE] + P[POSE, MAP] + P[MAP, POSE] + P[MAP, MAP]

    def ready(self, scan: Scan) -> bool:
        """Whether the model can start: always."""
        if self.stamp_ns is None:
            self.stamp_ns = scan.mean_ns
        return True

    def predict(self, scan: Scan) -> Prediction:
        """Go on to the middle of a scan at constant twist."""
        assert self.stamp_ns is not None, "ready() comes first"
        dt = (scan.mean_ns - self.stamp_ns) * 1e-9
        flow = np.eye(SIZE)
        flow[POSE, POSE], from_twist = carried_errors(self.twist * dt)
        flow[POSE, TWIST] = from_twist * dt
        flow[MAP, MAP] = flow[POSE, POSE]
        self.covariance = flow @ self.covariance @ flow.T
        self._walk_on(dt)
        self.T_world_body = orthonormalise(self.T_world_body @ se3_exp(self.twist * dt))
        self.stamp_ns = scan.mean_ns
        return Prediction(
            self.T_world_body, self.pose_covariance, self.track(scan), self._scan_noise(scan)
        )

    def _walk_on(self, dt: float) -> None:
        """Let the twist walk for this long [s].

        What was learnt is how motion changes from scan to scan. Over a gap, in which scans are
        missing or tell nothing, it is no less than the full walk, since its beginning.
        """
        before, self._unseen_s, self._last_dt_s = self._unseen_s, self._unseen_s + dt, dt
        gap = self._unseen_s >= GAP_S
        self._spread(self._walk.over(gap=gap), dt)
        if gap and before < GAP_S:
            self._spread(self._walk.over(gap=True) - self._walk.over(gap=False), before)

    def _spread(self, walk: Covariance, seconds: float) -> None:
        """Let the twist have walked by (6, 6) per second, over so many of them."""
        self.covariance[POSE, POSE] += walk * seconds**3 / 3.0
        self.covariance[POSE, TWIST] += walk * seconds**2 / 2.0
        self.covariance[TWIST, POSE] += walk * seconds**2 / 2.0
        self.covariance[TWIST, TWIST] += walk * seconds

    def _scan_noise(self, scan: Scan) -> Covariance:
        """What the change of the twist during a scan leaves in its pose.

        With an acceleration a, the points' mean is off the pose at their mean time by a T² / 24.
        """
        seconds = (scan.end_ns - scan.stamp_ns) * 1e-9
        change_var = self._walk.variance / max(self._last_dt_s, 0.01)
        return np.diag(change_var * (seconds**2 / 24.0) ** 2 + CERTAIN)

    def track(self, scan: Scan) -> PoseTrack | None:
        """Poses during a scan at constant twist; None before the speed is known."""
        if not self.speed_known or scan.point_times_ns is None:
            return None
        return _track(scan, self.twist)

    def correct(self, measurement: PoseMeasurement) -> Correction:
        """Fuse a pose in Joseph's form."""
        innovation, noise = measurement.innovation, measurement.covariance
        B, S, K = self._gain(measurement)
        rest = np.eye(SIZE) - K @ B
        P = rest @ self.covariance @ rest.T + K @ noise @ K.T
        self._walk.learn(innovation, S, K[POSE])
        error = K @ innovation
        self.T_world_body = orthonormalise(self.T_world_body @ se3_exp(error[POSE]))
        self.twist = self.twist + error[TWIST]
        self.T_world_previous = orthonormalise(self.T_world_previous @ se3_exp(error[PREVIOUS]))
        self.covariance = 0.5 * (P + P.T)
        self.speed_known, self._unseen_s, self._T_world_seen = True, 0.0, self.T_world_body
        nis = float(innovation @ np.linalg.solve(S, innovation))
        return Correction(K[POSE], innovation, nis)

    def _gain(self, measurement: PoseMeasurement) -> tuple[Floats, Floats, Floats]:
        """How a pose shows the state, the innovation's covariance, and Kalman's gain."""
        P, B = self.covariance, np.zeros((6, SIZE))
        B[:, POSE], B[:, TWIST] = np.eye(6), measurement.lag
        S = B @ P @ B.T + measurement.covariance
        K: Floats = np.linalg.solve(S, B @ P).T.astype(np.float64)
        K[MAP] = 0.0
        return B, S, K

    def predict_again(
        self, scan: Scan, prediction: Prediction, measurement: PoseMeasurement
    ) -> Prediction | None:
        """Return it with the track that a scan has shown; None: hardly another one."""
        if prediction.track is None:
            return None
        change = (self._gain(measurement)[2] @ measurement.innovation)[TWIST]
        half_s = 0.5e-9 * (scan.end_ns - scan.stamp_ns)
        moved = half_s * np.abs(change - prediction.twist_change)
        if np.all(moved < SAME_TRACK):
            return None
        return prediction._replace(track=_track(scan, self.twist + change), twist_change=change)

    def predict_stop(self, scan: Scan, prediction: Prediction) -> Prediction | None:
        """Return it for a body that has come to rest where it was last seen, with all doubt.

        From now on, that the motion has ended is as likely as that it goes on.
        """
        if not self.speed_known:
            return None
        self.give_way()
        ended, seconds = np.outer(self.twist, self.twist), self._unseen_s
        self.covariance[POSE, POSE] += ended * seconds**2
        self.covariance[POSE, TWIST] += ended * seconds
        self.covariance[TWIST, POSE] += ended * seconds
        self.covariance[TWIST, TWIST] += ended
        stopped = prediction._replace(covariance=self.pose_covariance, start=self._T_world_seen)
        if prediction.track is None:
            return stopped
        return stopped._replace(track=_track(scan, np.zeros(6)), twist_change=-self.twist)

    def give_way(self) -> bool:
        """Allow the fastest walk: that things go on as they went is no evidence against a scan."""
        self._spread(self._walk.give_way(), self._unseen_s)
        return True

    def set_clock(self, stamp_ns: int) -> None:
        """Take the state to be of another time: the clock was set [ns]."""
        self.stamp_ns = stamp_ns

    def hand_over(self, share: float) -> None:
        """Let the map take over the pose's error, as far as it is made anew."""
        taken = np.eye(SIZE)
        taken[POSE, POSE] *= 1.0 - share
        taken[MAP, POSE] = np.eye(6) * share
        P = taken @ self.covariance @ taken.T
        P[POSE, POSE] += np.eye(6) * CERTAIN
        self.covariance = 0.5 * (P + P.T)

    def at_rest(self, scan: Scan) -> Transform:  # noqa: ARG002
        """Where the body is at a scan if it had no velocity at the last one: still there."""
        return self.T_world_body

    def begin_moving(
        self, first: Scan, second: Scan, found: PoseGaussian | None
    ) -> PoseTrack | None:
        """Start anew at the first scan, moving so that the second is where it was found."""
        if found is None:
            return None
        seconds = (second.mean_ns - first.mean_ns) * 1e-9
        twist = se3_log(found.T_world_body) / seconds
        self.__init__(self._config)
        self.stamp_ns, self.twist, self.speed_known = first.mean_ns, twist, True
        doubt = FIRST_DOUBT * np.abs(twist) + FIRST_DOUBT * np.repeat([1.0, 0.3], 3)
        self.covariance[TWIST, TWIST] = PAIR_FACTOR * found.covariance / seconds**2
        self.covariance[TWIST, TWIST] += np.diag(doubt**2)
        return self.track(first)

    def clone(self) -> None:
        """Make the present pose the one that the next step is relative to."""
        copy = np.eye(SIZE)
        copy[PREVIOUS] = copy[POSE]
        self.covariance = copy @ self.covariance @ copy.T
        self.T_world_previous = self.T_world_body

    @property
    def step(self) -> PoseGaussian:
        """Pose of the body in the previous one, with its covariance."""
        T_previous_body = se3_inverse(self.T_world_previous) @ self.T_world_body
        J = np.zeros((6, SIZE))
        J[:, POSE], J[:, PREVIOUS] = np.eye(6), -se3_adjoint(se3_inverse(T_previous_body))
        covariance = J @ self.covariance @ J.T
        return PoseGaussian(T_previous_body, 0.5 * (covariance + covariance.T))

    def moving(self) -> Moving:
        """Twist with covariance; no biases."""
        return Moving(
            self.twist.copy(), self.covariance[TWIST, TWIST].copy(),
            self.T_world_body[:3, :3] @ self.twist[:3], None, None,
        )  # fmt: skip


def _track(scan: Scan, twist: Floats) -> PoseTrack:
    """Poses during a scan at this twist (6,)."""
    stamps = stamps_through(scan)
    nodes = poses_on_the_way(twist, (stamps - scan.mean_ns) * 1e-9)
    return PoseTrack(scan.mean_ns, stamps, nodes)
