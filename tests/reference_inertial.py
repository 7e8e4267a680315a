# SPDX-License-Identifier: MIT
"""Slow, plain twins for the tests of inertial navigation: mechanization, its errors, its filter.

Written from the formulas alone: nothing here calls compiled code or the filter under test.
"""

import itertools
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats
from svnicp.inertial import Eskf
from svnicp.inertial.error_state import (
    ACCEL_BIAS,
    GRAVITY,
    GYRO_BIAS,
    MAP,
    POSITION,
    PREVIOUS,
    ROTATION,
    VELOCITY,
)
from svnicp.lie import se3_exp, se3_inverse, se3_log, so3_exp, so3_log

KNOWN = MAP.start
"""Errors of the state itself; that of the map is behind them."""


class State(NamedTuple):
    """What a strapdown navigation carries along."""

    position: Floats
    velocity: Floats
    rotation: Floats
    gyro_bias: Floats
    accel_bias: Floats
    gravity: Floats
    T_world_previous: Floats


def state_of(eskf: Eskf) -> State:
    """Copy of a filter's nominal state."""
    return State(
        eskf.position.copy(), eskf.velocity.copy(), eskf.rotation.copy(), eskf.gyro_bias.copy(),
        eskf.accel_bias.copy(), eskf.gravity.copy(), eskf.T_world_previous.copy(),
    )  # fmt: skip


def put(eskf: Eskf, state: State) -> None:
    """Make a state a filter's nominal one."""
    for name, value in state._asdict().items():
        setattr(eskf, name, value.copy())


def moved(state: State, error: Floats) -> State:
    """The state that differs from this one by an error (24,)."""
    return State(
        state.position + error[POSITION],
        state.velocity + error[VELOCITY],
        state.rotation @ so3_exp(error[ROTATION]),
        state.gyro_bias + error[GYRO_BIAS],
        state.accel_bias + error[ACCEL_BIAS],
        state.gravity + error[GRAVITY],
        state.T_world_previous @ se3_exp(error[PREVIOUS]),
    )


def difference(state: State, nominal: State) -> Floats:
    """Error (24,) that leads from the nominal state to this one."""
    out = np.zeros(KNOWN)
    out[POSITION] = state.position - nominal.position
    out[VELOCITY] = state.velocity - nominal.velocity
    out[ROTATION] = so3_log(nominal.rotation.T @ state.rotation)
    out[GYRO_BIAS] = state.gyro_bias - nominal.gyro_bias
    out[ACCEL_BIAS] = state.accel_bias - nominal.accel_bias
    out[GRAVITY] = state.gravity - nominal.gravity
    out[PREVIOUS] = se3_log(se3_inverse(nominal.T_world_previous) @ state.T_world_previous)
    return out


def mechanize(state: State, readings: Floats) -> State:
    """Go on through readings (n, 7), the first of which is only what happened before."""
    position, velocity, rotation = state.position, state.velocity, state.rotation
    for before, now in itertools.pairwise(readings):
        dt = now[0]
        turn, push = (now[1:4] - state.gyro_bias) * dt, (now[4:7] - state.accel_bias) * dt
        # Signals are lines through the two means; T³/12 a × b of a line a + b t, for any spacing.
        apart = 0.5 * (before[0] + dt)
        slope = (now[1:] - before[1:]) / apart if before[0] > 0.0 else np.zeros(6)
        turn_at_start = (now[1:4] - state.gyro_bias) - 0.5 * dt * slope[:3]
        push_at_start = (now[4:7] - state.accel_bias) - 0.5 * dt * slope[3:]
        coning = np.cross(turn_at_start, slope[:3]) * dt**3 / 12.0
        sculling = (
            np.cross(turn_at_start, slope[3:]) + np.cross(push_at_start, slope[:3])
        ) * dt**3 / 12.0  # fmt: skip
        gained = push + 0.5 * np.cross(turn, push) + sculling
        after = velocity + rotation @ gained + state.gravity * dt
        position = position + 0.5 * (velocity + after) * dt
        velocity, rotation = after, rotation @ so3_exp(turn + coning)
    return state._replace(position=position, velocity=velocity, rotation=rotation)


def numeric_jacobian(state: State, readings: Floats, step: float = 1e-6) -> Floats:
    """How an error before (24,) becomes one after ``mechanize``, by central differences."""
    nominal = mechanize(state, readings)
    columns = []
    for direction in np.eye(KNOWN):
        ends = [
            difference(mechanize(moved(state, sign * step * direction), readings), nominal)
            for sign in (1.0, -1.0)
        ]
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.array(columns).T


def fine_navigation(
    state: State, signal: Floats, seconds: float, steps: int
) -> tuple[Floats, Floats, Floats]:
    """Position, velocity and rotation after a signal (2, 6) that is a line, in many short steps."""
    position, velocity, rotation = state.position, state.velocity, state.rotation
    dt = seconds / steps
    for n in range(steps):
        share = (n + 0.5) / steps
        reading = (1.0 - share) * signal[0] + share * signal[1]
        rate, force = reading[:3] - state.gyro_bias, reading[3:] - state.accel_bias
        middle = rotation @ so3_exp(0.5 * dt * rate)
        acceleration = middle @ force + state.gravity
        position = position + velocity * dt + 0.5 * acceleration * dt**2
        velocity = velocity + acceleration * dt
        rotation = rotation @ so3_exp(rate * dt)
    return position, velocity, rotation


def information_update(P: Floats, B: Floats, R: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of an error N(0, P) after z = B x + N(0, R), in information form."""
    precision = np.linalg.inv(P) + B.T @ np.linalg.solve(R, B)
    covariance: Floats = np.linalg.inv(precision).astype(np.float64)
    return covariance @ B.T @ np.linalg.solve(R, z), covariance


def lagged_pose_jacobian(state: State, lag: Floats) -> Floats:
    """(6, 24) of pose error plus lag times error of the velocity in body axes, by differences."""

    def pose_and_lag(error: Floats) -> Floats:
        other = moved(state, error)
        pose = np.r_[
            state.rotation.T @ (other.position - state.position),
            so3_log(state.rotation.T @ other.rotation),
        ]
        velocity = other.rotation.T @ other.velocity - state.rotation.T @ state.velocity
        return pose + lag @ velocity

    step = 1e-6
    columns = [
        (pose_and_lag(step * d) - pose_and_lag(-step * d)) / (2 * step) for d in np.eye(KNOWN)
    ]
    return np.array(columns).T
