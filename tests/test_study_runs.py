# SPDX-License-Identifier: MIT
"""Tiny studies from end to end: a room for seconds, seen by a sparse sensor, in this process."""

import dataclasses
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from study_cases import Listening, drive_result, keep, made_up_store
from svnicp.cli import exit_codes
from svnicp.cli.__main__ import main
from svnicp.config import Config
from svnicp.errors import InputError
from svnicp.studies import calibrate as fits
from svnicp.studies import calibration
from svnicp.studies.ape_tables import TABLE2
from svnicp.studies.corridor_figures import draw_bounds, draw_gain, draw_map
from svnicp.studies.drive import drive, drive_job
from svnicp.studies.engine import HERE, run_jobs
from svnicp.studies.fit import robust_nll
from svnicp.studies.frames import frame
from svnicp.studies.localizable import localizable
from svnicp.studies.output import write_study
from svnicp.studies.packed import array_of, covariances_of
from svnicp.studies.particle_figures import draw_paths, draw_violins
from svnicp.studies.particle_paths import paths
from svnicp.studies.plan import Plan
from svnicp.studies.results_page import results_page
from svnicp.studies.scans import MONTE_CARLO
from svnicp.studies.source import Source, recording
from svnicp.studies.store import Results

TINY = Plan(
    presets=("default",), quick=True, num_seeds=1, sparse=16, duration_s=2.0, scenarios=("room",)
)
ROOM = Source(name="room", seed=200, duration_s=4.6, sparse=16, skip_s=2.0)
CORRIDOR = Source(name="long_corridor", seed=200, duration_s=6.0, sparse=8)


@cache
def small_drive() -> dict:
    """Return a drive through the room that moves in its last second."""
    return drive(ROOM.inputs(), Config.variant("svn+adaptive").to_dict(), uses_imu=True)


def test_a_study_from_jobs_to_files(tmp_path):
    """All variants run, tables come in three formats, and the second time no job runs."""
    store, jobs = made_up_store(tmp_path), TABLE2.jobs(TINY)
    assert len(jobs) == 5
    assert run_jobs(jobs, store, Listening(), HERE) == {}
    again = Listening()
    run_jobs(jobs, store, again, HERE)
    assert again.ended == []
    tables, files = write_study(tmp_path / "table2", TABLE2, TINY, Results(store), "the command")
    assert {path.name for path in files} == {"tables.json", "table2.md", "table2.csv"}
    assert [row["runs"] for row in tables[0].rows] == [1] * 5
    assert all(row["RPE [m]"] is not None for row in tables[0].rows)
    origin = json.loads((tmp_path / "table2" / "tables.json").read_text())["origin"]
    assert (origin["command"], origin["num_jobs"], origin["seeds"]) == ("the command", 5, [200])
    names = results_page(tmp_path, tmp_path / "page" / "results.md")
    page = (tmp_path / "page" / "results.md").read_text(encoding="utf-8")
    assert names == ["table2"]
    for words in ("Our numbers are simulated", "quick study", "SVN-ICP + KF", "the command"):
        assert words in page


def test_calibration_study_has_all_methods_on_the_same_scans(tmp_path):
    """Ours, the baselines and the constant are judged on equally many scans of the room."""
    store = made_up_store(tmp_path)
    assert run_jobs(calibration.jobs(TINY), store, Listening(), HERE) == {}
    scans, steps, gains = calibration.tables(TINY, Results(store))
    of_room = [row for row in scans.rows if row["scenario"] == "room"]
    methods = {row["method"] for row in of_room}
    assert methods >= {
        "default",
        "COV-3D",
        "Laplace",
        "Censi, point to plane",
        calibration.CONSTANT,
    }
    often = [row for row in of_room if row["method"] != MONTE_CARLO]
    assert len({row["scans"] for row in often}) == 1
    assert len(of_room) == len(often) + 1
    assert [row["scenario"] for row in gains.rows] == ["room"]
    assert {row["scenario"] for row in scans.rows} == {"room", "all"}
    assert len([row for row in steps.rows if row["scenario"] == "room"]) == 2


def test_a_drive_states_errors_with_their_covariances():
    """Steps, poses since the start and drift fit each other in number; the truth is near."""
    found = small_drive()
    assert found["status"] == "ok"
    count = found["num_scans"]
    assert len(found["step_errors"]) == len(found["step_covariances"]) == count - 1
    assert len(found["gain"]) == len(found["sigma"]) == count
    assert found["ape_m"] < 0.05
    assert len(found["pose_errors"]) == len(found["drift_covariances"]) == len(found["path_at"])
    whole = covariances_of(found["pose_covariances"])
    drift = covariances_of(found["drift_covariances"])
    assert np.all(np.linalg.eigvalsh(whole - drift)[:, -1] > 0.0)
    json.dumps(found, allow_nan=False)


def test_sources_that_begin_later_have_the_same_scans():
    """Leaving out the rest leaves the scans after it, and all readings of the IMU."""
    whole = dataclasses.replace(ROOM, skip_s=0.0).open()
    late = ROOM.open()
    first = next(iter(late.scans()))
    same = [scan for scan in whole.scans() if scan.stamp_ns == first.stamp_ns]
    np.testing.assert_array_equal(same[0].points, first.points)
    assert late.info().num_scans == (whole.info().num_scans or 0) - 20
    assert next(iter(late.imu_samples())).stamp_ns == next(iter(whole.imu_samples())).stamp_ns


def test_a_changed_recording_is_another_source(tmp_path):
    """A recording is known by size and time of its files; one that is not there is told."""
    path = tmp_path / "scan.bag"
    path.write_bytes(b"one")
    before = recording(path)
    path.write_bytes(b"another")
    assert recording(path) != before
    with pytest.raises(InputError, match="no such recording"):
        recording(tmp_path / "nothing")


def test_frames_know_the_corridors_axis():
    """The honest truth is widest along the corridor, and our covariance agrees with it there."""
    config = Config.preset("default").to_dict()
    found = frame(CORRIDOR.inputs(), config, number=50, starts=4, redraws=12, particles=[10])
    truth = np.sqrt(np.diag(covariances_of([found["truths"]["redraws"]["covariance"]])[0]))
    ours = np.sqrt(np.diag(covariances_of([found["methods"]["svn 10"]["covariance"]])[0]))
    assert np.argmax(truth[:3]) == 0
    assert np.argmax(ours[:3]) == 0
    named = {"Censi", "COV-3D", MONTE_CARLO, "Laplace", "svgd 10", "svn+fixed", "svn+adaptive"}
    assert named <= set(found["methods"])


def test_localizability_is_the_share_of_walls_across():
    """In a room half of the surfaces face along some axis; in a corridor hardly any does."""
    room = localizable(dataclasses.replace(ROOM, skip_s=4.0).inputs(), every=3)
    corridor = localizable(dataclasses.replace(CORRIDOR, skip_s=5.0).inputs(), every=5)
    assert min(room["share"]) > 0.1
    assert max(corridor["share"]) < 0.05


def test_figures_are_drawn(tmp_path):
    """Every figure comes as PNG and SVG."""
    pytest.importorskip("matplotlib", reason="needs svnicp[studies]")
    found = small_drive()
    draw_map(tmp_path / "map", found, np.random.default_rng(0).normal(size=(50, 2)), "a map")
    draw_bounds(tmp_path / "bounds", found, "bounds")
    seen = {"seconds": [2.0, 4.0], "share": [0.1, 0.2]}
    draw_gain(tmp_path / "gain", found, seen, 2.0, "gain")
    sigmas = {v: {5: np.array([0.01, 0.02, 0.1])} for v in ("svgd", "svn", "svn+adaptive")}
    draw_violins(tmp_path / "violin", sigmas, "violins")
    ways = paths(CORRIDOR.inputs(), Config.preset("default").to_dict(), number=50)
    count = Config.preset("default").stein.num_particles
    assert array_of(ways["svn"]["xy"], count, 2).shape == (100, count, 2)
    assert np.all(array_of(ways["svgd"]["norms"]) > 0.0)
    draw_paths(tmp_path / "particles", ways, "particles")
    names = {path.name for path in tmp_path.iterdir()}
    expected = ("map", "bounds", "gain", "violin", "particles")
    assert names == {f"{name}{suffix}" for name in expected for suffix in (".png", ".svg")}


def test_calibration_writes_a_configuration(tmp_path, capsys):
    """Fitted values go into a YAML file that ``Config`` reads, and the jobs are kept."""
    out = tmp_path / "fitted.yaml"
    words = ["calibrate", "--scenarios", "room", "--seeds", "1", "--duration", "4.4", "--sparse",
             "16", "--scheduler", "here", "--out", str(out)]  # fmt: skip
    assert main(words) == 0
    config = Config.from_yaml(out)
    assert config.odometry.temperature_translation != 1.0
    assert config.drift.renewal != Config.preset("default").drift.renewal
    assert "noise.effective_points" in capsys.readouterr().out
    assert "# odometry.temperature_rotation: 1 -> " in out.read_text(encoding="utf-8")
    assert len(list((tmp_path / "fitted.yaml.jobs").glob("*.json"))) >= len(fits.POINTS)
    assert set(yaml.safe_load(out.read_text(encoding="utf-8"))) == set(config.to_dict())


def test_temperatures_multiply(tmp_path, rng):
    """Steps with errors twice as large as stated make a temperature of 1.5 one of 6."""
    config = Config.variant("svn+adaptive")
    warm = dataclasses.replace(config.odometry, temperature_translation=1.5)
    config = dataclasses.replace(config, odometry=warm)
    store = made_up_store(tmp_path)
    keep(store, drive_job(ROOM, fits.VARIANT, config), drive_result(rng, scale=2.0))
    fitted, steps = fits.fit_temperatures(config, [ROOM], lambda _: Results(store))
    assert fitted.odometry.temperature_translation == pytest.approx(6.0, rel=0.2)
    assert fitted.odometry.temperature_rotation == pytest.approx(4.0, rel=0.2)
    assert all(step.score_after < step.score_before for step in steps)
    assert robust_nll(np.ones((9, 6)), np.tile(np.eye(6), (9, 1, 1)), "pose") > 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report"], "name the folder"),
        (["table1", "somewhere"], "--out somewhere"),
        (["claims", "--data", "x.bag"], "--data is for table1"),
        (["table1", "--seeds", "0"], "at least 1"),
        (["table1", "--scenarios", "roon"], "did you mean 'room'"),
        (["ablation", "--preset", "paper", "--config", "x.yaml"], "leaves that out"),
        (["nothing"], "invalid choice"),
    ],
)
def test_options_that_cannot_be_are_one_sentence(words, message, capsys, tmp_path, monkeypatch):
    """Wrong options end with code 2 and say what to do."""
    monkeypatch.chdir(tmp_path)
    assert main(["study", *words]) == exit_codes.WRONG_INPUT
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert list(Path().iterdir()) == []
