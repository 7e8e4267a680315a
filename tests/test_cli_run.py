# SPDX-License-Identifier: MIT
"""``svnicp run`` as a user meets it: what it writes and says, and what it refuses."""

import json
import re
import shutil

import numpy as np
import pytest
import yaml

from cli_cases import SAME
from odometry_cases import steady
from svnicp.cli import __main__ as cli
from svnicp.cli.progress import COMPILING
from svnicp.evaluation import read_run
from svnicp.recording import write_dataset


def test_files_and_summary_of_a_run(whole):
    """The folder has every file, and the text has scans, path, time, sigmas and evo's figures."""
    folder, printed, _ = whole
    expected = {*SAME, "timing.csv", "odometry.mcap", "run.yaml", "ground_truth.tum", "state.npz"}
    assert {path.name for path in folder.iterdir()} == {*expected, "map.ply"}
    record = read_run(folder)
    assert len(record) == 11
    assert f"{len(record)} of 16 have a pose, all used" in printed
    assert "5 before the IMU's readings sufficed" in printed
    for words in ("ms a scan (median)", "sigma at the end", "weak", "evo_ape", "evo_rpe", "ANEES"):
        assert words in printed
    assert "m (chosen by the first scan)" in printed
    assert str(folder) in printed
    assert printed.isascii()
    description = yaml.safe_load((folder / "run.yaml").read_text())
    assert (description["state"], description["num_scans"]) == ("finished", 11)
    assert description["command"].startswith("svnicp run room --duration 1.6")
    assert description["more"]["imu"]["gyroscope"] > 0.0


def test_json_says_the_same(whole):
    """The document has the summary, the evaluation and the configuration."""
    folder, _, _ = whole
    content = json.loads(folder.with_name("run.json").read_text())
    assert (content["num_scans"], content["num_not_used"], content["lost"]) == (11, 0, False)
    assert content["without_estimate"] == {"before_start": 5}
    assert content["scan_p95_s"] >= content["scan_median_s"] > 0.0
    assert 0.0 < content["final_sigma_m"] < 0.1
    assert content["evaluation"]["ape_origin"]["translation"]["rmse"] < 0.05
    assert content["evaluation"]["relative"]["pose"]["count"] == 10
    assert content["config"]["stein"]["num_particles"] == 30
    assert "map.ply" in content["files"]


def test_a_scan_that_is_held_back_is_told(tmp_path, capsys):
    """A start at speed: the second scan waits for the third, which summary and JSON say."""
    fast = steady(6.0, 2.0, True, "street", "vlp16")
    write_dataset(fast, tmp_path / "fast.mcap")
    words = ["run", str(tmp_path / "fast.mcap"), "--out", str(tmp_path / "run"), "--json"]
    assert cli.main([*words, str(tmp_path / "run.json")]) == 0
    assert "1 held back at the start: a fast motion" in capsys.readouterr().out
    content = json.loads((tmp_path / "run.json").read_text())
    without = content["without_estimate"]
    assert without == {"before_start": without["before_start"], "held_back": 1}
    assert content["num_scans"] + sum(without.values()) == fast.num_scans


def test_the_folder_of_a_run_is_not_taken_for_a_recording(whole, tmp_path, monkeypatch, capsys):
    """What can be done with it is said, and that it hides a scenario of the same name."""
    shutil.copytree(whole[0], tmp_path / "room")
    monkeypatch.chdir(tmp_path)
    for words in (["info", "room"], ["run", "room"]):
        assert cli.main(words) == 2
        assert "room: this is the folder of a run" in capsys.readouterr().err
    assert cli.main(["run", "room", "--duration", "2"]) == 2
    assert "room is a folder here, so it is not the scenario" in capsys.readouterr().err


def test_a_run_is_replaced_only_when_told_to(whole, tmp_path, capsys):
    """A folder with a run is refused, unless --overwrite is given; then nothing old is left."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    words = ["run", "room", "--duration", "0.5", "--no-imu", "--max-scans", "2", "--quiet"]
    assert cli.main([*words, "--out", str(folder)]) == 2
    told = capsys.readouterr().err
    assert "there is a run in this folder already" in told
    assert "(--overwrite, --resume)" in told
    assert cli.main([*words, "--out", str(folder), "--overwrite"]) == 0
    assert capsys.readouterr() == ("", "")
    assert len(read_run(folder)) == 2
    assert not (folder / "map.ply").exists()


def test_a_run_that_failed_before_its_first_pose_is_just_repeated(tmp_path, capsys):
    """What was wrong is put right, and the same folder taken; the truth in it is no obstacle."""
    words = ["run", "room", "--duration", "0.5", "--out", str(tmp_path), "--map", "--quiet"]
    assert cli.main(words) == 2
    assert "the filter did not start" in capsys.readouterr().err
    assert (tmp_path / "ground_truth.tum").is_file()
    assert cli.main([*words, "--no-imu", "--max-scans", "2"]) == 0
    assert len(read_run(tmp_path)) == 2


def test_scans_without_points_in_range_are_told(tmp_path, capsys):
    """LiDAR alone, too far away: the sentence is about ranges, and not about an IMU."""
    (tmp_path / "clouds").mkdir()
    for number in range(3):
        points = 1e5 + np.random.default_rng(number).uniform(-20.0, 20.0, (3000, 3))
        np.save(tmp_path / "clouds" / f"{number:03d}.npy", points)
    words = ["run", str(tmp_path / "clouds"), "--scan-rate-hz", "10", "--quiet"]
    assert cli.main([*words, "--out", str(tmp_path / "run")]) == 2
    assert "none of its 3 scans has enough points from" in capsys.readouterr().err


def test_a_run_that_is_lost_exits_with_three(tmp_path, capsys):
    """Scans that do not fit together are not used; the reasons are told in words."""
    rng = np.random.default_rng(1)
    (tmp_path / "clouds").mkdir()
    for number in range(12):
        points = rng.uniform(-20.0, 20.0, (3000, 3))
        points[:, 0] += 50.0 * number
        np.save(tmp_path / "clouds" / f"{number:03d}.npy", points)
    words = ["run", str(tmp_path / "clouds"), "--scan-rate-hz", "10", "--json", "-"]
    assert cli.main([*words, "--out", str(tmp_path / "run")]) == 3
    printed, said = capsys.readouterr()
    content = json.loads(printed)
    assert content["lost"]
    assert content["num_not_used"] == sum(content["reasons"].values()) > 6
    assert content["evaluation"] is None
    assert re.search(r"not used: \d+ because [a-z ]+", said)
    assert "lost: most scans could not be used" in said


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["rom"], "did you mean the scenario room?"),
        (["gone/drive.bag"], "no such file or folder"),
        ([], "name a recording or a scenario"),
        (["room", "--imu", "--no-imu"], "either --imu or --no-imu"),
        (["room", "--no-imu", "--imu-model", "generic"], "nothing to do"),
        (["room", "--imu-model", "mti"], "no IMU model 'mti'"),
        (["room", "--gyroscope-noise", "1e-3"], "together"),
        (["room", "--gyroscope-noise", "1", "--accelerometer-noise", "0"], "must be positive"),
        (["room", "--preset", "paper", "--config", "x.yaml"], "either --preset or --config"),
        (["room", "--resume", "--overwrite"], "either --resume or --overwrite"),
        (["room", "--seed", "-1"], "--seed must not be negative"),
        (["room", "--max-scans", "0"], "--max-scans must be at least 1"),
        (["room", "--save-every", "0"], "--save-every must be at least 1"),
        (["room", "--algorithm", "icp"], "invalid choice 'icp'"),
        (["room", "--particles", "0"], "stein.num_particles must be 1"),
        (["room", "--set", "stein.num_particels=5"], "did you mean 'stein.num_particles'"),
        (["room", "--set", "fast"], "--set needs KEY=VALUE"),
        (["room", "--variant", "svng"], "did you mean svn?"),
        (["room", "--variant", "svn+fixed", "--preset", "fast"], "there is no preset 'fast'"),
        (["room", "--variant", "svn", "--no-imu"], "--variant says by itself"),
        (["room", "--variant", "svn", "--imu-model", "generic"], "--variant svn is LiDAR alone"),
        (["room", "--duration", "1", "--imu-model", "auto"], "does not begin with two seconds"),
        (["room", "--lidar-topic", "/points"], "--lidar-topic is about recordings"),
        (["room", "--duration", "0.5"], "the filter did not start"),
        (["."], "no recording that is understood"),
        ([".", "--duration", "3"], "--duration is for simulated scenarios"),
    ],
)
def test_wrong_input_is_one_sentence(words, complaint, tmp_path, monkeypatch, capsys):
    """What cannot be run exits with 2 and one line that says why, wherever it had to compile."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", *words]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if COMPILING not in line]
    assert len(said) == 1
    assert complaint in said[0]
