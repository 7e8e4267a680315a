# SPDX-License-Identifier: MIT
"""The paper's figures on the simulated corridor: map, bounds, gain, violins, particles."""

from pathlib import Path

import numpy as np

from svnicp.studies import ablation
from svnicp.studies.corridor_figures import draw_bounds, draw_gain, draw_map
from svnicp.studies.corridor_map import map_job
from svnicp.studies.evidence import Evidence, localizable_job_of, paths_job_of
from svnicp.studies.job import Job
from svnicp.studies.particle_figures import draw_paths, draw_violins
from svnicp.studies.plan import Plan, Study
from svnicp.studies.store import Results
from svnicp.studies.tables import Table

MAP_EVERY = 5


def _violin_counts(plan: Plan) -> list[int]:
    return [count for count in plan.particles if count > 1]


def _map_job(plan: Plan) -> Job:
    seed = plan.seeds(ablation.USUAL_SEEDS)[0]
    return map_job(plan.source(ablation.corridor(plan), seed), MAP_EVERY)


def jobs(plan: Plan) -> list[Job]:
    """Drives of the first seed, and what is only drawn."""
    out = [_map_job(plan), localizable_job_of(plan)]
    seed = plan.seeds(ablation.USUAL_SEEDS)[0]
    for preset in plan.presets:
        usual = plan.config(preset).stein.num_particles
        for variant in ablation.METHODS:
            for count in {*_violin_counts(plan), usual}:
                out.append(ablation.particle_job(plan, variant, preset, count, seed))
        out.append(paths_job_of(plan, preset))
    return out


def tables(plan: Plan, results: Results) -> list[Table]:
    """What the figures show, as numbers: quantiles of sigma along the corridor."""
    columns = ["preset", "method", "K", "5 % [mm]", "median [mm]", "95 % [mm]", "scans"]
    table = Table("figures", "Sigma along the corridor over the scans", columns)
    for preset in plan.presets:
        for variant, by_count in _sigmas(plan, results, preset).items():
            for count, values in by_count.items():
                low, middle, high = (1e3 * float(q) for q in np.quantile(values, [0.05, 0.5, 0.95]))
                table.add(
                    {"preset": preset, "method": ablation.METHODS[variant], "K": count,
                     "5 % [mm]": low, "median [mm]": middle, "95 % [mm]": high,
                     "scans": len(values)}
                )  # fmt: skip
        found = Evidence(plan, results, preset).follows_localizability()
        if found is not None:
            table.notes.append(
                f"{preset}: rank correlation of sigma along the corridor (SVN, scan alone) with "
                f"minus the share of surfaces that face along it: {found:.2f}."
            )
    return [table]


def _sigmas(plan: Plan, results: Results, preset: str) -> dict[str, dict[int, np.ndarray]]:
    """Sigmas (n,) along the corridor by variant and number of particles [m]."""
    evidence = Evidence(plan, results, preset)
    out: dict[str, dict[int, np.ndarray]] = {}
    for variant in ablation.METHODS:
        kind = "sigma_filter" if variant == "svn+adaptive" else "sigma"
        found = {c: evidence.sigma_along(variant, c, kind=kind) for c in _violin_counts(plan)}
        out[variant] = {
            count: values[values > 0.0] for count, values in found.items() if values is not None
        }
    return out


def draw(plan: Plan, results: Results, folder: Path) -> list[Path]:
    """Draw all figures of all presets; returns their paths without suffixes."""
    drawn: list[Path] = []
    for preset in plan.presets:
        evidence = Evidence(plan, results, preset)
        drive, points = evidence.corridor("svn+adaptive"), results.get(_map_job(plan))
        where = f"{ablation.corridor(plan)}, {preset}, with the IMU"
        if drive is not None and drive.get("step_errors"):
            if points is not None:
                path = folder / f"map-{preset}"
                draw_map(path, drive, np.array(points["xy"]).reshape(-1, 2), where)
                drawn.append(path)
            path = folder / f"bounds-{preset}"
            draw_bounds(path, drive, f"{where}: errors from scan to scan")
            drawn.append(path)
            path = folder / f"gain-{preset}"
            skipped = plan.source(ablation.corridor(plan), 0).skip_s
            seen = results.get(localizable_job_of(plan))
            draw_gain(path, drive, seen, skipped, where)
            drawn.append(path)
        sigmas = _sigmas(plan, results, preset)
        if any(len(by_count) for by_count in sigmas.values()):
            path = folder / f"violin-{preset}"
            draw_violins(path, sigmas, f"{ablation.corridor(plan)}, {preset}")
            drawn.append(path)
        found = evidence.path_norms()
        if found is not None:
            path = folder / f"particles-{preset}"
            draw_paths(path, found, f"one scan of {ablation.corridor(plan)}, {preset}")
            drawn.append(path)
    return drawn


STUDY = Study("figures", "the paper's figures on the simulated corridor", jobs, tables, draw)
