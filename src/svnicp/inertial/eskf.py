# SPDX-License-Identifier: MIT
"""The error-state Kalman filter: IMU readings carry it on, poses from scans correct it.

Nominal state: position and velocity in the world, R_world_body, biases, gravity. Errors are added
(world axes for position, velocity, gravity), the rotation's on the right: R = R̂ Exp(δθ). A clone of
the pose at the last scan stays in the state, so that the step between two scans has a covariance of
its own, and so does the error of the map that scans are matched with: the pose is that in the map.
The paper's filter is this one without gravity, clone and map; its rotation block is printed in the
second place and belongs in the third.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.data.imu_noise import ImuNoise
from svnicp.inertial.start import CERTAIN, REST_VELOCITY_STD, Start
from svnicp.kernels.inertial import navigate
from svnicp.lie import (
    hat,
    make_transform,
    orthonormalise,
    se3_adjoint,
    se3_exp,
    se3_inverse,
    se3_right_jacobian,
    so3_exp,
)
from svnicp.pose_gaussian import PoseGaussian

POSITION, VELOCITY, ROTATION = slice(0, 3), slice(3, 6), slice(6, 9)
GYRO_BIAS, ACCEL_BIAS, GRAVITY = slice(9, 12), slice(12, 15), slice(15, 18)
PREVIOUS = slice(18, 24)
"""Pose at the last scan, in its own body tangent: translation, then rotation."""
MAP = slice(24, 30)
"""How far the map around the body is off, in the body tangent; considered, never corrected."""
SIZE = 30
SLOWEST_M_S = 0.05
"""A velocity below this that scans seem to show is no evidence against rest [m/s]."""
MOST_TURNED_RAD = 1.0
"""Standard deviation of a turn that nothing is known about [rad]."""


class Correction(NamedTuple):
    """What a measurement did to a filter."""

    gain: Floats
    """(6, 6) on the pose, in the body tangent: the identity trusts the measurement alone."""
    innovation: Floats
    """(6,) measured minus predicted pose in the body tangent [m, rad]."""
    nis: float
    """Squared innovation in its own standard deviations."""


class Eskf:
    """State and covariance; ``predict`` and ``correct`` change them."""

    def __init__(self, start: Start, noise: ImuNoise, *, estimate_gravity: bool = True) -> None:
        self.position = np.zeros(3)
        self.velocity = start.velocity.copy()
        self.rotation = start.rotation.copy()
        self.gyro_bias = start.gyro_bias.copy()
        self.accel_bias = start.accel_bias.copy()
        self.gravity = start.gravity.copy()
        self.T_world_previous = self.T_world_body
        self.covariance = _start_covariance(start, estimate_gravity)
        self._noise = np.array(
            [
                noise.gyroscope**2, noise.accelerometer**2,
                noise.gyroscope_bias_walk**2, noise.accelerometer_bias_walk**2,
            ]
        )  # fmt: skip

    @property
    def T_world_body(self) -> Transform:
        """(4, 4) pose of the body in the world."""
        return make_transform(self.rotation, self.position)

    @property
    def pose_jacobian(self) -> Floats:
        """(6, 30) from the error state to the pose's error in the body tangent."""
        out = np.zeros((6, SIZE))
        out[:3, POSITION], out[3:, ROTATION] = self.rotation.T, np.eye(3)
        return out

    @property
    def pose_covariance(self) -> Covariance:
        """(6, 6) of the pose in the map, in the body tangent."""
        B = self.pose_jacobian
        return B @ self.covariance @ B.T

    @property
    def absolute_covariance(self) -> Covariance:
        """(6, 6) of the pose since the start: in the map, and the map's own."""
        B = self.pose_jacobian
        B[:, MAP] = np.eye(6)
        return B @ self.covariance @ B.T

    def predict(self, readings: Floats) -> Floats:
        """Go on through (n, 7) readings of ``ImuBuffer.intervals``; returns the poses' track.

        The track (n, 12) holds rotation by rows and position at the end of every interval.
        """
        track, T_before = np.empty((len(readings), 12)), self.T_world_body
        navigate(
            self.position, self.velocity, self.rotation, self.gyro_bias, self.accel_bias,
            self.gravity, self.covariance, readings, self._noise, track,
        )  # fmt: skip
        self._take_pose(self.T_world_body)
        self._carry_map(T_before)
        return track

    def preview(self, readings: Floats, rotation: Floats | None = None) -> Floats:
        """The track (n, 12) that ``predict`` would return; the filter stays where it is.

        ``rotation`` (3, 3): begin with this one instead.
        """
        track = np.empty((len(readings), 12))
        begin = self.rotation if rotation is None else rotation
        navigate(
            self.position.copy(), self.velocity.copy(), begin.copy(), self.gyro_bias,
            self.accel_bias, self.gravity, np.zeros((SIZE, SIZE)), readings, np.zeros(4), track,
        )  # fmt: skip
        return track

    def coast(
        self,
        seconds: float,
        acceleration_std: float,
        turning_std: float,
        rate: Floats | None = None,
    ) -> None:
        """Go on as it went through a gap without readings; the covariance opens up.

        The velocity walks at random, by ``acceleration_std`` [m/s] in the first second; the body
        goes on turning at ``rate`` (3,) [rad/s], which walks by ``turning_std`` [rad/s].
        """
        T_before = self.T_world_body
        turned = so3_exp((np.zeros(3) if rate is None else rate) * seconds)
        self.position = self.position + self.velocity * seconds
        self.rotation = self.rotation @ turned
        flow = np.eye(SIZE)
        flow[POSITION, VELOCITY] = np.eye(3) * seconds
        flow[ROTATION, ROTATION] = turned.T
        walk = np.eye(3) * acceleration_std**2
        turning_var = min(turning_std**2 * seconds**3 / 3.0, MOST_TURNED_RAD**2)
        P = flow @ self.covariance @ flow.T
        P[POSITION, POSITION] += walk * seconds**3 / 3.0
        P[POSITION, VELOCITY] += walk * seconds**2 / 2.0
        P[VELOCITY, POSITION] += walk * seconds**2 / 2.0
        P[VELOCITY, VELOCITY] += walk * seconds
        P[ROTATION, ROTATION] += np.eye(3) * turning_var
        P[GYRO_BIAS, GYRO_BIAS] += np.eye(3) * self._noise[2] * seconds
        P[ACCEL_BIAS, ACCEL_BIAS] += np.eye(3) * self._noise[3] * seconds
        self.covariance = P
        self._carry_map(T_before)

    def _carry_map(self, T_before: Transform) -> None:
        """Look at the map's error from where the body is now, instead of from here (4, 4)."""
        A = se3_adjoint(se3_inverse(self.T_world_body) @ T_before)
        rows = A @ self.covariance[MAP]
        own = rows[:, MAP] @ A.T
        self.covariance[MAP], self.covariance[:, MAP] = rows, rows.T
        self.covariance[MAP, MAP] = 0.5 * (own + own.T)

    def doubt_biases(self, gyro_std: float, accel_std: float) -> None:
        """Know the biases less: readings contradicted what scans show."""
        self.covariance[GYRO_BIAS, GYRO_BIAS] += np.eye(3) * gyro_std**2
        self.covariance[ACCEL_BIAS, ACCEL_BIAS] += np.eye(3) * accel_std**2

    def tilt_gravity(self, turn_cov: Covariance) -> None:
        """Gravity is known in the map's axes: let it turn by what the map turns, (3, 3) of body."""
        J = hat(self.gravity) @ self.rotation
        self.covariance[GRAVITY, GRAVITY] += J @ turn_cov @ J.T

    def step_from(self, other: "Eskf") -> None:
        """Let the step be relative to the same pose as that of another filter."""
        if np.array_equal(self.T_world_previous, other.T_world_previous):
            return
        self.T_world_previous = other.T_world_previous.copy()
        self.covariance[PREVIOUS, :] = 0.0
        self.covariance[:, PREVIOUS] = 0.0
        self.covariance[PREVIOUS, PREVIOUS] = other.covariance[PREVIOUS, PREVIOUS]

    def correct(
        self, innovation: Floats, measurement_cov: Covariance, velocity_lag: Floats | None = None
    ) -> Correction:
        """Fuse a pose: its distance (6,) from the prediction in the body tangent, and covariance.

        ``velocity_lag`` (6, 3) [s]: how an error of the velocity in body axes, with which the scan
        was deskewed, adds to it. Joseph's form; the reset of the rotation error carries the
        covariance along.
        """
        B, to_pose = self.pose_jacobian, self.pose_jacobian
        if velocity_lag is not None:
            B[:, VELOCITY] = velocity_lag @ self.rotation.T
            B[:, ROTATION] += velocity_lag @ hat(self.rotation.T @ self.velocity)
        gain, nis = self._fuse(B, innovation, measurement_cov)
        return Correction(to_pose @ gain, innovation, nis)

    def stop(self, velocity_std: float = REST_VELOCITY_STD, doubt_sigma: float = 4.0) -> bool:
        """Take the body as standing still, unless what scans told of its velocity contradicts.

        An IMU cannot tell rest from a steady ride. Where scans cannot either, rest is assumed.
        Returns whether it was.
        """
        B = np.zeros((3, SIZE))
        B[:, VELOCITY] = np.eye(3)
        noise = np.eye(3) * velocity_std**2
        spread = self.covariance[VELOCITY, VELOCITY] + noise
        squared = float(self.velocity @ np.linalg.solve(spread, self.velocity))
        doubted = squared > 3.0 + doubt_sigma * np.sqrt(6.0)
        if doubted and np.linalg.norm(self.velocity) > SLOWEST_M_S:
            return False
        self._fuse(B, -self.velocity, noise)
        return True

    def _fuse(self, B: Floats, innovation: Floats, noise: Covariance) -> tuple[Floats, float]:
        """Condition on innovation = B error + noise; returns the gain (30, n) and the NIS."""
        P = self.covariance
        S = B @ P @ B.T + noise
        K: Floats = np.linalg.solve(S, B @ P).T.astype(np.float64)
        K[MAP] = 0.0
        rest = np.eye(SIZE) - K @ B
        P = rest @ P @ rest.T + K @ noise @ K.T
        nis = float(innovation @ np.linalg.solve(S, innovation))
        self._inject(K @ innovation, 0.5 * (P + P.T))
        return K, nis

    def _inject(self, error: Floats, covariance: Floats) -> None:
        """Move the nominal state by the estimated error, and the covariance to its new tangent.

        Poses move along their tangent, T Exp(ξ), so that a pose that is trusted fully is reached.
        """
        B = self.pose_jacobian
        moved, moved_previous = B @ error, error[PREVIOUS]
        reset, T_before = np.eye(SIZE), self.T_world_body
        self._take_pose(self.T_world_body @ se3_exp(moved))
        pose_reset = se3_right_jacobian(moved) @ B
        reset[POSITION] = self.rotation @ pose_reset[:3]
        reset[ROTATION] = pose_reset[3:]
        reset[PREVIOUS, PREVIOUS] = se3_right_jacobian(moved_previous)
        self.velocity = self.velocity + error[VELOCITY]
        self.gyro_bias = self.gyro_bias + error[GYRO_BIAS]
        self.accel_bias = self.accel_bias + error[ACCEL_BIAS]
        self.gravity = self.gravity + error[GRAVITY]
        self.T_world_previous = orthonormalise(self.T_world_previous @ se3_exp(moved_previous))
        self.covariance = reset @ covariance @ reset.T
        self._carry_map(T_before)

    def _take_pose(self, T_world_body: Transform) -> None:
        """Make this the pose, with a proper rotation."""
        whole = orthonormalise(T_world_body)
        self.rotation, self.position = whole[:3, :3].copy(), whole[:3, 3].copy()

    def take_velocity(self, velocity: Floats, covariance: Covariance) -> None:
        """Forget what is known of the velocity, and take this one (3,) in the world [m/s]."""
        self.velocity = velocity.copy()
        self.covariance[VELOCITY, :] = 0.0
        self.covariance[:, VELOCITY] = 0.0
        self.covariance[VELOCITY, VELOCITY] = covariance

    def hand_over(self, share: float) -> None:
        """Let this share of the map be made anew at the present pose: it takes over its error.

        By as much the pose is right again, in the map, by definition, and all that is known in the
        axes of the map (velocity, gravity) turns with them. A new map (share 1) is where it is.
        """
        turned = share * self.rotation
        taken = np.eye(SIZE)
        for errors in (POSITION, ROTATION):
            taken[errors, errors] *= 1.0 - share
        taken[VELOCITY, ROTATION] = hat(self.velocity) @ turned
        taken[GRAVITY, ROTATION] = hat(self.gravity) @ turned
        taken[MAP] += share * self.pose_jacobian
        P = taken @ self.covariance @ taken.T
        for errors in (POSITION, ROTATION):
            P[errors, errors] += np.eye(3) * CERTAIN
        self.covariance = 0.5 * (P + P.T)

    def clone(self) -> None:
        """Make the present pose the one that the next step is relative to."""
        copy = np.eye(SIZE)
        copy[PREVIOUS] = self.pose_jacobian
        self.covariance = copy @ self.covariance @ copy.T
        self.T_world_previous = self.T_world_body

    @property
    def step(self) -> PoseGaussian:
        """Pose of the body in the previous one, with its covariance."""
        T_previous_body = se3_inverse(self.T_world_previous) @ self.T_world_body
        J = self.pose_jacobian
        J[:, PREVIOUS] = -se3_adjoint(se3_inverse(T_previous_body))
        covariance = J @ self.covariance @ J.T
        # A short step is the difference of two poses that are much less certain: rounding stays.
        rounding = CERTAIN + 1e-15 * np.trace(self.covariance[PREVIOUS, PREVIOUS])
        covariance = 0.5 * (covariance + covariance.T) + np.eye(6) * rounding
        return PoseGaussian(T_previous_body, covariance)

    def twist(self, rate: Floats, rate_var: float) -> tuple[Floats, Covariance]:
        """Velocity (6,) in body axes and its covariance, from the raw angular rate (3,) [rad/s]."""
        velocity_body = self.rotation.T @ self.velocity
        J = np.zeros((6, SIZE))
        J[:3, VELOCITY], J[:3, ROTATION] = self.rotation.T, hat(velocity_body)
        J[3:, GYRO_BIAS] = -np.eye(3)
        covariance = J @ self.covariance @ J.T
        covariance[3:, 3:] += np.eye(3) * rate_var
        return np.concatenate([velocity_body, rate - self.gyro_bias]), covariance


def _start_covariance(start: Start, estimate_gravity: bool) -> Floats:
    """Covariance (30, 30) of the state at the start, where the pose is the world's definition."""
    P = np.eye(SIZE) * CERTAIN
    P[VELOCITY, VELOCITY] = start.velocity_cov
    P[GYRO_BIAS, GYRO_BIAS] = np.eye(3) * start.gyro_bias_var
    P[ACCEL_BIAS, ACCEL_BIAS] = start.accel_bias_cov
    if estimate_gravity:
        P[GRAVITY, GRAVITY] = start.gravity_cov
        P[ACCEL_BIAS, GRAVITY] = start.accel_bias_gravity_cov
        P[GRAVITY, ACCEL_BIAS] = start.accel_bias_gravity_cov.T
    return P
