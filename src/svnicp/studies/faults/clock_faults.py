# SPDX-License-Identifier: MIT
"""Clocks that are set, stamps that are far away, and a body that is carried off."""

from collections.abc import Iterator

import numpy as np

from svnicp.data.measurements import ImuSample, Scan
from svnicp.studies.faults.arrivals import Arrival, Arrivals, Inject, Measurement, Window


def set_clock(seconds: float) -> Inject:
    """Set the clock of all sensors forward, or back, when the window begins, and leave it so."""
    by_ns = round(seconds * 1e9)

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        for arrival in arrivals:
            if arrival.measurement is not None and arrival.true_ns >= window.begin_ns:
                yield Arrival(moved(arrival.measurement, by_ns), arrival.shift_ns - by_ns, True)
            else:
                yield arrival

    return inject


def stamped_late(seconds: float) -> Inject:
    """Stamp the scans of the window later than they were taken; the IMU keeps the right time."""
    by_ns = round(seconds * 1e9)

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        for arrival in arrivals:
            if isinstance(arrival.measurement, Scan) and window.holds(arrival):
                yield Arrival(moved(arrival.measurement, by_ns), arrival.shift_ns - by_ns, True)
            else:
                yield arrival

    return inject


def carried_off() -> Inject:
    """Take the window out of the world: what comes behind it follows what was before at once."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        by_ns, first = window.begin_ns - window.end_ns, True
        for arrival in arrivals:
            if arrival.measurement is None or window.holds(arrival):
                continue
            if arrival.true_ns < window.end_ns:
                yield arrival
            else:
                yield Arrival(moved(arrival.measurement, by_ns), -by_ns, first)
                first = False

    return inject


def moved(measurement: Measurement, by_ns: int) -> Measurement:
    """Return a measurement with other stamps."""
    if isinstance(measurement, ImuSample):
        rates, forces = measurement.angular_velocity, measurement.linear_acceleration
        return ImuSample(measurement.stamp_ns + by_ns, rates, forces)
    times = measurement.point_times_ns
    return Scan(
        measurement.stamp_ns + by_ns, measurement.points, None if times is None else times + by_ns
    )
