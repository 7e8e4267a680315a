# SPDX-License-Identifier: MIT
"""Measurements that are lost, late, doubled, or in the wrong order; nothing is changed in them."""

from collections import deque
from collections.abc import Iterator

import numpy as np

from svnicp.data.measurements import ImuSample, Scan
from svnicp.studies.faults.arrivals import (
    Arrival,
    Arrivals,
    Inject,
    Measurement,
    Window,
    complete_ns,
)

Kind = type[Scan] | type[ImuSample]


def nothing() -> Inject:
    """Leave everything as it is."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        yield from arrivals

    return inject


def lost(kind: Kind, share: float = 1.0) -> Inject:
    """Lose a share of the measurements of a kind."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:
        for arrival in arrivals:
            hit = isinstance(arrival.measurement, kind) and window.holds(arrival)
            gone = hit and rng.random() < share
            yield Arrival(None, faulty=True) if gone else arrival

    return inject


def late(seconds: float) -> Inject:
    """Let scans arrive later than they were taken, with the right stamps."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        waiting: deque[Arrival] = deque()
        for arrival in arrivals:
            while waiting and _due(waiting[0], arrival.measurement, seconds):
                yield waiting.popleft()
            if isinstance(arrival.measurement, Scan) and (window.holds(arrival) or waiting):
                waiting.append(arrival._replace(faulty=window.holds(arrival)))
            else:
                yield arrival
        yield from waiting

    return inject


def _due(arrival: Arrival, now: Measurement | None, seconds: float) -> bool:
    """Whether something held back has to be handed on before another measurement."""
    assert arrival.measurement is not None
    delay_ns = round(seconds * 1e9) if arrival.faulty else 0
    return now is not None and complete_ns(now) >= complete_ns(arrival.measurement) + delay_ns


def doubled() -> Inject:
    """Let every scan arrive twice."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        for arrival in arrivals:
            yield arrival
            if isinstance(arrival.measurement, Scan) and window.holds(arrival):
                yield arrival._replace(faulty=True)

    return inject


def swapped() -> Inject:
    """Let every two scans arrive in the wrong order."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:  # noqa: ARG001
        held: Arrival | None = None
        for arrival in arrivals:
            if not isinstance(arrival.measurement, Scan):
                yield arrival
            elif held is not None:
                yield arrival
                yield held
                held = None
            elif window.holds(arrival):
                held = arrival._replace(faulty=True)
            else:
                yield arrival
        if held is not None:
            yield held

    return inject
