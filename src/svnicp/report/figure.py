# SPDX-License-Identifier: MIT
"""Plots as plain data for plotly, and the sections that hold them.

Colours are names of the page's style ("--x"), so that a plot follows dark, light and print; the
script of the page looks them up, as it does "@time" and "@scans", which many curves share.
"""

import html
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from svnicp.arrays import Floats
from svnicp.report.spells import Mask, Spell, spells

Trace = dict[str, Any]
Kind = Literal["time", "map", "plain"]

AXIS_COLOURS = ("--x", "--y", "--z")
AXIS_DASHES = ("solid", "dash", "dot")
"""Curves of x, y and z differ in colour and in stroke, for printers and for all eyes."""


@dataclass(frozen=True)
class Figure:
    """One plot with a title above it."""

    name: str
    """For the page's elements; unique."""
    title: str
    data: list[Trace]
    layout: dict[str, Any]
    kind: Kind = "time"
    height_px: int = 230
    wide: bool = False
    """Whether it takes the whole width of the page."""


@dataclass(frozen=True)
class Section:
    """Part of the page; without figures, ``left_out`` says why."""

    name: str
    title: str
    caption: str = ""
    """Plain text below the title: what is seen, and how to read it."""
    figures: tuple[Figure, ...] = ()
    tables: tuple[str, ...] = ()
    """HTML below the figures, already escaped."""
    legend: tuple[tuple[str, str, str], ...] = ()
    """Kind of mark (line, band), colour and words for what all figures share."""
    left_out: str = field(default="")
    """Plain text: why it is empty, or why a part of it is missing."""


def numbers(values: Floats) -> list[float | None]:
    """Values (n,) with five digits for the page; None where there is no number."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values.tolist()]


def plain(text: str) -> str:
    """Text that plotly shows as it is, though it knows some HTML."""
    return html.escape(text, quote=False)


def curve(
    values: Floats, name: str, colour: str, unit: str, dash: str = "solid", width: float = 1.6
) -> Trace:
    """A line over time through (n,) values."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": "@time",
        "y": numbers(values),
        "customdata": "@scans",
        "name": plain(name),
        "line": {"color": colour, "dash": dash, "width": width},
        "hovertemplate": f"%{{y:.3~g}} {unit}",
    }


def band(values: Floats, name: str, colour: str, unit: str) -> Trace:
    """An area over time from zero to (n,) values."""
    area = curve(values, name, colour, unit, width=0)
    return {**area, "fill": "tozeroy", "fillcolor": colour}


def three_curves(values: Floats, unit: str, names: Iterable[str] = ("x", "y", "z")) -> list[Trace]:
    """Lines over time through the columns of (n, 3) values."""
    looks = zip(values.T, names, AXIS_COLOURS, AXIS_DASHES, strict=True)
    return [curve(column, name, colour, unit, dash) for column, name, colour, dash in looks]


def time_layout(y_title: str, **more: object) -> dict[str, Any]:
    """Layout of a plot over time; the page's script adds the scan to the hints."""
    return {
        "xaxis": {"title": {"text": "time [s]"}, "unifiedhovertitle": {"text": "%{x:.2f} s"}},
        "yaxis": {"title": {"text": y_title}},
        "hovermode": "x unified",
        "hoverdistance": -1,
        "shapes": [],
        **more,
    }


def shade(mask: Mask, seconds: Floats, colour: str) -> list[dict[str, Any]]:
    """Coloured times of a plot, where a mask (n,) holds at (n,) times [s]."""
    return [_stripe(spell, seconds, colour) for spell in spells(mask, seconds)]


def level(value: float, colour: str, dash: str = "dash") -> dict[str, Any]:
    """A horizontal line through a plot."""
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "yref": "y", "y0": value, "y1": value,
        "line": {"color": colour, "width": 1.2, "dash": dash},
    }  # fmt: skip


def level_label(y: float, text: str, colour: str, anchor: str = "bottom") -> dict[str, Any]:
    """Words at the right end of a level; ``y`` is a logarithm on a logarithmic axis."""
    return {
        "xref": "paper", "x": 1, "xanchor": "right", "yref": "y", "y": y, "yanchor": anchor,
        "text": text, "showarrow": False, "bgcolor": "--card",
        "font": {"size": 11, "color": colour},
    }  # fmt: skip


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """HTML of a table; the first cell of a row is its name."""
    heads = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
    body = ""
    for first, *others in rows:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in others)
        body += f'<tr><th scope="row">{html.escape(first)}</th>{cells}</tr>\n'
    return (
        f'<div class="scroll"><table>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}</tbody></table></div>"
    )


def _stripe(spell: Spell, seconds: Floats, colour: str) -> dict[str, Any]:
    """A spell as a rectangle, at least as wide as a scan."""
    half = 0.5 * float(np.median(np.diff(seconds))) if len(seconds) > 1 else 0.05
    return {
        "type": "rect", "xref": "x", "x0": spell.start_s - half, "x1": spell.end_s + half,
        "yref": "paper", "y0": 0, "y1": 1, "layer": "below", "line": {"width": 0},
        "fillcolor": colour,
    }  # fmt: skip
