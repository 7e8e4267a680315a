# SPDX-License-Identifier: MIT
"""A run in one picture: from above, and how sure it was along and across the way.

What the report shows in many plots, as one small SVG for a README or a talk: the way coloured by
sigma with ellipses of three sigma in the map, and sigma over time with the true error where it is
known.
"""

import math
from itertools import pairwise

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.report.map_section import (
    drawn_extent,
    ellipse,
    horizontal_covariances,
    magnification,
    stretch,
)
from svnicp.report.numbers import Unit, length, length_unit
from svnicp.report.page import run_name
from svnicp.report.run_series import RunSeries, Scans
from svnicp.report.svg import Frame, document, panel, text

WIDTH, GAP, HEAD = 1000, 12, 56
"""Size of the picture, of the space between its parts, and of the words on top [pixels]."""
PLOT_HEIGHT = 210
SHORTEST_S = 0.1
"""Time that a plot shows of a run of a single pose [s]."""
NUM_ELLIPSES = 16
NUM_COLOURS = 24
MOST_POINTS = 600
"""Points of a curve."""
WALL_LEVELS, LEVEL_M = 4, 0.3
"""Squares of the map with points at so many heights are drawn, heights being so far apart [m]:
walls, not floors and ceilings."""
REACH_M = 5.0
"""The direction of the way is that from so far behind: a swaying sensor does not turn it [m]."""
SURE, BETWEEN, UNSURE = np.array([[11, 98, 168], [157, 143, 192], [232, 96, 28]])


def run_picture(series: RunSeries) -> str:
    """Return the picture of a run, from ``read_series``, as SVG."""
    title = _title(series)
    scans = series.scans.every(max(1, math.ceil(len(series.scans) / MOST_POINTS)))
    extent = drawn_extent(series)
    width_m, height_m = extent[1] - extent[0]
    inner = WIDTH - 2 * GAP - 80
    above = float(np.clip(stretch(extent) * inner * height_m / width_m, 60, 420))
    top = HEAD + 46
    frame = Frame(GAP + 50, top, inner, above, tuple(extent[:, 0]), tuple(extent[:, 1]))
    below = top + above + 42
    parts = [
        text(GAP, 24, title, "head"),
        text(GAP, 46, _key(series), "faint"),
        panel(GAP, HEAD, WIDTH - 2 * GAP, above + 78),
        _from_above(series, scans, frame),
    ]
    half = (WIDTH - 3 * GAP) / 2
    names = ("Along the way", "Across the way")
    for number, (name, sigma, error) in enumerate(zip(names, *_ways(scans), strict=True)):
        left = GAP + number * (half + GAP)
        parts.append(panel(left, below, half, PLOT_HEIGHT + 80))
        parts.append(_over_time(scans.seconds, sigma, error, name, (left, below, half)))
    label = f"{title}: the way from above, and its uncertainty over time"
    return document(WIDTH, int(below + PLOT_HEIGHT + 80 + GAP), label, "".join(parts))


def travel_directions(positions: Floats, reach_m: float = REACH_M) -> Floats:
    """Horizontal unit vectors (n, 3) along the way at (n, 3) positions, from so far behind.

    The beginning has the direction in which it ends; a run that stays in its place goes along x.
    """
    flat = positions * [1.0, 1.0, 0.0]
    travelled = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(flat, axis=0), axis=1))]
    before = np.searchsorted(travelled, travelled - reach_m, side="right") - 1
    chords = flat - flat[np.maximum(before, 0)]
    sizes = np.linalg.norm(chords, axis=1)
    known = np.flatnonzero((before >= 0) & (sizes > 0.5 * reach_m))
    if len(known) == 0:
        return np.tile([1.0, 0.0, 0.0], (len(positions), 1))
    nearest = known[np.maximum(np.searchsorted(known, np.arange(len(flat)), side="right") - 1, 0)]
    return chords[nearest] / sizes[nearest, None]


def _ways(scans: Scans) -> tuple[list[Floats], list[Floats | None]]:
    """Sigmas (n,) and true errors (n,) of the position, along and across the way [m]."""
    along = travel_directions(scans.positions)
    across = np.stack([-along[:, 1], along[:, 0], along[:, 2]], axis=1)
    R = scans.T_world_body[:, :3, :3]
    covariances = scans.covariances
    sigmas, errors = [], []
    for direction in (along, across):
        in_body = np.einsum("nji,nj->ni", R, direction)
        variance = np.zeros(len(scans))
        if covariances is not None:
            variance = np.einsum("ni,nij,nj->n", in_body, covariances[:, :3, :3], in_body)
        sigmas.append(np.sqrt(np.maximum(variance, 0.0)))
        known = scans.errors
        errors.append(None if known is None else np.abs(np.sum(in_body * known[:, :3], axis=1)))
    return sigmas, errors


def _from_above(series: RunSeries, scans: Scans, frame: Frame) -> str:
    """The map, the way, ellipses and the truth."""
    parts = []
    if series.map_points is not None:
        parts.append(frame.dots(_walls(series.map_points, frame), "map", 1.6))
    position_cov = horizontal_covariances(scans)
    sigma = np.sqrt(np.linalg.eigvalsh(position_cov)[:, -1])
    unit = length_unit(sigma)
    parts.append(_coloured(scans.positions[:, :2], sigma, frame))
    if series.truth is not None:
        step = max(1, len(series.truth.true_positions) // MOST_POINTS)
        parts.append(frame.line(series.truth.true_positions[::step, :2], "truth"))
    extent = np.array([frame.x, frame.y]).T
    factor = magnification(position_cov, extent)
    parts.append(_ellipses(scans, position_cov, factor, frame))
    parts += [frame.x_axis("m"), _scale(sigma, unit)]
    wide = stretch(extent)
    size = "to scale" if factor == 1 else f"{factor} times too large"
    words = f"From above: ellipses are three sigma, {size}"
    words += f"; y is drawn {wide} times larger than x" if wide > 1 else ""
    return text(GAP + 14, HEAD + 24, words) + "".join(parts)


def _walls(points: Floats, frame: Frame) -> Floats:
    """Centres (n, 2) of squares of two pixels that have points at several heights."""
    size = np.array([frame.x[1] - frame.x[0], frame.y[1] - frame.y[0]])
    low, cell = np.array([frame.x[0], frame.y[0]]), 2.0 * size / [frame.width, frame.height]
    inside = np.all((points[:, :2] >= low) & (points[:, :2] < low + size), axis=1)
    places = (points[inside] - [*low, 0.0]) / [*cell, LEVEL_M]
    levels = np.unique(np.floor(places).astype(int), axis=0)
    found, counts = np.unique(levels[:, :2], axis=0, return_counts=True)
    return low + (found[counts >= WALL_LEVELS] + 0.5) * cell


def _coloured(positions: Floats, sigma: Floats, frame: Frame) -> str:
    """The way, in pieces that have one colour each."""
    shades = np.minimum((NUM_COLOURS * _share(sigma)).astype(int), NUM_COLOURS - 1)
    starts = np.r_[0, np.flatnonzero(np.diff(shades)) + 1, len(shades)]
    parts = []
    for start, end in pairwise(starts):
        colour = _colour((int(shades[start]) + 0.5) / NUM_COLOURS)
        piece = positions[start : end + 1]
        if len(piece) > 1:
            parts.append(frame.line(piece, "way", f'stroke="{colour}"'))
    return "".join(parts)


def _ellipses(scans: Scans, position_cov: Covariance, factor: int, frame: Frame) -> str:
    """Ellipses of three sigma at equal distances along the way."""
    steps = np.linalg.norm(np.diff(scans.positions, axis=0), axis=1)
    along = np.r_[0.0, np.cumsum(steps)]
    wanted = np.linspace(0.0, along[-1], NUM_ELLIPSES + 1)[1:]
    places = np.minimum(np.unique(np.searchsorted(along, wanted)), len(scans) - 1)
    return "".join(
        frame.line(
            ellipse(scans.positions[place, :2], position_cov[place], 3.0 * factor), "ellipse"
        )
        for place in places
    )


def _title(series: RunSeries) -> str:
    """What it is a picture of."""
    described = series.description
    sensors = "LiDAR and IMU" if described.more.get("imu") else "LiDAR"
    seconds = float(series.scans.seconds[-1])
    return f"{run_name(described)}: {series.path_m:.0f} m in {seconds:.0f} s, {sensors}"


def _key(series: RunSeries) -> str:
    """What the lines are."""
    words = "Blue: one sigma as stated, three shaded"
    if series.truth is None:
        return f"{words}."
    return f"{words}. Orange: the true error over time; dashed, the true path."


def _scale(sigma: Floats, unit: Unit) -> str:
    """The scale of colours, in the upper right corner."""
    right, y, piece = WIDTH - GAP - 14.0, HEAD + 14.0, 4
    low, high = (f"{unit.factor * value:.3g}" for value in (sigma.min(), sigma.max()))
    low = low if sigma.min() > 0.01 * sigma.max() else "0"
    left = right - 68 - piece * NUM_COLOURS
    parts = [text(right, HEAD + 24, f"{high} {unit.symbol}", "faint", "end")]
    for number in range(NUM_COLOURS):
        colour = _colour((number + 0.5) / NUM_COLOURS)
        place = f'x="{left + piece * number:.0f}" y="{y:.0f}" width="{piece + 0.5}" height="10"'
        parts.append(f'<rect {place} fill="{colour}"/>')
    return "".join([*parts, text(left - 7, HEAD + 24, f"sigma {low}", "faint", "end")])


def _over_time(
    seconds: Floats, sigma: Floats, error: Floats | None, name: str,
    place: tuple[float, float, float],
) -> str:  # fmt: skip
    """Sigma and error of one direction; ``place`` is left, top and width of the panel."""
    left, top, width = place
    known = np.zeros(1) if error is None else error[np.isfinite(error)]
    unit = length_unit(3.0 * sigma, known)
    high = 1.05 * unit.factor * max(float(np.max(3.0 * sigma)), float(known.max(initial=0.0)), 1e-6)
    last_s = float(seconds[-1]) or SHORTEST_S
    frame = Frame(left + 70, top + 44, width - 90, PLOT_HEIGHT, (0.0, last_s), (0.0, high))
    parts = [
        frame.y_axis(unit.symbol),
        frame.x_axis("s"),
        frame.area(np.stack([seconds, unit.factor * 3.0 * sigma], axis=1), "three"),
        frame.line(np.stack([seconds, unit.factor * sigma], axis=1), "sigma"),
        text(left + 14, top + 26, name),
    ]
    words = f"at the end: sigma {length(float(sigma[-1]))}"
    if error is not None and len(known):
        there = np.flatnonzero(np.isfinite(error))
        parts.append(frame.line(np.stack([seconds, unit.factor * error], axis=1)[there], "error"))
        words += f", error {length(float(known[-1]))}"
    parts.append(text(left + width - 14, top + 26, words, "faint", "end"))
    return "".join(parts)


def _share(values: Floats) -> Floats:
    """Where values (n,) are between the smallest and the largest."""
    span = float(values.max() - values.min())
    return (values - values.min()) / max(span, 1e-12)


def _colour(share: float) -> str:
    """Colour of a share: blue is sure, orange is not."""
    low, high = (SURE, BETWEEN) if share < 0.5 else (BETWEEN, UNSURE)
    red, green, blue = np.rint(low + (2.0 * share % 1.0) * (high - low)).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"
