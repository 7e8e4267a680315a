# SPDX-License-Identifier: MIT
"""Everything that a report draws, with a row for every scan, read from the folder of a run.

Files go in, arrays come out: poses and covariances, what became of each scan, what the filter did,
what the truth says where it is known. A piece that a run does not have is None.
"""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats, Integers, Transform
from svnicp.cloud_files import read_cloud
from svnicp.data.trajectory import Trajectory
from svnicp.errors import DatasetError, SvnicpError
from svnicp.evaluation import Evaluation, evaluate, read_run
from svnicp.evaluation.truth_file import Truth, read_truth
from svnicp.odometry.outcome import Fate
from svnicp.recording import RunDescription, read_description
from svnicp.recording.run_files import MAP
from svnicp.report.run_tables import (
    ScanTable,
    Timing,
    read_scan_table,
    read_timing,
    stage_seconds,
)
from svnicp.report.spells import Mask, weak_axes
from svnicp.report.truth_errors import TruthErrors, truth_errors

XYZ = ("x", "y", "z")
TANGENT = ("tx", "ty", "tz", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class Scans:
    """What is known about each of n scans."""

    numbers: Integers
    """(n,) from 1."""
    seconds: Floats
    """(n,) since the first [s]."""
    statuses: tuple[str, ...]
    """n words of ``Fate``, in small letters."""
    used: Mask
    """(n,) whether the scan told the pose, or began the map."""
    weak: Mask
    """(n, 6) axes of the body that it hardly constrains."""
    T_world_body: Transform
    """(n, 4, 4)."""
    covariances: Covariance | None
    """(n, 6, 6) since the start, in body tangents."""
    errors: Floats | None
    """(n, 6) or (n, 3) true errors since the start; NaN where no truth is known."""
    nis: Floats
    """(n,) squared innovation in standard deviations; NaN where nothing was fused."""
    innovation: Floats
    """(n, 6) pose by the scan minus prediction [m, rad]; NaN as above."""
    kalman_gain: Floats
    """(n, 6) 1 trusts the scan, 0 the prediction; NaN as above."""
    velocity_world: Floats
    """(n, 3) [m/s]."""
    gyroscope_bias: Floats
    """(n, 3) [rad/s]; NaN without an IMU."""
    accelerometer_bias: Floats
    """(n, 3) [m/s^2]; NaN without an IMU."""
    matches: Floats
    """(n,) points that found a match in the map."""
    stages: dict[str, Floats]
    """(n,) time of each stage [s]; NaN where it did not run."""

    def __len__(self) -> int:
        return len(self.seconds)

    @property
    def sigmas(self) -> Floats | None:
        """(n, 6) standard deviations since the start [m, rad]."""
        if self.covariances is None:
            return None
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def positions(self) -> Floats:
        """(n, 3) [m]."""
        return self.T_world_body[:, :3, 3]

    def every(self, step: int) -> "Scans":
        """Every so manieth scan, for drawing."""
        kept = slice(None, None, step)
        thin: dict[str, Any] = {"stages": {name: rows[kept] for name, rows in self.stages.items()}}
        for name in (field.name for field in fields(self) if field.name != "stages"):
            rows = getattr(self, name)
            thin[name] = None if rows is None else rows[kept]
        return Scans(**thin)


@dataclass(frozen=True, eq=False)
class RunSeries:
    """A run as its report needs it."""

    folder: Path
    description: RunDescription
    scans: Scans
    path_m: float
    map_points: Floats | None
    """(m, 3) in the world [m]; None if the run kept no map."""
    truth: TruthErrors | None
    evaluation: Evaluation | None
    """APE and RPE by evo; None without truth or evo."""
    no_truth: str
    """Why there is nothing to compare with; empty if there is."""
    no_evaluation: str
    """Why there is no APE and RPE; empty if there is."""


def read_series(folder: Path, ground_truth: Trajectory | None = None) -> RunSeries:
    """Read the folder of a run; ``ground_truth`` of the body is used instead of the one in it.

    Raises
    ------
    DatasetError
        If it is not the folder of a run, or its files do not fit each other.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder}: there is no such folder; name the folder of a run.")
    description = read_description(folder)
    table, timing = read_scan_table(folder / "scans.csv"), read_timing(folder / "timing.csv")
    record = read_run(folder)
    truth = read_truth(folder) if ground_truth is None else Truth(ground_truth, np.eye(4))
    compared, evaluation, no_truth, no_evaluation = None, None, "", ""
    if truth is None:
        no_truth = "the run has no ground truth with it; --ground-truth FILE adds it."
    else:
        record = record.of_another_point(truth.T_body_truth)
        try:
            compared = truth_errors(record, truth.trajectory)
            evaluation = evaluate(record, truth.trajectory)
        except SvnicpError as error:
            no_evaluation = str(error)
            no_truth = "" if compared is not None else str(error)
    scans = _scans(table, timing, record.trajectory, record.absolute, record.relative)
    if compared is not None:
        scans = replace(scans, errors=compared.errors)
    has_map = (folder / MAP).is_file()
    return RunSeries(
        folder=folder,
        description=description,
        scans=scans,
        path_m=record.trajectory.length_m,
        map_points=read_cloud(folder / MAP).astype(np.float64) if has_map else None,
        truth=compared,
        evaluation=evaluation,
        no_truth=no_truth,
        no_evaluation=no_evaluation,
    )


def _scans(
    table: ScanTable,
    timing: Timing,
    trajectory: Trajectory,
    absolute: Covariance | None,
    relative: Covariance | None,
) -> Scans:
    """Gather what the files say about each pose."""
    stamps_ns = trajectory.stamps_ns
    statuses = table.words(stamps_ns, "status")
    return Scans(
        numbers=np.arange(1, len(stamps_ns) + 1),
        seconds=1e-9 * (stamps_ns - stamps_ns[0]),
        statuses=statuses,
        used=np.array([status in _TELLING for status in statuses]),
        weak=weak_axes(table.words(stamps_ns, "weak_directions"), relative),
        T_world_body=trajectory.T_world_body,
        covariances=absolute,
        errors=None,
        nis=table.numbers(stamps_ns, "nis"),
        innovation=table.numbers(stamps_ns, "innovation", TANGENT),
        kalman_gain=table.numbers(stamps_ns, "kalman_gain", TANGENT),
        velocity_world=table.numbers(stamps_ns, "velocity_world", XYZ),
        gyroscope_bias=table.numbers(stamps_ns, "gyroscope_bias", XYZ),
        accelerometer_bias=table.numbers(stamps_ns, "accelerometer_bias", XYZ),
        matches=table.numbers(stamps_ns, "num_matches"),
        stages=stage_seconds(timing, stamps_ns),
    )


_TELLING = {fate.name.lower() for fate in Fate if fate.used} | {Fate.FIRST.name.lower()}
