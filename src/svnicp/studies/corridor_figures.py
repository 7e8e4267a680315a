# SPDX-License-Identifier: MIT
"""Figures of one drive through the corridor: the map with times, errors in bounds, Kalman gain."""

from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Floats
from svnicp.studies.drawing import BLUE, GREEN, GREY, ORANGE, sheet
from svnicp.studies.evidence import ALONG
from svnicp.studies.packed import array_of, covariances_of

AXES = ("x, along the corridor", "y", "z", "roll", "pitch", "yaw")
SMOOTHED = 9
"""Scans over which a gain is averaged for the eye."""


def draw_map(path: Path, drive: dict[str, Any], points: Floats, title: str) -> None:
    """Draw the corridor from above with the way through it, coloured by time."""
    positions, seconds = array_of(drive["positions"], 3), array_of(drive["seconds"])
    first = positions[0]
    way = positions - first
    room = max(3.0, 0.06 * float(np.ptp(way[:, :2], axis=0).max()))
    low, high = way[:, :2].min(axis=0) - room, way[:, :2].max(axis=0) + room
    shape = float(np.clip((high - low)[0] / (high - low)[1], 0.8, 6.0))
    with sheet(path, 1, 1, (1.8 + 11.0 * min(1.0, shape / 2.5), 1.2 + 11.0 / max(shape, 2.5))) as (
        figure, axes,
    ):  # fmt: skip
        plot = axes[0, 0]
        plot.scatter(*points.T, s=0.6, color=GREY, alpha=0.35, lw=0, rasterized=True)
        true = array_of(drive["true_positions"], 3) - first
        plot.plot(true[:, 0], true[:, 1], color="black", lw=3.0, alpha=0.3, label="truth")
        drawn = plot.scatter(way[:, 0], way[:, 1], c=seconds, s=6, cmap="plasma", zorder=3)
        for moment in _marks(seconds):
            number = int(np.argmin(np.abs(seconds - moment)))
            plot.annotate(
                f"{moment:g} s", way[number, :2], xytext=(0, 10), textcoords="offset points",
                ha="center", fontsize=9,
            )  # fmt: skip
        figure.colorbar(drawn, ax=plot, label="time [s]", pad=0.01)
        plot.set_xlim(low[0], high[0])
        plot.set_ylim(low[1], high[1])
        plot.set(xlabel="x [m]", ylabel="y [m]", title=title)
        plot.set_aspect("equal")
        plot.legend(loc="upper right")


def _marks(seconds: Floats) -> Floats:
    """Round times to be written beside the way."""
    step = next((s for s in (1, 2, 5, 10, 20, 60) if seconds[-1] / s <= 7), 120)
    return np.arange(step, seconds[-1] + 1e-6, step)


def draw_bounds(path: Path, drive: dict[str, Any], title: str) -> None:
    """Draw the error of every step within three stated sigmas, component by component."""
    errors = array_of(drive["step_errors"], 6)
    sigmas = np.sqrt(np.diagonal(covariances_of(drive["step_covariances"]), axis1=1, axis2=2))
    seconds = array_of(drive["seconds"])[-len(errors) :]
    with sheet(path, 3, 2, (13.0, 7.0), sharex=True) as (figure, axes):
        for index in range(6):
            plot = axes[index % 3, index // 3]
            factor = 1e3 if index < 3 else np.degrees(1e3)
            bound = 3.0 * factor * sigmas[:, index]
            plot.fill_between(seconds, -bound, bound, color=BLUE, alpha=0.18, lw=0, label="3 sigma")
            inside = 100.0 * np.mean(np.abs(errors[:, index]) < 3.0 * sigmas[:, index])
            plot.plot(seconds, factor * errors[:, index], ".", ms=2.5, color=ORANGE, label="error")
            plot.set_ylabel("mm" if index < 3 else "mdeg")
            plot.set_title(f"{AXES[index]}: {inside:.1f} % inside", loc="left", fontsize=10)
            plot.set_xlim(seconds[0], seconds[-1])
            sizes = np.abs(factor * errors[:, index])
            reach = 1.3 * max(np.quantile(bound, 0.9), np.quantile(sizes, 0.98))
            plot.set_ylim(-reach, reach)
        axes[2, 0].set_xlabel("time [s]")
        axes[2, 1].set_xlabel("time [s]")
        axes[0, 0].legend(loc="upper right", ncols=2)
        figure.suptitle(title)


def draw_gain(
    path: Path, drive: dict[str, Any], localizable: dict[str, Any] | None, skipped_s: float,
    title: str,
) -> None:  # fmt: skip
    """Draw sigma of the scan along the corridor, the gain there, and what can truly be seen."""
    seconds = np.linspace(0.0, drive["seconds"][-1], len(drive["gain"]))
    gain, sigma = (array_of(drive[kind], 6)[:, ALONG] for kind in ("gain", "sigma_alone"))
    with sheet(path, 3, 1, (11.0, 7.0), sharex=True) as (figure, axes):
        above, middle, below = axes[:, 0]
        above.semilogy(seconds, 1e3 * sigma, color=BLUE, lw=1.2)
        above.set_title("sigma of the scan alone, along the corridor", loc="left", fontsize=10)
        above.set_ylabel("mm")
        middle.plot(seconds, gain, color=GREY, lw=0.6, alpha=0.6, label="each scan")
        middle.plot(seconds, smoothed(gain), color=ORANGE, lw=1.8, label=f"mean of {SMOOTHED}")
        middle.set_ylim(0.0, 1.05)
        middle.set_title("Kalman gain along the corridor", loc="left", fontsize=10)
        middle.legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2)
        if localizable is not None:
            at_s = array_of(localizable["seconds"]) - skipped_s
            below.plot(at_s, 100.0 * array_of(localizable["share"]), color=GREEN, lw=1.5)
        below.set_ylabel("%")
        below.set_title("surfaces in view that face along it (truth)", loc="left", fontsize=10)
        below.set_ylim(bottom=0.0)
        below.set_xlim(0.0, seconds[-1])
        below.set_xlabel("time [s]")
        figure.suptitle(title)


def smoothed(values: Floats) -> Floats:
    """Moving means (n,) over neighbours, of what is known."""
    known = np.isfinite(values)
    window = np.ones(min(SMOOTHED, len(values)))
    total = np.convolve(np.where(known, values, 0.0), window, "same")
    count = np.convolve(known.astype(np.float64), window, "same")
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
