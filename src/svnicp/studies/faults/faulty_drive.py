# SPDX-License-Identifier: MIT
"""The job of a fault: odometry over a simulated recording in which something goes wrong.

Out: for every estimate how large its errors are in stated standard deviations, before, during and
after the fault, what was said about it, and how many scans gave no estimate.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from svnicp.arrays import Transform
from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.errors import SvnicpError
from svnicp.estimate import Estimate
from svnicp.evaluation.consistency import pose_errors, step_errors, true_steps
from svnicp.odometry.run import odometry_for
from svnicp.scores.nees import normalised_squares
from svnicp.simulation.simulated import SimulatedDataset
from svnicp.studies.faults.arrivals import FaultyDataset, Window
from svnicp.studies.faults.catalogue import FAULTS
from svnicp.studies.job import Job
from svnicp.studies.packed import plain
from svnicp.studies.source import Source

SETTLE_S = 1.0
"""Time behind a fault that still counts as during it [s]."""
BEFORE, DURING, AFTER = range(3)


def fault_job(source: Source, fault: str, config: Config, *, uses_imu: bool) -> Job:
    """Job of one fault on one simulated recording."""
    inputs = {
        "source": source.inputs(), "fault": fault, "config": config.to_dict(),
        "uses_imu": uses_imu,
    }  # fmt: skip
    words = f"{source.title} {source.seed} {fault}{'' if uses_imu else ', LiDAR alone'}"
    return Job("svnicp.studies.faults.faulty_drive.faulty_drive", inputs, words)


class Seen(NamedTuple):
    """An estimate and the time that it is really of."""

    estimate: Estimate
    true_ns: int


class Run(NamedTuple):
    """What came of a run with a fault."""

    seen: list[Seen]
    num_scans: int
    """Scans that arrived."""
    num_faulty: int
    """Measurements that the fault has touched."""
    num_refused: int
    """Readings that were refused with a sentence."""
    failure: str
    """Why it ended early; empty if it did not."""


def faulty_drive(
    source: dict[str, Any], fault: str, config: dict[str, Any], uses_imu: bool
) -> dict[str, Any]:
    """Run odometry on a recording with a fault; the function of the job."""
    where = Source(**source)
    simulated = where.simulated()
    dataset = FaultyDataset(where.open(), FAULTS[fault], simulated.start_ns, where.seed)
    ran = run_through(dataset, Config.from_dict(config), uses_imu=uses_imu, seed=where.seed)
    result: dict[str, Any] = {
        "failure": ran.failure, "num_scans": ran.num_scans, "num_faulty": ran.num_faulty,
        "num_refused": ran.num_refused, "num_estimates": len(ran.seen),
    }  # fmt: skip
    if len(ran.seen) < 2:
        return {**result, "rows": None}
    return {**result, "rows": judged(ran.seen, simulated, dataset.window)}


def run_through(dataset: FaultyDataset, config: Config, *, uses_imu: bool, seed: int = 0) -> Run:
    """Feed odometry with what arrives."""
    imu = None if uses_imu else False
    odometry = odometry_for(dataset, config, imu=imu, rng=np.random.default_rng(seed))
    seen: list[Seen] = []
    num_scans = num_faulty = num_refused = 0
    failure = ""
    for arrival in dataset.arrivals():
        num_faulty += arrival.faulty
        one = arrival.measurement
        try:
            if isinstance(one, Scan):
                num_scans += 1
                estimate = odometry.process(one)
                if estimate is not None:
                    seen.append(Seen(estimate, estimate.stamp_ns + arrival.shift_ns))
            elif one is not None:
                odometry.add_imu(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
        except SvnicpError:
            num_refused += 1
        except Exception as error:  # a crash is what is looked for
            failure = f"{type(error).__name__}: {error}"
            break
    return Run(seen, num_scans, num_faulty, num_refused, failure)


def judged(seen: list[Seen], truth: SimulatedDataset, window: Window) -> dict[str, Any]:
    """Rows about all estimates but the first, as columns of plain values."""
    true_ns = np.array([one.true_ns for one in seen])
    T_true: Transform = truth.truth_at(true_ns).T_world_body
    T_world_body = np.array([one.estimate.T_world_body for one in seen])
    steps = np.array([one.estimate.T_previous_body for one in seen])[1:]
    relative = np.array([one.estimate.relative_covariance for one in seen])[1:]
    absolute = np.array([one.estimate.covariance for one in seen])[1:]
    errors = pose_errors(T_world_body, T_true)[1:]
    of_steps = step_errors(steps, true_steps(T_true))
    return {
        "seconds": plain((true_ns[1:] - truth.start_ns) * 1e-9),
        "phase": [phase(before, now, window) for before, now in pairwise(true_ns.tolist())],
        "status": [one.estimate.status for one in seen[1:]],
        "ok": [one.estimate.ok for one in seen[1:]],
        "step_squares": plain(squares(of_steps, relative)),
        "pose_squares": plain(squares(errors, absolute)),
        "errors_m": plain(np.linalg.norm(errors[:, :3], axis=1)),
        "sigmas_m": plain(np.sqrt(np.trace(absolute[:, :3, :3], axis1=1, axis2=2))),
        "errors_rad": plain(np.linalg.norm(errors[:, 3:], axis=1)),
        "sigmas_rad": plain(np.sqrt(np.trace(absolute[:, 3:, 3:], axis1=1, axis2=2))),
    }


def squares(errors: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Squared errors (n,) in stated standard deviations, per component; NaN is told as infinite."""
    values = normalised_squares(errors, covariances) / 6.0
    return np.where(np.isfinite(values), values, np.inf)


def phase(previous_ns: int, now_ns: int, window: Window) -> int:
    """Whether a step is before a fault, during it (and just behind), or after it."""
    if now_ns < window.begin_ns:
        return BEFORE
    return DURING if previous_ns <= window.end_ns + round(SETTLE_S * 1e9) else AFTER
