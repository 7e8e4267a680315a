# SPDX-License-Identifier: MIT
"""The run from above: the map, the way through it coloured by sigma, ellipses of three sigma.

The map becomes a picture of how many points stand above each square, which shows walls dark and
floors light. Ellipses are magnified where they would be too small to see, and the page says so.
"""

import base64
import math

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.report.figure import Figure, Section, Trace, numbers
from svnicp.report.numbers import Unit, length_unit
from svnicp.report.run_series import RunSeries, Scans

MOST_SQUARES = 300_000
"""Squares of the picture of the map."""
SMALLEST_SQUARE_M = 0.1
MOST_MARKERS = 1500
"""Coloured points along the way."""
NUM_ELLIPSES = 24
VISIBLE = 0.03
"""The largest ellipse takes about this share of the extent of the way."""
FLAT = 0.12
"""A drawing flatter than this, as of a corridor, is stretched upwards."""
STRETCHES = (1, 2, 3, 4, 5, 6, 8, 10)
MAGNIFICATIONS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def map_section(series: RunSeries, drawn: Scans) -> Section:
    """The way and the map, from above."""
    extent = drawn_extent(series)
    data: list[Trace] = []
    if series.map_points is not None:
        data.append(raster(series.map_points, extent))
    data.append(_line(drawn.positions, "estimate", "--muted", "solid"))
    caption = "Seen from above, in the world of the run, whose origin is its first pose."
    if drawn.covariances is not None:
        position_cov = horizontal_covariances(drawn)
        factor = magnification(position_cov, extent)
        size = "to scale" if factor == 1 else f"drawn {factor} times too large, to be seen"
        caption += (
            " The colour is one sigma of the position, in its worst horizontal direction; "
            f"ellipses are three sigma, {size}."
        )
        data += [_markers(drawn, position_cov), _ellipses(drawn, position_cov, factor)]
    else:
        data.append(_markers(drawn, None))
    if series.truth is not None:
        data.append(_line(series.truth.true_positions, "truth", "--ink", "dash"))
    if stretch(extent) > 1:
        caption += (
            f" What goes across is drawn {stretch(extent)} times larger than what goes along."
        )
    missing = ""
    if series.map_points is None:
        missing = "The surroundings are left out: the run kept no map; svnicp run --map keeps it."
    figure = Figure("map", "", data, _layout(extent), "map", height_px=height_px(extent), wide=True)
    return Section("map", "From above", caption, (figure,), left_out=missing)


def drawn_extent(series: RunSeries) -> Floats:
    """Corners (2, 2) of what is drawn: the way, and the map around it [m]."""
    ways = [series.scans.positions[:, :2]]
    if series.truth is not None:
        ways.append(series.truth.true_positions[:, :2])
    way = np.concatenate(ways)
    low, high = way.min(axis=0), way.max(axis=0)
    margin = max(2.0, 0.04 * float((high - low).max()))
    if series.map_points is None or len(series.map_points) == 0:
        return np.stack([low - margin, high + margin])
    near = max(10.0, 0.15 * float((high - low).max()))
    seen = series.map_points[:, :2]
    inside = np.all((seen > low - near) & (seen < high + near), axis=1)
    if not inside.any():
        return np.stack([low - margin, high + margin])
    map_low, map_high = np.quantile(seen[inside], [0.002, 0.998], axis=0)
    return np.stack([np.minimum(low - 1.0, map_low), np.maximum(high + 1.0, map_high)])


def horizontal_covariances(scans: Scans) -> Covariance:
    """Covariances (n, 2, 2) of the positions in the plane, in world axes [m^2]."""
    if scans.covariances is None:
        return np.zeros((len(scans), 2, 2))
    R = scans.T_world_body[:, :3, :3]
    return (R @ scans.covariances[:, :3, :3] @ np.swapaxes(R, 1, 2))[:, :2, :2]


def magnification(position_cov: Covariance, extent: Floats) -> int:
    """How many times larger ellipses are drawn, so that the largest can be seen."""
    largest = 3.0 * float(np.sqrt(np.linalg.eigvalsh(position_cov)[:, -1].max()))
    wanted = VISIBLE * float((extent[1] - extent[0]).max()) / max(largest, 1e-9)
    fitting = [factor for factor in MAGNIFICATIONS if factor <= wanted]
    return fitting[-1] if fitting else 1


def stretch(extent: Floats) -> int:
    """How many times larger y is drawn than x, so that a corridor is not a mere line."""
    width_m, height_m = extent[1] - extent[0]
    fitting = [factor for factor in STRETCHES if factor * height_m <= FLAT * width_m]
    return fitting[-1] if fitting else 1


def ellipse(centre: Floats, covariance: Covariance, size: float, num_points: int = 33) -> Floats:
    """Outline (num_points, 2) of so many sigmas around a centre (2,)."""
    values, vectors = np.linalg.eigh(covariance)
    turns = np.linspace(0.0, 2.0 * math.pi, num_points)
    circle = np.stack([np.cos(turns), np.sin(turns)])
    return centre + (size * (vectors * np.sqrt(np.maximum(values, 0.0))) @ circle).T


def raster(points: Floats, extent: Floats) -> Trace:
    """Picture of (m, 3) map points: logarithm of how many stand above each square."""
    span = extent[1] - extent[0]
    edge = max(SMALLEST_SQUARE_M, float(np.sqrt(span.prod() / MOST_SQUARES)))
    shape = np.maximum(np.ceil(span / edge).astype(int), 1)
    cells = np.floor((points[:, :2] - extent[0]) / edge).astype(int)
    inside = np.all((cells >= 0) & (cells < shape), axis=1)
    columns, rows = cells[inside].T
    counts = np.bincount(rows * shape[0] + columns, minlength=shape.prod()).reshape(shape[::-1])
    logs = np.log1p(counts)
    top = max(float(np.quantile(logs[counts > 0], 0.998)) if counts.any() else 0.0, 1e-9)
    shades = np.minimum(np.rint(255.0 * logs / top), 255.0).astype(np.uint8)
    encoded = base64.b64encode(shades.tobytes()).decode("ascii")
    return {
        "type": "heatmap",
        "name": "map",
        "z": {"dtype": "u1", "bdata": encoded, "shape": f"{shape[1]}, {shape[0]}"},
        "x0": round(float(extent[0, 0] + 0.5 * edge), 4),
        "dx": edge,
        "y0": round(float(extent[0, 1] + 0.5 * edge), 4),
        "dy": edge,
        "zmin": 0,
        "zmax": 255,
        "colorscale": [[0.0, "--map-none"], [0.02, "--map-low"], [1.0, "--map-high"]],
        "showscale": False,
        "hoverinfo": "skip",
    }


def height_px(extent: Floats) -> int:
    """Height of the plot, so that its axes fill it."""
    width_m, height_m = extent[1] - extent[0]
    flatness = stretch(extent) * height_m / max(width_m, 1e-9)
    return int(np.clip(140 + 1000.0 * flatness, 230, 640))


def _ellipses(drawn: Scans, position_cov: Covariance, factor: int) -> Trace:
    """Ellipses at equal distances along the way, as one line with breaks."""
    steps = np.linalg.norm(np.diff(drawn.positions, axis=0), axis=1)
    along = np.r_[0.0, np.cumsum(steps)]
    places = np.unique(np.searchsorted(along, np.linspace(0.0, along[-1], NUM_ELLIPSES + 1)[1:]))
    gap = np.full((1, 2), np.nan)
    outlines = [np.empty((0, 2))]
    for place in np.minimum(places, len(drawn) - 1):
        centre = drawn.positions[place, :2]
        outlines += [ellipse(centre, position_cov[place], 3.0 * factor), gap]
    outline = np.concatenate(outlines)
    name = "3 sigma" if factor == 1 else f"3 sigma, × {factor}"
    line = _line(outline, name, "--ink", "solid")
    return {**line, "line": {"color": "--ink", "width": 1}, "opacity": 0.75}


def _markers(drawn: Scans, position_cov: Covariance | None) -> Trace:
    """The way as points that know their scan, coloured by sigma."""
    step = max(1, math.ceil(len(drawn) / MOST_MARKERS))
    marker: dict[str, object] = {"size": 6, "color": "--x"}
    template = "scan %{customdata[0]} · %{customdata[2]:.2f} s · %{customdata[1]}"
    if position_cov is not None:
        sigma = np.sqrt(np.linalg.eigvalsh(position_cov)[::step, -1])
        unit: Unit = length_unit(sigma)
        marker |= {
            "color": numbers(unit.factor * sigma),
            "colorscale": [[0.0, "--sure"], [0.5, "--between"], [1.0, "--unsure"]],
            "colorbar": {
                "title": {"text": f"sigma [{unit.symbol}]", "side": "right"},
                "thickness": 12,
                "outlinewidth": 0,
            },
        }
        template += f"<br>sigma %{{marker.color:.3~g}} {unit.symbol}"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "scans",
        "x": numbers(drawn.positions[::step, 0]),
        "y": numbers(drawn.positions[::step, 1]),
        "customdata": f"@scans/{step}",
        "marker": marker,
        "hovertemplate": f"{template}<extra></extra>",
        "showlegend": False,
    }


def _line(points: Floats, name: str, colour: str, dash: str) -> Trace:
    """A line in the plane through (n, 2) or (n, 3) points."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": numbers(points[:, 0]),
        "y": numbers(points[:, 1]),
        "line": {"color": colour, "width": 1.4, "dash": dash},
        "hoverinfo": "skip",
    }


def _layout(extent: Floats) -> dict[str, object]:
    """Axes over what is drawn; equal, unless that is a corridor."""
    (x_low, y_low), (x_high, y_high) = extent.tolist()
    wide = stretch(extent)
    return {
        "xaxis": {"title": {"text": "x [m]"}, "range": [x_low, x_high], "constrain": "domain"},
        "yaxis": {
            "title": {"text": "y [m]"},
            "range": [y_low, y_high],
            "scaleanchor": "x",
            "scaleratio": wide,
            "nticks": int(np.clip(25.0 * wide * (y_high - y_low) / (x_high - x_low), 2, 8)),
            "constrain": "domain",
        },
        "hovermode": "closest",
        "hoverdistance": 30,
        "shapes": [],
    }
