# SPDX-License-Identifier: MIT
"""Absolute and relative pose errors by evo: the numbers that its own commands print.

``evo_ape tum truth.tum estimate.tum -a`` and its relatives pair poses by the nearest stamp within
10 ms, and so does this. Where no pair is that near (sparse ground truth), the truth is interpolated
instead, and the result says so.
"""

import copy
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

import numpy as np

from svnicp.arrays import Floats, Integers
from svnicp.data.quaternions import rotation_to_quat
from svnicp.data.stamps import seconds_text
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation.association import associate
from svnicp.extras import require

Alignment = Literal["umeyama", "origin", "none"]
"""evo's ``-a``, ``--align_origin``, and neither."""


@dataclass(frozen=True)
class ErrorStatistics:
    """What evo says about a list of errors [m], or [deg] for rotations."""

    rmse: float
    mean: float
    median: float
    std: float
    min: float
    max: float


@dataclass(frozen=True)
class PoseErrors:
    """Errors in position, and in rotation where it is known."""

    translation: ErrorStatistics
    """[m]: evo's relation trans_part (point_distance for relative errors without rotations)."""
    rotation: ErrorStatistics | None
    """[deg]: evo's relation angle_deg; None where the ground truth has no rotations."""


@dataclass(frozen=True, eq=False)
class Paired:
    """Poses of an estimate and of the truth at (nearly) the same times, as evo holds them."""

    truth: Any
    estimate: Any
    interpolated: bool
    """Whether the truth was interpolated because none of its stamps was near enough for evo."""
    position_only: bool

    def __len__(self) -> int:
        return self.estimate.num_poses


def pair(estimate: Trajectory, truth: Trajectory) -> Paired:
    """Pair poses as evo's commands do by default, or by interpolation where that finds none.

    Raises
    ------
    MissingExtraError
        If evo is not installed.
    InputError
        If the two do not overlap in time.
    """
    sync = _evo("sync")
    references, estimates = _evo_trajectory(truth), _evo_trajectory(estimate)
    try:
        references, estimates = sync.associate_trajectories(references, estimates)
        return Paired(references, estimates, False, truth.position_only)
    except sync.SyncException:
        found = associate(estimate.stamps_ns, truth)
        stamps_ns = estimate.stamps_ns[found.indices]
        at_stamps = Trajectory(stamps_ns, found.T_true_body, truth.position_only)
        estimates.reduce_to_ids(found.indices.tolist())
        return Paired(_evo_trajectory(at_stamps), estimates, True, truth.position_only)


def absolute_errors(pairs: Paired, alignment: Alignment) -> PoseErrors | None:
    """Absolute pose error (``evo_ape``) after an alignment of all poses, of the first, or of none.

    None where the alignment does not exist: a body at rest or on a straight line leaves Umeyama's
    rotation open, and the first pose of positions alone has none.
    """
    metrics, aligned = _evo("metrics"), copy.deepcopy(pairs.estimate)
    if alignment == "umeyama":
        try:
            aligned.align(pairs.truth)
        except _evo("geometry").GeometryException:
            return None
    elif alignment == "origin":
        if pairs.position_only:
            return None
        aligned.align_origin(pairs.truth)
    relations = metrics.PoseRelation
    translation = _statistics(metrics.APE(relations.translation_part), pairs, aligned)
    if pairs.position_only:
        return PoseErrors(translation, None)
    rotation = _statistics(metrics.APE(relations.rotation_angle_deg), pairs, aligned)
    return PoseErrors(translation, rotation)


def relative_errors(pairs: Paired) -> PoseErrors | None:
    """Relative pose error (``evo_rpe``) from one pose to the next; None for a single pose."""
    metrics = _evo("metrics")
    if len(pairs) < 2:
        return None
    relations = metrics.PoseRelation
    # Without true rotations a step has a length but no direction in the body.
    part = relations.point_distance if pairs.position_only else relations.translation_part
    translation = _statistics(metrics.RPE(part), pairs, pairs.estimate)
    if pairs.position_only:
        return PoseErrors(translation, None)
    rotation = _statistics(metrics.RPE(relations.rotation_angle_deg), pairs, pairs.estimate)
    return PoseErrors(translation, rotation)


def _evo(module: str) -> ModuleType:
    """Part of evo's core."""
    return require(f"evo.core.{module}", "evaluation", "Evaluation")


def _evo_trajectory(trajectory: Trajectory) -> Any:  # noqa: ANN401
    """The same poses as evo reads them from a TUM file."""
    quat_wxyz = np.roll(rotation_to_quat(trajectory.T_world_body[:, :3, :3]), 1, axis=1)
    return _evo("trajectory").PoseTrajectory3D(
        trajectory.positions.copy(), quat_wxyz, _seconds(trajectory.stamps_ns)
    )


def _seconds(stamps_ns: Integers) -> Floats:
    """Stamps (n,) [s], rounded once, as a reader of the text would round them."""
    return np.array([float(seconds_text(int(stamp_ns))) for stamp_ns in stamps_ns])


def _statistics(metric: Any, pairs: Paired, estimate: Any) -> ErrorStatistics:  # noqa: ANN401
    """Statistics of one of evo's metrics."""
    metric.process_data((pairs.truth, estimate))
    values = metric.get_all_statistics()
    return ErrorStatistics(
        **{name: float(values[name]) for name in ErrorStatistics.__dataclass_fields__}
    )
