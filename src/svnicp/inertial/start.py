# SPDX-License-Identifier: MIT
"""Where the filter begins: gravity, attitude and biases from readings at rest.

The world's z axis points up and its origin is the body's first position. At rest the accelerometer
shows gravity plus its own bias, and nothing can tell the two apart: the tilt of the world takes the
horizontal bias with it. The covariance knows that: gravity's error and the bias's are the same
number there, which is why both are in the state.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.lie import so3_exp

CERTAIN = 1e-12
"""Variance of what is so by definition."""
REST_PARTS = 5
"""Parts of a time whose means are compared to tell rest from motion."""
REST_VELOCITY_STD = 0.01
"""How fast a body at rest may move [m/s]."""
LEVELLING_STD = 2e-3
"""What averaging at rest leaves unknown of gravity, vibration and settling included [m/s^2]."""
MOVING_TILT_STD = 0.5
"""Horizontal acceleration of a body in motion, which is mistaken for tilt [m/s^2]."""


class Start(NamedTuple):
    """Initial state of the filter and the covariances of its parts."""

    rotation: Floats
    """(3, 3) R_world_body."""
    velocity: Floats
    """(3,) in the world [m/s]."""
    velocity_cov: Floats
    """(3, 3) [m^2/s^2]."""
    gyro_bias: Floats
    """(3,) [rad/s]."""
    gyro_bias_var: float
    """Per axis [rad^2/s^2]."""
    accel_bias: Floats
    """(3,) [m/s^2]."""
    accel_bias_cov: Floats
    """(3, 3) [m^2/s^4]."""
    gravity: Floats
    """(3,) in the world [m/s^2]."""
    gravity_cov: Floats
    """(3, 3) [m^2/s^4]."""
    accel_bias_gravity_cov: Floats
    """(3, 3) between the accelerometer's bias (rows) and gravity (columns) [m^2/s^4]."""


def at_rest(readings: Floats, config: InertialConfig) -> bool:
    """Whether readings (n, 6) are of a body that does not move.

    Means of a fifth of them stay the same, apart from what noise leaves in a mean, and single
    readings shake at most ten times as much; the rate is small enough to be a bias, and the force
    is gravity's.
    """
    if len(readings) < 2 * REST_PARTS:
        return False
    length = len(readings) // REST_PARTS
    parts = readings[-REST_PARTS * length :].reshape(REST_PARTS, length, 6)
    moved = parts.mean(axis=1).std(axis=0)
    noise_var = parts.var(axis=1).mean(axis=0) / length
    limits = np.repeat([config.rest_rate_rad_s, config.rest_force_m_s2], 3)
    mean = readings.mean(axis=0)
    force = np.linalg.norm(mean[3:])
    return bool(
        np.all(moved < np.sqrt(limits**2 + 9.0 * noise_var))
        and np.all(readings.std(axis=0) < 10.0 * limits)
        and abs(force - config.gravity_m_s2) < 0.1 * config.gravity_m_s2
        and np.all(np.abs(mean[:3]) < 3.0 * config.gyroscope_bias_std)
    )


def start_at_rest(
    readings: Floats, config: InertialConfig, velocity_std: float = REST_VELOCITY_STD
) -> Start:
    """Start from readings (n, 6) at rest: gyroscope first [rad/s], [m/s^2].

    A steady ride gives the same readings: with a larger ``velocity_std`` [m/s] gravity and biases
    are taken from them all the same, and scans tell the velocity; see ``Eskf.stop``.
    """
    mean, spread = readings.mean(axis=0), readings.std(axis=0)
    force = float(np.linalg.norm(mean[3:]))
    up_body = mean[3:] / force
    rotation = rotation_to_up(up_body)
    noise_var = LEVELLING_STD**2 + float(np.mean(spread[3:] ** 2)) / len(readings)
    # Across gravity the bias is as unknown as ever; along it, the known length of gravity helps.
    bias_var = config.accelerometer_bias_std**2
    world_bias_cov = np.diag([bias_var, bias_var, config.gravity_std**2])
    return Start(
        rotation=rotation,
        velocity=np.zeros(3),
        velocity_cov=np.eye(3) * velocity_std**2,
        gyro_bias=mean[:3].copy(),
        gyro_bias_var=(3e-5) ** 2 + 4.0 * float(np.mean(spread[:3] ** 2)) / len(readings),
        accel_bias=(force - config.gravity_m_s2) * up_body,
        accel_bias_cov=rotation.T @ world_bias_cov @ rotation,
        gravity=np.array([0.0, 0.0, -config.gravity_m_s2]),
        gravity_cov=world_bias_cov + noise_var * np.eye(3),
        accel_bias_gravity_cov=rotation.T @ world_bias_cov,  # g = -R (mean force - bias)
    )


def start_in_motion(intervals: Floats, speed_std: float, config: InertialConfig) -> Start:
    """Start from the readings of a body that already moves at an unknown speed [m/s].

    ``intervals`` (n, 7) as ``ImuBuffer.intervals`` gives them: seconds, rates, forces. The mean
    force, every reading turned to the last one's frame, gives up roughly; biases are taken as zero,
    because the mean rate is a turn as likely as a bias. Scans then tell the velocity, and with it
    gravity and the biases.
    """
    R_last_body, total = np.eye(3), np.zeros(3)
    for seconds, *reading in intervals[:0:-1]:
        total += seconds * (R_last_body @ reading[3:])
        R_last_body = R_last_body @ so3_exp(-seconds * np.array(reading[:3]))
    rotation = rotation_to_up(total / np.linalg.norm(total))
    bias_cov = np.eye(3) * config.accelerometer_bias_std**2
    return Start(
        rotation=rotation,
        velocity=np.zeros(3),
        velocity_cov=np.eye(3) * speed_std**2,
        gyro_bias=np.zeros(3),
        gyro_bias_var=config.gyroscope_bias_std**2,
        accel_bias=np.zeros(3),
        accel_bias_cov=bias_cov,
        gravity=np.array([0.0, 0.0, -config.gravity_m_s2]),
        gravity_cov=np.diag([MOVING_TILT_STD**2, MOVING_TILT_STD**2, config.gravity_std**2]),
        accel_bias_gravity_cov=np.zeros((3, 3)),
    )


def rotation_to_up(up_body: Floats) -> Floats:
    """R_world_body (3, 3) that takes a unit vector (3,) to the world's z by the shortest turn."""
    up_world = np.array([0.0, 0.0, 1.0])
    axis = np.cross(up_body, up_world)
    sine, cosine = np.linalg.norm(axis), float(up_body @ up_world)
    if sine < 1e-15:
        return np.eye(3) if cosine > 0.0 else np.diag([1.0, -1.0, -1.0])
    return so3_exp(axis / sine * np.arctan2(sine, cosine))
