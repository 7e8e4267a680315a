# SPDX-License-Identifier: MIT
"""The picture of a comparison: all trajectories over the truth, and their errors over time.

Worlds are aligned at the first pose, so that drift shows, and so that the three-sigma ellipses of
those that state an uncertainty mean what they say. matplotlib draws it, without a display.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Floats, Transform
from svnicp.evaluation import associate
from svnicp.evaluation.compared import fit_worlds
from svnicp.evaluation.truth_file import Truth
from svnicp.extras import require
from svnicp.lie import se3_inverse
from svnicp.peers.peer import PeerRun
from svnicp.peers.row import Row

AXES = "xyz"
OURS_COLOURS = ("#d4570a", "#2767d8")
PEER_COLOURS = (
    "#08784a", "#b8225e", "#7a4fbf", "#17a2a2", "#9a7d0a", "#5d6878", "#8c2f2f", "#6fae3a",
    "#d97fc0", "#8c6d5a",
)  # fmt: skip
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
NUM_ELLIPSES = 12
MARGIN = 0.06
"""Room around the paths, as a share of the size of the true one."""
REACH = 0.5
"""Paths farther away than this, as a share of that size, are cut off."""
SMALLEST_ERROR_M = 1e-4


@dataclass(frozen=True, eq=False)
class Curve:
    """One trajectory in the world of the truth."""

    row: Row
    positions: Floats
    """(n, 3) [m]."""
    seconds: Floats
    """(n,) since the first pose of the truth [s]."""
    errors_m: Floats
    """(n,) distance from the truth."""
    covariances: Covariance | None
    """(n, 3, 3) of the positions in the truth's axes, where they are stated."""


def draw(path: Path, rows: Sequence[tuple[Row, PeerRun]], truth: Truth, title: str) -> list[Path]:
    """Write ``path`` as .png and as .svg; returns both.

    Parameters
    ----------
    path
        Where to, without a suffix.
    rows
        Rows with the runs that they are about.
    truth
        True trajectory.
    title
        What stands above.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    """
    require("matplotlib", "peers", "The picture").use("Agg")
    plots = require("matplotlib.pyplot", "peers", "The picture")
    curves = [curve for row, run in rows if (curve := _curve(row, run, truth)) is not None]
    figure, (above, over_time) = plots.subplots(
        1, 2, figsize=(14, 6.4), width_ratios=(1.25, 1.0), layout="constrained"
    )
    try:
        figure.suptitle(title, fontsize=13)
        _from_above(above, curves, truth)
        _over_time(over_time, curves, truth.trajectory.length_m)
        handles, labels = above.get_legend_handles_labels()
        columns = min(4, -(-len(labels) // 3))
        figure.legend(
            handles, labels, loc="outside lower center", ncols=columns, frameon=False,
            title="APE (all poses aligned) | error at the end (first pose aligned)",
        )  # fmt: skip
        paths = [path.with_name(f"{path.name}{suffix}") for suffix in (".png", ".svg")]
        for each in paths:
            figure.savefig(each, dpi=110)
        return paths
    finally:
        plots.close(figure)


def _curve(row: Row, run: PeerRun, truth: Truth) -> Curve | None:
    """A run aligned with the truth at its first pose, or by all positions without rotations."""
    if len(run.stamps_ns) == 0:
        return None
    found = associate(run.stamps_ns, truth.trajectory)
    T_estimate = run.T_world_body[found.indices] @ truth.T_body_truth
    T_truth_world = _alignment(T_estimate, found.T_true_body, found.position_only)
    aligned = T_truth_world @ T_estimate
    errors = np.linalg.norm(aligned[:, :3, 3] - found.T_true_body[:, :3, 3], axis=1)
    covariances = None
    if run.absolute is not None:
        R = aligned[:, :3, :3]
        covariances = R @ run.absolute[found.indices, :3, :3] @ R.transpose(0, 2, 1)
    seconds = (run.stamps_ns[found.indices] - truth.trajectory.stamps_ns[0]) * 1e-9
    return Curve(row, aligned[:, :3, 3], seconds, errors, covariances)


def _alignment(T_estimate: Transform, T_true: Transform, position_only: bool) -> Transform:
    if position_only:
        return fit_worlds(T_estimate[:, :3, 3], T_true[:, :3, 3])
    return T_true[0] @ se3_inverse(T_estimate[0])


def _styles(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Colour and dash of every curve: ours strong, a colour per peer, a dash per configuration."""
    colours: dict[str, str] = {}
    seen: dict[str, int] = {}
    out = []
    for curve in curves:
        ours, method = curve.covariances is not None, curve.row.method
        palette = OURS_COLOURS if ours else PEER_COLOURS
        used = sum(colour in palette for colour in colours.values())
        colours.setdefault(method, palette[used % len(palette)])
        number = seen[method] = seen.get(method, -1) + 1
        dash = DASHES[number % len(DASHES)]
        width, order = (2.0, 5) if ours else (1.1, 3)
        out.append({"color": colours[method], "ls": dash, "lw": width, "zorder": order})
    return out


def _from_above(axes: Any, curves: Sequence[Curve], truth: Truth) -> None:  # noqa: ANN401
    """Draw positions in the two axes in which the truth moves most."""
    positions = truth.trajectory.positions
    if curves:
        last = max(curve.seconds[-1] for curve in curves)
        seconds = (truth.trajectory.stamps_ns - truth.trajectory.stamps_ns[0]) * 1e-9
        positions = positions[seconds <= last + 0.5]
    i, j = plane_of(positions)
    axes.plot(*positions[:, [i, j]].T, color="black", lw=3.5, alpha=0.35, label="truth", zorder=2)
    axes.plot(*positions[0, [i, j]], "o", color="black", ms=6, zorder=6)
    for curve, style in zip(curves, _styles(curves), strict=True):
        axes.plot(*curve.positions[:, [i, j]].T, label=_legend(curve.row), **style)
        if curve.covariances is not None:
            _ellipses(axes, curve, (i, j), style["color"])
    _limits(axes, positions[:, [i, j]], [curve.positions[:, [i, j]] for curve in curves])
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlabel(f"{AXES[i]} [m]")
    axes.set_ylabel(f"{AXES[j]} [m]")
    axes.set_title("from above" if (i, j) == (0, 1) else "from the side", fontsize=11)
    axes.grid(alpha=0.25)


def _limits(axes: Any, true: Floats, others: Sequence[Floats]) -> None:  # noqa: ANN401
    """Show all of the true path (n, 2), and what is not too far away of the other paths (m, 2)."""
    low, high = true.min(axis=0), true.max(axis=0)
    size = max(float((high - low).max()), 1.0)
    for other in others:
        low = np.minimum(low, np.maximum(other.min(axis=0), true.min(axis=0) - REACH * size))
        high = np.maximum(high, np.minimum(other.max(axis=0), true.max(axis=0) + REACH * size))
    room = MARGIN * size
    tall = max(0.35 * float((high - low)[0]) - float((high - low)[1]), 0.0) / 2.0
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room - tall, high[1] + room + tall)


def plane_of(positions: Floats) -> tuple[int, int]:
    """Two axes to draw positions (n, 3) in: from above, unless they climb far more than they turn.

    A staircase is seen from the side.
    """
    x, y, z = np.ptp(positions, axis=0)
    if z < max(2.0, 2.0 * min(x, y), 0.3 * max(x, y)):
        return 0, 1
    return (0, 2) if x >= y else (1, 2)


def _ellipses(axes: Any, curve: Curve, plane: tuple[int, int], colour: str) -> None:  # noqa: ANN401
    """Draw the three-sigma ellipses of some poses along a curve."""
    patches = require("matplotlib.patches", "peers", "The picture")
    assert curve.covariances is not None
    steps = np.linalg.norm(np.diff(curve.positions, axis=0), axis=1)
    travelled = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, travelled[-1], NUM_ELLIPSES + 1)[1:]
    for n in np.unique(np.minimum(np.searchsorted(travelled, wanted), len(travelled) - 1)):
        values, vectors = np.linalg.eigh(curve.covariances[n][np.ix_(plane, plane)])
        long, short = 6.0 * np.sqrt(np.maximum(values[::-1], 0.0))
        angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
        axes.add_patch(
            patches.Ellipse(
                curve.positions[n, list(plane)], long, short, angle=float(angle),
                facecolor=(colour, 0.04), edgecolor=(colour, 0.6), lw=0.8, zorder=4,
            )
        )  # fmt: skip


def _over_time(axes: Any, curves: Sequence[Curve], path_m: float) -> None:  # noqa: ANN401
    """Draw the distance from the truth, and three stated sigmas where there are some.

    Errors far larger than the path are cut off.
    """
    for curve, style in zip(curves, _styles(curves), strict=True):
        errors = np.maximum(curve.errors_m, SMALLEST_ERROR_M)
        axes.semilogy(curve.seconds[1:], errors[1:], **style)
        if curve.covariances is not None:
            worst = np.linalg.eigvalsh(curve.covariances)[:, -1]
            band = 3.0 * np.sqrt(np.maximum(worst, 0.0))
            axes.fill_between(
                curve.seconds[1:], SMALLEST_ERROR_M, np.maximum(band[1:], SMALLEST_ERROR_M),
                color=style["color"], alpha=0.12, lw=0, zorder=1,
            )  # fmt: skip
    axes.set_xlabel("time [s]")
    axes.set_ylabel("distance from the truth [m]")
    axes.set_title("error since the start; shaded: within 3 stated sigmas", fontsize=11)
    errors = np.concatenate([curve.errors_m[1:] for curve in curves] or [np.ones(1)])
    errors = errors[errors > 0.0]
    if len(errors):
        low = max(float(np.percentile(errors, 1)) / 2.0, SMALLEST_ERROR_M)
        axes.set_ylim(low, max(min(2.0 * float(errors.max()), 3.0 * path_m), 10.0 * low))
    axes.grid(alpha=0.25, which="both")


def _legend(row: Row) -> str:
    """Name of a curve, with its errors."""
    errors = [_length(error) for error in (row.ape_m, row.end_m) if error is not None]
    return f"{row.label}: {' | '.join(errors)}" if errors else row.label


def _length(metres: float) -> str:
    return f"{1e3 * metres:.0f} mm" if metres < 1.0 else f"{metres:.3g} m"
