# SPDX-License-Identifier: MIT
"""The report's page: whole, self-contained, safe, and honest about what a run does not have."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from report_cases import SIGMAS, MadeRun
from svnicp.cli import __main__ as cli
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import write_tum
from svnicp.report import page as page_module
from svnicp.report.map_section import ellipse, magnification, raster
from svnicp.report.page import in_script, page
from svnicp.report.run_series import read_series

PLOTLY = "const stands_for_plotly = 1;"


def page_of(made: MadeRun, folder: Path) -> str:
    """Return the page of a run without the weight of plotly."""
    return page(read_series(made.write(folder)), PLOTLY)


def data_of(text: str) -> dict[str, Any]:
    """Return what a page hands to its script."""
    found = re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def looked_up(value: Any, data: dict[str, Any]) -> Any:
    """Do in Python what the page's script does with names of columns and colours."""
    if isinstance(value, dict):
        return {key: looked_up(item, data) for key, item in value.items()}
    if isinstance(value, list):
        return [looked_up(item, data) for item in value]
    if value == "@time":
        return data["scans"]["time"]
    if isinstance(value, str) and value.startswith("@scans"):
        return list(zip(data["scans"]["number"], data["scans"]["status"], strict=True))
    return "#123456" if isinstance(value, str) and value.startswith("--") else value


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the page of a run that has everything."""
    made = MadeRun(weak=range(20, 30), refused=(40, 41))
    return page_of(made, tmp_path_factory.mktemp("report") / "run")


def test_every_plot_is_one_that_plotly_knows(whole: str):
    """Plotly's own checks accept every trace and layout, and each plot has its place."""
    data = data_of(whole)
    names = [figure["name"] for figure in data["figures"]]
    assert len(names) == len(set(names)) >= 15
    for figure in data["figures"]:
        go.Figure(looked_up({"data": figure["data"], "layout": figure["layout"]}, data))
        assert f'id="plot-{figure["name"]}"' in whole


def test_every_axis_has_a_unit(whole: str):
    """A title without a unit in brackets leaves a reader guessing."""
    for figure in data_of(whole)["figures"]:
        for axis in ("xaxis", "yaxis"):
            assert re.search(r"\[.+\]$", figure["layout"][axis]["title"]["text"]), figure["name"]


def test_every_curve_over_time_has_a_value_per_scan(whole: str):
    """Curves share the time axis, so their lengths must agree."""
    data = data_of(whole)
    for figure in data["figures"]:
        for trace in figure["data"]:
            if trace.get("x") == "@time":
                assert len(trace["y"]) == len(data["scans"]["time"]) == 60, figure["name"]


def test_every_colour_of_a_plot_is_in_the_style(whole: str):
    """A colour that the style does not define would be drawn black in all schemes."""
    used = set(re.findall(r'"(--[\w-]+)"', re.sub(r'"bdata":"[^"]*"', "", whole)))
    defined = set(re.findall(r"(--[\w-]+):", whole))
    assert len(used) > 15
    assert used <= defined


def test_the_page_asks_for_nothing_from_outside(whole: str):
    """No address of a script, style, font or picture is in the page, and its policy forbids it."""
    assert "default-src 'none'" in whole
    assert not re.search(r"""(?:src|href)\s*=|@import|url\(""", whole)


def test_sections_without_data_say_why(tmp_path: Path):
    """LiDAR alone, without truth and map, has lines in place of plots, and no empty plots."""
    text = page_of(MadeRun(imu=False, truth=False, with_map=False), tmp_path / "run")
    names = {figure["name"] for figure in data_of(text)["figures"]}
    assert not names & {"calibration", "bias-gyroscope", "bias-accelerometer"}
    assert {"map", "sigma-0", "velocity", "timing"} <= names
    for words in ("Biases are left out", "Left out: the run has no ground truth",
                  "APE and RPE are left out", "The surroundings are left out"):  # fmt: skip
        assert words in text


def test_a_run_of_a_single_scan_has_a_page(tmp_path: Path):
    """Whatever needs two scans is left out, and nothing fails."""
    text = page_of(MadeRun(num_scans=1), tmp_path / "run")
    assert "Left out: no scan was fused" in text
    assert "A single scan, which begins the map and is matched with nothing." in text


def test_what_users_give_cannot_become_markup(tmp_path: Path):
    """Names, commands, stages and words of scans with HTML in them appear as text only."""
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    made = MadeRun(name=evil, command=f"svnicp run '{evil}'", stage=evil, refused=(5,),
                   refused_status=evil)  # fmt: skip
    text = page_of(made, tmp_path / "run")
    assert text.count("<script") == 3
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    figures = {figure["name"]: figure for figure in data_of(text)["figures"]}
    assert figures["timing"]["data"][1]["name"].startswith("&lt;/script&gt;")


def test_json_in_a_script_cannot_end_it():
    """The characters that HTML looks for are escaped, and the value stays the same."""
    content = {"<!--": ["</script>", "a & b", 1.5, None]}
    text = in_script(content)
    assert not set(text) & set("<>&")
    assert json.loads(text) == content


def test_a_long_run_is_thinned_for_the_plots_but_not_for_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The page draws one of several scans, says so, and counts all of them."""
    monkeypatch.setattr(page_module, "MOST_DRAWN", 25)
    text = page_of(MadeRun(), tmp_path / "run")
    assert data_of(text)["scans"]["number"] == list(range(1, 61, 3))
    assert "one of 3 scans" in text
    assert ">60<small>" in text


def test_ellipses_are_at_three_sigma(rng: np.random.Generator):
    """All points of an outline are three standard deviations from its centre."""
    root = rng.normal(size=(2, 2))
    covariance, centre = root @ root.T, rng.normal(size=2)
    away = ellipse(centre, covariance, 3.0) - centre
    squares = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
    np.testing.assert_allclose(squares, 9.0)


def test_small_ellipses_are_magnified_and_large_ones_are_not():
    """Ellipses of a millimetre in a room are enlarged to be seen; those of a metre are to scale."""
    extent = np.array([[0.0, 0.0], [10.0, 5.0]])
    small, large = (np.tile(size**2 * np.eye(2), (3, 1, 1)) for size in (0.001, 1.0))
    assert magnification(large, extent) == 1
    assert magnification(small, extent) == 100


def test_the_picture_of_the_map_has_its_points_in_place():
    """A wall of many points is the darkest square, where it stands; the rest is empty."""
    points = np.array([[1.05, 0.35, 0.1 * height] for height in range(10)] + [[0.05, 0.05, 0.0]])
    trace = raster(points, np.array([[0.0, 0.0], [2.0, 0.5]]))
    rows, columns = map(int, trace["z"]["shape"].split(","))
    shades = np.frombuffer(base64.b64decode(trace["z"]["bdata"]), np.uint8).reshape(rows, columns)
    assert (rows, columns) == (5, 20)
    assert shades[3, 10] == 255
    assert 0 < shades[0, 0] < 255
    assert np.count_nonzero(shades) == 2


def test_the_command_writes_the_page_and_says_how_to_open_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Plotly is inside, the file stays below 10 MB, and nothing else is left in the folder."""
    folder = MadeRun().write(tmp_path / "run")
    before = {file.name for file in folder.iterdir()}
    assert cli.main(["report", str(folder)]) == 0
    written = folder / "report.html"
    assert written.stat().st_size < 10_000_000
    assert "Plotly" in written.read_text(encoding="utf-8")
    assert f"{written}" in capsys.readouterr().out.splitlines()[-1]
    assert {file.name for file in folder.iterdir()} - before == {"report.html"}


def test_truth_can_be_given_to_a_run_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """With --ground-truth the errors are drawn, and --out puts the page elsewhere."""
    made = MadeRun(truth=False)
    folder = made.write(tmp_path / "run")
    write_tum(tmp_path / "truth.tum", Trajectory(made.stamps_ns, made.T_true_body))
    words = ["report", str(folder), "--out", str(tmp_path / "a.html"), "--quiet"]
    assert cli.main([*words, "--ground-truth", str(tmp_path / "truth.tum")]) == 0
    assert "|error|" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out == ""


def _remove(name: str) -> Any:
    return lambda folder: (folder / name).unlink()


def _spoil(name: str, text: str) -> Any:
    return lambda folder: (folder / name).write_text(text)


BROKEN = {
    "no run.yaml": _remove("run.yaml"),
    "no scans.csv": _remove("scans.csv"),
    "no trajectory": _remove("trajectory.tum"),
    "no pose": _spoil("trajectory.tum", ""),
    "other table": _spoil("scans.csv", "a,b\n1,2\n"),
    "empty table": _spoil("scans.csv", ""),
    "no number": lambda folder: _replace(folder / "scans.csv", ",900,", ",many,"),
    "short row": lambda folder: _replace(folder / "scans.csv", ",1000,900,", ",900,"),
    "no time": lambda folder: _replace(folder / "timing.csv", "predict,0.001", "predict,soon"),
    "fewer rows": lambda folder: _cut(folder / "scans.csv"),
    "map": _spoil("map.ply", "ply\n"),
}


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def _cut(path: Path) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-2]))


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_folder_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str
):
    """What is wrong with the folder is said with its file, with code 2, and nothing is written."""
    folder = MadeRun(num_scans=5).write(tmp_path / "run")
    BROKEN[broken](folder)
    assert cli.main(["report", str(folder)]) == 2
    complaint = capsys.readouterr().err
    assert len(complaint.splitlines()) == 1
    assert str(folder) in complaint
    assert not (folder / "report.html").exists()


def test_a_path_that_is_no_folder_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A file, or nothing at all, in place of a folder is told as such."""
    assert cli.main(["report", str(tmp_path / "missing")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


def test_a_killed_run_has_a_page(tmp_path: Path):
    """An unfinished last line and rows without a pose do not matter."""
    folder = MadeRun(num_scans=20).write(tmp_path / "run")
    poses = (folder / "trajectory.tum").read_text().splitlines(keepends=True)
    (folder / "trajectory.tum").write_text("".join(poses[:15]))
    rows = (folder / "scans.csv").read_text().splitlines(keepends=True)
    (folder / "scans.csv").write_text("".join(rows[:21]) + rows[21][:20])
    series = read_series(folder)
    assert len(series.scans) == 15
    assert series.scans.nis.shape == (15,)


def test_sigmas_in_the_plots_are_those_of_the_run(whole: str):
    """The curve of one sigma is the stated one, in the unit of its axis."""
    figures = {figure["name"]: figure for figure in data_of(whole)["figures"]}
    for axis in range(6):
        figure = figures[f"sigma-{axis}"]
        unit = figure["layout"]["yaxis"]["title"]["text"].split("[")[1][:-1]
        factor = {"mm": 1e3, "m": 1.0, "deg": np.degrees(1.0), "mdeg": 1e3 * np.degrees(1.0)}[unit]
        band, sigma, _ = figure["data"]
        np.testing.assert_allclose(sigma["y"][1:], factor * SIGMAS[axis], rtol=1e-4)
        np.testing.assert_allclose(band["y"][1:], 3.0 * factor * SIGMAS[axis], rtol=1e-4)
