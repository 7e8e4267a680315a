# SPDX-License-Identifier: MIT
"""One row of the comparison: what a peer gave, judged against the truth, or why there is nothing.

Everybody is judged by `svnicp.evaluation`, against the truth interpolated at the very times that
their poses are for; so nobody is charged for the time between a pose and the nearest true one.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from svnicp.data.trajectory import Trajectory
from svnicp.errors import InputError
from svnicp.evaluation import Evaluation, RunRecord, associate, evaluate
from svnicp.evaluation.truth_file import Truth
from svnicp.peers.peer import DEFAULT, Peer, PeerRun
from svnicp.peers.process import NO_POSE, OK, Outcome

NOT_COUNTED = 5
"""Scans at the beginning whose time does not count: programs load, filters start."""

FARTHEST_M = 1e6
"""A pose farther from the start than this has nothing to do with the truth [m]."""
DIVERGED = "diverged"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is known about one peer on one dataset; None where there is nothing to say."""

    dataset: str
    method: str
    configuration: str
    uses_imu: bool
    version: str
    status: str
    """``ok``, or what went wrong in one or two words."""
    note: str = ""
    num_scans: int = 0
    """Scans of the dataset."""
    num_poses: int = 0
    path_m: float | None = None
    """Length of the true path that the poses cover [m]."""
    ape_m: float | None = None
    """Root mean square of the position error, all poses aligned (SE(3), no scale) [m]."""
    ape_deg: float | None = None
    rpe_m: float | None = None
    """The same from pose to pose [m]."""
    rpe_deg: float | None = None
    end_m: float | None = None
    """Error of the last pose, the first one aligned [m]."""
    end_share: float | None = None
    """The same over the length of the path."""
    mean_s: float | None = None
    """Mean time per scan [s]."""
    p95_s: float | None = None
    """95 of 100 scans take no longer [s]."""
    peak_bytes: int | None = None
    sigma_end_m: float | None = None
    """Stated standard deviation of the last position, in its worst direction [m]."""
    anees_step: float | None = None
    """Mean squared error of the steps in stated sigmas, per component: 1 is calibrated."""
    anees: float | None = None
    """The same of the poses since the start."""
    coverage: tuple[float, float, float] | None = None
    """Share of the steps' components within 1, 2 and 3 stated sigmas."""

    @property
    def label(self) -> str:
        """Name with the configuration, where that is not the default."""
        return label(self.method, self.configuration)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Row":
        """Return the row that ``to_dict`` was called on."""
        coverage = values["coverage"]
        return Row(**{**values, "coverage": None if coverage is None else tuple(coverage)})


def label(method: str, configuration: str) -> str:
    """Name of a method with its configuration, where that is not the default."""
    return method if configuration == DEFAULT else f"{method} ({configuration})"


def empty_row(dataset: str, peer: Peer, configuration: str, status: str, note: str = "") -> Row:
    """Row without figures."""
    return Row(
        dataset=dataset, method=peer.name, configuration=configuration, uses_imu=peer.uses_imu,
        version=peer.version, status=status, note=note,
    )  # fmt: skip


def judge(row: Row, outcome: Outcome, truth: Truth | None, num_scans: int) -> Row:
    """Fill an empty row with what a peer gave."""
    row = replace(
        row, status=outcome.status, note=outcome.note, num_scans=num_scans,
        peak_bytes=outcome.peak_bytes,
    )  # fmt: skip
    if outcome.run is None or outcome.status != OK:
        return row
    run = outcome.run
    counted = run.seconds[min(NOT_COUNTED, len(run.seconds) // 2) :]
    row = replace(
        row, num_poses=len(run.stamps_ns), mean_s=_rounded(np.mean(counted)),
        p95_s=_rounded(np.percentile(counted, 95)),
    )  # fmt: skip
    if run.absolute is not None:
        worst = np.linalg.eigvalsh(run.absolute[-1, :3, :3])[-1]
        row = replace(row, sigma_end_m=float(np.sqrt(max(worst, 0.0))))
    if (lost := first_lost(run)) is not None:
        return replace(row, status=DIVERGED, note=f"beyond {FARTHEST_M:g} m at pose {lost}")
    if truth is None:
        return replace(row, note="no ground truth")
    try:
        found = evaluate_run(run, truth)
    except InputError as error:
        return replace(row, status=NO_POSE, note=str(error))
    return replace(row, **_figures(found), note=_missing(row, num_scans))


def first_lost(run: PeerRun) -> int | None:
    """Number of the first pose that is nowhere near the earth's surface any more; None if none."""
    lost = np.flatnonzero(np.abs(run.T_world_body[:, :3, 3]).max(axis=1) > FARTHEST_M)
    return int(lost[0]) if len(lost) else None


def evaluate_run(run: PeerRun, truth: Truth) -> Evaluation:
    """Compare a run with the truth at its own stamps.

    Raises
    ------
    InputError
        If the truth covers none of the poses.
    """
    record = RunRecord(
        Trajectory(run.stamps_ns, run.T_world_body), run.absolute, run.T_previous_body, run.relative
    )
    found = associate(run.stamps_ns, truth.trajectory)
    at_stamps = Trajectory(
        run.stamps_ns[found.indices], found.T_true_body, truth.trajectory.position_only
    )
    return evaluate(record, at_stamps, truth.T_body_truth)


def _figures(found: Evaluation) -> dict[str, Any]:
    """What a row takes from an evaluation."""
    values: dict[str, Any] = {
        "path_m": found.true_path_m,
        "end_m": found.end.translation_m,
        "end_share": found.end.share,
    }
    for name, errors in (("ape", found.ape), ("rpe", found.rpe)):
        if errors is not None:
            values[f"{name}_m"] = errors.translation.rmse
            values[f"{name}_deg"] = None if errors.rotation is None else errors.rotation.rmse
    if found.relative is not None and found.relative.pose is not None:
        values["anees_step"] = found.relative.pose.anees
        values["coverage"] = found.relative.pose.coverage
    if found.absolute is not None:
        values["anees"] = (found.absolute.pose or found.absolute.translation).anees
    return values


def _missing(row: Row, num_scans: int) -> str:
    """Words about scans without a pose."""
    if row.num_poses >= num_scans:
        return ""
    return f"poses for {row.num_poses} of {num_scans} scans"


def _rounded(seconds: float | np.floating[Any]) -> float:
    return round(float(seconds), 6)
