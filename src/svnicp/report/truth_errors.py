# SPDX-License-Identifier: MIT
"""How far a run is from the truth, scan by scan, in the axes in which it states its sigmas.

A run and the truth go in; errors in body tangents come out, with a row for every scan, and the
shares of them that lie within what was stated, from which calibration is drawn.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import RunRecord, associate
from svnicp.evaluation.compared import (
    Compared,
    compared_poses,
    compared_steps,
    errors_since_start,
    truth_in_world,
)
from svnicp.lie import transform_points


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
    T_world_true = truth_in_world(T_world_body, found)
    errors = errors_since_start(T_world_body, found)
    everywhere = np.full((len(record), errors.shape[1]), np.nan)
    everywhere[found.indices] = errors
    return TruthErrors(
        errors=everywhere,
        true_positions=transform_points(T_world_true, found.T_true_body[:, :3, 3]),
        absolute=compared_poses(record, found, errors),
        steps=compared_steps(record, found),
        position_only=found.position_only,
    )
