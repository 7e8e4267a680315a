# SPDX-License-Identifier: MIT
"""Tables 1 and 2: errors and time of every variant of the paper, and of the peers, by scenario."""

from collections.abc import Sequence

from svnicp.config import VARIANTS
from svnicp.studies.drive import drive_job
from svnicp.studies.intervals import mean_of_runs
from svnicp.studies.job import Job
from svnicp.studies.peer_drive import peer_job
from svnicp.studies.plan import Plan, Study
from svnicp.studies.source import Source
from svnicp.studies.split import GEODE, QUICK_GEODE, QUICK_SUBT_MRS, SUBT_MRS
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

USUAL_SEEDS = 3
VARIANT_NAMES = {
    "stein_icp": "Stein ICP", "svgd": "SVGD-ICP", "svn": "SVN-ICP", "svn+fixed": "SVN-ICP + KF-fix",
    "svn+adaptive": "SVN-ICP + KF",
}  # fmt: skip
"""Rows of the paper's tables, in its order."""
COLUMNS = [
    "preset", "method", "dataset", "APE [m]", "RPE [m]", "RPE [deg]", "end [% of path]",
    "runtime [s]", "runs", "failed",
]  # fmt: skip


def table1_sources(plan: Plan) -> list[Source]:
    """Sources of table 1."""
    return plan.sources(plan.chosen(SUBT_MRS, QUICK_SUBT_MRS), plan.seeds(USUAL_SEEDS))


def table2_sources(plan: Plan) -> list[Source]:
    """Sources of table 2."""
    return plan.sources(plan.chosen(GEODE, QUICK_GEODE), plan.seeds(USUAL_SEEDS))


def variant_job(plan: Plan, source: Source, variant: str, preset: str) -> Job:
    """Job of a variant of a preset on a source."""
    return drive_job(source, variant, plan.variant(variant, preset), note=preset)


def _jobs(plan: Plan, sources: Sequence[Source]) -> list[Job]:
    ours = [
        variant_job(plan, source, variant, preset)
        for preset in plan.presets
        for variant in VARIANT_NAMES
        for source in sources
    ]
    return ours + [peer_job(source, peer) for peer in plan.peers for source in sources]


def _table(plan: Plan, results: Results, sources: Sequence[Source], name: str) -> Table:
    table = Table(name, "Errors of odometry by scenario", list(COLUMNS))
    datasets = list(dict.fromkeys(source.title for source in sources))
    for preset in plan.presets:
        for variant, method in VARIANT_NAMES.items():
            for dataset in datasets:
                jobs = [
                    variant_job(plan, source, variant, preset)
                    for source in sources if source.title == dataset
                ]  # fmt: skip
                table.add({"preset": preset, **_row(method, dataset, jobs, results)})
    for peer in plan.peers:
        for dataset in datasets:
            jobs = [peer_job(source, peer) for source in sources if source.title == dataset]
            table.add({"preset": "peer", **_row(peer, dataset, jobs, results)})
    table.notes.append(
        "APE and RPE: root mean squares by evo, means over the seeds; APE after an SE(3) alignment "
        "of all poses. Failed: no pose, or an APE above 100 m; failed runs are not in the means. "
        f"With an IMU: {', '.join(n for v, n in VARIANT_NAMES.items() if VARIANTS[v].uses_imu)}."
    )
    return table


def _row(method: str, dataset: str, jobs: list[Job], results: Results) -> dict[str, Value]:
    """Means of the runs of one method on one dataset."""
    found = [result for job in jobs if (result := results.get(job)) is not None]
    good = [result for result in found if result["status"] == "ok"]
    shares = [result.get("end_share") for result in good]
    return {
        "method": method,
        "dataset": dataset,
        "APE [m]": mean_of_runs([result.get("ape_m") for result in good]),
        "RPE [m]": mean_of_runs([result.get("rpe_m") for result in good]),
        "RPE [deg]": mean_of_runs([result.get("rpe_deg") for result in good]),
        "end [% of path]": mean_of_runs([100.0 * s if s is not None else None for s in shares]),
        "runtime [s]": mean_of_runs([result.get("mean_s") for result in good]),
        "runs": len(found),
        "failed": len(found) - len(good),
    }


TABLE1 = Study(
    "table1",
    "APE, RPE and runtime on the rows of SubT-MRS",
    lambda plan: _jobs(plan, table1_sources(plan)),
    lambda plan, results: [_table(plan, results, table1_sources(plan), "table1")],
)
TABLE2 = Study(
    "table2",
    "APE on the rows of GEODE",
    lambda plan: _jobs(plan, table2_sources(plan)),
    lambda plan, results: [_table(plan, results, table2_sources(plan), "table2")],
)
