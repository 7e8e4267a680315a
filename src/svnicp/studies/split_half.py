# SPDX-License-Identifier: MIT
"""Whether covariances keep their word where nobody knows the truth: two halves of every scan.

Two tables. ``split-half``: differences of two odometries that share no point, against the sum of
their covariances. ``one-second``: the motion over a second against the truth that there is. On
scenarios, or on recordings, for which the test is made.
"""

from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines import fit_constant
from svnicp.scores import gaussian_energy_score
from svnicp.scores.nees import normalised_squares
from svnicp.studies.covariance_rows import SCORE_COLUMNS, Judged, covariance_row
from svnicp.studies.halves import OURS, WITHOUT_PARTICLES, halves_job
from svnicp.studies.intervals import mean_of_scans
from svnicp.studies.job import Job
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.plan import Plan, Study
from svnicp.studies.source import Source
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

SCENARIOS = ("street", "urban", "room", "long_corridor")
QUICK_SCENARIOS = ("room",)
USUAL_SEEDS = 2
CONSTANT = "constant, fitted to the other half of the run"
PLANAR = "ANEES x, y, yaw"
IN_PLANE = [0, 1, 5]
FEWEST = 40
"""With fewer errors no constant is fitted: half of them for 21 numbers are few already."""


def jobs(plan: Plan) -> list[Job]:
    """One job for each recording, or scenario and seed, and preset."""
    return [_job(plan, source, preset) for source in _sources(plan) for preset in plan.presets]


def _sources(plan: Plan) -> list[Source]:
    return plan.sources(plan.chosen(SCENARIOS, QUICK_SCENARIOS), plan.seeds(USUAL_SEEDS))


def _job(plan: Plan, source: Source, preset: str) -> Job:
    return halves_job(
        source, plan.variant("svn", preset), baselines=preset == "default", words=f"halves {preset}"
    )


def tables(plan: Plan, results: Results) -> list[Table]:
    """The table of halves, and that of a second."""
    columns = ["dataset", "method", *SCORE_COLUMNS, "scans"]
    halves = Table("split-half", "Halves of scans against each other", columns)
    columns = [*columns[:4], PLANAR, *columns[4:]]
    seconds = Table("one-second", "Motion over a second against the truth", columns)
    for dataset in dict.fromkeys(source.title for source in _sources(plan)):
        for table, part in ((halves, "steps"), (seconds, "windows")):
            for method, runs in _judged(plan, results, dataset, part).items():
                row = covariance_row(runs)
                if row is not None:
                    table.add({"dataset": dataset, "method": method, PLANAR: _planar(runs), **row})
    halves.notes.append(
        "LiDAR alone. Of two points that are neighbours in time one goes to each odometry; the "
        "difference of their steps from scan to scan is held against the sum of their covariances. "
        "What both halves have in common (a bias of all ranges, things that move, a wrong deskew) "
        "cancels and is not seen here: a covariance that has it inside scores below 1. Ours is "
        "that of the step; the others' is that of both ends, each a pose in the map."
    )
    seconds.notes.append(
        "All points. Covariances are those of both ends, ours with what the map's error has grown "
        "by in between; windows overlap, which the intervals know. Truth of recordings is not "
        "exact: ego poses of nuScenes, for one, are planar (height 0) and scatter by centimetres, "
        "more than a step of odometry does, so that ANEES above 1 need not be over-confidence; "
        f"{PLANAR} leaves height, roll and pitch out."
    )
    return [halves, seconds]


def _judged(plan: Plan, results: Results, dataset: str, part: str) -> dict[str, list[Judged]]:
    """Judged errors of a dataset by method, one entry for each seed."""
    out: dict[str, list[Judged]] = {}
    for preset in plan.presets:
        labels = {OURS: preset, WITHOUT_PARTICLES: f"{preset} without particles"}
        for source in _sources(plan):
            result = results.get(_job(plan, source, preset)) if source.title == dataset else None
            if result is None or not result.get(part):
                continue
            found = judged_methods(result[part])
            for method, judged in found.items():
                out.setdefault(labels.get(method, method), []).append(judged)
            if preset == "default" and len(found[OURS].errors) >= FEWEST:
                errors = found[OURS].errors
                out.setdefault(CONSTANT, []).append(_judge(errors, constants(errors)))
    return out


def judged_methods(packed: dict[str, Any]) -> dict[str, Judged]:
    """Errors with the covariances of every method, of one part of a result of ``halves``."""
    errors = array_of(packed["errors"], 6)
    return {
        method: _judge(errors, covariances_of(found))
        for method, found in packed["covariances"].items()
    }


def constants(errors: Floats) -> Covariance:
    """Covariances (n, 6, 6) of errors (n, 6): each half of the run gets what fits the other."""
    middle = len(errors) // 2
    first, second = (fit_constant(part).covariance for part in (errors[:middle], errors[middle:]))
    return np.concatenate(
        [np.tile(second, (middle, 1, 1)), np.tile(first, (len(errors) - middle, 1, 1))]
    )


def _judge(errors: Floats, covariances: Covariance) -> Judged:
    return Judged(errors, covariances, gaussian_energy_score(errors, covariances))


def _planar(runs: list[Judged]) -> Value:
    """ANEES of the components that a planar truth has."""
    return mean_of_scans([
        normalised_squares(run.errors[:, IN_PLANE], run.covariances[:, IN_PLANE][:, :, IN_PLANE])
        / len(IN_PLANE)
        for run in runs
    ])  # fmt: skip


STUDY = Study(
    "split-half", "whether covariances keep their word on recordings without truth", jobs, tables
)
