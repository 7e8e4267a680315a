# SPDX-License-Identifier: MIT
"""How much farther from the prediction scans were of late than both of them had said.

Where innovations are larger than predicted and measured covariance allow, one of the two is too
sure. Readings that are off push the prediction the same way again and again; a scan that is (rings
on a far bank, a rough floor) is off this way and that. So differences of successive innovations are
looked at, from which a steady push is gone: of their whitened second moments, direction by
direction, what exceeds chance is added to the scan's noise.
"""

from collections import deque

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform

CHANCE = 3.5
"""In one of twenty cases second moments from 15 innovations in six dimensions exceed this."""


class Surprises:
    """Remembers the last innovations, in the axes of the world."""

    def __init__(self, num_scans: int) -> None:
        self._recent: deque[Floats] = deque(maxlen=max(num_scans, 1))
        self._num_scans = num_scans

    def add(self, innovation: Floats, expected: Covariance, T_world_body: Transform) -> None:
        """Take note of an innovation (6,) of a believed scan, whose covariance was to be this."""
        turn = np.kron(np.eye(2), T_world_body[:3, :3])
        # The symmetric root keeps its axes, a triangular one does not.
        values, vectors = np.linalg.eigh(expected)
        whitened = vectors @ ((vectors.T @ innovation) / np.sqrt(values))
        self._recent.append(turn @ whitened)

    def forget(self) -> None:
        """Begin anew: the prediction was to blame."""
        self._recent.clear()

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
