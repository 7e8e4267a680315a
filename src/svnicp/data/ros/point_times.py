# SPDX-License-Identifier: MIT
"""When each point of a scan was measured: raw times of a driver to nanoseconds.

Drivers write times as seconds to nanoseconds, since 1970 or since the header, which may mark the
start or the end of the scan. ``PointTimes`` describes one such convention and applies it to every
scan; ``point_time_detection`` finds out which one a recording uses.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from svnicp.arrays import Integers
from svnicp.data.dataset import Finding
from svnicp.data.stamps import UNITS_NS

Unit = Literal["s", "ms", "us", "ns"]
Reference = Literal["absolute", "start", "end"]

LATEST_NS = 4e18
"""Times beyond this, in the year 2096, are garbage and must not overflow [ns]."""

UNIT_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


@dataclass(frozen=True)
class PointTimeOptions:
    """What is known about the times of points; what is None is detected."""

    unit: Unit | None = None
    """Unit of the times."""
    reference: Reference | None = None
    """"absolute" times, or times relative to a header at the "start" or "end" of the scan."""
    field: str | None = None
    """Field of PointCloud2 that holds the times."""
    ignore: bool = False
    """Treat all points of a scan as simultaneous."""


class TimedScan(NamedTuple):
    """Times of one scan."""

    start_ns: int
    """When the scan starts [ns]."""
    times_ns: Integers
    """(n,) when its points were measured [ns]."""


@dataclass(frozen=True)
class PointTimes:
    """One driver's convention for the times of points."""

    field: str
    """Field that holds them."""
    unit: Unit
    absolute: bool
    """Whether they are times of a clock, rather than relative to the header."""
    header_at: Literal["start", "end"]
    """Which end of the scan the header marks."""
    header_clock: bool = True
    """Whether absolute times are of the header's clock; otherwise only their spacing is used."""
    shift_ns: int = 0
    """Added to relative times, for a header at the other end than their zero [ns]."""
    doubt: str = ""
    """What speaks against it and what to do, if the times do not span about one scan period."""
    evidence: str = ""
    """What this was told from."""

    def apply(self, raw_times: np.ndarray, header_ns: int) -> TimedScan:
        """Times of the points of one scan with at least one point."""
        times_ns = to_ns(raw_times, self.unit)
        if not self.absolute:
            times_ns += header_ns + self.shift_ns
        elif not self.header_clock:
            anchor = times_ns.min() if self.header_at == "start" else times_ns.max()
            times_ns += header_ns - anchor
        first = int(times_ns.min())
        return TimedScan(min(header_ns, first) if self.header_at == "start" else first, times_ns)

    def finding(self) -> Finding:
        """Return the convention in words."""
        if not self.absolute:
            reference = f"relative to the header, which marks the {self.header_at} of the scan"
        elif self.header_clock:
            reference = f"absolute; the header marks the {self.header_at} of the scan"
        else:
            reference = (
                "absolute in another clock than the header's; "
                f"the {self.header_at} of each scan is put at its header"
            )
        return Finding(
            "point time",
            f"{UNIT_NAMES[self.unit]}, {reference}",
            self.evidence,
            "--point-time-unit, --point-time-reference",
        )


def to_ns(raw_times: np.ndarray, unit: Unit) -> Integers:
    """Times of any number type in a unit to the nearest nanosecond, (n,)."""
    unit_ns = UNITS_NS[unit]
    if raw_times.dtype.kind in "iu":
        return raw_times.astype(np.int64) * unit_ns
    # A double cannot hold 1.7e18 ns to the nanosecond, but its whole and its rest separately can.
    times = np.clip(raw_times.astype(np.float64), -LATEST_NS / unit_ns, LATEST_NS / unit_ns)
    whole = np.floor(times)
    rest = np.rint((times - whole) * unit_ns)
    return whole.astype(np.int64) * unit_ns + rest.astype(np.int64)
