# SPDX-License-Identifier: MIT
"""Fit what cannot be known a priori, step by step, each on the training seeds alone.

First how many points a scan is worth (scans in true maps), then one temperature for translation and
one for rotation (steps of odometry, twice, because the filter reacts), then how much error the map
takes over (poses since the start). In: a configuration. Out: the same with fitted values.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from svnicp.config import Config
from svnicp.errors import InputError
from svnicp.scores import anees
from svnicp.studies.drive import drive_job
from svnicp.studies.fit import Sample, fit_factor, lowest, robust_nll
from svnicp.studies.job import Job
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.scans import OURS, scans_job
from svnicp.studies.source import Source
from svnicp.studies.store import Results

POINTS = (300.0, 1000.0, 3000.0, 12000.0, 50000.0, 1e6)
"""Effective numbers of points that are tried; between them the score is interpolated."""
VARIANT = "svn+adaptive"
ROUNDS = 2
"""How often temperatures are fitted: a filter with another one makes other errors."""
EVERY = 5

Run = Callable[[Sequence[Job]], Results]
"""Runs jobs and returns what they gave."""


@dataclass(frozen=True)
class Fitted:
    """One step of the calibration."""

    parameter: str
    before: float
    after: float
    score_before: float
    score_after: float
    """Robust NLL on the training data, smaller is better."""


def calibrate(config: Config, sources: Sequence[Source], run: Run) -> tuple[Config, list[Fitted]]:
    """Fit all parameters on these sources.

    Parameters
    ----------
    config
        Where to start from.
    sources
        Training seeds of the training scenarios.
    run
        Runs jobs.
    """
    config, first = fit_points(config, sources, run)
    steps = [first]
    for _ in range(ROUNDS):
        config, fitted = fit_temperatures(config, sources, run)
        steps += fitted
    config, last = fit_renewal(config, sources, run)
    return config, [*steps, last]


def fit_points(config: Config, sources: Sequence[Source], run: Run) -> tuple[Config, Fitted]:
    """Fit ``noise.effective_points`` on scans in true maps."""
    before = config.noise.effective_points
    tried = sorted({*POINTS, before})
    jobs = {
        points: [
            scans_job(source, _with(config, "noise", effective_points=points), baselines=False,
                      every=EVERY, words=f"{points:g} points")
            for source in sources
        ]
        for points in tried
    }  # fmt: skip
    results = run([job for each in jobs.values() for job in each])
    scores = {points: _scan_score(results, each) for points, each in jobs.items()}
    if not np.isfinite(list(scores.values())).all():
        raise InputError("There are too few scans to fit to; use more seeds or longer runs.")
    logs, values = np.log(tried), np.array([scores[points] for points in tried])
    best = lowest(lambda x: float(np.interp(x, logs, values)), logs[0], logs[-1])
    after = _parabola(logs, values, best)
    fitted = Fitted(
        "noise.effective_points", before, round(after), scores[before],
        float(np.interp(np.log(after), logs, values)),
    )  # fmt: skip
    return _with(config, "noise", effective_points=float(round(after))), fitted


def _parabola(logs: np.ndarray, values: np.ndarray, best: float) -> float:
    """Lowest point of the parabola through the best value and its neighbours."""
    middle = int(np.clip(np.argmin(np.abs(logs - best)), 1, len(logs) - 2))
    a, b, _ = np.polyfit(logs[middle - 1 : middle + 2], values[middle - 1 : middle + 2], 2)
    if a <= 0.0:
        return float(np.exp(best))
    return float(np.exp(np.clip(-0.5 * b / a, logs[middle - 1], logs[middle + 1])))


def fit_temperatures(
    config: Config, sources: Sequence[Source], run: Run
) -> tuple[Config, list[Fitted]]:
    """Fit the temperatures of translation and rotation on steps of odometry."""
    jobs = [drive_job(source, VARIANT, config, note="calibrate") for source in sources]
    samples = _step_samples(run(jobs), jobs)
    fitted, changes = [], {}
    for part in ("translation", "rotation"):
        factor = fit_factor(samples, part)
        name = f"temperature_{part}"
        before = getattr(config.odometry, name)
        changes[name] = _digits(before * factor)
        scores = [
            float(np.mean([robust_nll(s.errors, f * s.scaled, part) for s in samples]))
            for f in (1.0, factor)
        ]
        fitted.append(Fitted(f"odometry.{name}", before, changes[name], *scores))
    return _with(config, "odometry", **changes), fitted


def fit_renewal(config: Config, sources: Sequence[Source], run: Run) -> tuple[Config, Fitted]:
    """Fit ``drift.renewal`` on poses since the start; the drift is proportional to it."""
    jobs = [drive_job(source, VARIANT, config, note="calibrate") for source in sources]
    samples = _pose_samples(run(jobs), jobs)
    factor = fit_factor(samples, "pose")
    before = config.drift.renewal
    scores = [
        float(np.mean([robust_nll(s.errors, s.fixed + f * s.scaled, "pose") for s in samples]))
        for f in (1.0, factor)
    ]
    after = _digits(before * factor)
    return _with(config, "drift", renewal=after), Fitted("drift.renewal", before, after, *scores)


def training_anees(
    config: Config, sources: Sequence[Source], run: Run
) -> dict[str, tuple[float, float]]:
    """ANEES of steps on each scenario, translation and rotation."""
    jobs = [drive_job(source, VARIANT, config, note="calibrate") for source in sources]
    results = run(jobs)
    names = dict.fromkeys(source.title for source in sources)
    out = {}
    for name in names:
        chosen = [job for job, s in zip(jobs, sources, strict=True) if s.title == name]
        samples = _step_samples(results, chosen)
        if samples:
            errors = np.concatenate([sample.errors for sample in samples])
            covariances = np.concatenate([sample.scaled for sample in samples])
            values = (anees(errors, covariances, part).value for part in _PARTS)
            out[name] = tuple(values)
    return out


_PARTS = ("translation", "rotation")


def _scan_score(results: Results, jobs: Sequence[Job]) -> float:
    """Mean robust NLL of scans in true maps."""
    scores = []
    for job in jobs:
        result = results.get(job)
        if result is None or len(result["numbers"]) < 4:
            continue
        ours = result["methods"][OURS]
        errors, covariances = array_of(ours["errors"], 6), covariances_of(ours["covariances"])
        scores.append(robust_nll(errors, covariances, "pose"))
    return float(np.mean(scores)) if scores else float("nan")


def _step_samples(results: Results, jobs: Sequence[Job]) -> list[Sample]:
    """Steps of drives; all of their covariance is scaled."""
    return [
        Sample(array_of(found["step_errors"], 6), np.zeros((1, 6, 6)), _regular(found, "step"))
        for found in _good(results, jobs)
    ]


def _pose_samples(results: Results, jobs: Sequence[Job]) -> list[Sample]:
    """Poses since the start; only the drift's part of their covariance is scaled."""
    out = []
    for found in _good(results, jobs):
        drift = covariances_of(found["drift_covariances"])
        rest = _regular(found, "pose") - drift
        out.append(Sample(array_of(found["pose_errors"], 6), rest, drift))
    return out


def _good(results: Results, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    found = (results.get(job) for job in jobs)
    return [one for one in found if one is not None and one.get("step_errors")]


def _regular(found: dict[str, Any], kind: str) -> np.ndarray:
    """Covariances (n, 6, 6) of steps or poses, none of them exactly zero."""
    return covariances_of(found[f"{kind}_covariances"]) + 1e-12 * np.eye(6)


def _digits(value: float) -> float:
    """Four digits: more are not known."""
    return float(f"{value:.4g}")


def _with(config: Config, stage: str, **changes: float) -> Config:
    return dataclasses.replace(
        config, **{stage: dataclasses.replace(getattr(config, stage), **changes)}
    )
