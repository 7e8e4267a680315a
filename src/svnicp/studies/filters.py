# SPDX-License-Identifier: MIT
"""What the filter makes of scans: their posterior as noise, fixed noise, and no scans at all.

On every scenario, with the same IMU and the same start. Where scans are weak along the way, fixed
noise believes them and is held back; the IMU alone drifts. The posterior should be no worse than
either, and say how far it may be off.
"""

from typing import Any

from svnicp.scores import Interval, Part, anees
from svnicp.studies.absolute import end_cells
from svnicp.studies.ape_tables import variant_job
from svnicp.studies.covariance_rows import Judged
from svnicp.studies.intervals import mean_of_runs
from svnicp.studies.job import Job
from svnicp.studies.plan import Plan, Study
from svnicp.studies.source import Source
from svnicp.studies.split import PAPER_SCENARIOS
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

METHODS = {
    "svn+adaptive": "posterior as noise", "svn+fixed": "fixed noise", "inertial": "IMU alone",
}  # fmt: skip
"""Variants and what they are called."""
SCENARIOS = (*PAPER_SCENARIOS, "bare_corridor")
QUICK_SCENARIOS = ("urban", "long_corridor", "bare_corridor")
USUAL_SEEDS = 3
COLUMNS = [
    "preset", "dataset", "method", "APE [m]", "end [% of path]", "worst end [% of path]", "end [m]",
    "sigma at the end [m]", "ANEES of ends", "ANEES of steps", "ANEES of turns", "runs", "failed",
]  # fmt: skip


def sources(plan: Plan) -> list[Source]:
    """All scenarios, each with every seed."""
    return plan.sources(plan.chosen(SCENARIOS, QUICK_SCENARIOS), plan.seeds(USUAL_SEEDS))


def jobs(plan: Plan) -> list[Job]:
    """A drive of each method on each source."""
    return [
        variant_job(plan, source, variant, preset)
        for preset in plan.presets
        for variant in METHODS
        for source in sources(plan)
    ]


def table(plan: Plan, results: Results) -> Table:
    """Methods of a dataset below each other."""
    out = Table("filters", "What the filter makes of scans", list(COLUMNS))
    for preset in plan.presets:
        for dataset in dict.fromkeys(source.title for source in sources(plan)):
            for variant, method in METHODS.items():
                found = [
                    results.get(variant_job(plan, source, variant, preset))
                    for source in sources(plan) if source.title == dataset
                ]  # fmt: skip
                known = [result for result in found if result is not None]
                out.add({"preset": preset, "dataset": dataset, "method": method, **_row(known)})
    out.notes.append(
        "All with the same IMU and the same start, which scans tell. APE after an SE(3) alignment "
        "of all poses; errors at the end with the first pose aligned. ANEES of ends: squared error "
        "of the place at the end over its stated variance, 1 is right; of steps and turns: the "
        "same of the motion from scan to scan. Failed: no pose, or an APE above 100 m; failed runs "
        "are in no column but the last two."
    )
    return out


def _row(found: list[dict[str, Any]]) -> dict[str, Value]:
    """Means over the runs of one method on one dataset."""
    good = [result for result in found if result["status"] == "ok"]
    shares = [100.0 * share for one in good if (share := one.get("end_share")) is not None]
    told = [one for one in good if one.get("pose_errors")]
    ends = end_cells(told) if told else {}
    return {
        "APE [m]": mean_of_runs([one.get("ape_m") for one in good]),
        "end [% of path]": mean_of_runs(shares),
        "worst end [% of path]": max(shares, default=None),
        "end [m]": ends.get("error [m]"),
        "sigma at the end [m]": ends.get("sigma [m]"),
        "ANEES of ends": ends.get("ANEES trans."),
        "ANEES of steps": _anees_of_steps(good, "translation"),
        "ANEES of turns": _anees_of_steps(good, "rotation"),
        "runs": len(found),
        "failed": len(found) - len(good),
    }


def _anees_of_steps(good: list[dict[str, Any]], part: Part) -> Interval | None:
    """ANEES of the motion from scan to scan, each run counting the same."""
    judged = [Judged.of_steps(one) for one in good if one.get("step_errors")]
    return mean_of_runs([anees(one.errors, one.covariances, part).value for one in judged])


STUDY = Study(
    "filters",
    "Estimated noise, fixed noise and the IMU alone, by scenario",
    jobs,
    lambda plan, results: [table(plan, results)],
)
