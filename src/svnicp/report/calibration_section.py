# SPDX-License-Identifier: MIT
"""Do the stated sigmas keep their word? Coverage in a table, and the whole curve in a plot."""

import numpy as np

from svnicp.evaluation import Calibration
from svnicp.evaluation.compared import Compared
from svnicp.report.figure import Figure, Section, Trace, numbers, table
from svnicp.report.numbers import share, three_digits
from svnicp.report.run_series import RunSeries, Scans
from svnicp.report.truth_errors import TruthErrors

NOMINAL = np.linspace(0.0, 0.999, 46)
"""Shares that intervals should hold."""


def calibration_section(series: RunSeries, drawn: Scans) -> Section:  # noqa: ARG001
    """Coverage and calibration against the truth."""
    title, truth = "Calibration", series.truth
    if truth is None:
        return Section("calibration", title, left_out=f"Left out: {series.no_truth}")
    kinds = _kinds(truth)
    if not kinds:
        return Section(
            "calibration", title, left_out="Left out: there are no covariances to compare with."
        )
    return Section(
        "calibration",
        title,
        "How many errors lie within intervals that should hold a given share of them. On the "
        "diagonal the sigmas are right; below it they are too small (over-confident), above it too "
        "large (cautious). Steps are nearly independent of each other; errors since the start are "
        "not, so in one run their curve may lie anywhere. The table counts at 1, 2 and "
        "3 sigma.",
        (_figure(kinds),),
        (_coverage(kinds),),
    )


def _kinds(truth: TruthErrors) -> dict[str, Compared]:
    """What there is to compare, by its name."""
    both = {"steps": truth.steps, "since start": truth.absolute}
    return {name: found for name, found in both.items() if found is not None}


def _figure(kinds: dict[str, Compared]) -> Figure:
    """Observed over nominal shares."""
    data: list[Trace] = [
        {
            "type": "scatter", "mode": "lines", "x": [0, 100], "y": [0, 100], "name": "as stated",
            "line": {"color": "--muted", "width": 1, "dash": "dot"}, "hoverinfo": "skip",
        }
    ]  # fmt: skip
    for (name, compared), dash in zip(kinds.items(), ("solid", "dash"), strict=False):
        parts = zip(("position", "rotation"), compared.within(NOMINAL), ("--x", "--y"), strict=True)
        for part, observed, colour in parts:
            if observed is None:
                continue
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": numbers(100.0 * NOMINAL),
                    "y": numbers(100.0 * observed),
                    "name": f"{part}, {name}",
                    "line": {"color": colour, "dash": dash, "width": 2},
                    "hovertemplate": "%{y:.0f} % within",
                }
            )
    layout = {
        "xaxis": {
            "title": {"text": "share that the interval should hold [%]"},
            "range": [0, 100],
            "unifiedhovertitle": {"text": "interval of %{x:.0f} %"},
        },
        "yaxis": {"title": {"text": "share that it holds [%]"}, "range": [0, 101]},
        "hovermode": "x unified",
    }
    return Figure("calibration", "Calibration curve", data, layout, "plain", height_px=360)


def _coverage(kinds: dict[str, Compared]) -> str:
    """Table of ANEES and coverage."""
    rows: list[tuple[str, ...]] = [("if the sigmas are right", "1", "", "68 %", "95 %", "99.7 %")]
    for name, compared in kinds.items():
        found = compared.consistency
        parts = {"position": found.translation, "rotation": found.rotation, "pose": found.pose}
        for part, one in parts.items():
            if one is not None:
                rows.append((f"{part}, {name}", *_cells(one)))
    head = ("", "ANEES", "95 % band", "1 σ", "2 σ", "3 σ")
    return table(head, rows)


def _cells(found: Calibration) -> tuple[str, ...]:
    """Cells of one row."""
    low, high = found.band
    shares = (share(value) for value in found.coverage)
    return (three_digits(found.anees), f"{low:.2f} to {high:.2f}", *shares)
