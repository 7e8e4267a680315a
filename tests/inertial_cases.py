# SPDX-License-Identifier: MIT
"""Filters, readings and buffers for the tests of inertial navigation and odometry."""

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.config import InertialConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.inertial import Eskf, ImuBuffer, start_at_rest
from svnicp.inertial.error_state import MAP
from svnicp.lie import se3_exp, so3_exp
from svnicp.simulation.imu import IMUS, averaged_readings
from svnicp.simulation.motion import Motion

QUIET = ImuNoise(0.0, 0.0, 0.0, 0.0)
LOUD = ImuNoise(2e-3, 2e-2, 1e-3, 1e-2)
UP = np.array([0.0, 0.0, 9.81])


def resting_filter(noise: ImuNoise = QUIET, config: InertialConfig | None = None) -> Eskf:
    """Filter that was started level and at rest."""
    readings = np.tile(np.r_[np.zeros(3), UP], (20, 1))
    return Eskf(start_at_rest(readings, config or InertialConfig()), noise)


def busy_filter(rng: np.random.Generator, noise: ImuNoise = QUIET) -> Eskf:
    """Filter in the middle of a motion: everything non-zero, a full covariance, an old clone."""
    eskf = resting_filter(noise)
    eskf.position, eskf.velocity = rng.normal(size=3), rng.normal(size=3)
    eskf.rotation = so3_exp(rng.normal(size=3))
    eskf.gyro_bias, eskf.accel_bias = 0.05 * rng.normal(size=3), 0.2 * rng.normal(size=3)
    eskf.gravity = np.array([0.1, -0.2, -9.8])
    eskf.T_world_previous = se3_exp(rng.normal(size=6))
    eskf.covariance = with_map(random_covariance(rng, MAP.start, 0.05))
    return eskf


def with_map(P: Floats) -> Floats:
    """Covariance (30, 30) of a state (24, 24) and a map whose error correlates with all of it."""
    taken = 0.3 * np.sin(np.arange(6.0)[:, None] + 2.0 * np.arange(float(MAP.start)))
    return np.block([[P, P @ taken.T], [taken @ P, taken @ P @ taken.T + np.eye(6) * 0.05**2]])


def random_covariance(rng: np.random.Generator, size: int, std: float) -> Floats:
    """Well-conditioned covariance with correlations everywhere."""
    root = std * (np.eye(size) + 0.3 * rng.normal(size=(size, size)) / np.sqrt(size))
    return root @ root.T


def random_readings(rng: np.random.Generator, count: int = 6, dt_s: float = 0.01) -> Floats:
    """Rows (n, 7) of intervals of different lengths, turning and shaking."""
    seconds = dt_s * rng.uniform(0.3, 1.0, size=(count, 1))
    return np.concatenate(
        [seconds, rng.normal(size=(count, 3)), UP + rng.normal(size=(count, 3))], axis=1
    )


def buffer_of(stamps_ns: Floats | Integers, readings: Floats) -> ImuBuffer:
    """Buffer with (n, 6) readings at (n,) stamps."""
    buffer = ImuBuffer()
    for stamp_ns, reading in zip(stamps_ns, readings, strict=True):
        buffer.add(int(stamp_ns), reading[:3], reading[3:])
    return buffer


def perfect_buffer(motion: Motion, name: str = "xsens_mti30") -> ImuBuffer:
    """Buffer with all readings of a motion, without noise and bias."""
    imu = IMUS[name]
    times = imu.sample_times(motion.duration_s)
    readings = averaged_readings(motion, times, 1.0 / imu.rate_hz)
    return buffer_of(np.rint(times * 1e9), readings)
