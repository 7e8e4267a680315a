# SPDX-License-Identifier: MIT
"""The documentation site builds without a warning, and its pages are true to the package."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import svnicp
from browser import Tab, browser, browser_path
from svnicp.cli import __main__ as cli
from svnicp.cli.completion import command_interface
from svnicp.config.parameter_page import parameter_page

NEEDED = ("mkdocs", "material", "mkdocstrings")
ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page.name for page in DOCS.glob("*.md"))
SHELL_BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LOADED = re.compile(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"?(https?:[^\"\s>]+)")


def open_narrow(tab: Tab, page: Path) -> None:
    """Open a page of the site in a window as narrow as a telephone."""
    size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    tab.call("Emulation.setDeviceMetricsOverride", **size)
    tab.call("Page.navigate", url=page.as_uri())
    tab.wait("document.readyState === 'complete'")


def text(page: str) -> str:
    """Return a page of docs/."""
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built with warnings as errors."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the site needs {', '.join(missing)}: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site: Path):
    """Strict mode passes, every page is there, and no page asks another server for anything."""
    built = {page.stem for page in site.glob("*.html")}
    assert {Path(page).stem for page in PAGES} | {"examples", "changelog", "contributing"} <= built
    for page in site.glob("*.html"):
        assert LOADED.findall(page.read_text(encoding="utf-8")) == [], page.name
    assert 'id="gtsam_pose_graph"' in (site / "examples.html").read_text(encoding="utf-8")


@pytest.mark.skipif(browser_path() is None, reason="needs a browser: apt install chromium")
def test_pages_on_the_disk_can_be_searched(site: Path, tmp_path: Path):
    """In a real browser search finds pages without a server, and narrow windows do not overflow."""
    with browser(tmp_path) as tab:
        open_narrow(tab, site / "scores.html")
        tab.wait("document.documentElement.scrollWidth === 400")
        tab.run("document.querySelector('label[for=__search]').click()")
        tab.run("document.querySelector('.md-search__input').focus()")
        tab.call("Input.insertText", text="robot_localization")
        tab.wait("document.querySelectorAll('.md-search-result__link').length > 0")
        found = tab.run("document.querySelector('.md-search-result__list').innerText")
        assert "robot_localization" in found
        assert tab.complaints() == []
        assert [url for url in tab.requests() if not url.startswith(("file:", "data:"))] == []


def test_no_link_leads_to_a_folder(site: Path):
    """From the disk, a folder is a list of files; every link within the site names a page."""
    for page in site.glob("*.html"):
        links = re.findall(r"<a [^>]*href=\"?([^\"\s>]*)", page.read_text(encoding="utf-8"))
        assert [link for link in links if link.rstrip("/") in {".", ".."}] == [], page.name


@pytest.mark.skipif(browser_path() is None, reason="needs a browser: apt install chromium")
def test_tables_stay_readable_on_a_narrow_page(site: Path, tmp_path: Path):
    """No column is squeezed so that its words stand below each other, letter by letter."""
    with browser(tmp_path) as tab:
        for page in sorted(site.glob("*.html")):
            open_narrow(tab, page)
            highest = tab.run(
                "Math.max(0, ...[...document.querySelectorAll('article tr')]"
                ".map(row => row.offsetHeight))"
            )
            assert highest < 600, page.name


def test_the_page_of_parameters_is_up_to_date():
    """The committed page is what the dataclasses make of it."""
    assert text("parameters.md") == parameter_page(), (
        "run python -m svnicp.config.parameter_page > docs/parameters.md"
    )


def test_every_parameter_has_a_sentence():
    """No field of the configuration is missing on the page."""
    values = svnicp.Config().to_dict()
    page = text("parameters.md")
    for stage, parameters in values.items():
        table = page.split(f"\n## {stage}\n")[1].split("\n## ")[0]
        assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(parameters)


def test_the_reference_has_every_public_name():
    """What ``svnicp`` exports is on the page of the API."""
    shown = {line.rsplit(".", 1)[1] for line in text("api.md").splitlines() if line[:3] == ":::"}
    assert set(svnicp.__all__) - shown == {"__version__"}


@pytest.mark.parametrize("page", [page for page in PAGES if SHELL_BLOCK.search(text(page))])
def test_commands_on_the_pages_exist(page: str):
    """Every ``svnicp`` command in a shell block is one, and knows the options it is given."""
    known = {name: {one.flag for one in command_interface(name)} for name in cli.COMMANDS}
    for line in "\n".join(SHELL_BLOCK.findall(text(page))).splitlines():
        for part in re.split(r"[|;&#()]", line.split("#")[0]):
            words = part.split()
            if words[:1] != ["svnicp"] or words[1] in {"--help", "--version", "--completion"}:
                continue
            assert words[1] in known, line
            assert {word for word in words if word[:2] == "--"} <= known[words[1]], line


def test_every_picture_has_its_command():
    """Below each picture of the page on how it works stands the command that draws it."""
    blocks = text("how-it-works.md").split("\n\n")
    pictures = [number for number, block in enumerate(blocks) if block.startswith("![")]
    assert len(pictures) >= 3
    for number in pictures:
        name = re.search(r"images/(\w+)\.svg", blocks[number])
        assert name is not None
        assert name[1] in blocks[number + 1]
        assert re.fullmatch(r"`(python docs/draw_pictures\.py|svnicp) .*`", blocks[number + 1])


def test_the_tutorial_runs(tmp_path: Path, monkeypatch, capsys):
    """The Python of the tutorial prints poses, and reads what a run has written."""
    monkeypatch.chdir(tmp_path)
    short = ["--no-imu", "--duration", "0.5", "--quiet"]
    assert cli.main(["run", "room", "--out", "corridor", *short]) == 0
    first, second = PYTHON_BLOCK.findall(text("tutorial.md"))
    exec(compile(first, "tutorial.md", "exec"), {})
    assert capsys.readouterr().out.startswith("first ")
    exec(compile(second, "tutorial.md", "exec"), {})
    assert "poses; largest sigma" in capsys.readouterr().out
