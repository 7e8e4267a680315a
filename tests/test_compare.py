# SPDX-License-Identifier: MIT
"""``svnicp compare`` as a user meets it: tables, pictures, rows that are kept, and its ends."""

import csv
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import peer_cases
from odometry_cases import drive
from svnicp.cli import __main__ as cli
from svnicp.cli.compare import CompareCommand, contradictions
from svnicp.cli.compare_inputs import USUAL, chosen_peers, contests, scene_of
from svnicp.cli.compare_tables import show_rows
from svnicp.peers import registry
from svnicp.peers.picture import plane_of
from svnicp.peers.row import Row
from svnicp.recording import write_dataset
from svnicp.simulation.scenarios import SCENARIOS

pytest.importorskip("evo", reason="pip install evo")
pytest.importorskip("matplotlib", reason="pip install matplotlib")

PEERS = {peer.name: peer for peer in peer_cases.PEERS}
ODD = ("still", "crash", "away", "absent")
"""Peers of the tests that are in the comparison."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small recording of two seconds, with IMU and ground truth."""
    path = tmp_path_factory.mktemp("data") / "ride.mcap"
    write_dataset(drive(2.0, 0.8), path)
    return path


def words(recording: Path, out: Path, *more: str) -> list[str]:
    truth = next(recording.parent.glob("*.tum"))
    data = [str(recording), "--ground-truth", str(truth), "--imu-model", "xsens_mti30"]
    return ["compare", *data, "--out", str(out), *more]


@pytest.fixture(scope="module")
def interrupted(recording, tmp_path_factory) -> tuple[Path, int, str, Path]:
    """Return the folder of a comparison ended by Ctrl-C after its first row, and what it said."""
    return ended_by(signal.SIGINT, recording, tmp_path_factory)


def ended_by(number: signal.Signals, recording, tmp_path_factory) -> tuple[Path, int, str, Path]:
    """End a comparison after its first row; returns its folder, code, words and temporary files."""
    out, temporary = tmp_path_factory.mktemp("compared") / "out", tmp_path_factory.mktemp("tmp")
    process = subprocess.Popen(
        [sys.executable, "-m", "svnicp.cli", *words(recording, out, "--with", "none")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    while process.poll() is None and not (out / "ride" / "svnicp-lo.json").is_file():
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return out, process.returncode, said, temporary


@pytest.fixture(scope="module")
def compared(recording, interrupted) -> Path:
    """Return the folder of the same comparison, gone on with, with odd peers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(peer_cases.__file__).parent))
        for name in ODD:
            patch.setitem(registry.PEERS, name, PEERS[name])
        more = ("--with", ",".join(ODD), "--quiet", "--json", str(interrupted[0] / "own.json"))
        assert cli.main(words(recording, interrupted[0], *more)) == 0
    return interrupted[0]


def rows_of(out: Path) -> dict[str, Any]:
    return {row["method"]: row for row in json.loads((out / "compare.json").read_text())["rows"]}


def test_ctrl_c_leaves_what_is_done(interrupted):
    """It exits with 130, says how to go on, keeps the finished row, and tidies up."""
    out, code, said, temporary = interrupted
    assert code == 130, said
    assert "interrupted; go on with: svnicp compare" in said
    assert "Traceback" not in said
    assert list(rows_of(out)) == ["svnicp-lo"]
    assert list(temporary.iterdir()) == []


def test_sigterm_ends_a_comparison_as_tidily(recording, tmp_path_factory):
    """It exits with 143, and leaves neither a process nor a file of the peer that was running."""
    _, code, said, temporary = ended_by(signal.SIGTERM, recording, tmp_path_factory)
    assert code == 143, said
    assert "interrupted; go on with: svnicp compare" in said
    assert list(temporary.iterdir()) == []


def test_no_room_for_the_scans_is_said_with_its_place(recording, tmp_path, monkeypatch, capsys):
    """Scans are handed over in a temporary folder; if that is full, it is named."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("svnicp.peers.spool.np.savez", full)
    assert cli.main(words(recording, tmp_path / "out", "--with", "none", "--quiet")) == 2
    said = capsys.readouterr().err
    assert f"{tempfile.gettempdir()}: the scans cannot be handed over (No space left" in said
    assert "TMPDIR" in said


def test_a_finished_row_is_not_computed_again(interrupted, compared):
    """Going on keeps the row that was there, with its time, and adds the others."""
    kept = json.loads((compared / "ride" / "svnicp-lo.json").read_text())["row"]
    assert rows_of(compared)["svnicp-lo"] == kept
    lines = interrupted[2].splitlines()
    told = next(line for line in lines if line.startswith("ride: svnicp-lo: APE"))
    assert f"{1e3 * kept['mean_s']:.0f} ms/scan" in told
    assert set(rows_of(compared)) == {"svnicp-lo", "svnicp-lio", *ODD}


def test_ours_are_right_and_say_how_right(compared):
    """LO and LIO have errors of centimetres, times, memory, sigmas, ANEES and coverage."""
    for name, fewest in (("svnicp-lo", 20), ("svnicp-lio", 10)):
        row = rows_of(compared)[name]
        assert row["status"] == "ok"
        assert row["num_poses"] >= fewest
        assert row["ape_m"] < 0.03
        assert 0.0 < row["mean_s"] <= row["p95_s"] < 5.0
        assert 50e6 < row["peak_bytes"] < 2e9
        assert 0.0 < row["sigma_end_m"] < 0.2
        assert 0.0 < row["anees_step"] < 30.0
        assert all(0.2 < share <= 1.0 for share in row["coverage"])


def test_what_goes_wrong_is_a_row(compared):
    """Crash, divergence and absence each have a row that says so, and no figures."""
    rows = rows_of(compared)
    assert rows["crash"]["status"] == "crashed"
    assert rows["crash"]["note"].startswith("SIGSEGV at scan 1")
    assert (rows["away"]["status"], rows["away"]["ape_m"]) == ("diverged", None)
    assert (rows["absent"]["status"], rows["absent"]["note"]) == (
        "not installed", "pip install no-such-package"
    )  # fmt: skip
    assert rows["still"]["status"] == "ok"
    assert rows["still"]["end_share"] == pytest.approx(1.0, abs=0.15)  # it never left the start


def test_the_tables_agree(compared):
    """Markdown, CSV and JSON have the same rows, with the command, versions and CPUs."""
    text = (compared / "compare.md").read_text()
    document = json.loads((compared / "compare.json").read_text())
    assert json.loads((compared / "own.json").read_text()) == document
    with (compared / "compare.csv").open(newline="") as stream:
        table = {row["method"]: row for row in csv.DictReader(stream)}
    assert list(table) == [row["method"] for row in document["rows"]]
    for name, row in rows_of(compared).items():
        assert f"| {name} |" in text
        assert table[name]["status"] == row["status"]
        assert table[name]["ape_m"] == ("" if row["ape_m"] is None else str(row["ape_m"]))
    assert document["command"].startswith("svnicp compare ")
    assert document["command"] in text
    assert document["cpus"] == os.cpu_count()
    assert document["versions"]["svnicp"] in text
    line = next(line for line in text.splitlines() if line.startswith("| svnicp-lo |"))
    assert f" {rows_of(compared)['svnicp-lo']['ape_m']:.3f} |" in line


def test_tables_fit_eighty_columns():
    """With long names and large figures the lines stay within 80, and no figure is cut."""
    row = Row(
        dataset="drive", method="svnicp-lio", configuration="deskewed", uses_imu=True, version="1",
        status="ok", num_scans=600, num_poses=600, path_m=2750.0, ape_m=1281.0, ape_deg=90.0,
        rpe_m=1.2437, rpe_deg=12.345, end_m=2766.0, end_share=1.0063, mean_s=0.1234, p95_s=1.2345,
        peak_bytes=1_198_000_000, sigma_end_m=117.4, anees_step=13.91, anees=123.45,
        coverage=(1.0, 1.0, 1.0),
    )  # fmt: skip
    printed = io.StringIO()
    console = Console(file=printed, width=80, soft_wrap=True)
    show_rows(console, [row, replace(row, method="small-gicp")])
    text = printed.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    for figure in ("1281", "1243.7", "12.345", "100.63 %", "1234.5", "1198", "123.45", "100 %"):
        assert figure in text
    assert "(deskewed)" in text


def test_there_is_a_picture_with_ellipses(compared):
    """PNG and SVG are drawn; the SVG has ours, the truth, and no curve for those that failed."""
    assert (compared / "ride.png").read_bytes().startswith(b"\x89PNG")
    drawn = (compared / "ride.svg").read_text()
    for name in ("truth", "svnicp-lo", "svnicp-lio", "still"):
        assert f"<!-- {name}" in drawn
    assert "<!-- crash" not in drawn
    assert len(re.findall(r'id="patch_', drawn)) > 20  # ellipses


def test_a_staircase_is_drawn_from_the_side(rng):
    """Paths are seen from above, even straight ones on a slope, but for those that mostly climb."""
    unit = rng.uniform(size=(200, 3))
    assert plane_of(unit * (30.0, 20.0, 1.0)) == (0, 1)
    assert plane_of(unit * (0.5, 50.0, 3.0)) == (0, 1)
    assert plane_of(unit * (4.0, 3.0, 10.0)) == (0, 2)
    assert plane_of(unit * (1.0, 6.0, 9.0)) == (1, 2)


def test_trajectories_are_kept_for_evo(compared):
    """Beside each row are its poses as a TUM file, and the truth."""
    poses = np.loadtxt(compared / "ride" / "svnicp-lo.tum")
    assert poses.shape == (20, 8)
    assert (compared / "ride" / "ground_truth.tum").is_file()


def test_a_missing_peer_is_one_line_with_the_command(recording, compared, monkeypatch, capsys):
    """A peer that is not installed is told in a line that installs it; nothing fails."""
    monkeypatch.setitem(registry.PEERS, "absent", PEERS["absent"])
    assert cli.main(words(recording, compared, "--with", "absent")) == 0
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if "absent" in line]
    assert lines == ["absent is not installed: pip install no-such-package"]
    assert "not installed: pip install no-such-package" in captured.out
    assert captured.out.isascii()


def test_where_no_peer_is_installed_it_is_said(recording, compared, monkeypatch, capsys):
    """In a fresh environment ours are alone, and one line says how to get the others."""
    for name in USUAL:
        monkeypatch.setitem(registry.PEERS, name, PEERS["absent"])
    assert cli.main(words(recording, compared)) == 0
    captured = capsys.readouterr()
    assert 'no other odometry is installed: pip install "svnicp[peers]"' in captured.err
    assert "svnicp-lio" in captured.out


def test_unknown_names_are_refused(capsys):
    """A misspelt peer or scenario is one sentence with what may be meant."""
    assert cli.main(["compare", "room", "--with", "kissicp"]) == 2
    assert "there is no peer 'kissicp'; did you mean kiss-icp?" in capsys.readouterr().err
    assert cli.main(["compare", "rooom", "--with", "none"]) == 2
    assert "did you mean the scenario room?" in capsys.readouterr().err


def test_options_that_cannot_be_are_refused():
    """Each contradiction is named before anything is opened."""
    data = (Path("room"),)
    assert contradictions(CompareCommand(data=data)) == []
    wrong = [
        CompareCommand(data=()),
        CompareCommand(data=data, seed=-1),
        CompareCommand(data=data, max_scans=0),
        CompareCommand(data=data, time_limit=0.0),
        CompareCommand(data=data, time_limit=float("nan")),
        CompareCommand(data=data, preset="paper", config=Path("x.yaml")),
    ]
    assert [len(contradictions(command)) for command in wrong] == [1] * len(wrong)


def test_peers_are_chosen_by_name():
    """Names may have underscores or repeat; none is nobody; left out, it is who is installed."""
    names = [peer.name for peer in chosen_peers("small_gicp, kiss-icp,kiss_icp")]
    assert names == ["small-gicp", "kiss-icp"]
    assert chosen_peers("none") == []
    assert all(peer.installed and peer.name in USUAL for peer in chosen_peers(None))
    assert set(USUAL) <= set(registry.PEERS)


def test_scenes_are_known_for_scenarios():
    """A scenario has the scene for which GenZ-ICP ships a configuration; a cave has none."""
    assert scene_of("long_corridor", "simulation") == "long_corridor"
    assert scene_of("street", "simulation") == "outdoor"
    assert scene_of("cave", "simulation") == ""
    assert scene_of("00", "KITTI odometry") == "kitti"
    genz = registry.PEERS["genz-icp"]
    assert genz.configurations("long_corridor", True) == ("default", "long_corridor.yaml")
    assert genz.configurations("", True) == ("default",)
    assert all(isinstance(scene_of(name, "simulation"), str) for name in SCENARIOS)


def test_datasets_of_the_same_name_are_kept_apart():
    """Two datasets that are called the same get folders of their own."""
    command = CompareCommand(data=(Path("room"), Path("room")), duration=1.0)
    first, second = contests(command)
    assert (first.name, second.name) == ("room", "room-2")
    assert first.num_scans == 10
    assert first.truth is not None
