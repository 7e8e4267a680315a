# SPDX-License-Identifier: MIT
"""Scores of stated covariances against errors, as cells of a table with intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.scores import Interval, Part, gaussian_energy_score, nees, negative_log_likelihood
from svnicp.scores.nees import SMALLEST_VARIANCE
from svnicp.studies.intervals import mean_of_scans
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.tables import Value, value_of

INSIDE = {1: "inside 1σ [%]", 2: "inside 2σ [%]", 3: "inside 3σ [%]"}
SCORE_COLUMNS = ["ANEES trans.", "ANEES rot.", *INSIDE.values(), "NLL", "energy score [mm]"]
PARTS: dict[str, Part] = {"ANEES trans.": "translation", "ANEES rot.": "rotation"}
COVARIANCE_COLUMNS = ["scenario", "split", "method", *SCORE_COLUMNS, "scans"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Errors of one run with what was stated about them."""

    errors: Floats
    """(n, 6) in body tangents."""
    covariances: Covariance
    """(n, 6, 6)."""
    energy: Floats
    """(n,) energy scores [m]."""

    @staticmethod
    def of_steps(result: dict[str, Any]) -> "Judged":
        """Steps in a result of ``drive``."""
        errors = array_of(result["step_errors"], 6)
        covariances = covariances_of(result["step_covariances"])
        return Judged(errors, covariances, gaussian_energy_score(errors, covariances))


def covariance_row(runs: list[Judged]) -> dict[str, Value] | None:
    """Cells of all scores over the scans of several runs; None without a scan."""
    runs = [run for run in runs if len(run.errors)]
    if not runs:
        return None
    row: dict[str, Value] = {}
    for label, part in PARTS.items():
        row[label] = mean_of_scans([nees(r.errors, r.covariances, part) / 3.0 for r in runs])
    for sigma, label in INSIDE.items():
        row[label] = mean_of_scans([100.0 * _inside(run, sigma) for run in runs])
    row["NLL"] = mean_of_scans([negative_log_likelihood(r.errors, r.covariances) for r in runs])
    row["energy score [mm]"] = mean_of_scans([1e3 * run.energy for run in runs])
    row["scans"] = sum(len(run.errors) for run in runs)
    return row


def average_row(rows: list[dict[str, Value]]) -> dict[str, Value]:
    """Averages of rows, each scenario counting the same, with intervals over the scenarios."""
    out: dict[str, Value] = {}
    for name in SCORE_COLUMNS:
        values = np.array([v for row in rows if (v := value_of(row.get(name))) is not None])
        out[name] = mean_of_scans([values]) if len(values) > 1 else _alone(values)
    counts = [value_of(row.get("scans")) or 0.0 for row in rows]
    return {**out, "scans": int(sum(counts))}


def _inside(run: Judged, sigma: float) -> Floats:
    """Share (n,) of the components of every error within so many sigmas."""
    variances = np.diagonal(run.covariances, axis1=1, axis2=2) + SMALLEST_VARIANCE
    return np.mean(np.abs(run.errors) < sigma * np.sqrt(variances), axis=1)


def _alone(values: Floats) -> Interval | None:
    """A single value, which has no interval."""
    return Interval(float(values[0]), float(values[0]), float(values[0])) if len(values) else None
