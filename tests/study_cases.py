# SPDX-License-Identifier: MIT
"""Jobs and results for the tests of studies: small, with answers that are known."""

from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Covariance
from svnicp.studies.job import Job
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.store import Record, Store

RAN: list[int] = []
"""Numbers of the jobs that were computed in this process."""


def square(number: int) -> dict[str, Any]:
    """Square a number; the function of a job."""
    if number < 0:
        raise ValueError("it is negative")
    RAN.append(number)
    return {"square": number**2}


def square_job(number: int) -> Job:
    """Job that squares a number."""
    return Job("study_cases.square", {"number": number}, f"square {number}")


def who_did(source: dict[str, Any], part: int) -> dict[str, Any]:  # noqa: ARG001
    """Return the address of the dask worker that did it; the function of a job."""
    from distributed import get_worker  # noqa: PLC0415

    return {"worker": get_worker().address}


class Listening:
    """A listener that stops after so many jobs."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.ended: list[str] = []
        self.failures: list[str] = []
        self._stop_after = stop_after

    def on_job(self, job: Job, record: Record | None, failure: str) -> None:
        """Count a job."""
        self.ended.append(job.words)
        if record is None:
            self.failures.append(failure)

    def stopped(self) -> bool:
        """Whether enough jobs have ended."""
        return self._stop_after is not None and len(self.ended) >= self._stop_after


def keep(store: Store, job: Job, result: dict[str, Any], seconds: float = 1.0) -> None:
    """Put a made-up result in place of a computed one."""
    store.keep(job, {"result": result, "seconds": seconds, "code": "abc", "versions": {}})


def made_up_store(folder: Path) -> Store:
    """Return an empty store."""
    return Store(folder / "jobs")


def drive_result(
    rng: np.random.Generator, scale: float = 1.0, ape_m: float = 0.5, count: int = 200
) -> dict[str, Any]:
    """Result of a drive whose steps have errors so many times as large as stated."""
    sigmas = np.array([0.01] * 3 + [0.001] * 3)
    covariance: Covariance = np.diag(sigmas**2)
    errors = scale * sigmas * rng.standard_normal((count, 6))
    tile = np.tile(covariance, (count, 1, 1))
    moments = np.arange(10, count, 10)
    growing = covariance * (1.0 + moments[:, None, None])
    return {
        "status": "ok", "num_scans": count, "mean_s": 0.1, "register_s": 0.05, "iterations": 7.0,
        "hit_limit": 0.0, "ape_m": ape_m, "rpe_m": 0.01, "rpe_deg": 0.1, "end_share": 0.02,
        "step_errors": plain(errors), "step_covariances": plain_covariances(tile),
        "seconds": plain(0.1 * np.arange(count)), "moments": moments.tolist(),
        "path_at": plain(0.1 * moments),
        "pose_errors": plain(np.sqrt(1.0 + moments)[:, None] * errors[moments]),
        "pose_covariances": plain_covariances(growing),
        "drift_covariances": plain_covariances(growing - covariance),
    }  # fmt: skip
