# SPDX-License-Identifier: MIT
"""Errors of a run with the covariances that it stated for them, for poses and for steps.

A run and the true poses at its stamps go in. Worlds are aligned at the first pose; with positions
alone as truth, a least-squares fit of all positions aligns them, and errors have three components.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.evaluation.association import Association
from svnicp.evaluation.consistency import (
    Calibration,
    Consistency,
    calibration,
    consistency,
    pose_errors,
    step_errors,
    true_steps,
)
from svnicp.evaluation.run_record import RunRecord
from svnicp.lie import make_transform, se3_inverse, transform_points

EXACT = 1e-6
"""Smallest sigma [m, rad]: what is exact by definition would divide by zero."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Errors of one kind, and the covariances that were stated for them."""

    errors: Floats
    """(m, 6) in body tangents; (m, 3) without true rotations."""
    covariances: Covariance
    """(m, 6, 6) or (m, 3, 3)."""

    @property
    def consistency(self) -> Consistency:
        """Whether the covariances keep their word."""
        if self.errors.shape[1] == 3:
            return Consistency(None, calibration(self.errors, self.covariances), None)
        return consistency(self.errors, self.covariances)

    @property
    def whole(self) -> Calibration:
        """Calibration of all components that are known."""
        found = self.consistency
        return found.translation if found.pose is None else found.pose

    def within(self, nominal: Floats) -> tuple[Floats, Floats | None]:
        """Shares of the errors in intervals of (k,) nominal shares: translation and rotation."""
        variances = np.diagonal(self.covariances, axis1=1, axis2=2)
        sigmas_away = np.abs(self.errors) / np.maximum(np.sqrt(variances), EXACT)
        limits = stats.norm.ppf(0.5 * (1.0 + nominal))
        translation = _share_below(sigmas_away[:, :3], limits)
        if self.errors.shape[1] == 3:
            return translation, None
        return translation, _share_below(sigmas_away[:, 3:], limits)


def truth_in_world(T_world_body: Transform, found: Association) -> Transform:
    """Pose (4, 4) of the truth's world in that of (m, 4, 4) estimates."""
    if found.position_only:
        return fit_worlds(found.T_true_body[:, :3, 3], T_world_body[:, :3, 3])
    return T_world_body[0] @ se3_inverse(found.T_true_body[0])


def errors_since_start(T_world_body: Transform, found: Association) -> Floats:
    """Errors (m, 6) of poses (m, 4, 4), or (m, 3) in body axes with positions alone."""
    if not found.position_only:
        return pose_errors(T_world_body, found.T_true_body)
    T_world_true = truth_in_world(T_world_body, found)
    missing = transform_points(T_world_true, found.T_true_body[:, :3, 3]) - T_world_body[:, :3, 3]
    return np.einsum("nji,nj->ni", T_world_body[:, :3, :3], missing)


def compared_poses(record: RunRecord, found: Association, errors: Floats) -> Compared | None:
    """Poses with their covariances; the first is right by definition where it is aligned.

    None without covariances, or with a single pose.
    """
    if record.absolute is None or len(found) < 2:
        return None
    start, size = (0, 3) if found.position_only else (1, 6)
    return Compared(errors[start:], record.absolute[found.indices[start:], :size, :size])


def compared_steps(record: RunRecord, found: Association) -> Compared | None:
    """Steps between neighbours whose truth is known.

    None without their covariances or true rotations, or where no two neighbours are known.
    """
    if record.relative is None or record.T_previous_body is None or found.position_only:
        return None
    neighbours = np.flatnonzero(np.diff(found.indices) == 1)
    if len(neighbours) == 0:
        return None
    later = found.indices[neighbours + 1]
    steps = true_steps(found.T_true_body)[neighbours]
    return Compared(step_errors(record.T_previous_body[later], steps), record.relative[later])


def fit_worlds(positions: Floats, true_positions: Floats) -> Transform:
    """Rigid transform (4, 4) that takes positions (n, 3) nearest to the true ones."""
    mean, true_mean = positions.mean(axis=0), true_positions.mean(axis=0)
    U, _, V = np.linalg.svd((true_positions - true_mean).T @ (positions - mean))
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U) * np.linalg.det(V)]) @ V
    return make_transform(R, true_mean - R @ mean)


def _share_below(values: Floats, limits: Floats) -> Floats:
    """Shares (k,) of all values that are below (k,) limits."""
    ordered = np.sort(values.ravel())
    return np.searchsorted(ordered, limits, side="right") / len(ordered)
