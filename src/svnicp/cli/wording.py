# SPDX-License-Identifier: MIT
"""Numbers and directions as people say them: millimetres, millidegrees, "along the x axis"."""

import math

import numpy as np

from svnicp.arrays import Floats
from svnicp.registration.posterior import WeakDirection

AXES = ("x", "y", "z")

_NEARLY_ALONG = math.cos(math.radians(15.0))


def length_in_words(metres: float) -> str:
    """Return a length with three digits in the unit that suits it, such as ``38.1 mm``."""
    return f"{_digits(metres)} m" if _is_whole(metres) else f"{_digits(1e3 * metres)} mm"


def angle_in_words(radians: float) -> str:
    """Return an angle with three digits in the unit that suits it, such as ``13.2 mdeg``."""
    degrees = math.degrees(radians)
    return f"{_digits(degrees)} deg" if _is_whole(degrees) else f"{_digits(1e3 * degrees)} mdeg"


def time_in_words(seconds: float) -> str:
    """Return a duration such as ``48 ms`` or ``2.1 s``."""
    return f"{seconds:.1f} s" if _is_whole(seconds) else f"{1e3 * seconds:.0f} ms"


def direction_in_words(direction: Floats) -> str:
    """Return a direction (3,) in source axes, by the name of an axis within 15 degrees."""
    main = int(np.argmax(np.abs(direction)))
    if abs(direction[main]) >= _NEARLY_ALONG:
        return f"the source's {AXES[main]} axis"
    return f"({', '.join(f'{value:.2f}' for value in direction)}) in source axes"


def weak_direction_in_words(weak: WeakDirection) -> str:
    """Return what the scan does not tell, in half a sentence."""
    along, amount = ("along", length_in_words)
    if weak.kind == "rotation":
        along, amount = ("about", angle_in_words)
    return (
        f"{weak.kind} {along} {direction_in_words(weak.direction)}: "
        f"sigma {amount(weak.sigma)}, and the guess had {amount(weak.prior_sigma)}"
    )


def weak_directions_in_words(weak: list[WeakDirection]) -> list[str]:
    """Return a line for each weak direction, and only one where all six are."""
    if len(weak) < 6:
        return [weak_direction_in_words(direction) for direction in weak]
    lengths = [direction.sigma for direction in weak if direction.kind == "translation"]
    angles = [direction.sigma for direction in weak if direction.kind == "rotation"]
    return [
        "all six directions: the scan adds little to the guess, sigma up to "
        f"{length_in_words(max(lengths))} and {angle_in_words(max(angles))}"
    ]


def fixed(value: float, digits: int) -> str:
    """Return a number with this many digits after the point; what rounds to zero has no sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _is_whole(value: float) -> bool:
    """Whether a number is at least one of its unit when it is printed with three digits."""
    return abs(float(f"{value:.3g}")) >= 1.0


def _digits(value: float) -> str:
    """Return three significant digits, without exponents for what occurs in practice."""
    if not math.isfinite(value):
        return str(value)
    size = abs(float(f"{value:.3g}"))
    if size >= 100.0:
        return f"{value:.0f}"
    if size >= 10.0:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1.0 else f"{value:.3f}"
