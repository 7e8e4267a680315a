# SPDX-License-Identifier: MIT
"""How good a run was, in one call: a run and the truth in, every figure out.

Trajectory errors are evo's; the end error and the consistency of the covariances are taken against
the truth interpolated at the scans. With positions alone as truth there are no rotations to
compare, and the first pose cannot align the worlds: a least-squares fit of all positions does.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats, Transform
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation.association import Association, associate
from svnicp.evaluation.compared import compared_poses, compared_steps, errors_since_start
from svnicp.evaluation.consistency import Consistency
from svnicp.evaluation.evo_errors import PoseErrors, absolute_errors, pair, relative_errors
from svnicp.evaluation.run_record import RunRecord
from svnicp.scores.nees import normalised_squares

SHORTEST_PATH_M = 1.0
"""Errors are told as a share of paths from this length on [m]."""


@dataclass(frozen=True)
class EndError:
    """Error of the last pose whose truth is known."""

    translation_m: float
    rotation_deg: float | None
    """None without true rotations."""
    share: float | None
    """``translation_m`` over the length of the true path; None for a path shorter than 1 m."""
    nees: float | None
    """Squared in stated standard deviations, per component; None without covariances."""


@dataclass(frozen=True)
class Evaluation:
    """Everything that can be said about a run whose truth is known."""

    num_poses: int
    """Poses of the run."""
    num_paired: int
    """Poses that evo compared."""
    interpolated: bool
    """Whether evo was given interpolated truth, because none was within 10 ms of a scan."""
    position_only: bool
    """Whether the truth has no rotations."""
    path_m: float
    """Length of the estimated path where the truth is known [m]."""
    true_path_m: float
    """Length of the true path between the same stamps [m]."""
    ape: PoseErrors | None
    """``evo_ape -a``: all poses aligned; None where they do not fix the alignment."""
    ape_origin: PoseErrors | None
    """``evo_ape --align_origin``: the first pose aligned; None without true rotations."""
    ape_unaligned: PoseErrors | None
    """``evo_ape``: both worlds taken to be the same."""
    rpe: PoseErrors | None
    """``evo_rpe``: from scan to scan; None for a single pose."""
    end: EndError
    relative: Consistency | None
    """Of the steps from scan to scan; None without their covariances or true rotations."""
    absolute: Consistency | None
    """Of the poses since the first; None without their covariances."""
    nis_mean: float | None
    """Mean squared innovation in standard deviations: 6 if the filter is calibrated."""


def evaluate(
    record: RunRecord, truth: Trajectory, T_body_truth: Transform | None = None
) -> Evaluation:
    """Compare a run with the truth.

    Parameters
    ----------
    record
        Estimates of the body, from ``read_run``.
    truth
        True poses or positions, in a world of their own.
    T_body_truth
        (4, 4) place on the body of what the truth is about; the body itself when left out.

    Raises
    ------
    InputError
        If the two do not overlap in time.
    MissingExtraError
        If evo is not installed.
    """
    if T_body_truth is not None:
        record = record.of_another_point(T_body_truth)
    pairs = pair(record.trajectory, truth)
    found = associate(record.trajectory.stamps_ns, truth)
    T_world_body = record.trajectory.T_world_body[found.indices]
    errors = errors_since_start(T_world_body, found)
    poses, steps = compared_poses(record, found, errors), compared_steps(record, found)
    true_path_m = _length(found.T_true_body)
    nis = np.array([scan.nis for scan in record.scans if np.isfinite(scan.nis)])
    return Evaluation(
        num_poses=len(record),
        num_paired=len(pairs),
        interpolated=pairs.interpolated,
        position_only=truth.position_only,
        path_m=_length(T_world_body),
        true_path_m=true_path_m,
        ape=absolute_errors(pairs, "umeyama"),
        ape_origin=absolute_errors(pairs, "origin"),
        ape_unaligned=absolute_errors(pairs, "none"),
        rpe=relative_errors(pairs),
        end=_end(record, found, errors, true_path_m),
        relative=None if steps is None else steps.consistency,
        absolute=None if poses is None else poses.consistency,
        nis_mean=float(nis.mean()) if len(nis) else None,
    )


def _end(record: RunRecord, found: Association, errors: Floats, path_m: float) -> EndError:
    """Error of the last pose."""
    last, size = errors[-1], errors.shape[1]
    translation_m = float(np.linalg.norm(last[:3]))
    nees = None
    if record.absolute is not None:
        stated = record.absolute[found.indices[-1:], :size, :size]
        nees = float(normalised_squares(errors[-1:], stated)[0]) / size
    return EndError(
        translation_m=translation_m,
        rotation_deg=None if size == 3 else float(np.degrees(np.linalg.norm(last[3:]))),
        share=translation_m / path_m if path_m >= SHORTEST_PATH_M else None,
        nees=nees,
    )


def _length(poses: Transform) -> float:
    """Length of the path through poses (n, 4, 4) [m]."""
    return float(np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).sum())
