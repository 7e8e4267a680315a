# SPDX-License-Identifier: MIT
"""The numbers at the top of a report, each with a word on what it is."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from svnicp.report.numbers import angle, length, milliseconds, share, three_digits
from svnicp.report.run_series import RunSeries
from svnicp.report.summary import sigmas_along_across
from svnicp.report.timing_section import scan_period, total_seconds


class KeyFigure(NamedTuple):
    """A number with its name and a remark."""

    name: str
    value: str
    remark: str = ""


def key_figures(series: RunSeries) -> list[KeyFigure]:
    """All numbers that a run has."""
    return [*_way(series), *_sureness(series), *_errors(series), *_calibration(series),
            *_time(series)]  # fmt: skip


def _way(series: RunSeries) -> list[KeyFigure]:
    """How far, how long, and what became of the scans."""
    scans = series.scans
    duration_s = float(scans.seconds[-1])
    mean = f"{series.path_m / duration_s:.2f} m/s on average" if duration_s > 0.0 else ""
    words = Counter(scans.statuses).most_common()
    return [
        KeyFigure("path", f"{series.path_m:.1f} m", mean),
        KeyFigure("duration", f"{duration_s:.1f} s", ""),
        KeyFigure(
            "scans", f"{len(scans)}", ", ".join(f"{count} {status}" for status, count in words)
        ),
    ]


def _sureness(series: RunSeries) -> list[KeyFigure]:
    """Sigmas of the last pose."""
    scans = series.scans
    if scans.covariances is None:
        return []
    turn = float(np.sqrt(np.linalg.eigvalsh(scans.covariances[-1, 3:, 3:])[-1]))
    rotation = KeyFigure("sigma, rotation", angle(turn), "at the end, worst direction")
    ways = sigmas_along_across(scans)
    if ways is None:
        position = float(np.sqrt(np.linalg.eigvalsh(scans.covariances[-1, :3, :3])[-1]))
        where = "at the end, worst direction"
        return [KeyFigure("sigma, position", length(position), where), rotation]
    return [
        KeyFigure("sigma along the way", length(ways[0]), "position, at the end"),
        KeyFigure("sigma across the way", length(ways[1]), "position, at the end"),
        rotation,
    ]


def _errors(series: RunSeries) -> list[KeyFigure]:
    """APE and RPE by evo."""
    found = series.evaluation
    if found is None:
        return []
    figures = []
    aligned = (
        ("APE, aligned", found.ape, "rmse, all poses aligned"),
        ("APE from the start", found.ape_origin, "rmse, first pose aligned"),
    )
    for name, errors, how in aligned:
        if errors is not None:
            turn = "" if errors.rotation is None else f", {three_digits(errors.rotation.rmse)}°"
            figures.append(KeyFigure(name, length(errors.translation.rmse), f"{how}{turn}"))
    if found.rpe is not None:
        rotation = found.rpe.rotation
        turn = "" if rotation is None else f", {three_digits(rotation.rmse)}°"
        value = length(found.rpe.translation.rmse)
        figures.append(KeyFigure("RPE", value, f"rmse, scan to scan{turn}"))
    if found.end.share is not None:
        remark = f"{length(found.end.translation_m)}, first pose aligned"
        value = f"{100.0 * found.end.share:.2f} %"
        figures.append(KeyFigure("error at the end", value, f"of the path; {remark}"))
    return figures


def _calibration(series: RunSeries) -> list[KeyFigure]:
    """ANEES and NIS."""
    figures = []
    if series.truth is not None:
        kinds = {"steps": series.truth.steps, "since start": series.truth.absolute}
        for name, compared in kinds.items():
            if compared is not None:
                value = three_digits(compared.whole.anees)
                figures.append(KeyFigure(f"ANEES, {name}", value, "1 is calibrated"))
    nis = series.scans.nis[np.isfinite(series.scans.nis)]
    if len(nis):
        figures.append(KeyFigure("NIS", three_digits(float(nis.mean())), "6 is expected"))
    return figures


def _time(series: RunSeries) -> list[KeyFigure]:
    """Time to process a scan."""
    if not series.scans.stages:
        return []
    whole, period = total_seconds(series.scans), scan_period(series.scans.seconds)
    late = f"95 %: {milliseconds(float(np.quantile(whole, 0.95)))}"
    if period is not None:
        late += f"; {share(float(np.mean(whole <= period)))} in real time"
    return [KeyFigure("time per scan", milliseconds(float(np.median(whole))), f"median; {late}")]
