# SPDX-License-Identifier: MIT
"""Which convention a driver uses for the times of points, told from the first few scans.

The unit is the one in which the points of a scan span about one scan period. Times are absolute if
they move on with the headers, relative if every scan starts them again. Anything can be given
instead, in ``PointTimeOptions``; what was decided, and from what, ends up in ``svnicp info``.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from svnicp.arrays import Integers
from svnicp.data.ros.point_times import (
    UNIT_NAMES,
    PointTimeOptions,
    PointTimes,
    Reference,
    Unit,
    to_ns,
)
from svnicp.data.stamps import UNITS_NS, median_period_s

TIME_FIELDS = (
    "time",
    "t",
    "timestamp",
    "time_stamp",
    "offset_time",
    "timestamps",
    "stamp",
    "point_time",
    "time_offset",
    "rel_time",
)
"""Names that drivers give to the time of a point, in any case."""

USUAL_PERIOD_S = 0.1
PLAUSIBLE_SPAN = (0.2, 1.5)
"""Scan periods that the points of a full scan span."""
POSSIBLE_SPAN = (0.005, 5.0)
"""Scan periods that are possible at all; a factor of 1000, so exactly one unit fits."""
SAME_CLOCK_PERIODS = 2.0
"""How far a header may be from the times of its points, in scan periods, in the same clock."""
MANY_PERIODS = 10.0
"""From so many scan periods on, a span is told in periods rather than per cent."""
RELATIVE_PERIODS = 1.5
"""Times no farther from zero than this many scan periods are relative to the header."""


class TimeSample(NamedTuple):
    """Header and raw times of one of the first scans."""

    header_ns: int
    raw_times: np.ndarray


def time_fields(names: Sequence[str]) -> list[str]:
    """Fields that may hold times, the likeliest first."""
    return [name for known in TIME_FIELDS for name in names if name.lower() == known]


def detect_point_times(
    field: str, samples: Sequence[TimeSample], options: PointTimeOptions
) -> PointTimes | None:
    """Convention of the times of points.

    Parameters
    ----------
    field
        Name of the field that they come from.
    samples
        The first scans, in the order of time.
    options
        What is known already.

    Returns
    -------
    The convention, or None if all points of a scan have the same time.
    """
    samples = [sample for sample in samples if len(sample.raw_times)]
    spans = np.array([float(np.ptp(sample.raw_times)) for sample in samples])
    if options.ignore or not spans.any():
        return None
    period_s = scan_period_s([sample.header_ns for sample in samples])
    fitting = unit_of_span(float(np.median(spans[spans > 0.0])), period_s)
    unit = options.unit or fitting
    shares = spans * UNITS_NS[unit] * 1e-9 / period_s
    # The times of single scans may be garbage; without them the fullest scan tells most.
    sound = (shares <= POSSIBLE_SPAN[1]) | (shares.min() > POSSIBLE_SPAN[1])
    share, span = shares[sound].max(), spans[sound].max()
    usable = [sample for sample, is_sound in zip(samples, sound, strict=True) if is_sound]
    convention = _convention(usable, unit, period_s, options.reference)
    part = f"{share:.0%} of" if share < MANY_PERIODS else f"{share:.3g} times"
    evidence = f'field "{field}" spans {span:.6g}, {part} the scan period of {period_s:.3g} s'
    doubt = _doubt(options.unit, fitting, share, evidence)
    return replace(convention, field=field, doubt=doubt, evidence=evidence)


def scan_period_s(headers_ns: Sequence[int]) -> float:
    """Typical time between two scans [s], the usual one if there are too few to tell."""
    period_s = median_period_s(np.array(headers_ns, dtype=np.int64))
    return period_s if period_s is not None and period_s > 0.0 else USUAL_PERIOD_S


def unit_of_span(span: float, period_s: float) -> Unit:
    """Unit in which the times of a scan span about a scan period, however few points it has."""
    units: tuple[Unit, ...] = ("s", "ms", "us", "ns")
    for unit in units:
        if span * UNITS_NS[unit] * 1e-9 <= POSSIBLE_SPAN[1] * period_s:
            return unit
    return "ns"


def _doubt(given: Unit | None, fitting: Unit, share: float, evidence: str) -> str:
    """Return what is to be said of times that span a share of the scan period, if anything."""
    low, high = PLAUSIBLE_SPAN if given is None else POSSIBLE_SPAN
    if low <= share <= high:
        return ""
    unit = given or fitting
    words = f"times of points are taken as {UNIT_NAMES[unit]}, but {evidence}"
    if unit != fitting:
        return (
            f"{words}: they look like {UNIT_NAMES[fitting]}; use --point-time-unit {fitting}, "
            "or leave it out."
        )
    return f"{words}; set --point-time-unit if that is wrong."


def _convention(
    samples: Sequence[TimeSample], unit: Unit, period_s: float, reference: Reference | None
) -> PointTimes:
    """Convention of times whose unit is known, or as much of it as is not given."""
    headers_ns = np.array([sample.header_ns for sample in samples], dtype=np.int64)
    ends_ns = np.array([to_ns(_ends(sample.raw_times), unit) for sample in samples])
    first_ns, last_ns = ends_ns.T
    period_ns = period_s * 1e9
    times = PointTimes("", unit, absolute=True, header_at=_marked_end(headers_ns, ends_ns))
    if reference == "absolute":
        return times
    if _move_with_headers(headers_ns, ends_ns, period_ns):
        if reference is not None:  # the scan is put at its header, whatever its clock says
            return replace(times, header_at=reference, header_clock=False)
        off_ns = np.maximum(first_ns - headers_ns, headers_ns - last_ns)
        if np.median(off_ns) <= SAME_CLOCK_PERIODS * period_ns:
            return times
        return replace(times, header_at="start", header_clock=False)
    natural = "end" if np.median(first_ns + last_ns) < 0 else "start"
    times = replace(times, absolute=False, header_at=reference or natural)
    if times.header_at == natural:
        return times
    zero_ns = last_ns.max() if times.header_at == "end" else first_ns.min()
    return replace(times, shift_ns=-int(zero_ns))


def _ends(raw_times: np.ndarray) -> np.ndarray:
    """First and last of the times, (2,)."""
    return np.array([raw_times.min(), raw_times.max()], dtype=raw_times.dtype)


def _marked_end(headers_ns: Integers, ends_ns: Integers) -> Literal["start", "end"]:
    """Which end of the scans their headers are nearer to."""
    to_start, to_end = np.abs(headers_ns[:, None] - ends_ns).T
    return "start" if np.median(to_start - to_end) <= 0 else "end"


def _move_with_headers(headers_ns: Integers, ends_ns: Integers, period_ns: float) -> bool:
    """Whether the times go on from scan to scan as the headers do, in whatever clock."""
    if np.abs(ends_ns).max() <= RELATIVE_PERIODS * period_ns:
        return False
    advance_ns = int(headers_ns[-1] - headers_ns[0])
    if advance_ns <= 0:
        return True
    moved_ns = float(np.mean(ends_ns[-1] - ends_ns[0]))
    return moved_ns > 0.5 * advance_ns
