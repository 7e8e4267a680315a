# SPDX-License-Identifier: MIT
"""What claims are judged by: the tables of the other studies and the drives behind them.

All of one preset. A number that has not been computed is None, and a claim that needs it stays
open.
"""

from functools import cached_property
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.scores import Interval, spearman
from svnicp.studies import ablation, kl_nne
from svnicp.studies.ape_tables import (
    TABLE1,
    TABLE2,
    table1_sources,
    table2_sources,
    variant_job,
)
from svnicp.studies.intervals import mean_difference
from svnicp.studies.job import Job
from svnicp.studies.localizable import localizable_job
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.particle_paths import paths_job
from svnicp.studies.plan import Plan
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, value_of

ALONG = 0
"""The body's forward axis, along a corridor."""
LOCALIZABLE_EVERY = 2
LOUDER_IMU = 8.0
"""Factor on the IMU's noise for the claim about it."""


class Evidence:
    """Numbers of one preset."""

    def __init__(self, plan: Plan, results: Results, preset: str) -> None:
        self.plan, self.results, self.preset = plan, results, preset

    @cached_property
    def _tables(self) -> list[Table]:
        return [
            *TABLE1.tables(self.plan, self.results), *TABLE2.tables(self.plan, self.results),
        ]  # fmt: skip

    @cached_property
    def _ablation(self) -> Table:
        return ablation.tables(self.plan, self.results)[0]

    @cached_property
    def _kl(self) -> Table:
        return kl_nne.tables(self.plan, self.results)[0]

    def row(self, method: str, dataset: str, preset: str | None = None) -> dict[str, Any] | None:
        """Row of tables 1 and 2."""
        for table in self._tables:
            found = table.find(preset=preset or self.preset, method=method, dataset=dataset)
            if found is not None and found["runs"]:
                return found
        return None

    def datasets(self, wanted: tuple[str, ...] | None = None) -> list[str]:
        """Datasets of tables 1 and 2, those among the wanted ones."""
        names = [str(row["dataset"]) for table in self._tables for row in table.rows]
        return [n for n in dict.fromkeys(names) if wanted is None or n in wanted]

    def ape(self, method: str, dataset: str, preset: str | None = None) -> float | None:
        """APE [m]; infinite for a method of which all runs failed, None if it was not run."""
        row = self.row(method, dataset, preset)
        if row is None:
            return None
        value = value_of(row["APE [m]"])
        return float("inf") if value is None and row["failed"] == row["runs"] else value

    def apes(self, first: str, second: str, wanted: tuple[str, ...]) -> list[tuple[float, float]]:
        """Pairs of APE of two methods on datasets where both were run."""
        pairs = [(self.ape(first, n), self.ape(second, n)) for n in self.datasets(wanted)]
        return [(a, b) for a, b in pairs if a is not None and b is not None]

    def score(self, method: str, column: str, cut: str = "none") -> float | None:
        """KL or NNE against the honest truth."""
        truth = kl_nne.TRUTHS["redraws"]
        row = self._kl.find(preset=self.preset, truth=truth, method=method, cut=cut)
        return None if row is None else value_of(row.get(column))

    def particles(self, method: str, count: int, column: str) -> float | None:
        """Cell of the ablation."""
        row = self._ablation.find(preset=self.preset, method=method, K=count)
        return None if row is None else value_of(row.get(column))

    def fewer_particles(self, variant: str, few: int, many: int) -> Interval | None:
        """APE with few particles minus APE with many, over the seeds [m]."""

        def apes(count: int) -> list[float | None]:
            jobs = [
                ablation.particle_job(self.plan, variant, self.preset, count, seed)
                for seed in self.plan.seeds(ablation.USUAL_SEEDS)
            ]
            return [(self.results.get(job) or {}).get("ape_m") for job in jobs]

        return mean_difference(apes(few), apes(many))

    def corridor(self, variant: str, count: int | None = None) -> dict[str, Any] | None:
        """First drive through the corridor."""
        preset, seed = self.preset, self.plan.seeds(ablation.USUAL_SEEDS)[0]
        number = count or self.plan.config(preset).stein.num_particles
        return self.results.get(ablation.particle_job(self.plan, variant, preset, number, seed))

    def sigma_along(
        self, variant: str, count: int | None = None, *, kind: str = "sigma"
    ) -> Floats | None:
        """Stated sigmas (n,) along the corridor, of scans that were registered [m]."""
        drive = self.corridor(variant, count)
        if drive is None or not drive.get(kind):
            return None
        values, registered = (array_of(drive[name], 6)[:, ALONG] for name in (kind, "sigma"))
        return values[np.isfinite(values) & np.isfinite(registered)]

    def follows_localizability(self) -> float | None:
        """Rank correlation of sigma along the corridor and minus what can truly be seen there."""
        found = self._with_share("svn", "sigma_alone")
        return None if found is None else spearman(found[0], found[1].max() - found[1])

    def gain_follows_localizability(self) -> float | None:
        """Rank correlation of the Kalman gain along the corridor and what can be seen there."""
        found = self._with_share("svn+adaptive", "gain")
        return None if found is None else spearman(found[0], found[1])

    def _with_share(self, variant: str, kind: str) -> tuple[Floats, Floats] | None:
        """What a drive kept along the corridor (n,), and the true share of what faces that way."""
        found = self.results.get(localizable_job_of(self.plan))
        drive = self.corridor(variant)
        if found is None or drive is None or "seconds" not in drive or not drive.get(kind):
            return None
        values = array_of(drive[kind], 6)[:, ALONG]
        skipped = self.plan.source(ablation.corridor(self.plan), 0).skip_s
        at_s = np.linspace(0.0, drive["seconds"][-1], len(values)) + skipped
        share = np.interp(at_s, array_of(found["seconds"]), array_of(found["share"]))
        known = np.isfinite(values)
        return (values[known], share[known]) if known.sum() > 4 else None

    def steps(self, variant: str, dataset: str) -> tuple[Floats, Covariance] | None:
        """Errors (n, 6) of the steps of all drives through a dataset, and their covariances."""
        errors, covariances = [], []
        for source in [*table1_sources(self.plan), *table2_sources(self.plan)]:
            if source.title == dataset:
                found = self.results.get(variant_job(self.plan, source, variant, self.preset))
                if found is not None and found.get("step_errors"):
                    errors.append(array_of(found["step_errors"], 6))
                    covariances.append(covariances_of(found["step_covariances"]))
        return (np.concatenate(errors), np.concatenate(covariances)) if errors else None

    def path_norms(self) -> dict[str, Any] | None:
        """Particle paths of SVGD and SVN on one scan."""
        return self.results.get(paths_job_of(self.plan, self.preset))

    def with_louder_imu(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The same drive with the IMU's noise as it is, and with more of it."""
        quiet = self.results.get(louder_jobs(self.plan, self.preset)[0])
        loud = self.results.get(louder_jobs(self.plan, self.preset)[1])
        return None if quiet is None or loud is None else (quiet, loud)


def localizable_job_of(plan: Plan) -> Job:
    """Job of the corridor's true localizability."""
    seed = plan.seeds(ablation.USUAL_SEEDS)[0]
    return localizable_job(plan.source(ablation.corridor(plan), seed), LOCALIZABLE_EVERY)


def paths_job_of(plan: Plan, preset: str) -> Job:
    """Job of the particles of a scan in the middle of the corridor."""
    source = plan.source(ablation.corridor(plan), plan.seeds(ablation.USUAL_SEEDS)[0])
    numbers = kl_nne.numbers_of(plan, source)
    return paths_job(source, plan.config(preset), numbers[len(numbers) // 2])


def louder_jobs(plan: Plan, preset: str) -> list[Job]:
    """Jobs of the filter with the IMU's noise as it is, and with more of it."""
    source = plan.source(ablation.corridor(plan), plan.seeds(ablation.USUAL_SEEDS)[0])
    job = variant_job(plan, source, "svn+adaptive", preset)
    config = {**job.inputs["config"]}
    noise = config["inertial"]["noise_factor"] * LOUDER_IMU
    config["inertial"] = {**config["inertial"], "noise_factor": noise}
    return [job, Job(job.kind, {**job.inputs, "config": config}, f"{job.words} louder IMU")]
