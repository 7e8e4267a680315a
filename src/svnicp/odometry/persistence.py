# SPDX-License-Identifier: MIT
"""What a scan says counts as far as the scans before it said it, too.

A door, an inlet or a wall ahead stays in sight for seconds. What one scan alone sees along a
corridor is a false match, or something that moves. So the covariance of a scan is replaced by that
of a scan that adds as much to the present prediction as the last scans would have added on average:
mean over k of (Λ + I_k)⁻¹, with Λ the prediction's information and I_k that of scan k, and Λ taken
out again. No scan is surer for it than by itself: what others have seen is in the prediction
already. Scans none of which is weak are each taken at their word.

The mean of the covariances themselves would not do: directions that scans are blind for differ a
little, and a blind scan's variance along its own drowns what others know across it.
"""

from collections import deque

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.odometry.outcome import STRONG

LEAST_SHARE = 1e-6
"""Information over the prediction's, of directions about which scans say nothing."""
SOME_SCANS = 5
"""So many scans in a row that know their place do so by more than chance."""


class Persistence:
    """Remembers what the last scans said, in the axes of the world."""

    def __init__(self, num_scans: int) -> None:
        self._recent: deque[Floats] = deque(maxlen=num_scans)

    @property
    def knew_its_place(self) -> bool:
        """Whether the last scans, of which there are some, left no direction weak."""
        last = list(self._recent)[-SOME_SCANS:]
        return len(last) == SOME_SCANS and all(_knows_its_place(each) for each in last)

    def confirmed(
        self, alone: Covariance, predicted: Covariance, T_world_body: Transform
    ) -> Covariance:
        """Covariance (6, 6) of a scan by itself, as far as the last scans confirm it.

        Parameters
        ----------
        alone
            (6, 6) of the scan by itself, in the body tangent.
        predicted
            (6, 6) of the prediction, in the same tangent.
        T_world_body
            (4, 4) predicted pose, which turns body axes into those of the world.
        """
        turn = np.kron(np.eye(2), T_world_body[:3, :3])
        root = turn @ np.linalg.cholesky(predicted)
        self._recent.append(turn @ np.linalg.inv(alone) @ turn.T)
        if all(_knows_its_place(each) for each in self._recent):
            return alone
        left = np.array([_left_of_one(root.T @ each @ root) for each in self._recent])
        shares, axes = np.linalg.eigh(_larger(left.mean(axis=0), left[-1]))
        variances = 1.0 / np.maximum(1.0 / shares - 1.0, LEAST_SHARE)
        half = turn.T @ root @ axes
        return (half * variances) @ half.T


def _knows_its_place(information: Floats) -> bool:
    """Whether information (6, 6) leaves no direction weak."""
    covariance = np.linalg.inv(information)
    place, turn = np.linalg.eigvalsh(covariance[:3, :3]), np.linalg.eigvalsh(covariance[3:, 3:])
    return bool(place[-1] < STRONG["translation"] ** 2 and turn[-1] < STRONG["rotation"] ** 2)


def _left_of_one(information: Floats) -> Floats:
    """Variance (6, 6) that this information leaves of the identity."""
    values, vectors = np.linalg.eigh(0.5 * (information + information.T))
    return (vectors / (1.0 + np.maximum(values, 0.0))) @ vectors.T


def _larger(one: Floats, other: Floats) -> Floats:
    """Variance (6, 6) that is nowhere less than either of two is."""
    values, vectors = np.linalg.eigh(other - one)
    return one + (vectors * np.maximum(values, 0.0)) @ vectors.T
