# SPDX-License-Identifier: MIT
"""How far a run is from the truth, scan by scan, in the axes in which it states its sigmas.

A run and the truth go in; errors in body tangents come out, with a row for every scan, and the
shares of them that lie within what was stated, from which calibration is drawn.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from svnicp.arrays import Covariance, Floats
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import Calibration, Consistency, RunRecord, associate, calibration
from svnicp.evaluation.association import Association
from svnicp.evaluation.consistency import (
    consistency,
    pose_errors,
    step_errors,
    true_steps,
)
from svnicp.evaluation.evaluate import fit_worlds
from svnicp.lie import se3_inverse, transform_points

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


@dataclass(frozen=True, eq=False)
class TruthErrors:
    """A run against the truth."""

    errors: Floats
    """(n, 6) since the start, or (n, 3) without true rotations; NaN where no truth is known."""
    true_positions: Floats
    """(m, 3) true path, moved into the world of the run [m]."""
    absolute: Compared | None
    """Poses since the start; None without covariances."""
    steps: Compared | None
    """Steps from scan to scan; None without their covariances or true rotations."""
    position_only: bool


def truth_errors(record: RunRecord, truth: Trajectory) -> TruthErrors:
    """Compare a run with the truth about the same point of the body.

    Raises
    ------
    InputError
        If the two do not overlap in time.
    """
    found = associate(record.trajectory.stamps_ns, truth)
    T_world_body = record.trajectory.T_world_body[found.indices]
    if found.position_only:
        true_positions = found.T_true_body[:, :3, 3]
        T_world_true = fit_worlds(true_positions, T_world_body[:, :3, 3])
        missing = transform_points(T_world_true, true_positions) - T_world_body[:, :3, 3]
        errors = np.einsum("nji,nj->ni", T_world_body[:, :3, :3], missing)
    else:
        T_world_true = T_world_body[0] @ se3_inverse(found.T_true_body[0])
        errors = pose_errors(T_world_body, found.T_true_body)
    everywhere = np.full((len(record), errors.shape[1]), np.nan)
    everywhere[found.indices] = errors
    return TruthErrors(
        errors=everywhere,
        true_positions=transform_points(T_world_true, found.T_true_body[:, :3, 3]),
        absolute=_absolute(record, found, errors),
        steps=_steps(record, found),
        position_only=found.position_only,
    )


def _absolute(record: RunRecord, found: Association, errors: Floats) -> Compared | None:
    """Poses with their covariances; the first is right by definition where it is aligned."""
    if record.absolute is None or len(found) < 2:
        return None
    start, size = (0, 3) if found.position_only else (1, 6)
    return Compared(errors[start:], record.absolute[found.indices[start:], :size, :size])


def _steps(record: RunRecord, found: Association) -> Compared | None:
    """Steps between neighbours whose truth is known."""
    if record.relative is None or record.T_previous_body is None or found.position_only:
        return None
    neighbours = np.flatnonzero(np.diff(found.indices) == 1)
    if len(neighbours) == 0:
        return None
    later = found.indices[neighbours + 1]
    steps = true_steps(found.T_true_body)[neighbours]
    return Compared(step_errors(record.T_previous_body[later], steps), record.relative[later])


def _share_below(values: Floats, limits: Floats) -> Floats:
    """Shares (k,) of all values that are below (k,) limits."""
    ordered = np.sort(values.ravel())
    return np.searchsorted(ordered, limits, side="right") / len(ordered)
