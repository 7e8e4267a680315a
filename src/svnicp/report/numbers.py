# SPDX-License-Identifier: MIT
"""Numbers as a reader wants them: three digits, the unit that suits, and one unit for a plot.

Lengths come in metres and angles in radians, as everywhere; what goes out is text, or the unit in
which a group of curves is drawn.
"""

import math
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats


class Unit(NamedTuple):
    """A unit of measurement for an axis."""

    symbol: str
    factor: float
    """How many of it make one SI unit."""


METRE, MILLIMETRE = Unit("m", 1.0), Unit("mm", 1e3)
DEGREE, MILLIDEGREE = Unit("deg", math.degrees(1.0)), Unit("mdeg", 1e3 * math.degrees(1.0))

FINE_BELOW_M = 1.0
FINE_BELOW_RAD = math.radians(0.2)
"""Curves that stay below these are drawn in thousandths."""


def length_unit(*values: Floats) -> Unit:
    """Unit for curves [m] in one group of plots."""
    return MILLIMETRE if _largest(values) < FINE_BELOW_M else METRE


def angle_unit(*values: Floats) -> Unit:
    """Unit for curves [rad] in one group of plots."""
    return MILLIDEGREE if _largest(values) < FINE_BELOW_RAD else DEGREE


def three_digits(value: float) -> str:
    """A number with three significant digits, and no exponent for what occurs in practice."""
    size = abs(float(f"{value:.3g}"))
    if not math.isfinite(value) or not 1e-4 <= size < 1e6:
        return f"{value:.3g}"
    before = max(math.floor(math.log10(size)) + 1, 1)
    return f"{value:.{max(3 - before, 0)}f}" if size >= 1.0 else f"{float(f'{value:.3g}'):g}"


def length(metres: float) -> str:
    """A length such as ``29.6 mm`` or ``1.20 m``."""
    unit = METRE if abs(float(f"{metres:.3g}")) >= 1.0 else MILLIMETRE
    return f"{three_digits(unit.factor * metres)} {unit.symbol}"


def angle(radians: float) -> str:
    """An angle such as ``0.0216°``."""
    return f"{three_digits(math.degrees(radians))}°"


def milliseconds(seconds: float) -> str:
    """A time of computing such as ``35 ms``, or ``23.5 s`` where something was compiled."""
    if seconds >= 1.0:
        return f"{seconds:.1f} s"
    return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"


def moment(seconds: float) -> str:
    """A time since the start such as ``12 s`` or ``0.4 s``."""
    return f"{seconds:.0f} s" if seconds >= 10.0 or seconds == 0.0 else f"{seconds:.1f} s"


def share(value: float) -> str:
    """A share such as ``84 %``; what is not quite all is not called all."""
    percent = 100.0 * value
    if 99.0 < percent < 100.0 or 0.0 < percent < 1.0:
        return f"{percent:.1f} %"
    return f"{percent:.0f} %"


def _largest(values: tuple[Floats, ...]) -> float:
    """Largest finite size in some arrays; 0 if there is none."""
    sizes = np.concatenate(
        [np.abs(np.asarray(array, dtype=np.float64)).ravel() for array in values]
    )
    sizes = sizes[np.isfinite(sizes)]
    return float(sizes.max()) if len(sizes) else 0.0
