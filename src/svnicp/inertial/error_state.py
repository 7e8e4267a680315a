# SPDX-License-Identifier: MIT
"""State and covariance of the inertial filter: what is in them, and what can be read from them.

Nominal state: position and velocity in the world, R_world_body, biases, gravity. Errors are added
(world axes for position, velocity, gravity), the rotation's on the right: R = R̂ Exp(δθ). A clone of
the pose at the last scan stays in the state, so that the step between two scans has a covariance of
its own, and so does the error of the map that scans are matched with: the pose is that in the map.
"""

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.inertial.start import CERTAIN, Start
from svnicp.lie import hat, make_transform, orthonormalise, se3_adjoint, se3_inverse
from svnicp.pose_gaussian import PoseGaussian

POSITION, VELOCITY, ROTATION = slice(0, 3), slice(3, 6), slice(6, 9)
GYRO_BIAS, ACCEL_BIAS, GRAVITY = slice(9, 12), slice(12, 15), slice(15, 18)
PREVIOUS = slice(18, 24)
"""Pose at the last scan, in its own body tangent: translation, then rotation."""
MAP = slice(24, 30)
"""How far the map around the body is off, in the body tangent; considered, never corrected."""
SIZE = 30


class ErrorState:
    """Nominal state and the covariance (30, 30) of its error."""

    def __init__(self, start: Start, *, estimate_gravity: bool = True) -> None:
        self.position = np.zeros(3)
        self.velocity = start.velocity.copy()
        self.rotation = start.rotation.copy()
        self.gyro_bias = start.gyro_bias.copy()
        self.accel_bias = start.accel_bias.copy()
        self.gravity = start.gravity.copy()
        self.T_world_previous = self.T_world_body
        self.covariance = _start_covariance(start, estimate_gravity)

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

    def clone(self) -> None:
        """Make the present pose the one that the next step is relative to."""
        copy = np.eye(SIZE)
        copy[PREVIOUS] = self.pose_jacobian
        self.covariance = copy @ self.covariance @ copy.T
        self.T_world_previous = self.T_world_body

    def step_from(self, other: "ErrorState") -> None:
        """Let the step be relative to the same pose as that of another filter."""
        if np.array_equal(self.T_world_previous, other.T_world_previous):
            return
        self.T_world_previous = other.T_world_previous.copy()
        self.covariance[PREVIOUS, :] = 0.0
        self.covariance[:, PREVIOUS] = 0.0
        self.covariance[PREVIOUS, PREVIOUS] = other.covariance[PREVIOUS, PREVIOUS]

    def take_pose(self, T_world_body: Transform) -> None:
        """Make this the pose, with a proper rotation."""
        whole = orthonormalise(T_world_body)
        self.rotation, self.position = whole[:3, :3].copy(), whole[:3, 3].copy()

    def take_velocity(self, velocity: Floats, covariance: Covariance) -> None:
        """Forget what is known of the velocity, and take this one (3,) in the world [m/s]."""
        self.velocity = velocity.copy()
        self.covariance[VELOCITY, :] = 0.0
        self.covariance[:, VELOCITY] = 0.0
        self.covariance[VELOCITY, VELOCITY] = covariance

    def doubt_biases(self, gyro_std: float, accel_std: float) -> None:
        """Know the biases less: readings contradicted what scans show."""
        self.covariance[GYRO_BIAS, GYRO_BIAS] += np.eye(3) * gyro_std**2
        self.covariance[ACCEL_BIAS, ACCEL_BIAS] += np.eye(3) * accel_std**2

    def doubt_motion(self, position_std: float, rotation_std: float, velocity_std: float) -> None:
        """Know pose and velocity less [m], [rad], [m/s]."""
        self.covariance[POSITION, POSITION] += np.eye(3) * position_std**2
        self.covariance[ROTATION, ROTATION] += np.eye(3) * rotation_std**2
        self.covariance[VELOCITY, VELOCITY] += np.eye(3) * velocity_std**2

    def spread_map(self, position_std: float, rotation_std: float) -> None:
        """Know the place of the map less [m], [rad]."""
        stds = np.repeat([position_std, rotation_std], 3)
        self.covariance[MAP, MAP] += np.diag(stds**2)

    def doubt_map(self, velocity_lag: Floats, velocity: Floats) -> None:
        """The map was deskewed by this velocity (3,), and is off by (6, 3) [s] times its error."""
        error = self.velocity - velocity
        spread = self.covariance[VELOCITY, VELOCITY] + np.outer(error, error)
        lag = velocity_lag @ self.rotation.T
        self.covariance[MAP, MAP] += lag @ spread @ lag.T

    def tilt_gravity(self, turn_cov: Covariance) -> None:
        """Gravity is known in the map's axes: let it turn by what the map turns, (3, 3) of body."""
        J = hat(self.gravity) @ self.rotation
        self.covariance[GRAVITY, GRAVITY] += J @ turn_cov @ J.T

    def carry_map(self, T_before: Transform) -> None:
        """Look at the map's error from where the body is now, instead of from here (4, 4)."""
        A = se3_adjoint(se3_inverse(self.T_world_body) @ T_before)
        rows = A @ self.covariance[MAP]
        own = rows[:, MAP] @ A.T
        self.covariance[MAP], self.covariance[:, MAP] = rows, rows.T
        self.covariance[MAP, MAP] = 0.5 * (own + own.T)

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
