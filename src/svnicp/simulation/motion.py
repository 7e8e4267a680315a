# SPDX-License-Identifier: MIT
"""A smooth motion of a body: poses at any time, with exact derivatives.

In: samples of position and of yaw, pitch and roll at even intervals. Out: quintic splines through
them, so velocity, acceleration and angular velocity are derivatives of the very same curve, and
smooth ones. The simulated LiDAR asks it for poses, the simulated IMU for the derivatives.
"""

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from svnicp.arrays import Floats, Transform
from svnicp.errors import InputError
from svnicp.lie import make_transform

DEGREE = 5
"""Four continuous derivatives."""
STEEPEST_PITCH_RAD = np.radians(80.0)
"""Yaw and roll cannot be told apart when the body points straight up."""


class Motion:
    """A smooth motion from time 0 on.

    Parameters
    ----------
    times_s
        (n,) from 0 on, in even steps [s]; n at least 6.
    positions
        (n, 3) of the body in the world [m].
    yaw_pitch_roll
        (n, 3) angles about z, then y, then x; yaw is continuous (unwrapped) [rad].
    """

    def __init__(self, times_s: Floats, positions: Floats, yaw_pitch_roll: Floats) -> None:
        times_s, curve = np.asarray(times_s), np.column_stack([positions, yaw_pitch_roll])
        if len(times_s) <= DEGREE or curve.shape != (len(times_s), 6):
            raise InputError(
                f"A motion needs at least {DEGREE + 1} times and as many positions and angles, "
                f"got {len(times_s)} times and arrays that join to shape {curve.shape}."
            )
        steps = np.diff(times_s)
        if times_s[0] != 0.0 or not np.allclose(steps, steps[0], rtol=1e-6, atol=0.0):
            raise InputError("The times of a motion must start at 0 and have even steps.")
        if np.abs(curve[:, 4]).max() > STEEPEST_PITCH_RAD:
            raise InputError("The pitch of a motion must stay between -80 and 80 degrees.")
        self.duration_s = float(times_s[-1])
        """Time covered [s]."""
        self._curve = make_interp_spline(times_s, curve, k=DEGREE)
        self._rate = self._curve.derivative()
        self._change_of_rate = self._rate.derivative()

    @classmethod
    def from_knots(cls, times_s: Floats, positions: Floats, rotations: Floats) -> "Motion":
        """Return the motion through (n, 3) positions [m] and (n, 3, 3) rotations R_world_body."""
        yaw = np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0])
        pitch = np.arcsin(np.clip(-rotations[:, 2, 0], -1.0, 1.0))
        roll = np.arctan2(rotations[:, 2, 1], rotations[:, 2, 2])
        return cls(times_s, positions, np.column_stack([np.unwrap(yaw), pitch, np.unwrap(roll)]))

    def T_world_body(self, times_s: Floats) -> Transform:
        """Return (n, 4, 4) poses of the body at (n,) times [s]."""
        curve = self._at(self._curve, times_s)
        return make_transform(_rotation(curve[:, 3:]), curve[:, :3])

    def position(self, times_s: Floats) -> Floats:
        """Return (n, 3) positions of the body in the world [m]."""
        return self._at(self._curve, times_s)[:, :3]

    def velocity_world(self, times_s: Floats) -> Floats:
        """Return (n, 3) velocities of the body in the world [m/s]."""
        return self._at(self._rate, times_s)[:, :3]

    def acceleration_world(self, times_s: Floats) -> Floats:
        """Return (n, 3) accelerations of the body in the world [m/s^2]."""
        return self._at(self._change_of_rate, times_s)[:, :3]

    def angular_velocity_body(self, times_s: Floats) -> Floats:
        """Return (n, 3) angular velocities of the body, in its own axes [rad/s]."""
        _, pitch, roll = self._at(self._curve, times_s)[:, 3:].T
        yaw_rate, pitch_rate, roll_rate = self._at(self._rate, times_s)[:, 3:].T
        across = yaw_rate * np.cos(pitch)
        return np.column_stack(
            [
                roll_rate - yaw_rate * np.sin(pitch),
                pitch_rate * np.cos(roll) + across * np.sin(roll),
                across * np.cos(roll) - pitch_rate * np.sin(roll),
            ]
        )

    def _at(self, spline: BSpline, times_s: Floats) -> Floats:
        """Return a spline's values; the motion is not known outside of its time."""
        times_s = np.asarray(times_s, dtype=np.float64)
        if len(times_s) and not (times_s.min() >= 0.0 and times_s.max() <= self.duration_s + 1e-9):
            raise InputError(
                f"A motion of {self.duration_s:g} s was asked for times from "
                f"{times_s.min():g} to {times_s.max():g} s."
            )
        return spline(times_s)


def _rotation(yaw_pitch_roll: Floats) -> Floats:
    """Return (n, 3, 3) rotations: yaw about z, then pitch about y, then roll about x."""
    cos_yaw, cos_pitch, cos_roll = np.cos(yaw_pitch_roll).T
    sin_yaw, sin_pitch, sin_roll = np.sin(yaw_pitch_roll).T
    columns = [
        [cos_yaw * cos_pitch, sin_yaw * cos_pitch, -sin_pitch],
        [
            cos_yaw * sin_pitch * sin_roll - sin_yaw * cos_roll,
            sin_yaw * sin_pitch * sin_roll + cos_yaw * cos_roll,
            cos_pitch * sin_roll,
        ],
        [
            cos_yaw * sin_pitch * cos_roll + sin_yaw * sin_roll,
            sin_yaw * sin_pitch * cos_roll - cos_yaw * sin_roll,
            cos_pitch * cos_roll,
        ],
    ]
    return np.transpose(np.array(columns), (2, 1, 0))
