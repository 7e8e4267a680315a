# SPDX-License-Identifier: MIT
"""The ablation over the number of particles: accuracy, time, iterations, KL and NNE.

SVGD and SVN as in the paper, and SVN in the filter as well: that ten particles are enough for
fusion is a claim about the filter.
"""

from svnicp.studies.drive import drive_job
from svnicp.studies.intervals import mean_of_runs
from svnicp.studies.job import Job
from svnicp.studies.kl_nne import frame_jobs, scores_of
from svnicp.studies.plan import Plan, Study
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

SCENARIO = "long_corridor"
USUAL_SEEDS = 3
METHODS = {"svgd": "SVGD-ICP", "svn": "SVN-ICP", "svn+adaptive": "SVN-ICP + KF"}
COLUMNS = [
    "preset", "method", "K", "APE [m]", "register [s]", "iterations", "hit the limit",
    "KL trans.", "KL rot.", "NNE trans.", "NNE rot.",
]  # fmt: skip


def particle_job(plan: Plan, variant: str, preset: str, count: int, seed: int) -> Job:
    """Job of a variant with so many particles on the corridor."""
    config = plan.variant(variant, preset)
    source = plan.source(corridor(plan), seed)
    same = count == config.stein.num_particles
    return drive_job(source, variant, config, note=preset, particles=None if same else count)


def corridor(plan: Plan) -> str:
    """Name of the scenario, which tests replace by a smaller one."""
    return plan.scenarios[0] if plan.scenarios else SCENARIO


def jobs(plan: Plan) -> list[Job]:
    """Drives of all numbers of particles, and the Monte-Carlo truths."""
    drives = [
        particle_job(plan, variant, preset, count, seed)
        for preset in plan.presets
        for variant in METHODS
        for count in plan.particles
        for seed in plan.seeds(USUAL_SEEDS)
    ]
    return drives + [job for preset in plan.presets for job in frame_jobs(plan, preset)]


def tables(plan: Plan, results: Results) -> list[Table]:
    """One row for each preset, method and number of particles."""
    table = Table("ablation", f"Number of particles on {corridor(plan)}", list(COLUMNS))
    for preset in plan.presets:
        for variant, method in METHODS.items():
            for count in plan.particles:
                row = _row(plan, results, variant, preset, count)
                table.add({"preset": preset, "method": method, "K": count, **row})
    table.notes.append(
        "KL and NNE against the honest Monte Carlo (noise redrawn in every run), without a cut; "
        "NNE from the methods' own errors. Register: time of the registration of one scan. Few "
        "particles make a rough covariance: exact samples would have a KL of 0.81 (K = 10), 0.13 "
        "(30) and 0.03 (100); the default preset adds the curvature, so that it does not depend on "
        "them alone."
    )
    return [table]


def _row(plan: Plan, results: Results, variant: str, preset: str, count: int) -> dict[str, Value]:
    """Means over the seeds, and the scores of the frames."""
    drives = [
        result
        for seed in plan.seeds(USUAL_SEEDS)
        if (result := results.get(particle_job(plan, variant, preset, count, seed))) is not None
        and result["status"] == "ok"
    ]
    row: dict[str, Value] = {
        "APE [m]": mean_of_runs([one.get("ape_m") for one in drives]),
        "register [s]": mean_of_runs([one.get("register_s") for one in drives]),
        "iterations": mean_of_runs([one.get("iterations") for one in drives]),
        "hit the limit": mean_of_runs([one.get("hit_limit") for one in drives]),
    }
    if variant != "svn+adaptive" and count > 1:
        frames = [found for job in frame_jobs(plan, preset) if (found := results.get(job))]
        row |= scores_of(frames, f"{variant} {count}", "redraws", "none")
    return row


STUDY = Study("ablation", "how many particles are needed", jobs, tables)
