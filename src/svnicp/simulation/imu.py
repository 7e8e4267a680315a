# SPDX-License-Identifier: MIT
"""An IMU on a moving body: angular rates and specific forces, with bias and noise.

In: a motion and what is known of the IMU. Out: readings. Each is the average of the true signal
over one sampling interval, as integrating sensors deliver it, and is stamped with the middle of
that interval; summing readings times the interval therefore misses nothing in between.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats
from svnicp.data.imu_noise import ImuNoise
from svnicp.simulation.motion import Motion

GRAVITY = 9.81
"""Along -z of the world [m/s^2]."""
CHUNK_SAMPLES = 4096
"""Readings made at once."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)


@dataclass(frozen=True)
class ImuModel:
    """An IMU as data.

    Parameters
    ----------
    name
        What it is called.
    noise
        White noise and bias walk.
    rate_hz
        Readings per second [Hz].
    gyroscope_bias, accelerometer_bias
        Standard deviations of the biases at the start [rad/s], [m/s^2].
    """

    name: str
    noise: ImuNoise
    rate_hz: float
    gyroscope_bias: float
    accelerometer_bias: float

    def perfect(self) -> "ImuModel":
        """Return the same IMU without noise and bias."""
        return ImuModel(self.name, ImuNoise(0.0, 0.0, 0.0, 0.0), self.rate_hz, 0.0, 0.0)

    def sample_times(self, duration_s: float) -> Floats:
        """Return the (n,) stamps of all readings: the middles of whole intervals [s]."""
        num_samples = int(duration_s * self.rate_hz + 1e-6)
        return np.arange(0.5, num_samples, dtype=np.float64) / self.rate_hz

    def biases(self, num_samples: int, rng: np.random.Generator) -> Floats:
        """Return the (n, 6) biases of all readings, gyroscope first [rad/s], [m/s^2]."""
        first = np.repeat([self.gyroscope_bias, self.accelerometer_bias], 3)
        walk = np.repeat([self.noise.gyroscope_bias_walk, self.noise.accelerometer_bias_walk], 3)
        start = first * rng.standard_normal(6)
        steps = rng.standard_normal((max(num_samples - 1, 0), 6)) * (walk / np.sqrt(self.rate_hz))
        return np.cumsum(np.concatenate([start[None], steps]), axis=0)[:num_samples]

    def readings(
        self, motion: Motion, times_s: Floats, biases: Floats, rng: np.random.Generator
    ) -> Iterator[Floats]:
        """Yield chunks of (n, 6) readings, gyroscope first [rad/s], [m/s^2].

        Parameters
        ----------
        motion
            How the IMU moves.
        times_s
            (n,) stamps of all readings [s].
        biases
            (n, 6) from ``biases``.
        rng
            Source of the white noise.
        """
        density = np.repeat([self.noise.gyroscope, self.noise.accelerometer], 3)
        for start in range(0, len(times_s), CHUNK_SAMPLES):
            part = slice(start, start + CHUNK_SAMPLES)
            true = averaged_readings(motion, times_s[part], 1.0 / self.rate_hz)
            noise = rng.standard_normal(true.shape) * (density * np.sqrt(self.rate_hz))
            yield true + biases[part] + noise


def averaged_readings(motion: Motion, times_s: Floats, interval_s: float) -> Floats:
    """Return (n, 6) true angular rates and specific forces, averaged around each time.

    Three Gauss nodes integrate polynomials of degree five exactly, which over one interval the
    motion's derivatives very nearly are.
    """
    total = np.zeros((len(times_s), 6))
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        total += 0.5 * weight * true_readings(motion, times_s + 0.5 * interval_s * node)
    return total


def true_readings(motion: Motion, times_s: Floats) -> Floats:
    """Return (n, 6) angular rates [rad/s] and specific forces [m/s^2] in body axes."""
    R_world_body = motion.T_world_body(times_s)[:, :3, :3]
    force_world = motion.acceleration_world(times_s) + np.array([0.0, 0.0, GRAVITY])
    force_body = np.einsum("nij,ni->nj", R_world_body, force_world)
    return np.concatenate([motion.angular_velocity_body(times_s), force_body], axis=1)


IMUS: dict[str, ImuModel] = {
    imu.name: imu
    for imu in (
        ImuModel("epson_m_g365", ImuNoise.model("epson_m_g365"), 200.0, 1.7e-3, 0.03),
        ImuModel("xsens_mti30", ImuNoise.model("xsens_mti30"), 100.0, 3.5e-3, 0.03),
        ImuModel("realsense", ImuNoise.model("realsense"), 200.0, 8.7e-3, 0.1),
    )
}
"""Known IMUs by name: turn-on biases of their data sheets, rates of the recordings they are in."""
