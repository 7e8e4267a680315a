# SPDX-License-Identifier: MIT
"""Where the time of each scan goes: stages stacked over time, and their medians in a table."""

import numpy as np

from svnicp.arrays import Floats
from svnicp.report.figure import (
    Figure,
    Section,
    Trace,
    curve,
    level,
    level_label,
    table,
    time_layout,
)
from svnicp.report.numbers import milliseconds, share
from svnicp.report.run_series import RunSeries, Scans
from svnicp.report.spells import Mask

UNUSUAL = 20.0
"""Scans that took so many times the median are left out of shares: something was compiled."""
STAGE_COLOURS = tuple(f"--stage-{number}" for number in range(7))


def timing_section(series: RunSeries, drawn: Scans) -> Section:
    """Time per stage, against the time there is."""
    title = "Time per stage"
    if not drawn.stages:
        return Section("timing", title, left_out="Left out: the run has no times in timing.csv.")
    whole = total_seconds(series.scans)
    period = scan_period(series.scans.seconds)
    caption = (
        f"Half of the scans took less than {milliseconds(float(np.median(whole)))}, 95 % less than "
        f"{milliseconds(float(np.quantile(whole, 0.95)))}, the slowest "
        f"{milliseconds(float(whole.max()))} (first scans may include compiling)."
    )
    if period is not None:
        caption += (
            f" Scans come every {milliseconds(period)}: {share(float(np.mean(whole <= period)))} "
            "took less."
        )
    return Section(
        "timing", title, caption, (_figure(drawn, period),), (_table(series.scans.stages, whole),)
    )


def total_seconds(scans: Scans) -> Floats:
    """Time (n,) of all stages together [s]."""
    return np.nansum(np.stack(list(scans.stages.values())), axis=0)


def usual_scans(whole: Floats) -> Mask:
    """Which scans (n,) took a time of the usual size, with nothing compiled."""
    return whole <= UNUSUAL * float(np.median(whole))


def scan_period(seconds: Floats) -> float | None:
    """Usual time between two scans [s]; None for a single one."""
    return float(np.median(np.diff(seconds))) if len(seconds) > 1 else None


def _figure(drawn: Scans, period: float | None) -> Figure:
    """Stages of each scan on top of each other."""
    data: list[Trace] = []
    for number, (stage, seconds) in enumerate(drawn.stages.items()):
        colour = STAGE_COLOURS[min(number, len(STAGE_COLOURS) - 1)]
        filled = np.nan_to_num(seconds)
        area = curve(1e3 * filled, stage, colour, "ms", width=0)
        data.append({**area, "stackgroup": "stages", "fillcolor": colour})
    whole = total_seconds(drawn)
    top = 1.6 * float(np.quantile(whole, 0.98))
    layout = time_layout("time [ms]")
    if period is not None and period < 2.0 * top:
        top = max(top, 1.15 * period)
        layout["shapes"] = [level(1e3 * period, "--error")]
        layout["annotations"] = [
            level_label(1e3 * period, "real time: the next scan comes", "--error")
        ]
    layout["yaxis"]["range"] = [0, 1e3 * top]
    return Figure("timing", "Time of each scan by stage", data, layout, wide=True, height_px=280)


def _table(stages: dict[str, Floats], whole: Floats) -> str:
    """Table of stages with their usual times."""
    rows = []
    usual = usual_scans(whole)
    usual_s = max(float(whole[usual].sum()), 1e-12)
    for name, seconds in {**stages, "all": whole}.items():
        ran = seconds[np.isfinite(seconds)]
        part = f"{100.0 * np.nansum(seconds[usual]) / usual_s:.0f} %"
        spread = (milliseconds(float(value)) for value in np.quantile(ran, [0.5, 0.95, 1.0]))
        rows.append((name, *spread, part))
    return table(("stage", "median", "95 %", "largest", "share of the time"), rows)
