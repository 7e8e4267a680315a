# SPDX-License-Identifier: MIT
"""Hand-written SVG of one demo experiment: from above, the posterior close up, errors in sigmas.

A panel is a size and the elements inside; ``demo_picture`` puts panels into a picture.
Colours are the CSS variables of ``STYLE``, which follows the reader's dark or light mode.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Floats, Points
from svnicp.cli.demo_scenes import T_WORLD_LIDAR, Experiment
from svnicp.cli.wording import TANGENT_AXES, length_in_words, tangent_in_words
from svnicp.lie import transform_points

STYLE = """\
:root { --page: #ffffff; --panel: #f4f6f9; --ink: #1c2430; --faint: #5d6878; --line: #d5dbe3;
  --map: #b3bcc8; --scan: #2767d8; --particle: #d4570a; --truth: #08784a; --weak: #b8225e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #10141a; --panel: #181e27; --ink: #e4e8ee; --faint: #9aa5b4; --line: #313a47;
    --map: #4d5868; --scan: #6ba3ff; --particle: #ff9a3d; --truth: #3ddc97; --weak: #ff6fa3; } }
svg text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
svg text.faint { fill: var(--faint); } svg text.weak-text { fill: var(--weak); }
svg .large text { font-size: 17px; }
svg .panel { fill: var(--panel); } svg .map { stroke: var(--map); stroke-width: 3.4; }
svg .scan { stroke: var(--scan); stroke-width: 1.8; }
svg .dots { stroke-linecap: round; fill: none; }
svg .line { stroke: var(--line); fill: none; } svg .bar { stroke: var(--ink); stroke-width: 2; }
svg .particle { fill: var(--particle); fill-opacity: 0.75; } svg .dot { fill: var(--particle); }
svg .ellipse { stroke: var(--particle); stroke-width: 1.6; fill: var(--particle);
  fill-opacity: 0.1; }
svg .prior { stroke: var(--faint); stroke-dasharray: 5 4; fill: none; }
svg .truth { stroke: var(--truth); stroke-width: 2.5; fill: none; }
svg .weak-arrow { stroke: var(--weak); stroke-width: 2.5; fill: none; }
svg .band { fill: var(--particle); fill-opacity: 0.13; } svg .sensor { fill: var(--ink); }
"""

PIXELS_PER_METRE = 42.0
MAP_SIZE, SQUARE = (560, 300), (300, 300)
WALL_HEIGHTS_M = (0.3, 2.4)
"""Map points between these are drawn: walls and furniture, not floor and ceiling."""
MARGIN = 32
"""Room for words above and below a close-up [pixels]."""
ERROR_SIGMAS = 4.0
"""The chart of errors reaches this far to both sides."""


class Panel(NamedTuple):
    """One drawing."""

    width: int
    height: int
    label: str
    """What it shows, for readers who cannot see it."""
    body: str

    def svg(self, at: tuple[int, int] | None = None) -> str:
        """Return the SVG element, placed inside another one if ``at`` is given."""
        place = "" if at is None else f' x="{at[0]}" y="{at[1]}" width="{self.width}"'
        place += "" if at is None else f' height="{self.height}"'
        return (
            f'<svg{place} viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{self.label}" xmlns="http://www.w3.org/2000/svg">'
            f'<rect class="panel" width="{self.width}" height="{self.height}" rx="8"/>'
            f"{self.body}</svg>"
        )


def from_above(experiment: Experiment) -> Panel:
    """Draw the map, the new scan where it was put, the sensor, and the weak directions."""
    width, height = MAP_SIZE
    result = experiment.result
    target = experiment.target
    low, high = WALL_HEIGHTS_M
    walls = target[(target[:, 2] > low) & (target[:, 2] < high)]
    scan = transform_points(result.T_target_source, experiment.source)
    scan = scan[(scan[:, 2] > low) & (scan[:, 2] < high)]
    parts = [_dots("map", _on_canvas(walls, 0.05)), _dots("scan", _on_canvas(scan, 0.12))]
    x, y = _place(result.T_target_source[None, :2, 3])[0]
    for weak in result.weak_directions:
        direction = (result.T_target_source[:3, :3] @ weak.direction)[:2]
        if weak.kind == "translation" and np.linalg.norm(direction) > 0.5:
            parts.append(_arrow((x, y), direction, 120.0))
            text = f"weak: sigma {length_in_words(weak.sigma)} along here"
            parts.append(_text(x, y - 22, text, "weak-text", "middle"))
    ahead = _place(transform_points(result.T_target_source, np.array([[0.7, 0.0, 0.0]]))[:, :2])[0]
    parts.append(f'<path class="bar" d="M{x:.1f} {y:.1f}L{ahead[0]:.1f} {ahead[1]:.1f}"/>')
    parts.append(f'<circle class="sensor" cx="{x:.1f}" cy="{y:.1f}" r="6"/>')
    parts.append(_scale_bar(1.0, PIXELS_PER_METRE, width, height))
    return Panel(
        width, height, f"{experiment.title} from above", f'<g class="large">{"".join(parts)}</g>'
    )


def close_up(experiment: Experiment) -> Panel:
    """Draw particles, three-sigma ellipses and the truth in the plane, magnified."""
    width, height = SQUARE
    T_target_source, covariance = experiment.result.pose.to_ros()
    position = T_target_source[:2, 3]
    spread = 3.0 * np.sqrt(np.diag(covariance)[:2])
    truth = T_WORLD_LIDAR[:2, 3] - position
    particles = experiment.result.particles[:, :2, 3] - position
    reach = max(spread.max(), np.abs(truth).max(), np.abs(particles).max())
    scale = 0.5 * (height - 2 * MARGIN) / reach
    middle = (width / 2, height / 2)
    rotation = experiment.guess[:2, :2]
    prior = rotation @ experiment.prior_covariance[:2, :2] @ rotation.T
    parts = [
        _ellipse("prior", prior, experiment.guess[:2, 3] - position, scale, middle),
        _ellipse("ellipse", covariance[:2, :2], np.zeros(2), scale, middle),
    ]
    for px, py in particles:
        parts.append(
            f'<circle class="particle" cx="{middle[0] + scale * px:.1f}" '
            f'cy="{middle[1] - scale * py:.1f}" r="3"/>'
        )
    tx, ty = middle[0] + scale * truth[0], middle[1] - scale * truth[1]
    parts.append(f'<path class="truth" d="M{tx - 7:.1f} {ty:.1f}h14M{tx:.1f} {ty - 7:.1f}v14"/>')
    times = float(f"{scale / PIXELS_PER_METRE:.2g}")
    parts.append(_text(10, 22, f"the sensor, {times:.0f} times larger", "faint"))
    parts.append(_scale_bar(_round_length(reach / 2), scale, width, height))
    return Panel(width, height, f"{experiment.title}: posterior close up", "".join(parts))


def errors_in_sigmas(experiment: Experiment) -> Panel:
    """Draw the error of each axis in its own standard deviations, and how large these are."""
    width, height = SQUARE
    left, right, top, row = 58, 92, 40, 38
    bottom = top + row * len(TANGENT_AXES)
    unit = (width - left - right) / (2 * ERROR_SIGMAS)
    zero = left + ERROR_SIGMAS * unit
    parts = [_text(10, 22, "error in sigmas", "faint")]
    parts.append(_text(width - 10, 22, "1 sigma", "faint", "end"))
    for sigmas in (1, 2, 3):
        place = f'x="{zero - sigmas * unit:.1f}" width="{2 * sigmas * unit:.1f}"'
        parts.append(f'<rect class="band" y="{top}" height="{bottom - top}" {place}/>')
    for tick in (-3, -2, -1, 0, 1, 2, 3):
        parts.append(_text(zero + tick * unit, bottom + 20, str(tick), "faint", "middle"))
    for index, axis in enumerate(TANGENT_AXES):
        y = top + row * index + row / 2
        sigma = experiment.result.sigmas[index]
        error = float(np.clip(experiment.error[index] / sigma, -ERROR_SIGMAS, ERROR_SIGMAS))
        parts.append(_text(10, y + 5, axis))
        parts.append(f'<path class="line" d="M{left} {y:.0f}H{width - right}"/>')
        parts.append(f'<circle class="dot" cx="{zero + unit * error:.1f}" cy="{y:.0f}" r="5"/>')
        parts.append(_text(width - 10, y + 5, tangent_in_words(index, sigma), "", "end"))
    return Panel(width, height, f"{experiment.title}: errors in sigmas", "".join(parts))


def _place(points: Floats) -> Floats:
    """Pixels (n, 2) of positions (n, 2) in the view from above, whose middle is the origin."""
    return np.array(MAP_SIZE) / 2 + PIXELS_PER_METRE * points * (1.0, -1.0)


def _on_canvas(points: Points, cell_m: float) -> Floats:
    """Pixels (n, 2) of points inside the view from above, at most one in each cell."""
    _, first = np.unique(np.floor(points[:, :2] / cell_m), axis=0, return_index=True)
    pixels = _place(points[first, :2])
    inside = np.all((pixels > 6) & (pixels < np.array(MAP_SIZE) - 6), axis=1)
    return pixels[inside]


def _dots(kind: str, pixels: Floats) -> str:
    """One path with a dot at each pixel (n, 2): far smaller than as many circles."""
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in pixels)
    return f'<path class="dots {kind}" d="{path}"/>'


def _ellipse_axes(covariance: Covariance) -> Floats:
    """(2, 2) half axes of the three-sigma ellipse, one in each column."""
    values, vectors = np.linalg.eigh(covariance)
    return 3.0 * vectors * np.sqrt(np.maximum(values, 0.0))


def _ellipse(
    kind: str, covariance: Covariance, centre: Floats, scale: float, middle: tuple[float, float]
) -> str:
    """Three-sigma ellipse of a covariance (2, 2) [m²] about a centre (2,) [m]."""
    axes = _ellipse_axes(covariance)
    radii = scale * np.linalg.norm(axes, axis=0)
    angle = -np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    cx, cy = middle[0] + scale * centre[0], middle[1] - scale * centre[1]
    return (
        f'<ellipse class="{kind}" rx="{radii[1]:.1f}" ry="{max(radii[0], 0.5):.1f}" '
        f'transform="translate({cx:.1f} {cy:.1f}) rotate({angle:.1f})"/>'
    )


def _arrow(at: tuple[float, float], direction: Floats, length: float) -> str:
    """Arrow with two heads through a pixel along a direction (2,) of the scene."""
    along = direction / np.linalg.norm(direction) * (1.0, -1.0)
    across = np.array([-along[1], along[0]])
    path = ""
    for sign in (-1.0, 1.0):
        tip = np.array(at) + sign * length * along
        path += f"M{at[0]:.1f} {at[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}"
        for side in (-1.0, 1.0):
            barb = tip - sign * 11.0 * along + side * 6.0 * across
            path += f"M{tip[0]:.1f} {tip[1]:.1f}L{barb[0]:.1f} {barb[1]:.1f}"
    return f'<path class="weak-arrow" d="{path}"/>'


def _scale_bar(length_m: float, scale: float, width: int, height: int) -> str:
    """Bar of this length in the lower right corner, with its length."""
    right, y, pixels = width - 14.0, height - 14.0, length_m * scale
    text = length_in_words(length_m).replace(".000", "").replace(".00", "").replace(".0", "")
    bar = f'<path class="bar" d="M{right - pixels:.1f} {y:.0f}H{right:.0f}"/>'
    return bar + _text(right, y - 8, text, "", "end")


def _round_length(length_m: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not longer."""
    power = 10.0 ** np.floor(np.log10(length_m))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= length_m))


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text that starts, is centred, or ends at a pixel."""
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'
