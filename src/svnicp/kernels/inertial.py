# SPDX-License-Identifier: MIT
"""Strapdown navigation and its error covariance, compiled: all IMU samples between two times.

Mechanization with coning and sculling as LIO-EKF has it, and the error state of the filter:
position and velocity in the world, rotation on the right, biases, gravity, and whatever else the
covariance holds (clones of earlier poses), which does not move by itself.
"""

import numpy as np

from svnicp.kernels.lie import so3_exp, so3_right_jacobian
from svnicp.kernels.njit import njit
from svnicp.kernels.small import applied, product

MOVING = 9
"""Rows of position, velocity and rotation errors: those that change between measurements."""
DRIVING = 18
"""Errors that drive them: the moving ones, the biases and gravity."""


@njit()
def navigate(
    position, velocity, rotation, gyro_bias, accel_bias, gravity, covariance, readings, noise, track
):
    """Carry state and covariance through (n, 7) readings: interval [s], rates, specific forces.

    ``readings[0]`` is what happened just before, for coning and sculling; its interval may be zero.
    ``noise`` (4,): variances per second of rates, forces and the two biases' walks. ``track``
    (n, 12) takes the pose (rotation by rows, position) after every reading. Changes ``position``,
    ``velocity``, ``rotation`` and ``covariance`` in place.
    """
    turn_before = (readings[0, 1:4] - gyro_bias) * readings[0, 0]
    push_before = (readings[0, 4:7] - accel_bias) * readings[0, 0]
    _note(track, 0, rotation, position)
    for n in range(1, len(readings)):
        dt = readings[n, 0]
        rate, force = readings[n, 1:4] - gyro_bias, readings[n, 4:7] - accel_bias
        turn, push = rate * dt, force * dt
        _spread_errors(covariance, rotation, rate, force, dt, noise)
        sculling = _cross(turn_before, push) + _cross(push_before, turn)
        gained = push + 0.5 * _cross(turn, push) + sculling / 12.0
        faster = velocity + applied(rotation, gained) + gravity * dt
        position += 0.5 * (velocity + faster) * dt
        velocity[:] = faster
        rotation[:] = product(rotation, so3_exp(turn + _cross(turn_before, turn) / 12.0))
        turn_before, push_before = turn, push
        _note(track, n, rotation, position)


@njit()
def _cross(a, b):
    """Cross product of two vectors (3,)."""
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


@njit()
def _note(track, n, rotation, position):
    """Write a pose into the track."""
    for i in range(3):
        track[n, 9 + i] = position[i]
        for j in range(3):
            track[n, 3 * i + j] = rotation[i, j]


@njit()
def transition(rotation, rate, force, dt):
    """Rows (9, 18) by which errors of position, velocity and rotation follow from all of them."""
    out = np.zeros((MOVING, DRIVING))
    twisted = np.empty((3, 3))  # R [f]×, column by column a cross product
    for i in range(3):
        twisted[i, 0] = rotation[i, 1] * force[2] - rotation[i, 2] * force[1]
        twisted[i, 1] = rotation[i, 2] * force[0] - rotation[i, 0] * force[2]
        twisted[i, 2] = rotation[i, 0] * force[1] - rotation[i, 1] * force[0]
    back, bent = so3_exp(-rate * dt), so3_right_jacobian(rate * dt)
    half = 0.5 * dt * dt
    for i in range(3):
        out[i, i] = out[3 + i, 3 + i] = 1.0
        out[i, 3 + i] = out[3 + i, 15 + i] = dt
        out[i, 15 + i] = half
        for j in range(3):
            out[i, 6 + j], out[3 + i, 6 + j] = -half * twisted[i, j], -dt * twisted[i, j]
            out[i, 12 + j], out[3 + i, 12 + j] = -half * rotation[i, j], -dt * rotation[i, j]
            out[6 + i, 6 + j] = back[i, j]
            out[6 + i, 9 + j] = -dt * bent[i, j]
    return out


@njit()
def _spread_errors(covariance, rotation, rate, force, dt, noise):
    """P ← F P F' + Q over one interval, of which only the moving rows and columns change."""
    size = len(covariance)
    moved = transition(rotation, rate, force, dt)
    rows = np.zeros((MOVING, size))
    for i in range(MOVING):
        for k in range(DRIVING):
            if moved[i, k] != 0.0:
                for j in range(size):
                    rows[i, j] += moved[i, k] * covariance[k, j]
    for i in range(MOVING):
        for j in range(MOVING):
            total = 0.0
            for k in range(DRIVING):
                total += rows[i, k] * moved[j, k]
            covariance[i, j] = total
        for j in range(MOVING, size):
            covariance[i, j] = rows[i, j]
            covariance[j, i] = rows[i, j]
    for i in range(MOVING):
        for j in range(i):
            mean = 0.5 * (covariance[i, j] + covariance[j, i])
            covariance[i, j] = covariance[j, i] = mean
    for i in range(3):
        covariance[3 + i, 3 + i] += noise[1] * dt
        covariance[6 + i, 6 + i] += noise[0] * dt
        covariance[9 + i, 9 + i] += noise[2] * dt
        covariance[12 + i, 12 + i] += noise[3] * dt
