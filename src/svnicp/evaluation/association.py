# SPDX-License-Identifier: MIT
"""Where the body truly was at the stamps of an estimate: ground truth interpolated on SE(3).

Ground truth comes at its own times. Between two of its poses the body is taken to move at constant
twist; where they are far apart nothing is known, and the estimate there is left out.
"""

from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Integers, Transform
from svnicp.data.trajectory import Trajectory
from svnicp.errors import InputError
from svnicp.lie import se3_exp, se3_inverse, se3_log

MAX_GAP_S = 1.0
"""Between poses of the ground truth farther apart than this nothing is interpolated [s]."""


@dataclass(frozen=True, eq=False)
class Association:
    """Estimates for which the truth is known."""

    indices: Integers
    """(m,) which estimates, ascending."""
    T_true_body: Transform
    """(m, 4, 4) true poses at their stamps, in the ground truth's own world."""
    position_only: bool
    """Whether the rotations of the true poses are not known."""

    def __len__(self) -> int:
        return len(self.indices)


def associate(
    stamps_ns: Integers, truth: Trajectory, *, max_gap_s: float = MAX_GAP_S
) -> Association:
    """Return the true poses at (n,) stamps [ns], where the ground truth covers them.

    Parameters
    ----------
    stamps_ns
        (n,) stamps of the estimates [ns].
    truth
        Ground truth, at any rate.
    max_gap_s
        Nothing is interpolated between poses farther apart than this [s].

    Raises
    ------
    InputError
        If the ground truth covers none of the stamps.
    """
    stamps_ns = np.asarray(stamps_ns, dtype=np.int64)
    after = np.searchsorted(truth.stamps_ns, stamps_ns, side="left")
    inside = after < len(truth)
    after = np.minimum(after, len(truth) - 1)
    exact = inside & (truth.stamps_ns[after] == stamps_ns)
    before = np.where(exact, after, after - 1)
    inside &= before >= 0
    before = np.maximum(before, 0)
    gap_ns = truth.stamps_ns[after] - truth.stamps_ns[before]
    inside &= gap_ns <= max_gap_s * 1e9
    indices = np.flatnonzero(inside)
    if len(indices) == 0:
        raise InputError(_no_overlap(stamps_ns, truth))
    before, after, gap_ns = before[indices], after[indices], gap_ns[indices]
    shares = (stamps_ns[indices] - truth.stamps_ns[before]) / np.maximum(gap_ns, 1)
    start = truth.T_world_body[before]
    steps = se3_log(se3_inverse(start) @ truth.T_world_body[after])
    return Association(indices, start @ se3_exp(shares[:, None] * steps), truth.position_only)


def _no_overlap(stamps_ns: Integers, truth: Trajectory) -> str:
    """Say where the two are in time."""
    if len(stamps_ns) == 0 or len(truth) == 0:
        return "There is nothing to compare: the estimate or the ground truth has no pose."
    spans = [f"{1e-9 * s[0]:.3f} to {1e-9 * s[-1]:.3f} s" for s in (stamps_ns, truth.stamps_ns)]
    return (
        f"The ground truth ({spans[1]}) covers no pose of the estimate ({spans[0]}); "
        "check that both use the same clock."
    )
