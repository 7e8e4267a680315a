# SPDX-License-Identifier: MIT
"""The signal that an IMU's readings stand for: a smooth curve, a cubic from reading to reading.

Straight lines would cut off the tops of what shakes a vehicle: at 9 Hz and 100 readings per second
3 to 4 % of the velocity. Some IMUs give the signal at the stamp, others its mean over the period
around it. The curve lies half-way between what the two mean.
"""

import numpy as np

from svnicp.arrays import Floats

HALF_OF_A_MEAN = 1.0 / 48.0
"""Half of what a mean over a period adds to its middle, over the second difference of readings."""
EVEN = 1.5
"""Steps between readings whose ratio is smaller are even."""
BURST = 12.0
"""A step that is this much shorter than with its neighbour tells no slope."""
_NODES = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)
"""Where in an interval a cubic has its mean, twice half of it."""


def means_between(stamps_s: Floats, readings: Floats, times_s: Floats) -> Floats:
    """Mean signal (m - 1, 6) between consecutive times.

    Parameters
    ----------
    stamps_s, readings
        (n,) and (n, 6), one reading at least. Held before the first and after the last one.
    times_s
        (m,), among them all stamps between the first and the last of them.
    """
    asked = times_s[:-1, None] + np.diff(times_s)[:, None] * _NODES
    values = signal_at(stamps_s, readings, asked.ravel())
    return 0.5 * (values[0::2] + values[1::2])


def signal_at(stamps_s: Floats, readings: Floats, times_s: Floats) -> Floats:
    """Signal (m, 6) at any times; other arguments as those of ``means_between``."""
    if len(stamps_s) == 1:
        return np.repeat(readings, len(times_s), axis=0)
    values, slopes = _sharpened(stamps_s, readings), _slopes(stamps_s, readings)
    piece = np.clip(np.searchsorted(stamps_s, times_s, "right") - 1, 0, len(stamps_s) - 2)
    step = (stamps_s[piece + 1] - stamps_s[piece])[:, None]
    u = np.clip((times_s - stamps_s[piece])[:, None] / step, 0.0, 1.0)
    chord = values[piece + 1] - values[piece]
    leaving, arriving = step * slopes[piece] - chord, step * slopes[piece + 1] - chord
    bend = u * (1.0 - u) * ((1.0 - u) * leaving - u * arriving)
    return np.asarray(values[piece] + u * chord + bend)


def _sharpened(stamps_s: Floats, readings: Floats) -> Floats:
    """The signal (n, 6) at the stamps; where readings come evenly, a mean is known to be one."""
    out, steps = readings.copy(), np.diff(stamps_s)[:, None]
    even = np.maximum(steps[1:], steps[:-1]) < EVEN * np.minimum(steps[1:], steps[:-1])
    bends = 0.5 * (steps[1:] + steps[:-1]) * np.diff(np.diff(readings, axis=0) / steps, axis=0)
    out[1:-1] -= HALF_OF_A_MEAN * even * bends
    return out


def _slopes(stamps_s: Floats, readings: Floats) -> Floats:
    """Slopes (n, 6) at the stamps: those of the parabola through a reading and its neighbours.

    Of readings that nearly coincide, noise would make it steep: there it is their chord.
    """
    rises, steps = np.diff(readings, axis=0), np.diff(stamps_s)[:, None]
    chords, both = rises / steps, steps[1:] + steps[:-1]
    shortest = np.minimum(steps[1:], steps[:-1])
    parabola = (chords[:-1] * steps[1:] + chords[1:] * steps[:-1]) / both
    inner = np.where(both < BURST * shortest, parabola, (rises[1:] + rises[:-1]) / both)
    return np.concatenate([chords[:1], inner, chords[-1:]])
