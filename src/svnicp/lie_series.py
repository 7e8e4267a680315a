# SPDX-License-Identifier: MIT
"""Functions of an angle that exp, log and their Jacobians are made of, right to rounding at zero.

All take the squared angle [rad^2], which ``squared_norm`` returns, and broadcast.
"""

from math import factorial

import numpy as np

from svnicp.arrays import Floats

# Taylor coefficients in x^2; eight are enough for |x| < 1 rad.
_CUBIC = np.array([(-1) ** j / factorial(2 * j + 3) for j in range(8)])
QUARTIC = np.array([(-1) ** j / factorial(2 * j + 4) for j in range(8)])
QUINTIC = np.array([(-1) ** j * (j + 1) / factorial(2 * j + 5) for j in range(8)])
INVERSE = np.array([(-1) ** j * (j + 1) / factorial(2 * j + 4) for j in range(8)])


def sine_and_cosine_terms(angle_squared: Floats) -> tuple[Floats, Floats]:
    """sin(x)/x and (1 - cos x)/x^2, neither of which loses digits at zero in this form."""
    turns = np.sqrt(angle_squared) / np.pi
    return np.sinc(turns), 0.5 * np.sinc(0.5 * turns) ** 2


def cubic_term(angle_squared: Floats) -> Floats:
    """(x - sin x)/x^3."""
    sine, _ = sine_and_cosine_terms(angle_squared)
    return divided(1.0 - sine, angle_squared, _CUBIC)


def divided(numerator: Floats, angle_squared: Floats, coefficients: Floats) -> Floats:
    """Numerator / x^2, replaced by its Taylor series in x^2 below one radian."""
    small = angle_squared < 1.0
    closed = numerator / np.where(small, 1.0, angle_squared)
    series = np.polynomial.polynomial.polyval(np.where(small, angle_squared, 0.0), coefficients)
    return np.where(small, series, closed)


def squared_norm(vector: Floats) -> Floats:
    """Squared length of vectors (..., 3)."""
    return np.sum(vector * vector, axis=-1)
