# SPDX-License-Identifier: MIT
"""KL and NNE of everybody's covariance against Monte Carlo on the corridor: the paper's table 4.

Against both truths, with and without the 90 % cut, and with what a perfect answer would get after
that cut.
"""

from functools import cache
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.scores import (
    Cut,
    Part,
    calibrated_nne,
    cut_mean,
    kl_divergence,
    nne_squares,
)
from svnicp.scores.cut import kept_indices
from svnicp.studies.frames import frame_job
from svnicp.studies.intervals import mean_of_scans
from svnicp.studies.job import Job
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.plan import Plan, Study
from svnicp.studies.scans import MONTE_CARLO, SMALL_GICP
from svnicp.studies.source import Source
from svnicp.studies.store import Results
from svnicp.studies.tables import Table, Value

SCENARIO = "long_corridor"
USUAL_SEEDS = 2
USUAL = {"starts": 1000, "redraws": 300}
QUICK = {"starts": 40, "redraws": 24}
FRAMES, QUICK_FRAMES = 10, 2
"""Scans of a run that are looked at: enough to see doors come and go."""
KL_PARTS: dict[str, Part] = {"trans.": "translation", "rot.": "rotation"}
TRUTHS = {"redraws": "noise redrawn", "starts": "starts only (published protocol)"}
CLASSICAL = (
    "Censi", "Censi, point to plane", "COV-3D", "Laplace", MONTE_CARLO, SMALL_GICP,
)  # fmt: skip
"""Methods whose errors are those of the Monte-Carlo samples."""
CUTS: tuple[Cut, ...] = ("none", "upper")


def frame_numbers(plan: Plan, num_scans: int, first: int) -> list[int]:
    """Scans to look at, evenly over the part in which the body moves."""
    count = QUICK_FRAMES if plan.quick else FRAMES
    begin = first + (num_scans - first) // 2 if plan.quick else first + (num_scans - first) // 5
    return np.unique(np.linspace(begin, num_scans - 1, count).astype(int)).tolist()


def frame_jobs(plan: Plan, preset: str) -> list[Job]:
    """Jobs of all frames of a preset."""
    name = plan.scenarios[0] if plan.scenarios else SCENARIO
    runs: dict[str, Any] = dict(QUICK if plan.quick else USUAL)
    out = []
    for seed in plan.seeds(USUAL_SEEDS):
        source = plan.source(name, seed)
        config = plan.config(preset)
        runs["particles"] = sorted({*plan.particles, config.stein.num_particles} - {1})
        for number in numbers_of(plan, source):
            out.append(frame_job(source, config, number, dict(runs)))
    return out


def numbers_of(plan: Plan, source: Source) -> list[int]:
    """Scans of a source to look at."""
    return frame_numbers(plan, *_span(source))


@cache
def _span(source: Source) -> tuple[int, int]:
    """Number of scans of a source, and of the first that counts."""
    dataset = source.simulated()
    return dataset.num_scans, source.first_scan(dataset)


def methods_of(plan: Plan, preset: str) -> dict[str, str]:
    """Names of the rows by what frames call them."""
    count = plan.config(preset).stein.num_particles
    return {
        **{name: name for name in CLASSICAL},
        f"svgd {count}": "SVGD-ICP", f"svn {count}": "SVN-ICP", "svn+fixed": "SVN-ICP + KF-fix",
        "svn+adaptive": "SVN-ICP + KF",
    }  # fmt: skip


def scores_of(frames: list[dict[str, Any]], method: str, truth: str, cut: Cut) -> dict[str, Value]:
    """KL and NNE of a method, as cells.

    Parameters
    ----------
    frames
        Results of frames.
    method
        As frames call it.
    truth
        ``redraws`` or ``starts``.
    cut
        What is left out, of frames for KL and of errors for NNE.
    """
    frames = [frame for frame in frames if method in frame["methods"]]
    if not frames:
        return {}
    stated = covariances_of([frame["methods"][method]["covariance"] for frame in frames])
    true = covariances_of([frame["truths"][truth]["covariance"] for frame in frames])
    out: dict[str, Value] = {}
    for label, part in KL_PARTS.items():
        divergences = _kept(kl_divergence(stated, true, part), cut)
        squares = _squares(frames, method, truth, stated, part, cut)
        out[f"KL {label}"] = mean_of_scans([divergences])
        out[f"NNE {label}"] = mean_of_scans([squares], root=True)
    return out


def _squares(
    frames: list[dict[str, Any]], method: str, truth: str, stated: Covariance, part: Part, cut: Cut
) -> Floats:
    """Squares (n,) behind NNE: a method's own errors, or those of the Monte Carlo."""
    if "error" in frames[0]["methods"][method]:
        errors = array_of([frame["methods"][method]["error"] for frame in frames], 6)
        return _kept(nne_squares(errors, stated, part), cut)
    means = []
    for frame, covariance in zip(frames, stated, strict=True):
        samples = array_of(frame["truths"][truth]["errors"], 6)
        means.append(cut_mean(nne_squares(samples, covariance, part), cut))
    return np.array(means)


def _kept(values: Floats, cut: Cut) -> Floats:
    """Values (m,) that a cut leaves, in their order; of fewer than ten there is no tenth."""
    return values if len(values) < 10 else values[np.sort(kept_indices(values, cut))]


def tables(plan: Plan, results: Results) -> list[Table]:
    """One row for each preset, truth, method and cut."""
    columns = ["preset", "truth", "method", "cut", "NNE trans.", "NNE rot.", "KL trans.", "KL rot."]
    table = Table("kl-nne", "KL and NNE against Monte Carlo", columns)
    for preset in plan.presets:
        frames = [found for job in frame_jobs(plan, preset) if (found := results.get(job))]
        for truth, words in TRUTHS.items():
            for method, name in methods_of(plan, preset).items():
                for cut in CUTS:
                    cells = scores_of(frames, method, truth, cut)
                    if method == SMALL_GICP and not cells:  # an extra that may not be there
                        continue
                    table.add(
                        {"preset": preset, "truth": words, "method": name, "cut": cut, **cells}
                    )
            if frames:
                table.add(_perfect(frames, preset, truth, words))
    table.notes.append(
        "Cut `upper` leaves the largest tenth out: of frames for KL, of errors for NNE (of the "
        "Monte-Carlo samples of each frame for closed forms, which have no errors of their own). "
        "`perfect answer` is what a covariance that is exactly the truth would get after that cut. "
        "The rows with a filter have one update, with a guess of an IMU (2 cm, 3 mrad)."
    )
    return [table]


def _perfect(frames: list[dict[str, Any]], preset: str, truth: str, words: str) -> dict[str, Value]:
    """Row of the value that a calibrated answer gets after the cut."""
    true = covariances_of([frame["truths"][truth]["covariance"] for frame in frames])
    cells: dict[str, Value] = {"KL trans.": 0.0, "KL rot.": 0.0}
    for label, part in KL_PARTS.items():
        cells[f"NNE {label}"] = calibrated_nne(true, part, "upper", samples_of_scans=True)
    return {"preset": preset, "truth": words, "method": "perfect answer", "cut": "upper", **cells}


STUDY = Study(
    "kl-nne",
    "KL and NNE of Censi, COV-3D, SVGD, SVN and the filters on the corridor",
    lambda plan: [job for preset in plan.presets for job in frame_jobs(plan, preset)],
    tables,
)
