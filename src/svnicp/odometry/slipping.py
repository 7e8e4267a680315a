# SPDX-License-Identifier: MIT
"""What a scan says along directions that it hardly knows: what is real of it, or where it fits.

There curvature is mostly made of errors of normals, so that scans seem to know a place that they
would know anywhere. ``registration.slip`` has moved the scan along such directions and matched it
anew. Where points that face the direction then fit worse, information is real and stays. Where
they do not, it is taken away; but if all points together fit best at one place, that counts.
The last scans are asked together, along about the same axis of the world.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.registration.slip import Slip

NUM_SCANS = 15
"""So many scans are asked together."""
FALSE, REAL = 0.25, 0.75
"""A share below the first is chance; above the second, information is real."""
CHANCE = 2.0
"""What both moves change by chance, over the root of the number of witnesses [nats]."""
EVIDENT = 1.5
"""Evidence that tells a place."""
LEAST_LEFT = 1e-4
"""Of the information along a direction no less than this is left."""
SAME_AXIS = 0.9
"""Cosine between directions that are about the same."""


class Slipping:
    """Remembers along which axes of the world the last scans slipped."""

    def __init__(self) -> None:
        self._recent: deque[Floats] = deque(maxlen=NUM_SCANS)

    def corrected(
        self, innovation: Floats, alone: Covariance, moved: Floats, slips: Sequence[Slip],
        T_world_body: Transform,
    ) -> tuple[Floats, Covariance]:  # fmt: skip
        """Innovation (6,) and covariance (6, 6) of a scan, with what moving it has told.

        Parameters
        ----------
        innovation, alone
            (6,) and (6, 6) of the scan by itself, without the prior.
        moved
            (6,) where the scan was found, from the prediction.
        slips
            Directions that the scan hardly knows.
        T_world_body
            (4, 4) predicted pose, which turns body axes into those of the world.
        """
        R = T_world_body[:3, :3]
        self._recent.append(np.array([_told(slip, R) for slip in slips]).reshape(-1, 7))
        fitting = []
        for slip in slips:
            share, evidence = self._asked(R @ slip.axis)
            left = float(np.clip((share - FALSE) / (REAL - FALSE), LEAST_LEFT, 1.0))
            if left < 0.5 and evidence > EVIDENT and np.isfinite(slip.best_variance):
                left = LEAST_LEFT
                fitting.append(slip)
            spread = (1.0 / left - 1.0) * slip.variance
            alone = alone + spread * np.outer(slip.along, slip.along)
        for slip in fitting:
            innovation, alone = _with_best(innovation, alone, moved, slip)
        return innovation, alone

    def _asked(self, axis: Floats) -> tuple[float, float]:
        """Real share and evidence of the last scans with about this weak axis (3,)."""
        told = np.concatenate(self._recent)
        same = told[np.abs(told[:, :3] @ axis) > SAME_AXIS]
        worse, expected, witnesses = same[:, 3:6].sum(axis=0)
        share = worse / max(expected + CHANCE * np.sqrt(witnesses), 1e-30)
        return float(share), float(same[:, 6].mean())


def _told(slip: Slip, R: Floats) -> list[float]:
    """Axis in the world, and what is summed over scans."""
    return [*(R @ slip.axis), slip.worse, slip.expected, slip.witnesses, slip.evidence]


def _with_best(
    innovation: Floats, alone: Covariance, moved: Floats, slip: Slip
) -> tuple[Floats, Covariance]:
    """Both with the place where the scan fits best along a direction."""
    gain = alone[:, :3] @ slip.axis
    gain = gain / (slip.axis @ gain[:3] + slip.best_variance)
    missing = slip.axis @ (moved[:3] - innovation[:3]) + slip.best_m
    kept = np.eye(6)  # Joseph's form: a scan that knows nothing has variances of 1e10
    kept[:, :3] -= np.outer(gain, slip.axis)
    alone = kept @ alone @ kept.T + slip.best_variance * np.outer(gain, gain)
    return innovation + gain * missing, 0.5 * (alone + alone.T)
