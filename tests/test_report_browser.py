# SPDX-License-Identifier: MIT
"""The report in a real browser: plots are drawn, hints and marks work, nothing is complained of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Tab, browser, browser_path
from report_cases import MadeRun
from svnicp.cli import __main__ as cli
from svnicp.recording import read_description

pytestmark = pytest.mark.skipif(
    browser_path() is None, reason="there is no Chromium or Chrome on this machine"
)

MARKED = """
[...document.querySelectorAll("figure")].map(figure => {
  const area = figure.querySelector(".plot");
  const mark = area.layout.shapes?.find(shape => shape.name === "mark");
  return [figure.classList[0], mark ? mark.x0 ?? null : null, mark ? mark.xanchor ?? null : null];
})"""
"""Script that lists the kind of each plot with the time or the place that is marked in it."""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """Yield a page of a new browser."""
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of two simulated seconds in a room."""
    folder = tmp_path_factory.mktemp("simulated") / "run"
    words = ["run", "room", "--duration", "2", "--map", "--quiet", "--out", str(folder)]
    assert cli.main(words) == 0
    assert cli.main(["report", str(folder), "--quiet"]) == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a run with weak and refused scans."""
    folder = tmp_path_factory.mktemp("made") / "run"
    MadeRun(weak=range(20, 30), refused=(40, 41)).write(folder)
    assert cli.main(["report", str(folder), "--quiet"]) == 0
    return folder / "report.html"


def place_in(tab: Tab, name: str, share: float) -> tuple[float, float]:
    """Scroll to a plot; returns a place in its axes, this share of their width from the left."""
    x, y, width, height = tab.run(
        f"(() => {{ const area = document.getElementById('plot-{name}');"
        "area.scrollIntoView({block: 'center'});"
        "const box = area.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [box.x, box.y, box.width, box.height]; })()"
    )
    return x + share * width, y + 0.5 * height


def point(tab: Tab, x: float, y: float) -> None:
    """Move to a place slowly enough for plotly, which looks at the mouse 20 times a second."""
    for place in (x - 4, x):
        tab.mouse("mouseMoved", place, y)
        tab.run("new Promise(done => setTimeout(done, 120))")


def click(tab: Tab, x: float, y: float) -> None:
    """Point to a place and click."""
    point(tab, x, y)
    tab.mouse("mousePressed", x, y)
    tab.mouse("mouseReleased", x, y)


def test_a_simulated_run_is_drawn_without_a_complaint(tab: Tab, simulated: Path):
    """Every plot has curves, the map has its picture, and nothing is asked of the network."""
    tab.events.clear()
    tab.open(simulated)
    num_plots, num_drawn = tab.run(
        "[document.querySelectorAll('.plot').length,"
        "document.querySelectorAll('.plot .plotly .main-svg .cartesianlayer').length]"
    )
    assert num_plots == num_drawn >= 15
    empty = tab.run(
        "[...document.querySelectorAll('.plot')]"
        ".filter(area => !area.querySelector('.scatterlayer path')).map(area => area.id)"
    )
    assert empty == []
    assert tab.run("document.querySelectorAll('#plot-map .heatmaplayer image').length") == 1
    assert tab.complaints() == []
    assert [url for url in tab.requests() if not url.startswith(("file:", "data:"))] == []
    assert "Share" not in tab.run("document.querySelector('.modebar').outerHTML")


def test_a_narrow_page_gives_the_map_its_width(tab: Tab, simulated: Path):
    """On a telephone the map's axes take most of the page, and the colours lie below them."""
    tab.events.clear()
    tab.open(simulated, width=400)
    width, bottom, colours_top, height = tab.run(
        "(() => { const area = document.getElementById('plot-map');"
        "const axes = area.querySelector('.nsewdrag').getBoundingClientRect();"
        "const colours = area.querySelector('.cbfills').getBoundingClientRect();"
        "return [axes.width, axes.bottom, colours.top, area.clientHeight - axes.height]; })()"
    )
    assert width > 0.65 * 400
    assert colours_top > bottom
    assert height < 220  # legend, labels and colours; the rest is the map
    assert tab.run("document.documentElement.scrollWidth") == 400
    assert tab.complaints() == []


def test_the_command_breaks_between_its_words(tab: Tab, simulated: Path):
    """No flag is cut in two on a narrow page, and what is copied is the command."""
    tab.open(simulated)
    cut = tab.run(
        "(() => { const pre = document.querySelector('#again > pre'), cut = [];"
        "for (let width = 160; width < 400; width += 8) { pre.style.width = `${width}px`;"
        "for (const word of pre.querySelectorAll('span'))"
        "if (word.textContent.startsWith('--') && word.getClientRects().length > 1)"
        "cut.push(word.textContent); } return cut; })()"
    )
    assert cut == []
    assert tab.run("document.querySelectorAll('#again > pre span').length") > 5
    copied = tab.run("document.querySelector('#again > pre').innerText")
    described = read_description(simulated.parent)
    assert copied.strip() == described.command


def test_hints_name_the_scan(tab: Tab, made: Path):
    """The hint over a plot tells number, time and fate of the scan, beside the values."""
    tab.events.clear()
    tab.open(made)
    point(tab, *place_in(tab, "sigma-0", 25 / 59))
    hints = "[...document.querySelectorAll('#plot-sigma-0 .hoverlayer text')]"
    tab.wait(f"{hints}.length > 3")
    words = tab.run(f"{hints}.map(text => text.textContent)")
    assert "2.50 s" in words
    assert "scan 26: weak" in words
    assert any(word.startswith("|error| : ") and word.endswith("mm") for word in words)
    assert tab.complaints() == []


def test_a_click_marks_the_time_in_all_plots(tab: Tab, made: Path):
    """A click in one plot marks its scan everywhere; keys move the mark, Escape takes it away."""
    tab.events.clear()
    tab.open(made)
    click(tab, *place_in(tab, "nis", 45 / 59))
    tab.wait("!document.getElementById('readout').hidden")
    kinds = tab.run(MARKED)
    times = [time for kind, time, _ in kinds if kind == "time"]
    assert len(times) >= 14
    assert set(times) == {4.5}
    x = MadeRun().T_true_body[45, 0, 3]
    assert [place for kind, _, place in kinds if kind == "map"] == pytest.approx([x], abs=0.1)
    assert [mark for kind, *mark in kinds if kind == "plain"] == [[None, None]]
    assert tab.run("document.getElementById('readout').textContent").startswith("scan 46 · 4.50 s")
    for key, words in (("ArrowLeft", "scan 45 · 4.40 s"), ("ArrowRight", "scan 46 · 4.50 s")):
        tab.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        assert tab.run("document.getElementById('readout').textContent").startswith(words)
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    assert tab.run("document.getElementById('readout').hidden")
    assert all(mark == [None, None] for _, *mark in tab.run(MARKED))
    assert tab.complaints() == []


def test_a_click_on_the_way_marks_its_scan(tab: Tab, made: Path):
    """The map knows which scan is where."""
    tab.open(made)
    place_in(tab, "map", 0.5)
    x, y = tab.run(
        "(() => { const area = document.getElementById('plot-map');"
        "const box = area.querySelector('.nsewdrag').getBoundingClientRect();"
        "const way = area.data.find(trace => trace.name === 'scans'), full = area._fullLayout;"
        "return [box.x + full.xaxis.d2p(way.x[30]), box.y + full.yaxis.d2p(way.y[30])]; })()"
    )
    click(tab, x, y)
    tab.wait("!document.getElementById('readout').hidden")
    assert tab.run("document.getElementById('readout').textContent").startswith("scan 31 ")


def test_zooming_one_plot_over_time_zooms_all(tab: Tab, made: Path):
    """All plots over time show the same span, and one double click later the whole again."""
    tab.open(made)
    ranges = (
        "[...document.querySelectorAll('figure.time .plot')]"
        ".map(area => area._fullLayout.xaxis.range.map(end => Math.round(10 * end) / 10))"
    )
    change = '{"xaxis.range[0]": 1, "xaxis.range[1]": 3}'
    tab.run(f"Plotly.relayout('plot-velocity', {change}).then(() => 0)")
    tab.wait(f"{ranges}.every(ends => ends[0] === 1 && ends[1] === 3)")
    change = '{"xaxis.range[0]": 0, "xaxis.range[1]": 5.9}'
    tab.run(f"Plotly.relayout('plot-nis', {change}).then(() => 0)")
    tab.wait(f"{ranges}.every(ends => ends[0] === 0 && ends[1] === 5.9)")
    spans = tab.run(ranges)
    assert len(spans) >= 4
    assert all(span == [0, 5.9] for span in spans)
    assert tab.complaints() == []


def test_plots_follow_the_colour_scheme(tab: Tab, made: Path):
    """Dark and light have different inks, and a change is followed without loading again."""
    colour = "document.getElementById('plot-velocity')._fullLayout.font.color"
    tab.open(made, dark=True)
    dark = tab.run(colour)
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 26)"
    tab.scheme(dark=False)
    tab.wait(f"{colour} !== '{dark}'")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(247, 248, 249)"


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_sticks_out_of_the_window(tab: Tab, made: Path, width: int):
    """The page never scrolls sideways, and plots are as wide as their places."""
    tab.open(made, width=width)
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run(
        "[...document.querySelectorAll('.plot')].every(area =>"
        "area.querySelector('.main-svg').getBoundingClientRect().width <= area.clientWidth + 1)"
    )


def test_the_page_prints_on_sheets(tab: Tab, made: Path):
    """Printing gives a PDF of some pages, and the page is as before afterwards."""
    tab.events.clear()
    tab.open(made, dark=True)
    wide = tab.run("document.getElementById('plot-nis')._fullLayout.width")
    printed = tab.pdf()
    assert printed.startswith(b"%PDF")
    assert 4 <= printed.count(b"/Type /Page\n") <= 14
    tab.wait("!document.documentElement.hasAttribute('data-paper')")
    tab.wait(f"document.getElementById('plot-nis')._fullLayout.width === {wide}")
    assert tab.complaints() == []
