# SPDX-License-Identifier: MIT
"""A frame with two axes as hand-written SVG: lines, areas and words at places in metres or seconds.

Colours are the CSS variables of ``STYLE``, which follows the reader's dark or light mode.
"""

import html
from dataclasses import dataclass

import numpy as np

from svnicp.arrays import Floats

STYLE = """\
:root { --page: #ffffff; --panel: #f4f6f9; --ink: #1a2026; --faint: #5b6671; --grid: #dfe3e7;
  --map: #a9b4bf; --sigma: #0072b2; --error: #c4500a; }
@media (prefers-color-scheme: dark) { :root { --page: #12161a; --panel: #1a2026; --ink: #e8ecef;
  --faint: #9aa6b2; --grid: #313a43; --map: #7c8996; --sigma: #56b4e9; --error: #f0924c; } }
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: var(--ink); }
.faint { fill: var(--faint); } .head { font-size: 17px; font-weight: 600; }
.panel { fill: var(--panel); } .grid { stroke: var(--grid); fill: none; }
.map { stroke: var(--map); fill: none; stroke-linecap: round; }
.way { fill: none; stroke-width: 4; stroke-linejoin: round; stroke-linecap: round; }
.ellipse { fill: none; stroke: var(--ink); stroke-width: 1; opacity: 0.7; }
.truth { fill: none; stroke: var(--ink); stroke-width: 1.4; stroke-dasharray: 7 5; }
.three { fill: var(--sigma); fill-opacity: 0.18; }
.sigma { fill: none; stroke: var(--sigma); stroke-width: 2; }
.error { fill: none; stroke: var(--error); stroke-width: 1.8; }
"""

NICE = (1.0, 2.0, 5.0, 10.0)
"""Ticks are so many tenths, ones, tens, ... apart."""


@dataclass(frozen=True)
class Frame:
    """A rectangle of the picture and the values at its edges."""

    left: float
    top: float
    width: float
    height: float
    """[pixels]."""
    x: tuple[float, float]
    """Values at the left and right edge."""
    y: tuple[float, float]
    """Values at the lower and upper edge."""

    def place(self, points: Floats) -> Floats:
        """Pixels (n, 2) of values (n, 2)."""
        x, y = points.T
        across = self.left + self.width * (x - self.x[0]) / (self.x[1] - self.x[0])
        down = self.top + self.height * (self.y[1] - y) / (self.y[1] - self.y[0])
        return np.stack([across, down], axis=1)

    def line(self, points: Floats, kind: str, more: str = "") -> str:
        """A line through values (n, 2); ``more`` are attributes."""
        return f'<path class="{kind}" {more} d="M{_path(self.place(points))}"/>'

    def area(self, points: Floats, kind: str) -> str:
        """The area between zero and a line through values (n, 2)."""
        ends = np.array([[points[-1, 0], 0.0], [points[0, 0], 0.0]])
        return f'<path class="{kind}" d="M{_path(self.place(np.concatenate([points, ends])))}Z"/>'

    def dots(self, points: Floats, kind: str, size: float) -> str:
        """A square dot at each of (n, 2) values: one path, far smaller than as many elements."""
        moves = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in self.place(points))
        return f'<path class="{kind}" stroke-width="{size:g}" d="{moves}"/>'

    def x_axis(self, unit: str) -> str:
        """Numbers below the frame."""
        parts = []
        values = ticks(*self.x, int(self.width / 90))
        for value, (x, _) in zip(values, self.place(_at(x=values)), strict=True):
            words = f"{value:g} {unit}" if value == values[-1] else f"{value:g}"
            parts.append(text(x, self.top + self.height + 19, words, "faint", "middle"))
        return "".join(parts)

    def y_axis(self, unit: str) -> str:
        """Numbers left of the frame, with lines through it."""
        parts = []
        values = ticks(*self.y, int(self.height / 40))
        for value, (_, y) in zip(values, self.place(_at(y=values)), strict=True):
            parts.append(f'<path class="grid" d="M{self.left:.0f} {y:.0f}h{self.width:.0f}"/>')
            words = f"{value:g} {unit}" if value == values[-1] else f"{value:g}"
            parts.append(text(self.left - 7, y + 5, words, "faint", "end"))
        return "".join(parts)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round values between two, at most so many of them."""
    apart = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(apart))
    step = power * next(nice for nice in NICE if nice * power >= apart * (1.0 - 1e-9))
    return [float(step * k) + 0.0 for k in range(int(np.ceil(low / step)), int(high // step) + 1)]


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text that starts, is centred, or ends at a pixel."""
    place = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{html.escape(words)}</text>'


def panel(left: float, top: float, width: float, height: float) -> str:
    """The ground of a part of the picture."""
    place = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    return f'<rect class="panel" rx="8" {place}/>'


def document(width: int, height: int, label: str, body: str) -> str:
    """The whole picture, with a sentence for readers who cannot see it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{html.escape(label)}"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height}" style="fill:var(--page)"/>{body}</svg>\n'
    )


def _at(x: list[float] | None = None, y: list[float] | None = None) -> Floats:
    """Values (n, 2) of which only one coordinate matters."""
    first, second = np.array(x or [0.0] * len(y or ())), np.array(y or [0.0] * len(x or ()))
    return np.stack([first, second], axis=1)


def _path(pixels: Floats) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in pixels)
