# SPDX-License-Identifier: MIT
"""White noise of an IMU from readings at rest, as an Allan plot shows it at short times.

In: readings (n, 3) of a resting sensor at an even rate. Out: the density of their white noise. Mean
values of a twentieth of a second are compared with their neighbours by second differences
(Hadamard's variance), so bias, drift and slow sway do not count; shorter means would be mistaken
by the low-pass filter that most IMUs have.
"""

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.errors import InputError

MIN_REST_S = 2.0
"""Rest that is needed; the density is then known to a tenth or so."""
MEAN_S = 0.05
"""Length of the means that are compared [s]."""
SLOW_S = 0.5
"""Length of the means by which motion is noticed [s]."""
REST_RATE_RAD_S, REST_FORCE_M_S2 = 0.005, 0.05
"""At rest such means stay within this of their middle, noise apart."""
MAX_RATE_RAD_S = 0.1
"""A steadier rate than this is a bias."""
BURSTS = 2.0
"""Readings whose mean step is this many times their short ones are stamped when they arrive."""
FORCE_M_S2 = (8.8, 10.8)
"""Gravity, as an accelerometer with bias and scale error feels it."""


def white_density(values: Floats, period_s: float) -> float:
    """Density of the white noise of readings (n, 3): their unit over sqrt(Hz), all axes alike."""
    length = max(1, round(MEAN_S / period_s))
    means = _running_means(values, length)
    bends = means[2 * length :] - 2.0 * means[length:-length] + means[: -2 * length]
    return float(np.sqrt(np.mean(bends**2) / 6.0 * length * period_s))


def checked_rest(
    stamps_ns: Integers, angular_velocity: Floats, linear_acceleration: Floats
) -> float:
    """Return the period [s] of readings (n,), (n, 3), (n, 3) from which noise can be told.

    Raises
    ------
    InputError
        If they are too few, uneven, frozen, or of a body that moves.
    """
    _check_shapes(stamps_ns, angular_velocity, linear_acceleration)
    steps_s = np.diff(stamps_ns.astype(np.int64)) * 1e-9
    seconds = float(steps_s.sum())
    if seconds < 0.99 * MIN_REST_S or len(stamps_ns) < 10.0 * MIN_REST_S:
        raise InputError(
            f"The noise of an IMU needs {MIN_REST_S:g} s of readings at rest, at 10 Hz or more; "
            f"these are {len(stamps_ns)} in {seconds:.2g} s."
        )
    period_s = float(np.median(steps_s))
    if steps_s.min() <= 0.0 or steps_s.max() > max(MEAN_S, 5.0 * period_s):
        raise InputError(
            "The noise of an IMU needs readings in the order of time and without gaps; the steps "
            f"are {steps_s.min():.3g} to {steps_s.max():.3g} s."
        )
    short_s = float(np.quantile(steps_s, 0.1))
    if steps_s.mean() > BURSTS * short_s:
        raise InputError(
            "The noise of an IMU needs readings with their own times; these come in bursts: one "
            f"step of ten is below {short_s:.2g} s, their mean is {steps_s.mean():.2g} s."
        )
    mean_rate = float(np.linalg.norm(angular_velocity.mean(axis=0)))
    mean_force = float(np.linalg.norm(linear_acceleration.mean(axis=0)))
    still = (
        mean_rate < MAX_RATE_RAD_S
        and FORCE_M_S2[0] < mean_force < FORCE_M_S2[1]
        and _stays(angular_velocity, period_s, REST_RATE_RAD_S)
        and _stays(linear_acceleration, period_s, REST_FORCE_M_S2)
    )
    if not still:
        raise InputError(
            "The IMU moves in these readings, so they do not show its noise; take some at rest."
        )
    spans = [np.ptp(part, axis=0).max() for part in (angular_velocity, linear_acceleration)]
    if min(spans) == 0.0:
        raise InputError("The IMU's readings never change, so they do not show its noise.")
    return period_s


def _stays(values: Floats, period_s: float, limit: float) -> bool:
    """Whether slow means of readings (n, 3) stay where they are, but for their noise."""
    means = _running_means(values, max(1, round(SLOW_S / period_s)))
    noise = white_density(values, period_s) / np.sqrt(SLOW_S)
    return bool(np.all(np.abs(means - np.median(means, axis=0)) < limit + 5.0 * noise))


def _running_means(values: Floats, length: int) -> Floats:
    """Means (n - length + 1, 3) of as many readings in a row."""
    sums = np.cumsum(np.concatenate([np.zeros((1, 3)), values - values[0]]), axis=0)
    return (sums[length:] - sums[:-length]) / length


def _check_shapes(stamps_ns: Integers, rates: Floats, forces: Floats) -> None:
    """Refuse what is not finite, or not one stamp and six numbers per reading."""
    count = len(stamps_ns) if stamps_ns.ndim == 1 else -1
    if stamps_ns.dtype.kind not in "iu" or rates.shape != (count, 3) or forces.shape != (count, 3):
        raise InputError(
            "The noise of an IMU is told from (n,) whole nanoseconds, (n, 3) rates and (n, 3) "
            f"accelerations, not {stamps_ns.dtype} {stamps_ns.shape}, {rates.shape} and "
            f"{forces.shape}."
        )
    if not (np.isfinite(rates).all() and np.isfinite(forces).all()):
        raise InputError("The IMU's readings must all be finite to tell its noise from them.")
