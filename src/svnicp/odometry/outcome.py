# SPDX-License-Identifier: MIT
"""What became of a scan: used, or not, and why."""

import enum
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance
from svnicp.inertial.eskf import Correction
from svnicp.lie import se3_inverse, se3_log
from svnicp.odometry.motion import CERTAIN, PoseMeasurement
from svnicp.registration import RegistrationResult, Status
from svnicp.registration.posterior import WeakDirection

STRONG = {"translation": 0.03, "rotation": 0.005}
"""A direction in which the scan alone is better than this [m], [rad] is not weak, however much
better the prediction was."""


class Fate(enum.Enum):
    """What became of a scan; the value is the human message."""

    FIRST = "the first scan begins the map"
    OK = "matched"
    WEAK = "matched, but the scan hardly constrains some directions"
    AGAINST_IMU = "matched, but the IMU's readings contradict the scan, which stands against them"
    BLIND = "the map shows no surface here yet: the pose is predicted, and the scan is mapped"
    EMPTY = "too few points: the pose is predicted"
    UNMATCHED = "too little of the scan is in the map: the pose is predicted"
    POOR_FIT = "residuals far larger than the sensor's noise: the pose is predicted"
    REFUSED = "the match is too far from the prediction to be believed: the pose is predicted"
    UNUSED = "scans are not used after the start, as noise none asks: the pose is predicted"
    NEW_MAP = "no scan could be matched for a while: a new map begins at the predicted pose"

    @property
    def used(self) -> bool:
        """Whether the scan told the pose."""
        return self in {Fate.OK, Fate.WEAK, Fate.AGAINST_IMU}

    @property
    def mapped(self) -> bool:
        """Whether the scan entered the map."""
        return self.used or self in {Fate.FIRST, Fate.BLIND, Fate.NEW_MAP}


class Outcome(NamedTuple):
    """A scan's fate and what it was decided on."""

    fate: Fate
    result: RegistrationResult | None = None
    measurement: PoseMeasurement | None = None
    correction: Correction | None = None
    predicted_cov: Covariance = CERTAIN
    """(6, 6) of the prediction."""

    @property
    def contradicts(self) -> bool:
        """Whether the scan was refused although it constrains every direction."""
        if self.result is None or self.fate is not Fate.REFUSED:
            return False
        return not weak_alone(self.result)


def judge(result: RegistrationResult) -> Fate:
    """Whether a registration is good enough in itself to correct the filter."""
    if result.status is Status.POOR_FIT:
        return Fate.POOR_FIT
    if result.status in {Status.LOW_OVERLAP, Status.TOO_FEW_MATCHES}:
        return Fate.UNMATCHED
    return Fate.WEAK if weak_alone(result) else Fate.OK


def are_apart(one: RegistrationResult, other: RegistrationResult) -> bool:
    """Whether a scan was found at two places that are farther from each other than one is known."""
    apart = se3_log(se3_inverse(one.T_target_source) @ other.T_target_source)
    shifted, turned = (float(np.linalg.norm(part)) for part in np.split(apart, 2))
    return shifted > STRONG["translation"] or turned > STRONG["rotation"]


def weak_alone(result: RegistrationResult) -> list[WeakDirection]:
    """Weak directions of a scan that would still be weak with a poor prediction."""
    blocks = {"translation": slice(0, 3), "rotation": slice(3, 6)}
    found = []
    for weak in result.weak_directions:
        alone = result.likelihood_covariance[blocks[weak.kind], blocks[weak.kind]]
        if weak.direction @ alone @ weak.direction > STRONG[weak.kind] ** 2:
            found.append(weak)
    return found
