# SPDX-License-Identifier: MIT
"""The picture of a run: its curves are those of the run, and its axes can be read."""

import math
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from report_cases import SIGMAS, MadeRun
from svnicp.cli import __main__ as cli
from svnicp.report.map_section import stretch
from svnicp.report.picture import run_picture, travel_directions
from svnicp.report.run_series import read_series
from svnicp.report.svg import Frame, ticks

SVG = "{http://www.w3.org/2000/svg}"


def drawn(made: MadeRun, folder: Path) -> dict[str, list[str]]:
    """Return the paths of a picture by their class, and its words as the class ``text``."""
    root = ElementTree.fromstring(run_picture(read_series(made.write(folder))))
    found: dict[str, list[str]] = {"text": [one.text or "" for one in root.iter(f"{SVG}text")]}
    for path in root.iter(f"{SVG}path"):
        found.setdefault(path.get("class", ""), []).append(path.get("d", ""))
    return found


def test_the_picture_says_sigma_and_error_at_the_end(tmp_path: Path):
    """Along the way, which is the body's x, stand the stated sigma and the true error."""
    made = MadeRun(name="a <run>")
    found = drawn(made, tmp_path)
    error_mm = 1e3 * abs(made.errors[-1, 0])
    (words,) = [text for text in found["text"] if ", error" in text and "at the end" in text][:1]
    stated, true = (float(part.split()[-2]) for part in words.split(","))
    assert_allclose(stated, 1e3 * SIGMAS[0], rtol=0.05)
    assert_allclose(true, error_mm, atol=2.0)
    assert len(found["error"]) == len(found["sigma"]) == len(found["three"]) == 2
    assert any(text.startswith("a <run>: 12 m in 6 s") for text in found["text"])
    assert found["ellipse"]
    assert found["truth"]


def test_a_run_without_truth_and_map_is_drawn_without_them(tmp_path: Path):
    """What is not known is left out, and the rest is there."""
    found = drawn(MadeRun(truth=False, with_map=False), tmp_path)
    assert not {"error", "truth", "map"} & set(found)
    assert len(found["sigma"]) == 2


@pytest.mark.parametrize("num_scans", [1, 2])
def test_a_run_that_just_began_is_drawn(num_scans: int, tmp_path: Path):
    """One pose takes no time, and its plots have axes all the same."""
    found = drawn(MadeRun(num_scans=num_scans), tmp_path)
    assert len(found["sigma"]) == 2
    assert not any("nan" in path for paths in found.values() for path in paths)


def test_the_report_command_writes_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """``--picture`` writes the file beside the report and says where."""
    MadeRun().write(tmp_path / "run")
    file = tmp_path / "run.svg"
    assert cli.main(["report", str(tmp_path / "run"), "--picture", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    assert file.read_text(encoding="utf-8").startswith("<svg ")


def test_a_picture_by_the_name_of_another_format_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """What is written is an SVG, so a file that a viewer would take for a PDF is not written."""
    MadeRun().write(tmp_path / "run")
    file = tmp_path / "run.pdf"
    assert cli.main(["report", str(tmp_path / "run"), "--picture", str(file)]) == 2
    assert "let its name end with .svg" in capsys.readouterr().err
    assert not file.exists()


def test_the_direction_of_the_way_is_that_of_the_last_metres():
    """Around a corner it turns within the reach; the first metres have the first direction."""
    leg = np.linspace(0.0, 10.0, 51)
    x = np.r_[leg, np.full(51, 10.0)]
    positions = np.stack([x, np.r_[np.zeros(51), leg], np.sin(x)], axis=1)
    found = travel_directions(positions, 2.0)
    assert_allclose(found[0], [1.0, 0.0, 0.0], atol=1e-12)
    assert_allclose(found[50], [1.0, 0.0, 0.0], atol=1e-12)
    assert_allclose(found[-1], [0.0, 1.0, 0.0], atol=1e-12)
    assert_allclose(np.linalg.norm(found, axis=1), 1.0)
    assert_allclose(travel_directions(np.zeros((4, 3)))[:, 0], 1.0)


@given(
    low=st.floats(-1e4, 1e4), span=st.floats(1e-3, 1e5), most=st.integers(1, 20)
)  # fmt: skip
def test_ticks_are_round_few_and_inside(low: float, span: float, most: int):
    """There are no more than asked for (and one), all within, a round number apart."""
    found = ticks(low, low + span, most)
    assert len(found) <= most + 1
    assert all(low - 1e-6 * span <= tick <= low + span * (1.0 + 1e-6) for tick in found)
    for first, second in pairwise(found):
        apart = second - first
        power = 10.0 ** math.floor(math.log10(apart) + 1e-6)
        assert min(abs(apart / power - nice) for nice in (1.0, 2.0, 5.0, 10.0)) < 1e-3


def test_a_corridor_is_stretched_and_a_field_is_not():
    """Flat drawings become as high as wanted at most, others keep their shape."""
    assert stretch(np.array([[0.0, 0.0], [100.0, 2.0]])) == 6
    assert stretch(np.array([[0.0, 0.0], [100.0, 50.0]])) == 1
    assert stretch(np.array([[0.0, 0.0], [100.0, 0.01]])) == 10


def test_a_frame_puts_values_at_its_edges():
    """The lowest left value is at the lower left pixel, the highest right one opposite."""
    frame = Frame(10.0, 20.0, 100.0, 50.0, (0.0, 2.0), (-1.0, 1.0))
    corners = frame.place(np.array([[0.0, -1.0], [2.0, 1.0]]))
    assert_allclose(corners, [[10.0, 70.0], [110.0, 20.0]])
