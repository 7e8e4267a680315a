# SPDX-License-Identifier: MIT
"""Figures about particles: sigma along the corridor over their number, and the ways they go."""

from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Floats
from svnicp.studies.drawing import BLUE, GREEN, ORANGE, sheet
from svnicp.studies.packed import array_of

COLOURS = {"svgd": ORANGE, "svn": BLUE, "svn+adaptive": GREEN}
NAMES = {"svgd": "SVGD-ICP", "svn": "SVN-ICP", "svn+adaptive": "SVN-ICP + KF"}


def draw_violins(path: Path, sigmas: dict[str, dict[int, Floats]], title: str) -> None:
    """Draw the distribution of sigma over the scans, by method and number of particles.

    Parameters
    ----------
    path
        Where to, without a suffix.
    sigmas
        Standard deviations (n,) [m] by variant and number of particles.
    title
        What stands above.
    """
    with sheet(path, 1, len(sigmas), (12.5, 4.2), sharey=True) as (figure, axes):
        for plot, (variant, by_count) in zip(axes[0], sigmas.items(), strict=True):
            counts = [count for count, values in by_count.items() if len(values) > 1]
            logs = [np.log10(1e3 * by_count[count]) for count in counts]
            places = np.arange(len(counts))
            if counts:
                parts = plot.violinplot(logs, places, widths=0.8, showmedians=True)
                for body in parts["bodies"]:
                    body.set(facecolor=COLOURS[variant], alpha=0.45)
                for name in ("cmedians", "cmins", "cmaxes", "cbars"):
                    parts[name].set(color=COLOURS[variant], lw=1.0)
            plot.set_xticks(places, [str(count) for count in counts])
            plot.set_title(NAMES[variant])
            plot.set_xlabel("particles")
        axes[0, 0].set_ylabel("sigma along the corridor [mm]")
        low, high = axes[0, 0].get_ylim()
        ticks = np.arange(np.floor(low), np.ceil(high) + 1.0)
        axes[0, 0].set_yticks(ticks, [f"{10.0**tick:g}" for tick in ticks])
        axes[0, 0].set_ylim(low, high)
        figure.suptitle(title)


def draw_paths(path: Path, found: dict[str, Any], title: str) -> None:
    """Draw the ways of all particles from above, and the size of their steps."""
    with sheet(path, 1, 3, (14.0, 4.4)) as (figure, axes):
        limits = []
        for plot, algorithm in zip(axes[0], ("svgd", "svn"), strict=False):
            ways = 1e3 * np.array(found[algorithm]["xy"], dtype=np.float64)
            for particle in range(ways.shape[1]):
                plot.plot(*ways[:, particle].T, color=COLOURS[algorithm], lw=0.5, alpha=0.5)
            plot.plot(
                *ways[0].T, "o", ms=3, mfc="none", color="black", alpha=0.5, label="after one step"
            )
            plot.plot(*ways[-1].T, "o", ms=4, color=COLOURS[algorithm], label="end")
            plot.plot(0.0, 0.0, "+", ms=12, color="black", label="truth")
            plot.set(title=NAMES[algorithm], xlabel="along [mm]", ylabel="across [mm]")
            plot.legend(loc="upper right", fontsize=8)
            limits.append(np.abs(ways).max(axis=(0, 1)))
        reach = 1.1 * np.max(limits, axis=0)
        for plot in axes[0, :2]:
            plot.set_xlim(-reach[0], reach[0])
            plot.set_ylim(-reach[1], reach[1])
        for algorithm in ("svgd", "svn"):
            norms = np.maximum(array_of(found[algorithm]["norms"]), 1e-9)
            iterations = np.arange(1, len(norms) + 1)
            axes[0, 2].semilogy(iterations, norms, color=COLOURS[algorithm], label=NAMES[algorithm])
        axes[0, 2].axhline(1e-4, color="black", lw=0.8, ls=":", label="the paper's stop")
        axes[0, 2].set(title="mean step", xlabel="iteration", ylabel="m and rad mixed")
        axes[0, 2].legend(loc="upper right")
        figure.suptitle(title)
