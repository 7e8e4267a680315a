# SPDX-License-Identifier: MIT
"""A sheet of axes in one style, written as PNG and SVG; matplotlib without a display."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from svnicp.extras import require

BLUE, ORANGE, GREEN, GREY, RED = "#2767d8", "#d4570a", "#08784a", "#5d6878", "#b8225e"
STYLE = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.alpha": 0.25, "axes.titlesize": 11, "legend.frameon": False, "svg.fonttype": "none",
}  # fmt: skip


@contextmanager
def sheet(
    path: Path, rows: int, columns: int, size: tuple[float, float], **options: bool
) -> Iterator[Any]:
    """Yield figure and axes (rows, columns); they are written to ``path`` as .png and .svg after.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    matplotlib = require("matplotlib", "studies", "A figure")
    matplotlib.use("Agg")
    plots = require("matplotlib.pyplot", "studies", "A figure")
    with matplotlib.rc_context(STYLE):
        figure, axes = plots.subplots(
            rows, columns, figsize=size, squeeze=False, layout="constrained", **options
        )
        try:
            yield figure, axes
            path.parent.mkdir(parents=True, exist_ok=True)
            for suffix in (".png", ".svg"):
                figure.savefig(path.with_name(path.name + suffix), dpi=110)
        finally:
            plots.close(figure)
