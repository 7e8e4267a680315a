# SPDX-License-Identifier: MIT
"""The demo of a single scan as one SVG: a row of drawings for each place.

From above stand the map in grey and the new scan in blue where the registration put it; then the
sensor's position magnified, with particles and their three-sigma ellipse in orange, the truth as a
green cross and the guess dashed; then the error of each axis in its own standard deviations.
"""

from html import escape

from svnicp.cli.demo_scenes import Experiment
from svnicp.cli.drawing import STYLE, Panel, close_up, errors_in_sigmas, from_above
from svnicp.cli.wording import weak_direction_in_words


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
