# SPDX-License-Identifier: MIT
"""Scans with wrong points: no numbers, all the same, hardly any, far too many, half gone."""

from collections.abc import Callable, Iterator

import numpy as np

from svnicp.arrays import Integers
from svnicp.data.measurements import Scan
from svnicp.studies.faults.arrivals import Arrival, Arrivals, Inject, Window

Change = Callable[[Scan, np.random.Generator], Scan]


def changed(change: Change, at_most: int | None = None) -> Inject:
    """Change the scans in the window, or only so many of them."""

    def inject(arrivals: Arrivals, window: Window, rng: np.random.Generator) -> Iterator[Arrival]:
        count = 0
        for arrival in arrivals:
            one = arrival.measurement
            wanted = at_most is None or count < at_most
            if isinstance(one, Scan) and window.holds(arrival) and wanted:
                count += 1
                yield arrival._replace(measurement=change(one, rng), faulty=True)
            else:
                yield arrival

    return inject


def not_finite(share: float, value: float) -> Change:
    """Put a value that is not finite in place of a share of the points."""

    def change(scan: Scan, rng: np.random.Generator) -> Scan:
        points = scan.points.copy()
        points[rng.random(len(points)) < share] = value
        return Scan(scan.stamp_ns, points, scan.point_times_ns)

    return change


def all_equal() -> Change:
    """Move all points to where one of them is."""

    def change(scan: Scan, rng: np.random.Generator) -> Scan:
        one = scan.points[rng.integers(len(scan.points))]
        return Scan(scan.stamp_ns, np.tile(one, (len(scan.points), 1)), scan.point_times_ns)

    return change


def few(count: int) -> Change:
    """Keep so many points."""

    def change(scan: Scan, rng: np.random.Generator) -> Scan:
        return _chosen(scan, np.sort(rng.choice(len(scan.points), count, replace=False)))

    return change


def many(count: int, spread_m: float = 0.01) -> Change:
    """Repeat points, a little beside where they are, until there are so many."""

    def change(scan: Scan, rng: np.random.Generator) -> Scan:
        again = _chosen(scan, np.sort(rng.integers(len(scan.points), size=count)))
        beside = rng.normal(0.0, spread_m, size=again.points.shape).astype(np.float32)
        return Scan(scan.stamp_ns, again.points + beside, again.point_times_ns)

    return change


def half_blocked() -> Change:
    """Lose all points on the left side of the sensor."""
    return lambda scan, _: _chosen(scan, np.flatnonzero(scan.points[:, 1] < 0.0))


def _chosen(scan: Scan, indices: Integers) -> Scan:
    """Return a scan of some of the points."""
    times = None if scan.point_times_ns is None else scan.point_times_ns[indices]
    return Scan(scan.stamp_ns, scan.points[indices], times)
