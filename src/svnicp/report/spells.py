# SPDX-License-Identifier: MIT
"""When a run was weak, and in which directions: masks over scans, and spells of time out of them.

A scan is weak along an axis of the body if odometry said that it hardly constrains a direction near
that axis, or if the step to it is more uncertain than what a scan should give.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Covariance, Floats
from svnicp.odometry.outcome import STRONG

Mask = npt.NDArray[np.bool_]

NEAR_AXIS = 0.5
"""A direction concerns every axis along which its unit vector is at least this long."""
BRIDGE_S = 1.0
"""Weak scans that are not farther apart than this are one spell [s]."""
BRIEF_SCANS = 3
"""A spell of fewer scans is not worth a sentence of its own."""

_DIRECTION = re.compile(r"(translation|rotation) (?:along|about) \(([^)]*)\)")
_STEP_LIMITS = np.repeat([STRONG["translation"], STRONG["rotation"]], 3)


class Spell(NamedTuple):
    """Some time in which something was the case."""

    start_s: float
    end_s: float
    num_scans: int


def weak_axes(said: Iterable[str], step_covariances: Covariance | None) -> Mask:
    """Which axes (n, 6) are weak at each scan.

    Parameters
    ----------
    said
        n cells of the column weak_directions of scans.csv.
    step_covariances
        (n, 6, 6) of the steps to each scan, in body tangents; None if they are not known.
    """
    told = np.array([_axes_told(text) for text in said], dtype=bool).reshape(-1, 6)
    if step_covariances is None:
        return told
    sigmas = np.sqrt(np.diagonal(step_covariances, axis1=1, axis2=2))
    return told | (sigmas > _STEP_LIMITS)


def spells(mask: Mask, seconds: Floats, bridge_s: float = BRIDGE_S) -> list[Spell]:
    """Spells of time in which a mask (n,) holds, at the times (n,) of the scans [s].

    A break of at most ``bridge_s`` does not end a spell.
    """
    where = np.flatnonzero(mask)
    if len(where) == 0:
        return []
    ends = np.flatnonzero(np.diff(seconds[where]) > bridge_s)
    first, last = np.r_[0, ends + 1], np.r_[ends, len(where) - 1]
    return [
        Spell(float(seconds[where[a]]), float(seconds[where[b]]), int(b - a + 1))
        for a, b in zip(first, last, strict=True)
    ]


def _axes_told(text: str) -> list[bool]:
    """Axes that the weak directions of one scan concern."""
    axes = [False] * 6
    for kind, vector in _DIRECTION.findall(text):
        offset = 0 if kind == "translation" else 3
        for index, word in enumerate(vector.split(",")[:3]):
            axes[offset + index] |= _size(word) >= NEAR_AXIS
    return axes


def _size(word: str) -> float:
    """Size of a number; 0 for what is none."""
    try:
        return abs(float(word))
    except ValueError:
        return 0.0
