# SPDX-License-Identifier: MIT
"""``svnicp run`` as a user meets it: what it writes and says, and that it can be interrupted."""

import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from numba.core import event

from recording_inputs import SmallDataset, make_estimate
from svnicp import read_cloud, simulate
from svnicp.cli import __main__ as cli
from svnicp.cli import run_progress, show
from svnicp.cli.progress import COMPILING
from svnicp.cli.run import RunCommand, contradictions, repeatable
from svnicp.cli.run_map import WholeMap
from svnicp.cli.run_summary import summarise, unused_in_words
from svnicp.config import MapConfig
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import RunRecord, read_run
from svnicp.evaluation.run_record import ScanRow
from svnicp.local_map import VoxelMap
from svnicp.registration.posterior import WeakDirection

ROOM = ["run", "room", "--duration", "1.6", "--seed", "2", "--save-every", "3", "--map"]
SAME = ("trajectory.tum", "covariance.csv", "relative.tum", "trajectory.kitti", "scans.csv")
"""Files that a resumed run must have in common with one that was not interrupted."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Return the folder of a run that was not interrupted, and what it printed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run = svnicp(*ROOM, "--out", str(folder), "--json", str(folder.with_name("run.json")))
    assert run.returncode == 0, run.stderr
    return folder, run.stdout, run.stderr


def svnicp(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "svnicp.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def interrupted(folder: Path, how: signal.Signals) -> tuple[int, str]:
    """Start the same run, end it by a signal after some poses; its exit code and what it said."""
    command = [sys.executable, "-m", "svnicp.cli", *ROOM, "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    trajectory = folder / "trajectory.tum"
    while process.poll() is None:
        if trajectory.is_file() and trajectory.read_bytes().count(b"\n") >= 4:
            process.send_signal(how)
            break
        time.sleep(0.005)
    _, said = process.communicate(timeout=60)
    return process.returncode, said.decode()


def resumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main([*ROOM, "--out", str(folder), "--resume"]) == 0
    return capsys.readouterr().out


def test_files_and_summary_of_a_run(whole):
    """The folder has every file, and the text has scans, path, time, sigmas and evo's figures."""
    folder, printed, _ = whole
    expected = {*SAME, "timing.csv", "odometry.mcap", "run.yaml", "ground_truth.tum", "state.npz"}
    assert {path.name for path in folder.iterdir()} == {*expected, "map.ply"}
    record = read_run(folder)
    assert len(record) == 11
    assert f"{len(record)}, all used" in printed
    for words in ("ms a scan (median)", "sigma at the end", "weak", "evo_ape", "evo_rpe", "ANEES"):
        assert words in printed
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
    assert content["scan_p95_s"] >= content["scan_median_s"] > 0.0
    assert 0.0 < content["final_sigma_m"] < 0.1
    assert content["evaluation"]["ape_origin"]["translation"]["rmse"] < 0.05
    assert content["evaluation"]["relative"]["pose"]["count"] == 10
    assert content["config"]["stein"]["num_particles"] == 30
    assert "map.ply" in content["files"]


@pytest.mark.parametrize(("how", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_cleanly_and_resume_gives_the_same_bits(
    whole, tmp_path, capsys, how, expected
):
    """Ended by Ctrl-C or SIGTERM it says so and how to go on; the result is the same."""
    code, said = interrupted(tmp_path / "run", how)
    assert code == expected
    assert f"--out {tmp_path / 'run'} --resume" in said
    assert "Traceback" not in said
    assert yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())["state"] == "interrupted"
    part = len(read_run(tmp_path / "run"))
    assert 4 <= part < 11
    assert "11, all used" in resumed(tmp_path / "run", capsys)
    assert_same(tmp_path / "run", whole[0])


def test_a_killed_run_is_resumed_to_the_same_bits(whole, tmp_path, capsys):
    """SIGKILL loses at most what came after the last saved state, and nothing in the end."""
    code, _ = interrupted(tmp_path / "run", signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())["state"] == "running"
    resumed(tmp_path / "run", capsys)
    assert_same(tmp_path / "run", whole[0])


def assert_same(folder: Path, other: Path) -> None:
    for name in SAME:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name
    ours, theirs = (np.sort(read_cloud(path / "map.ply"), axis=0) for path in (folder, other))
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_the_folder_of_a_run_is_not_taken_for_a_recording(whole, tmp_path, monkeypatch, capsys):
    """What can be done with it is said, and that it hides a scenario of the same name."""
    shutil.copytree(whole[0], tmp_path / "room")
    monkeypatch.chdir(tmp_path)
    for words in (["info", "room"], ["run", "room"]):
        assert cli.main(words) == 2
        assert "room: this is the folder of a run" in capsys.readouterr().err
    assert cli.main(["run", "room", "--duration", "2"]) == 2
    assert "room is a folder here, so it is not the scenario" in capsys.readouterr().err


def test_a_run_goes_on_beyond_its_first_end(whole, tmp_path, capsys):
    """--max-scans ends a run early; resumed without it, it is the whole run."""
    out = ["--out", str(tmp_path / "run")]
    assert cli.main([*ROOM, *out, "--max-scans", "8"]) == 0
    assert "3, all used" in capsys.readouterr().out
    resumed(tmp_path / "run", capsys)
    assert_same(tmp_path / "run", whole[0])


@pytest.mark.parametrize("flag", ["--map", "--keep-particles", "--imu-rate"])
def test_resume_asks_for_the_same_files(flag, tmp_path, capsys):
    """A file that is written all along cannot begin, nor end, in the middle of a run."""
    words = ["run", "room", "--duration", "1.3", "--quiet", "--out", str(tmp_path / "run")]
    assert cli.main([*words, "--max-scans", "8"]) == 0
    assert cli.main([*words, "--resume", flag]) == 2
    assert f"({flag} was not given, now given)" in capsys.readouterr().err
    assert cli.main([*words, "--max-scans", "8", "--overwrite", flag]) == 0
    assert cli.main([*words, "--resume"]) == 2
    assert f"({flag} was given, now not given)" in capsys.readouterr().err


def test_a_finished_run_is_summed_up_again(whole, tmp_path, capsys):
    """Resuming what is finished changes nothing and prints the same figures."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    printed = resumed(folder, capsys)
    assert printed.split("time")[0].split() == whole[1].split("time")[0].split()
    assert_same(folder, whole[0])


def test_resume_refuses_another_run(whole, tmp_path, capsys):
    """Other options than those of the run in the folder are named, with the command to use."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    assert cli.main([*ROOM, "--out", str(folder), "--resume", "--particles", "12"]) == 2
    said = capsys.readouterr().err
    assert "stein.num_particles was 30, now 12" in said
    assert "go on with: svnicp run room" in said
    assert cli.main([*ROOM, "--out", str(folder), "--resume", "--no-imu"]) == 2
    assert "(imu was given, now none)" in capsys.readouterr().err
    (folder / "state.npz").unlink()
    assert cli.main([*ROOM, "--out", str(folder), "--resume"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert (folder / "trajectory.tum").read_bytes() == (whole[0] / "trajectory.tum").read_bytes()


def test_resume_starts_where_nothing_was_done(tmp_path, capsys):
    """Without a run, or with one killed before its first pose, it starts from the beginning."""
    words = ["run", "room", "--duration", "0.5", "--no-imu", "--max-scans", "2"]
    assert cli.main([*words, "--out", str(tmp_path), "--resume"]) == 0
    assert "starting from the beginning" in capsys.readouterr().err
    assert len(read_run(tmp_path)) == 2


def test_resume_begins_again_what_ended_before_its_first_state(whole, tmp_path, capsys):
    """A run that was killed with poses but no saved state comes to the same poses once more."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "state.npz").unlink()
    described = (folder / "run.yaml").read_text()
    assert "state: finished" in described
    (folder / "run.yaml").write_text(described.replace("state: finished", "state: running"))
    assert cli.main([*ROOM, "--out", str(folder), "--resume"]) == 0
    assert "starting from the beginning" in capsys.readouterr().err
    assert_same(folder, whole[0])


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


def test_variants_of_the_paper_are_options():
    """Algorithm, noise, particles, preset and the IMU's noise end up in what is run."""
    from svnicp.cli.run_imu import imu_noise  # noqa: PLC0415
    from svnicp.cli.run_inputs import configuration  # noqa: PLC0415

    command = RunCommand(
        data=(Path("room"),), preset="paper", algorithm="svgd", noise="fixed", particles=50,
        gyroscope_noise=1e-3, accelerometer_noise=2e-2, set=("stein.num_particles=51",),
    )  # fmt: skip
    assert contradictions(command) == []
    config = configuration(command)
    assert (config.stein.algorithm, config.stein.num_particles) == ("svgd", 51)
    assert (config.odometry.noise, config.match.metric) == ("fixed", "point")
    noise, _ = imu_noise(command, simulate("room", duration_s=0.5))
    assert noise is not None
    assert (noise.gyroscope, noise.accelerometer) == (1e-3, 2e-2)
    assert noise.gyroscope_bias_walk > 0.0
    assert imu_noise(RunCommand(data=(Path("small"),)), SmallDataset())[0] is None


def test_the_command_that_goes_on_is_the_one_that_began():
    """What --resume adds, and what --overwrite would destroy, is not part of the command."""
    words = ["my drive.bag", "--out", "x", "--resume", "--particles", "7"]
    assert repeatable(words) == "svnicp run 'my drive.bag' --out x --particles 7"


@pytest.mark.parametrize(
    ("kind", "direction", "words"),
    [
        ("translation", [0.99, 0.1, 0.0], "weak along x"),
        ("translation", [0.0, -1.0, 0.0], "weak along y"),
        ("rotation", [0.1, 0.0, 0.99], "weak about z"),
        ("translation", [0.71, 0.71, 0.0], "weak along (0.7, 0.7, 0.0)"),
    ],
)
def test_weak_directions_in_words(kind, direction, words):
    """A direction within 15 degrees of an axis of the body gets its name."""
    weak = WeakDirection(kind, np.array(direction), 0.4, 0.5)
    assert run_progress.weak_in_words(weak) == words


def test_scans_in_words():
    """The bar tells the largest sigma whatever its axis, and what is weak or why it is not used."""
    estimate = make_estimate(1)
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    covariance = np.zeros((6, 6))
    covariance[:3, :3] = axes @ np.diag([0.03, 0.01, 0.02]) ** 2 @ axes.T
    covariance[3:, 3:] = np.diag([0.001, 0.002, 0.001]) ** 2
    np.testing.assert_allclose(run_progress.largest_sigmas(covariance), [0.03, 0.002])
    assert "weak along x" in run_progress.estimate_in_words(estimate)
    assert run_progress.estimate_in_words(make_estimate(0)).startswith("sigma ")
    lost = make_estimate(1, ok=False)
    assert "not used: too few points matched" in run_progress.estimate_in_words(lost)


def test_compiling_is_told_once_where_there_is_no_bar(monkeypatch):
    """A log gets one line when the compiler takes long, and only one."""
    monkeypatch.setattr(run_progress, "PATIENCE_S", 0.0)
    text = io.StringIO()
    watch = run_progress.TellingWatch(show.console(text))
    started = event.Event("numba:compile", event.EventStatus.START)
    for _ in range(4):
        watch.on_start(started)
        time.sleep(0.001)
    assert text.getvalue().count(COMPILING) == 1


def scan(status: str, *, weak: str = "") -> ScanRow:
    return ScanRow(0, status, status in {"ok", "weak", "first"}, np.nan, weak)


def test_summary_counts_what_was_not_used():
    """Predicted poses count as not used, the first scan does not, and most of them mean lost."""
    statuses = ["first", "ok", "weak", "empty", "refused", "refused", "new_map"]
    poses = np.tile(np.eye(4), (7, 1, 1))
    scans = tuple(scan(status, weak="x" if status == "weak" else "") for status in statuses)
    summary = summarise(RunRecord(Trajectory(np.arange(7), poses), scans=scans))
    assert summary.num_not_used == 4
    assert summary.reasons == {"refused": 2, "empty": 1, "new_map": 1}
    assert summary.lost
    assert summary.weak_share == pytest.approx(1 / 7)
    timed = RunRecord(
        Trajectory(np.arange(7), poses), scans=scans, seconds=np.array([60.0, *[0.1] * 6])
    )
    assert summarise(timed, {0}).scan_p95_s == pytest.approx(0.1)
    assert summarise(timed).scan_p95_s == pytest.approx(42.03)
    words = unused_in_words(summary)
    assert words.startswith("4 not used: 2 because the match is too far from the prediction")
    assert "1 because too few points" in words


def test_a_run_whose_scans_never_began_a_map_is_lost():
    """Of several first scans all but the last had no points, as with a cloud in millimetres."""
    poses = np.tile(np.eye(4), (4, 1, 1))
    scans = tuple(scan("first") for _ in range(4))
    summary = summarise(RunRecord(Trajectory(np.arange(4), poses), scans=scans))
    assert (summary.num_not_used, summary.reasons, summary.lost) == (3, {"empty": 3}, True)


def test_the_whole_map_keeps_what_the_local_map_forgets(tmp_path, rng):
    """Each cell has one point, once; a growing file is gone on with, or comes back from the ply."""
    config = MapConfig()
    near, far = rng.uniform(0.0, 2.0, (400, 3)), rng.uniform(200.0, 202.0, (400, 3))
    local = VoxelMap(config)
    local.insert(near)
    whole = WholeMap.create(tmp_path, config)
    whole.look(local)
    count = whole.num_points
    whole.look(local)
    assert whole.num_points == count == len(local)
    whole._file.close()  # as a kill would
    local.insert(far)
    local.prune(np.full(3, 201.0), 10.0)
    again = WholeMap.resume(tmp_path, config, count)
    again.look(local)
    assert again.num_points == count + len(local)
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == ["map.ply"]
    points = read_cloud(tmp_path / "map.ply")
    assert len(points) == count + len(local)
    once_more = WholeMap.resume(tmp_path, config, len(points))
    once_more.look(local)
    assert once_more.num_points == len(points)
    once_more.close()
