# SPDX-License-Identifier: MIT
"""``svnicp scenarios`` and ``svnicp simulate``: what they print, write and refuse."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from svnicp.cli import scenarios, simulate
from svnicp.errors import SvnicpError
from svnicp.simulation.scenarios import SCENARIOS

SHORT = ["--duration", "0.6", "--seed", "3"]


def test_scenarios_lists_what_degrades_sensors_and_lengths(capsys, monkeypatch):
    """Each scenario has one row with what degrades, its sensors, and both runs."""
    monkeypatch.setenv("COLUMNS", "200")
    assert scenarios.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, row in SCENARIOS.items():
        (line,) = [line for line in lines if line.split()[:1] == [name]]
        for words in (row.degrades, row.platform.name, row.sensor, row.imu):
            assert words in line
        assert f"{row.length_m:.0f} m, {row.duration_s:.0f} s" in line
        assert f"{row.full_length_m:.0f} m, {row.full_duration_s:.0f} s" in line
    assert [line.strip() for line in lines if line.startswith("[")] == [
        "[SubT-MRS]",
        "[GEODE]",
        "[plain]",
    ]


def test_scenarios_lists_them_for_programs(capsys, tmp_path):
    """With --json - there is nothing but JSON on stdout; a file can have it, too."""
    assert scenarios.main(["room", "cave", "--json", "-"]) == 0
    printed, said = capsys.readouterr()
    rows = json.loads(printed)
    assert [row["name"] for row in rows] == ["room", "cave"]
    assert (rows[0]["lidar"], rows[0]["duration_s"]) == ("os1_64", 40.0)
    assert "what degrades" in said
    assert scenarios.main(["room", "cave", "--quiet", "--json", str(tmp_path / "list.json")]) == 0
    assert capsys.readouterr() == ("", "")
    assert json.loads((tmp_path / "list.json").read_text()) == rows


def test_scenarios_draws_the_maps_that_are_asked_for(capsys, tmp_path):
    """A map per named scenario is put into the folder, and its path is printed."""
    folder = tmp_path / "maps"
    assert scenarios.main(["room", "flat_field", "--picture", str(folder)]) == 0
    drawn = sorted(folder.iterdir())
    assert [path.name for path in drawn] == ["flat_field.svg", "room.svg"]
    printed = capsys.readouterr().out
    for path in drawn:
        assert str(path) in printed
        assert ET.parse(path).getroot().tag.endswith("svg")


def test_simulate_writes_a_recording_with_its_ground_truth(capsys, tmp_path):
    """A file appears with the ground truth beside it; both are named on stdout."""
    out = tmp_path / "room.mcap"
    assert simulate.main(["room", "--out", str(out), *SHORT]) == 0
    truth = tmp_path / "room.gt.tum"
    assert capsys.readouterr().out.split() == [str(out), str(truth)]
    assert out.stat().st_size > 100_000
    stamps = np.loadtxt(truth)[:, 0]
    assert np.ptp(stamps) == pytest.approx(0.6, abs=0.02)


def test_simulate_writes_other_formats_and_rigs(tmp_path):
    """The format follows the name or the flag, and a rig replaces the sensors."""
    folder = tmp_path / "kitti"
    words = ["stair", "--out", str(folder), "--format", "kitti", "--rig", "beta", *SHORT]
    assert simulate.main(words) == 0
    assert len(list((folder / "velodyne").iterdir())) == 6
    assert simulate.main(["stair", "--out", str(tmp_path / "stair.bag"), *SHORT]) == 0
    assert (tmp_path / "stair.bag").is_file()


def test_simulate_replaces_a_file_only_when_told_to(tmp_path):
    """What is there stays, unless --overwrite is given."""
    out = tmp_path / "room.mcap"
    out.write_bytes(b"precious")
    with pytest.raises(SvnicpError, match="exists already"):
        simulate.main(["room", "--out", str(out), *SHORT])
    assert out.read_bytes() == b"precious"
    assert simulate.main(["room", "--out", str(out), "--overwrite", *SHORT]) == 0
    assert out.read_bytes() != b"precious"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["rom", "--out", "x.mcap"], "did you mean 'room'"),
        (["room", "--out", "x.mcap", "--seed", "-1"], "--seed must not be negative"),
        (["room", "--out", "x.mcap", "--duration", "1e9"], "can last from"),
        (["room", "--out", "x.mcap", "--full", "--duration", "3"], "not for both"),
        (["room", "--out", "x.mcap", "--rig", "delta"], "no rig 'delta'"),
        (["room", "--out", "x.what"], "cannot be told"),
        (["room"], "--out"),
        (["--out", "x.mcap"], "NAME"),
    ],
)
def test_simulate_refuses_what_it_cannot_do(words, complaint, tmp_path, monkeypatch):
    """Wrong words raise one sentence and leave no file behind."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SvnicpError, match=complaint) as caught:
        simulate.main(words)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["rom"], ["--seed", "-2"]])
def test_scenarios_refuses_what_it_does_not_know(words):
    """An unknown scenario or a negative seed raises one sentence."""
    with pytest.raises(SvnicpError, match=r"did you mean 'room'|must not be negative"):
        scenarios.main(words)
