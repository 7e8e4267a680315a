# SPDX-License-Identifier: MIT
"""The job behind most tables: odometry over one dataset, and everything that is judged later.

Errors are those of the real thing: steps from scan to scan and poses since the start, in the body
frame, against the truth. Covariances are what was stated for them.
"""

import dataclasses
from typing import Any

import numpy as np

from svnicp.arrays import Floats, Integers, Transform
from svnicp.config import VARIANTS, Config
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import RunRecord, associate
from svnicp.evaluation.consistency import pose_errors, step_errors, true_steps
from svnicp.evaluation.truth_file import Truth
from svnicp.peers.peer import PeerRun
from svnicp.peers.row import evaluate_run, first_lost
from svnicp.studies.job import Job
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.source import Source, truth_of
from svnicp.studies.watched import Watched, covariance_or_open, watched_run

FARTHEST_M = 100.0
"""The paper's limit: a run with a larger APE has failed [m]."""
NUM_MOMENTS = 20
"""Poses since the start that are kept of a run: they are correlated, more say little more."""
NOT_COUNTED = 5
"""Scans at the beginning whose time does not count."""


def drive_job(
    source: Source, variant: str, config: Config, *, note: str = "", particles: int | None = None
) -> Job:
    """Job of a variant of the paper's tables on a source.

    Parameters
    ----------
    source
        Where the measurements come from.
    variant
        Name in ``VARIANTS``: says whether the IMU is used.
    config
        Parameters, those of the variant already in them.
    note
        What is special about it, in words.
    particles
        Another number of particles than the configuration has.
    """
    if particles is not None:
        stein = dataclasses.replace(config.stein, num_particles=particles)
        config = dataclasses.replace(config, stein=stein)
    words = f"{source.title} {source.seed} {variant}{f' K={particles}' if particles else ''} {note}"
    inputs = {
        "source": source.inputs(), "config": config.to_dict(),
        "uses_imu": VARIANTS[variant].uses_imu,
    }  # fmt: skip
    return Job("svnicp.studies.drive.drive", inputs, words.strip())


def drive(source: dict[str, Any], config: dict[str, Any], uses_imu: bool) -> dict[str, Any]:
    """Run odometry and compare it with the truth; the function of the job."""
    where = Source(**source)
    dataset = where.open()
    if uses_imu and dataset.info().imu_period_s is None:
        return {"status": "needs an IMU", "num_scans": 0}
    seen = list(watched_run(dataset, Config.from_dict(config), uses_imu=uses_imu, seed=where.seed))
    run = _as_run(seen)
    result: dict[str, Any] = {
        "status": "ok", "num_scans": len(seen), **_times(seen), **_sigmas(seen),
        "used": plain([one.estimate.ok for one in seen]),
    }  # fmt: skip
    truth = truth_of(dataset)
    if len(seen) < 3:
        return {**result, "status": "no pose"}
    if first_lost(run) is not None:
        return {**result, "status": "diverged"}
    if truth is None:
        return {**result, "status": "no truth"}
    return {**result, **_figures(run, truth), **_errors(run, truth, seen)}


def _as_run(seen: list[Watched]) -> PeerRun:
    """Estimates as arrays."""
    estimates = [one.estimate for one in seen]
    return PeerRun(
        np.array([one.stamp_ns for one in estimates], dtype=np.int64),
        np.array([one.T_world_body for one in estimates]).reshape(-1, 4, 4),
        np.array([sum(one.timing_s.values()) for one in estimates]),
        absolute=np.array([one.covariance for one in estimates]).reshape(-1, 6, 6),
        T_previous_body=np.array([one.T_previous_body for one in estimates]).reshape(-1, 4, 4),
        relative=np.array([one.relative_covariance for one in estimates]).reshape(-1, 6, 6),
    )


def _times(seen: list[Watched]) -> dict[str, Any]:
    """Time and iterations of a scan on average."""
    counted = seen[min(NOT_COUNTED, len(seen) // 2) :]
    whole = [sum(one.estimate.timing_s.values()) for one in counted]
    register = [one.estimate.timing_s.get("register", 0.0) for one in counted]
    found = [one.result.iterations for one in counted if one.result is not None]
    limits = [one.result.hit_limit for one in counted if one.result is not None]
    return {
        "mean_s": _mean(whole), "register_s": _mean(register), "iterations": _mean(found),
        "hit_limit": _mean(limits),
    }  # fmt: skip


def _sigmas(seen: list[Watched]) -> dict[str, Any]:
    """Stated standard deviations (n, 6) of each scan, by registration, scan alone and filter."""
    kinds = {
        "sigma": [covariance_or_open(one.result, alone=False) for one in seen],
        "sigma_alone": [covariance_or_open(one.result, alone=True) for one in seen],
        "sigma_filter": [one.filter_covariance for one in seen],
    }
    out = {
        name: plain(np.sqrt(np.array([np.diag(each) for each in values]).reshape(-1, 6)))
        for name, values in kinds.items()
    }
    gains = [one.estimate.kalman_gain for one in seen]
    out["gain"] = plain([np.full(6, np.nan) if gain is None else gain for gain in gains])
    return out


def _figures(run: PeerRun, truth: Truth) -> dict[str, Any]:
    """APE, RPE and error at the end, as evo has them."""
    found = evaluate_run(run, truth)
    values: dict[str, Any] = {
        "path_m": found.true_path_m, "end_m": found.end.translation_m,
        "end_deg": found.end.rotation_deg, "end_share": found.end.share,
    }  # fmt: skip
    for name, errors in (("ape", found.ape), ("rpe", found.rpe)):
        values[f"{name}_m"] = None if errors is None else errors.translation.rmse
        rotation = None if errors is None else errors.rotation
        values[f"{name}_deg"] = None if rotation is None else rotation.rmse
    if values["ape_m"] is not None and values["ape_m"] > FARTHEST_M:
        values["status"] = "diverged"
    return values


def _errors(run: PeerRun, truth: Truth, seen: list[Watched]) -> dict[str, Any]:
    """Errors with the covariances that were stated for them, and where the body was."""
    found = associate(run.stamps_ns, truth.trajectory)
    first_ns = int(run.stamps_ns[0])
    record = RunRecord(
        Trajectory(run.stamps_ns, run.T_world_body), run.absolute, run.T_previous_body, run.relative
    ).of_another_point(truth.T_body_truth)
    poses = record.trajectory.T_world_body[found.indices]
    seconds = (run.stamps_ns[found.indices] - first_ns) * 1e-9
    out: dict[str, Any] = {
        "seconds": plain(seconds), "positions": plain(poses[:, :3, 3]),
        "true_positions": plain(_seen_from_first(found.T_true_body, poses[0])),
    }  # fmt: skip
    if found.position_only or record.T_previous_body is None or record.relative is None:
        return out
    neighbours = np.flatnonzero(np.diff(found.indices) == 1)
    later = found.indices[neighbours + 1]
    errors = step_errors(record.T_previous_body[later], true_steps(found.T_true_body)[neighbours])
    out["step_scans"] = later.tolist()
    out["step_errors"] = plain(errors)
    out["step_covariances"] = plain_covariances(record.relative[later])
    return {**out, **_since_start(record, found.indices, found.T_true_body, seen)}


def _since_start(
    record: RunRecord, indices: Integers, T_true: Transform, seen: list[Watched]
) -> dict[str, Any]:
    """Errors of some poses since the first, the last among them, and the paths up to there."""
    assert record.absolute is not None
    moments = np.unique(np.linspace(1, len(indices) - 1, NUM_MOMENTS).round().astype(np.int64))
    errors = pose_errors(record.trajectory.T_world_body[indices], T_true)[moments]
    steps = np.linalg.norm(np.diff(T_true[:, :3, 3], axis=0), axis=1)
    chosen = indices[moments]
    return {
        "moments": chosen.tolist(),
        "path_at": plain(np.concatenate([[0.0], np.cumsum(steps)])[moments]),
        "pose_errors": plain(errors),
        "pose_covariances": plain_covariances(record.absolute[chosen]),
        "drift_covariances": plain_covariances(
            np.array([seen[number].drift_covariance for number in chosen])
        ),
    }


def _seen_from_first(T_true: Transform, T_first: Transform) -> Floats:
    """True positions (n, 3) in the world of the estimates, which agree at the first pose."""
    return (T_first @ np.linalg.inv(T_true[0]) @ T_true)[:, :3, 3]


def _mean(values: list[Any]) -> float | None:
    return float(np.mean(values)) if values else None
