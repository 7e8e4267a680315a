# SPDX-License-Identifier: MIT
"""How much farther from the prediction scans were of late than both of them had said.

Where innovations are larger than predicted and measured covariance allow, one of the two is too
sure. Readings that are off push the prediction the same way again and again; a scan that is (rings
on a far bank, a rough floor) is off this way and that. So differences of successive innovations are
looked at, from which a steady push is gone: of their whitened second moments, direction by
direction, what exceeds chance is added to the scan's noise. A push itself that is far beyond chance
is the readings' fault.
"""

from collections import deque

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform

CHANCE = 3.5
"""In one of twenty cases second moments from 15 innovations in six dimensions exceed this."""
PUSHING_SCANS = 5
"""A push lasts for so many scans."""
PUSHED = 100.0
"""Squared mean of as many whitened innovations, times their number, that is far beyond chance:
with six dimensions it is above 50 once in a hundred million times."""
UNNOTICED = np.repeat([0.003, 0.0005], 3) ** 2
"""Variances (6,) that are added then: maps are off by as much, the same way for long [m], [rad]."""


class Surprises:
    """Remembers the last innovations, in the axes of the world."""

    def __init__(self, num_scans: int) -> None:
        self._recent: deque[Floats] = deque(maxlen=max(num_scans, 1))
        self._pushes: deque[Floats] = deque(maxlen=PUSHING_SCANS)
        self._num_scans = num_scans

    def add(self, innovation: Floats, expected: Covariance, T_world_body: Transform) -> None:
        """Take note of an innovation (6,) of a believed scan, whose covariance was to be this."""
        turn = np.kron(np.eye(2), T_world_body[:3, :3])
        self._recent.append(turn @ _whitened(innovation, expected))
        self._pushes.append(turn @ _whitened(innovation, expected + np.diag(UNNOTICED)))

    def forget(self) -> None:
        """Begin anew: the prediction was to blame."""
        self._recent.clear()
        self._pushes.clear()

    @property
    def are_a_push(self) -> bool:
        """Whether the last innovations were all about the same way, and too large for chance."""
        if len(self._pushes) < PUSHING_SCANS:
            return False
        pushes = np.array(self._pushes)
        mean = pushes.mean(axis=0)
        return bool(np.all(pushes @ mean > 0.0) and PUSHING_SCANS * mean @ mean > PUSHED)

    def excess(self, expected: Covariance, T_world_body: Transform) -> Covariance:
        """(6, 6) what is missing in the covariance of innovations, in the body tangent."""
        if self._num_scans == 0 or len(self._recent) < self._num_scans:
            return np.zeros((6, 6))
        turn = np.kron(np.eye(2), T_world_body[:3, :3])
        changes = np.diff(np.array(self._recent), axis=0) @ turn
        values, vectors = np.linalg.eigh(changes.T @ changes / (2.0 * len(changes)))
        more = np.where(values > CHANCE, values - 1.0, 0.0)
        own, axes = np.linalg.eigh(expected)
        root = (axes * np.sqrt(own)) @ axes.T @ vectors
        return (root * more) @ root.T


def _whitened(innovation: Floats, expected: Covariance) -> Floats:
    """Innovation (6,) in its own standard deviations.

    The symmetric root keeps its axes, a triangular one does not.
    """
    values, vectors = np.linalg.eigh(expected)
    return np.asarray(vectors @ ((vectors.T @ innovation) / np.sqrt(values)))
