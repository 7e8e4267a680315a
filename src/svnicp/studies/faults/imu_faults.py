# SPDX-License-Identifier: MIT
"""Readings of an IMU that are wrong: spikes, limits, units, biases, a frozen register."""

from collections.abc import Callable, Iterator

import numpy as np

from svnicp.arrays import Floats
from svnicp.data.measurements import ImuSample
from svnicp.studies.faults.arrivals import Arrival, Arrivals, Inject, Window

Change = Callable[[Floats, np.random.Generator], Floats]
"""Reading (6,) [rad/s, m/s^2] to what arrives of it."""


def changed(change: Change, share: float = 1.0) -> Inject:
    """Change a share of the readings."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:
        for arrival in arrivals:
            one = arrival.measurement
            if isinstance(one, ImuSample) and window.holds(arrival) and rng.random() < share:
                reading = np.concatenate([one.angular_velocity, one.linear_acceleration])
                wrong = change(reading, rng)
                sample = ImuSample(one.stamp_ns, wrong[:3], wrong[3:])
                yield arrival._replace(
                    measurement=sample, faulty=not np.array_equal(wrong, reading)
                )
            else:
                yield arrival

    return inject


def spiked(rate_rad_s: float, force_m_s2: float) -> Change:
    """Add a jolt of random direction."""

    def change(reading: Floats, rng: np.random.Generator) -> Floats:
        jolts = rng.standard_normal((2, 3))
        jolts /= np.linalg.norm(jolts, axis=1, keepdims=True)
        return reading + np.concatenate([rate_rad_s * jolts[0], force_m_s2 * jolts[1]])

    return change


def clipped(rate_rad_s: float, force_m_s2: float) -> Change:
    """Hold readings at the end of a range that is too small."""
    limits = np.repeat([rate_rad_s, force_m_s2], 3)
    return lambda reading, _: np.clip(reading, -limits, limits)


def scaled(rates: float, forces: float) -> Change:
    """Multiply readings, as a wrong unit does."""
    factors = np.repeat([rates, forces], 3)
    return lambda reading, _: factors * reading


def shifted(rate_rad_s: float, force_m_s2: float) -> Change:
    """Add a bias, along an oblique axis."""
    axis = np.array([0.6, -0.48, 0.64])
    bias = np.concatenate([rate_rad_s * axis, force_m_s2 * axis])
    return lambda reading, _: reading + bias


def not_finite() -> Change:
    """Put in place of a component what is no number, or none that ends."""

    def change(reading: Floats, rng: np.random.Generator) -> Floats:
        wrong = reading.copy()
        wrong[rng.integers(6)] = rng.choice([np.nan, np.inf, -np.inf])
        return wrong

    return change


def frozen() -> Inject:
    """Repeat the first reading over and over, with stamps that go on."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        first: ImuSample | None = None
        for arrival in arrivals:
            one = arrival.measurement
            if isinstance(one, ImuSample) and window.holds(arrival):
                first = one if first is None else first
                again = ImuSample(one.stamp_ns, first.angular_velocity, first.linear_acceleration)
                yield arrival._replace(measurement=again, faulty=True)
            else:
                yield arrival

    return inject
