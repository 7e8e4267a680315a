# SPDX-License-Identifier: MIT
"""The page of a run: words, numbers and plots in one HTML file that needs nothing else.

The folder of a run goes in, the text of the file comes out. Plotly, the script and the style are
inside; the page's own security policy keeps it from asking the network for anything.
"""

import html
import json
import math
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from svnicp.data.trajectory import Trajectory
from svnicp.extras import require
from svnicp.odometry.outcome import Fate
from svnicp.recording import RunDescription
from svnicp.report.calibration_section import calibration_section
from svnicp.report.figure import Figure, Section, numbers, plain
from svnicp.report.filter_sections import gain_section, innovation_section, motion_section
from svnicp.report.key_figures import KeyFigure, key_figures
from svnicp.report.map_section import map_section
from svnicp.report.run_series import RunSeries, Scans, read_series
from svnicp.report.summary import Summary, summary
from svnicp.report.timing_section import timing_section
from svnicp.report.uncertainty_section import uncertainty_section

MOST_DRAWN = 4000
"""Scans in a plot; of a longer run, only every second, third, ... is drawn."""

SECTIONS = (
    map_section, uncertainty_section, calibration_section, gain_section, innovation_section,
    motion_section, timing_section,
)  # fmt: skip
"""Parts of the page, in their order."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
)


def run_page(folder: Path, ground_truth: Trajectory | None = None) -> str:
    """Return the report of a run as HTML.

    Parameters
    ----------
    folder
        Folder of the run, finished or not.
    ground_truth
        True poses of the body, instead of those that are in the folder.

    Raises
    ------
    DatasetError
        If it is not the folder of a run.
    MissingExtraError
        If plotly is not installed.
    """
    return page(read_series(folder, ground_truth), plotly_script())


def plotly_script() -> str:
    """Return the source of plotly's script, or raise a MissingExtraError."""
    return require("plotly.offline", "report", "The report").get_plotlyjs()


def page(series: RunSeries, plotly: str) -> str:
    """Return the report with the source of plotly's script in it."""
    step = math.ceil(len(series.scans) / MOST_DRAWN)
    drawn = series.scans.every(step)
    sections = [make(series, drawn) for make in SECTIONS]
    title = html.escape(run_name(series.description))
    body = "\n".join(
        [
            _head(series, title),
            _summary(summary(series), step),
            _key_figures(key_figures(series), series.no_evaluation or series.no_truth),
            *map(_section, sections),
            _again(series),
        ]
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · svnicp report</title>
<style>
{_asset("report.css")}</style>
</head>
<body>
<main>
{body}
</main>
<div id="readout" role="status" hidden></div>
<script type="application/json" id="report-data">{_data(drawn, sections)}</script>
<script>{plotly}</script>
<script>
{_asset("report.js")}</script>
</body>
</html>
"""


def run_name(description: RunDescription) -> str:
    """Return what a run is called: its dataset, without the folders."""
    return str(description.more.get("name") or Path(description.data).name or "run")


def in_script(content: object) -> str:
    """Return JSON that cannot end the script it stands in."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data(drawn: Scans, sections: list[Section]) -> str:
    """What the script of the page needs."""
    figures = [figure for section in sections for figure in section.figures]
    content = {
        "scans": {
            "number": drawn.numbers.tolist(),
            "time": numbers(drawn.seconds.round(3)),
            "status": [plain(status) for status in drawn.statuses],
            "x": numbers(drawn.positions[:, 0]),
            "y": numbers(drawn.positions[:, 1]),
        },
        "messages": {fate.name.lower(): fate.value for fate in Fate},
        "figures": [
            {"name": one.name, "kind": one.kind, "data": one.data, "layout": one.layout}
            for one in figures
        ],
    }
    return in_script(content)


def _head(series: RunSeries, title: str) -> str:
    """Name of the run and what kind it is."""
    described = series.description
    kind = "LiDAR-inertial odometry" if described.more.get("imu") else "LiDAR odometry"
    words = [kind, f"svnicp {described.version}", _when(described.started), str(described.state)]
    line = " · ".join(html.escape(word) for word in words if word)
    return (
        f'<header><p class="over">svnicp report</p>\n<h1>{title}</h1>\n'
        f'<p class="faint">{line}</p></header>'
    )


def _summary(said: Summary, step: int) -> str:
    """The words to read first."""
    verdict, sentences = _unbroken(said.verdict), _unbroken(" ".join(said.sentences))
    thinned = "" if step == 1 else f" Plots show one of {step} scans; the numbers are of all."
    hint = "Click on a time in a plot, or on the path, to mark that scan in all plots."
    return (
        f'<section class="summary {said.level}" aria-label="Summary">\n'
        f'<p class="verdict">{html.escape(verdict)}</p>\n<p>{html.escape(sentences)}</p>\n'
        f'<p class="faint hint">{hint}{thinned}</p>\n</section>'
    )


def _key_figures(figures: list[KeyFigure], missing: str) -> str:
    """The numbers at the top."""
    cards = "\n".join(
        f"<div><dt>{html.escape(one.name)}</dt><dd>{html.escape(one.value)}"
        f"<small>{html.escape(one.remark)}</small></dd></div>"
        for one in figures
    )
    why = f'<p class="faint">APE and RPE are left out: {html.escape(missing)}</p>'
    return f'<dl class="figures">\n{cards}\n</dl>\n{why if missing else ""}'


def _section(section: Section) -> str:
    """A part of the page, or a line on why it is empty."""
    parts = [f'<section id="{section.name}">', f"<h2>{html.escape(section.title)}</h2>"]
    if section.caption:
        parts.append(f"<p>{html.escape(section.caption)}</p>")
    if section.left_out:
        parts.append(f'<p class="faint left-out">{html.escape(section.left_out)}</p>')
    if section.legend:
        marks = "".join(
            f'<li><i class="{mark}" style="--mark-colour: var({colour})"></i>'
            f"{html.escape(text)}</li>"
            for mark, colour, text in section.legend
        )
        parts.append(f'<ul class="legend">{marks}</ul>')
    if section.figures:
        inside = [*map(_figure, section.figures), *section.tables]
        parts.append(f'<div class="plots">\n{"".join(inside)}</div>')
    return "\n".join([*parts, "</section>"])


def _figure(figure: Figure) -> str:
    """The place of a plot."""
    label = html.escape(figure.title or figure.name)
    caption = f"<figcaption>{html.escape(figure.title)}</figcaption>" if figure.title else ""
    return (
        f'<figure class="{figure.kind}{" wide" if figure.wide else ""}">{caption}'
        f'<div class="plot" id="plot-{figure.name}" role="img" aria-label="{label}" '
        f'style="height:{figure.height_px}px"></div></figure>\n'
    )


def _again(series: RunSeries) -> str:
    """How to make the run again, and with which parameters it was made."""
    described = series.description
    config = _yaml(described.config, flow=False)
    rest = _yaml({"seed": described.seed, "data": described.data, **described.more}, flow=None)
    return (
        '<section id="again">\n<h2>Make it again</h2>\n'
        f"<pre><code>{_words(str(described.command))}</code></pre>\n"
        f'<p class="faint">Folder of the run: {html.escape(str(series.folder))}. '
        f"Started {html.escape(_when(described.started))}, "
        f"ended {html.escape(_when(described.ended or 'not yet'))}.</p>\n"
        f"<details><summary>All parameters</summary><pre>{config}</pre></details>\n"
        f"<details><summary>Data and sensors</summary><pre>{rest}</pre></details>\n</section>\n"
        "<noscript><p>The plots need JavaScript; all numbers are above.</p></noscript>"
    )


def _words(command: str) -> str:
    """Escaped command whose lines break between its words, and not at the hyphens of a flag."""
    return " ".join(f"<span>{html.escape(word)}</span>" for word in command.split(" "))


def _when(stamp: str) -> str:
    """Return a time as run.yaml has it, for people."""
    return str(stamp).replace("T", " ").replace("+00:00", " UTC")


def _yaml(content: Mapping[str, Any], *, flow: bool | None) -> str:
    """Escaped YAML; with ``flow`` None the innermost lists take one line."""
    text = yaml.safe_dump(
        dict(content), sort_keys=False, allow_unicode=True, default_flow_style=flow, width=100
    )
    return html.escape(text)


def _unbroken(text: str) -> str:
    """Keep numbers and their units on one line."""
    return re.sub(r"(\d) (?=(s|m|mm|%)(\W|$))", "\\1\u00a0", text)


def _asset(name: str) -> str:
    """Text of a file that comes with the package."""
    return resources.files("svnicp.report").joinpath("assets", name).read_text(encoding="utf-8")
