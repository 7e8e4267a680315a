# SPDX-License-Identifier: MIT
"""Times as text: numbers in s, ms, us or ns, or a date, to integer nanoseconds without loss.

A double holds today's time to a quarter of a microsecond only, so text is never turned into one.
Files rarely say their unit: it is told from the size of the numbers, or from the step between them.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timezone
from decimal import Decimal, InvalidOperation
from math import exp, log
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Integers
from svnicp.errors import InputError

NS_PER_S = 1_000_000_000
UNITS_NS = {"s": NS_PER_S, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds in each unit of time that a file may use."""

EPOCH_S = (9e8, 9e9)
"""Seconds since 1970 of a recording: from 1998 on."""

TOO_LATE_NS = 2**63
"""Nanoseconds from here on do not fit into 64 bits."""

LARGEST = 10**30
"""No number of a recording is as large as this."""

SCAN_PERIOD_S = 0.1
IMU_PERIOD_S = 0.005

DATE = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,9})?Z?")


class TimeUnit(NamedTuple):
    """Unit of the times in a file, and what it was told from."""

    name: str
    evidence: str

    @property
    def ns(self) -> int:
        """Nanoseconds in one unit."""
        return UNITS_NS[self.name]


def seconds_text(stamp_ns: int) -> str:
    """Time in seconds with nine decimals, exact: 1500000000 gives "1.500000000"."""
    whole, rest = divmod(abs(int(stamp_ns)), NS_PER_S)
    return f"{'-' if stamp_ns < 0 else ''}{whole}.{rest:09d}"


def parse_number(text: str) -> Decimal | None:
    """Return the finite number that a text holds, exactly, or None."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    # abs() would round, which overflows for exponents that only comparisons can bear.
    return value if value.is_finite() and -LARGEST < value < LARGEST else None


def parse_date_ns(text: str) -> int | None:
    """Return the nanoseconds since 1970 of "2011-09-26 13:02:25.951199337" (UTC), or None."""
    found = DATE.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, fraction = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    stamp_ns = int(moment.timestamp()) * NS_PER_S + int((fraction or ".0")[1:].ljust(9, "0"))
    return stamp_ns if abs(stamp_ns) < TOO_LATE_NS else None


def to_ns(value: Decimal, unit_ns: int) -> int:
    """Nearest nanosecond of a number in a unit of so many nanoseconds.

    Raises
    ------
    InputError
        If it is outside of the years 1678 to 2262, whose nanoseconds fit into 64 bits.
    """
    stamp_ns = int((value * unit_ns).to_integral_value())
    if abs(stamp_ns) >= TOO_LATE_NS:
        raise InputError(f"the time {value:g} is outside of the years 1678 to 2262; correct it.")
    return stamp_ns


def time_unit(values: Sequence[Decimal], usual_period_s: float, named: str = "") -> TimeUnit:
    """Unit of the times in a file.

    Parameters
    ----------
    values
        Times in the order of the file, at least one.
    usual_period_s
        What the step between two of them is about, within a factor of 30 [s].
    named
        Name of their column; "[ns]", "(s)" or "_us" in it settles the question.
    """
    label = re.search(r"(?:[\[(_ ])(s|sec|ms|us|ns|nsec)[\])]?\s*$", named.strip().lower())
    if label:
        return TimeUnit(
            label.group(1).removesuffix("ec"), f'the column is called "{named.strip()}"'
        )
    step = _median_step(values)

    def factor_from_usual(name: str) -> float:
        return exp(abs(log(step * UNITS_NS[name] / NS_PER_S / usual_period_s))) if step else 1.0

    largest = max(abs(float(value)) for value in values)
    for name, unit_ns in UNITS_NS.items():
        since_1970 = EPOCH_S[0] <= largest * unit_ns / NS_PER_S <= EPOCH_S[1]
        if since_1970 and factor_from_usual(name) < 1000.0:
            return TimeUnit(name, f"numbers around {largest:.3g} are {name} since 1970")
    if step == 0.0:
        return TimeUnit("s", "nothing tells it")
    return TimeUnit(min(UNITS_NS, key=factor_from_usual), f"the numbers are {step:.6g} apart")


def _median_step(values: Sequence[Decimal]) -> float:
    """Typical difference of neighbours that differ, 0 if none do."""
    steps = np.abs(np.diff(np.array([float(value) for value in values])))
    return float(np.median(steps[steps > 0.0])) if np.any(steps > 0.0) else 0.0


def increasing(stamps_ns: Integers) -> np.ndarray:
    """Mask of the stamps that are later than all before them, (n,)."""
    if len(stamps_ns) == 0:
        return np.ones(0, dtype=bool)
    latest = np.maximum.accumulate(stamps_ns)
    return np.concatenate([[True], stamps_ns[1:] > latest[:-1]])


def median_period_s(stamps_ns: Integers) -> float | None:
    """Return the typical time between neighbours [s], None for fewer than two."""
    return float(np.median(np.diff(stamps_ns))) * 1e-9 if len(stamps_ns) > 1 else None
