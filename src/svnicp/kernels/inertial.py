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
    rate_before = _plus(readings[0, 1:4], gyro_bias, -1.0)
    force_before = _plus(readings[0, 4:7], accel_bias, -1.0)
    before = readings[0, 0]
    _note(track, 0, rotation, position)
    for n in range(1, len(readings)):
        dt = readings[n, 0]
        rate = _plus(readings[n, 1:4], gyro_bias, -1.0)
        force = _plus(readings[n, 4:7], accel_bias, -1.0)
        turn, push = _scaled(rate, dt), _scaled(force, dt)
        # The line through the last two means, as if both intervals were this long.
        shared = 2.0 * dt * dt / (before + dt) if before > 0.0 else 0.0
        turn_before, push_before = _scaled(rate_before, shared), _scaled(force_before, shared)
        sculling = _plus(_cross(turn_before, push), _cross(push_before, turn), 1.0)
        gained = _plus(_plus(push, _cross(turn, push), 0.5), sculling, 1.0 / 12.0)
        _spread_errors(covariance, rotation, turn, push, gained, dt, noise)
        turned = so3_exp(_plus(turn, _cross(turn_before, turn), 1.0 / 12.0))
        _move(position, velocity, rotation, applied(rotation, gained), gravity, turned, dt)
        rate_before, force_before, before = rate, force, dt
        _note(track, n, rotation, position)


@njit()
def _move(position, velocity, rotation, pushed, gravity, turned, dt):
    """Carry position, velocity and rotation over one interval, in place."""
    for i in range(3):
        faster = velocity[i] + pushed[i] + gravity[i] * dt
        position[i] += 0.5 * (velocity[i] + faster) * dt
        velocity[i] = faster
    after = product(rotation, turned)
    for i in range(3):
        for j in range(3):
            rotation[i, j] = after[i, j]


@njit()
def _plus(a, b, factor):
    """Vector a + factor b (3,); array expressions take ten times as long to compile."""
    out = np.empty(3)
    for i in range(3):
        out[i] = a[i] + factor * b[i]
    return out


@njit()
def _scaled(a, factor):
    """Vector factor a (3,)."""
    out = np.empty(3)
    for i in range(3):
        out[i] = factor * a[i]
    return out


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
def transition(rotation, turn, push, gained, dt):
    """Rows (9, 18) by which errors of position, velocity and rotation follow from all of them.

    ``turn`` and ``push`` (3,) are rate and force times ``dt`` [s], ``gained`` (3,) what the latter
    adds to the velocity, in the axes of the body at the beginning.
    """
    out = np.zeros((MOVING, DRIVING))
    by_turn = _times_cross(rotation, gained)
    by_rate = _times_cross(rotation, push)
    by_force = _times_cross(rotation, turn)
    back, bent = so3_exp(_scaled(turn, -1.0)), so3_right_jacobian(turn)
    for i in range(3):
        out[i, i] = out[3 + i, 3 + i] = 1.0
        out[3 + i, 15 + i] = dt
        for j in range(3):
            out[3 + i, 6 + j] = -by_turn[i, j]
            out[3 + i, 9 + j] = 0.5 * dt * by_rate[i, j]
            out[3 + i, 12 + j] = -dt * (rotation[i, j] + 0.5 * by_force[i, j])
            out[6 + i, 6 + j] = back[i, j]
            out[6 + i, 9 + j] = -dt * bent[i, j]
        out[i, 3 + i] = dt
        for j in range(6, DRIVING):  # the position goes on at the mean of both velocities
            out[i, j] = 0.5 * dt * out[3 + i, j]
    return out


@njit()
def _times_cross(rotation, vector):
    """R [v]× (3, 3)."""
    out = np.empty((3, 3))
    for i in range(3):
        out[i, 0] = rotation[i, 1] * vector[2] - rotation[i, 2] * vector[1]
        out[i, 1] = rotation[i, 2] * vector[0] - rotation[i, 0] * vector[2]
        out[i, 2] = rotation[i, 0] * vector[1] - rotation[i, 1] * vector[0]
    return out


@njit()
def _spread_errors(covariance, rotation, turn, push, gained, dt, noise):
    """P ← F (P + Q/2) F' + Q/2 over one interval: half of the noise before, half after."""
    size = len(covariance)
    _add_noise(covariance, noise, 0.5 * dt)
    moved = transition(rotation, turn, push, gained, dt)
    rows = np.zeros((MOVING, size))
    for i in range(MOVING):
        for k in range(DRIVING):
            if moved[i, k] != 0.0:
                for j in range(size):
                    rows[i, j] += moved[i, k] * covariance[k, j]
    for i in range(MOVING):
        for j in range(i + 1):
            total = 0.0
            for k in range(DRIVING):
                total += rows[i, k] * moved[j, k]
            covariance[i, j] = covariance[j, i] = total
        for j in range(MOVING, size):
            covariance[i, j] = covariance[j, i] = rows[i, j]
    _add_noise(covariance, noise, 0.5 * dt)


@njit()
def _add_noise(covariance, noise, seconds):
    """Add the noise of so many seconds to velocity, rotation and biases."""
    for i in range(3):
        covariance[3 + i, 3 + i] += noise[1] * seconds
        covariance[6 + i, 6 + i] += noise[0] * seconds
        covariance[9 + i, 9 + i] += noise[2] * seconds
        covariance[12 + i, 12 + i] += noise[3] * seconds
