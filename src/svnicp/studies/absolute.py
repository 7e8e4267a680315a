# SPDX-License-Identifier: MIT
"""The covariance since the start: whether it grows, and holds the error at the end.

Many seeds of five scenarios, odometry with the IMU. One error for each run, so that the runs are
independent and the interval is that of a plain bootstrap.
"""

from typing import Any

import numpy as np

from svnicp.scores import nees
from svnicp.studies.ape_tables import variant_job
from svnicp.studies.intervals import mean_of_runs
from svnicp.studies.job import Job
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.plan import Plan, Study
from svnicp.studies.split import ABSOLUTE_SCENARIOS
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

USUAL_SEEDS, QUICK_SEEDS = 30, 2
QUICK_SCENARIOS = ("room",)
VARIANT = "svn+adaptive"
COLUMNS = [
    "preset", "scenario", "ANEES", "ANEES trans.", "ANEES rot.", "inside 3σ [%]", "error [m]",
    "sigma [m]", "sigma at half the path [m]", "grows", "runs",
]  # fmt: skip


def _jobs_of(plan: Plan, name: str, preset: str) -> list[Job]:
    seeds = plan.seeds(USUAL_SEEDS, QUICK_SEEDS)
    return [variant_job(plan, plan.source(name, seed), VARIANT, preset) for seed in seeds]


def jobs(plan: Plan) -> list[Job]:
    """Drives of all scenarios, seeds and presets."""
    names = plan.chosen(ABSOLUTE_SCENARIOS, QUICK_SCENARIOS)
    return [job for p in plan.presets for name in names for job in _jobs_of(plan, name, p)]


def tables(plan: Plan, results: Results) -> list[Table]:
    """One row for each preset and scenario."""
    table = Table("absolute", "Error at the end against the absolute covariance", list(COLUMNS))
    for preset in plan.presets:
        for name in plan.chosen(ABSOLUTE_SCENARIOS, QUICK_SCENARIOS):
            found = [
                result
                for job in _jobs_of(plan, name, preset)
                if (result := results.get(job)) is not None and result.get("pose_errors")
            ]
            if found:
                table.add({"preset": preset, "scenario": name, **end_cells(found)})
    table.notes.append(
        "The last pose of every run, aligned at the first: squared error in stated sigmas per "
        "component (1 is calibrated), share of the components within 3 sigma, root mean square "
        "error and stated sigma of the position. Grows: share of the runs whose stated sigma at "
        "the end is larger than at half the path."
    )
    return [table]


def end_cells(found: list[dict[str, Any]]) -> dict[str, Value]:
    """Cells about the ends of runs; ``found`` are results of ``drive``."""
    errors = np.array([array_of(one["pose_errors"], 6)[-1] for one in found])
    all_covariances = [covariances_of(one["pose_covariances"]) for one in found]
    ends = np.array([each[-1] for each in all_covariances])
    halves = np.array(
        [_at_half(one, each) for one, each in zip(found, all_covariances, strict=True)]
    )
    sigmas, before = (np.sqrt(np.trace(P[:, :3, :3], axis1=1, axis2=2)) for P in (ends, halves))
    within = np.abs(errors) < 3.0 * np.sqrt(np.diagonal(ends, axis1=1, axis2=2))
    lengths = np.linalg.norm(errors[:, :3], axis=1)
    return {
        "ANEES": mean_of_runs(list(nees(errors, ends) / 6.0)),
        "ANEES trans.": mean_of_runs(list(nees(errors, ends, "translation") / 3.0)),
        "ANEES rot.": mean_of_runs(list(nees(errors, ends, "rotation") / 3.0)),
        "inside 3σ [%]": mean_of_runs(list(100.0 * within.mean(axis=1))),
        "error [m]": float(np.sqrt(np.mean(lengths**2))),
        "sigma [m]": float(np.sqrt(np.mean(sigmas**2))),
        "sigma at half the path [m]": float(np.sqrt(np.mean(before**2))),
        "grows": float(np.mean(sigmas > before)),
        "runs": len(found),
    }


def _at_half(result: dict[str, Any], covariances: Any) -> Any:  # noqa: ANN401
    """Covariance (6, 6) at the kept pose nearest to half the path."""
    path = array_of(result["path_at"]).ravel()
    return covariances[int(np.argmin(np.abs(path - 0.5 * path[-1])))]


STUDY = Study("absolute", "whether ends lie inside the absolute covariance", jobs, tables)
