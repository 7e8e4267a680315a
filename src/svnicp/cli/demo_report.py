# SPDX-License-Identifier: MIT
"""The demo's report: one HTML file that needs nothing else, and the same drawings as one SVG.

No scripts and no network: the page is text, a table and inline SVG, readable in dark and light.
"""

from html import escape

from svnicp.cli.demo_scenes import (
    NUM_COLUMNS,
    NUM_RINGS,
    PRIOR_STD_DEG,
    PRIOR_STD_M,
    RANGE_NOISE_M,
    Experiment,
)
from svnicp.cli.drawing import STYLE, Panel, close_up, errors_in_sigmas, from_above
from svnicp.cli.wording import (
    NEES_RANGE,
    TANGENT_AXES,
    tangent_in_words,
    time_in_words,
    weak_direction_in_words,
)

PAGE_STYLE = """\
body { margin: 0 auto; max-width: 1200px; padding: 24px; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { margin: 0 0 4px; } h2 { margin: 32px 0 4px; } p { margin: 6px 0; max-width: 75ch; }
.faint, figcaption { color: var(--faint); } .weak { color: var(--weak); font-weight: 600; }
.panels { display: grid; gap: 14px; margin: 12px 0;
  grid-template-columns: minmax(0, 56fr) minmax(0, 30fr) minmax(0, 30fr); }
.panels svg { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 12px 0; }
th, td { padding: 4px 14px 4px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
th:first-child { text-align: left; } code { background: var(--panel); padding: 2px 6px;
  border-radius: 4px; overflow-wrap: anywhere; }
@media (max-width: 800px) { .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .panels svg:first-child { grid-column: 1 / -1; } }
@media (max-width: 480px) { body { padding: 14px; } .panels { grid-template-columns: 1fr; } }
"""

LEGEND = (
    "First drawing, from above: the map in grey, the new scan in blue where the registration put "
    "it, the sensor as a dot with its x axis. Second, the sensor's position magnified: particles "
    "and their three-sigma ellipse in orange, the truth as a green cross, the three-sigma ellipse "
    "of the guess dashed. Third: the error of each axis in its own standard deviations."
)


def page(experiments: list[Experiment], command: str, version: str) -> str:
    """Return the HTML of the report; ``command`` is what makes it again."""
    sections = "\n".join(_section(experiment) for experiment in experiments)
    low, high = NEES_RANGE
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>svnicp demo</title>
<style>
{STYLE}{PAGE_STYLE}</style>
</head>
<body>
<h1>svnicp demo</h1>
<p>A new scan is registered in a map of eight scans, in two simulated places. The truth is known, so
the error can be held against the uncertainty that each result states.</p>
<p class="faint">LiDAR of {NUM_RINGS} rings and {NUM_COLUMNS} columns, range noise
{1e3 * RANGE_NOISE_M:.0f} mm; guess drawn with {1e3 * PRIOR_STD_M:.0f} mm and
{PRIOR_STD_DEG:.0f} deg per axis.</p>
<p class="faint">{LEGEND}</p>
{sections}
<h2>Error and sigma</h2>
<div class="scroll">{_table(experiments)}</div>
<p class="faint">Along and about the axes of the source. NEES is the squared error in standard
deviations over all six axes: 6 is expected, and {low} to {high} in 95 of 100 runs if the covariance
is right. One run shows what the numbers look like; whether they are right takes many.</p>
<h2>Again</h2>
<p><code>{escape(command)}</code> <span class="faint">svnicp {escape(version)}</span></p>
</body>
</html>
"""


def picture(experiments: list[Experiment]) -> str:
    """Return all panels as one SVG file, a row for each experiment."""
    gap, title = 14, 34
    body, y, width = "", gap, 0
    for experiment in experiments:
        body += f'<text x="{gap}" y="{y + 20}" style="font-size:18px;font-weight:600">'
        body += f'{escape(experiment.title)}<tspan dx="12" style="font-weight:400">'
        body += f"{escape(_verdict(experiment))}</tspan></text>"
        y += title
        x = gap
        panels = _panels(experiment)
        for panel in panels:
            body += panel.svg(at=(x, y))
            x += panel.width + gap
        y += max(panel.height for panel in panels) + gap
        width = max(width, x)
    size = f'viewBox="0 0 {width} {y}" width="{width}" height="{y}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'aria-label="Two registrations with their uncertainty"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{y}" style="fill:var(--page)"/>{body}</svg>\n'
    )


def _panels(experiment: Experiment) -> tuple[Panel, Panel, Panel]:
    """Return the three drawings of one experiment."""
    return from_above(experiment), close_up(experiment), errors_in_sigmas(experiment)


def _section(experiment: Experiment) -> str:
    """Return the heading, the verdict and the panels of one experiment."""
    panels = "\n".join(panel.svg() for panel in _panels(experiment))
    kind = ' class="weak"' if experiment.result.weak_directions else ""
    return (
        f"<h2>{escape(experiment.title)}</h2>\n<p{kind}>{escape(_verdict(experiment))}</p>\n"
        f'<div class="panels">\n{panels}\n</div>'
    )


def _verdict(experiment: Experiment) -> str:
    """Return what the result says of itself, in a line."""
    result = experiment.result
    if not result.status.ok:
        return result.status.message
    if result.weak_directions:
        return "Weak: " + "; ".join(
            weak_direction_in_words(weak) for weak in result.weak_directions
        )
    return "All six axes are determined by the scan."


def _table(experiments: list[Experiment]) -> str:
    """Return the table of errors and sigmas as HTML."""
    titles = "".join(
        f'<th colspan="3">{escape(experiment.title)}</th>' for experiment in experiments
    )
    heads = "<th>error</th><th>sigma</th><th>ratio</th>" * len(experiments)
    rows = ""
    for index, axis in enumerate(TANGENT_AXES):
        cells = ""
        for experiment in experiments:
            error, sigma = experiment.error[index], experiment.result.sigmas[index]
            cells += f"<td>{tangent_in_words(index, error)}</td>"
            cells += f"<td>{tangent_in_words(index, sigma)}</td><td>{error / sigma:+.1f}</td>"
        rows += f"<tr><th>{axis}</th>{cells}</tr>\n"
    nees = "".join(f'<td colspan="3">{experiment.nees:.1f}</td>' for experiment in experiments)
    times = "".join(
        f'<td colspan="3">{time_in_words(experiment.seconds)}</td>' for experiment in experiments
    )
    return (
        f"<table>\n<tr><th></th>{titles}</tr>\n<tr><th></th>{heads}</tr>\n{rows}"
        f"<tr><th>NEES</th>{nees}</tr>\n<tr><th>registration</th>{times}</tr>\n</table>"
    )
