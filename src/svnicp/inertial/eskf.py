# SPDX-License-Identifier: MIT
"""The error-state Kalman filter: IMU readings carry it on, poses from scans correct it.

``ErrorState`` says what is in the state. The paper's filter is this one without gravity, clone and
map; its rotation block is printed in the second place and belongs in the third.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.data.imu_noise import ImuNoise
from svnicp.inertial.error_state import (
    ACCEL_BIAS,
    GRAVITY,
    GYRO_BIAS,
    MAP,
    POSITION,
    PREVIOUS,
    ROTATION,
    SIZE,
    VELOCITY,
    ErrorState,
)
from svnicp.inertial.start import REST_VELOCITY_STD, Start
from svnicp.kernels.inertial import navigate
from svnicp.lie import hat, orthonormalise, se3_exp, se3_right_jacobian, so3_exp

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


class Eskf(ErrorState):
    """State and covariance; ``predict`` and ``correct`` change them."""

    def __init__(self, start: Start, noise: ImuNoise, *, estimate_gravity: bool = True) -> None:
        super().__init__(start, estimate_gravity=estimate_gravity)
        self._noise = np.array(
            [
                noise.gyroscope**2, noise.accelerometer**2,
                noise.gyroscope_bias_walk**2, noise.accelerometer_bias_walk**2,
            ]
        )  # fmt: skip

    def predict(self, readings: Floats, missed: Floats | None = None) -> Floats:
        """Go on through (n, 7) readings of ``ImuBuffer.intervals``; returns the poses' track.

        The track (n, 12) holds rotation by rows and position at the end of every interval.
        ``missed`` (2,): what the readings do not show, as further noise, variances per second of
        rates and forces.
        """
        track, T_before = np.empty((len(readings), 12)), self.T_world_body
        noise = self._noise if missed is None else self._noise + np.r_[missed, 0.0, 0.0]
        navigate(
            self.position, self.velocity, self.rotation, self.gyro_bias, self.accel_bias,
            self.gravity, self.covariance, readings, noise, track,
        )  # fmt: skip
        self.take_pose(self.T_world_body)
        self.carry_map(T_before)
        return track

    def preview(self, readings: Floats) -> Floats:
        """The track (n, 12) that ``predict`` would return; the filter stays where it is."""
        return self._preview(readings, self.rotation, self.velocity)[0]

    def look_back(self, readings: Floats) -> Floats:
        """The track (n, 12) of readings that have led here; the filter stays where it is."""
        turned = self.rotation.T @ self.preview(readings)[-1, :9].reshape(3, 3)
        begin = self.rotation @ turned.T
        gained = self._preview(readings, begin, self.velocity)[1] - self.velocity
        track = self._preview(readings, begin, self.velocity - gained)[0]
        track[:, 9:] += self.position - track[-1, 9:]
        return track

    def _preview(
        self, readings: Floats, rotation: Floats, velocity: Floats
    ) -> tuple[Floats, Floats]:
        """Track (n, 12) and last velocity (3,) through readings, from here with these two."""
        track, velocity = np.empty((len(readings), 12)), velocity.copy()
        navigate(
            self.position.copy(), velocity, rotation.copy(), self.gyro_bias, self.accel_bias,
            self.gravity, np.zeros((SIZE, SIZE)), readings, np.zeros(4), track,
        )  # fmt: skip
        return track, velocity

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
        self.carry_map(T_before)

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
        self.take_pose(self.T_world_body @ se3_exp(moved))
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
        self.carry_map(T_before)
