# SPDX-License-Identifier: MIT
"""What ``svnicp run`` says while it runs and at its end, and what its options come to."""

import io
import time
from pathlib import Path

import numpy as np
import pytest
from numba.core import event

from recording_inputs import SmallDataset, make_estimate
from svnicp import read_cloud, simulate
from svnicp.cli import run_progress, show
from svnicp.cli.progress import COMPILING
from svnicp.cli.run import RunCommand, contradictions, repeatable
from svnicp.cli.run_map import WholeMap
from svnicp.cli.run_summary import summarise, summary_table, unused_in_words
from svnicp.config import MapConfig
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import RunRecord
from svnicp.evaluation.run_record import ScanRow
from svnicp.local_map import VoxelMap
from svnicp.registration.posterior import WeakDirection


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


def test_summary_says_which_scans_have_no_pose():
    """Those before the start, and one held back, are not among the scans that were all used."""
    record = RunRecord(Trajectory(np.arange(2), np.tile(np.eye(4), (2, 1, 1))))
    text = io.StringIO()
    summary = summarise(record, without={"before_start": 5, "held_back": 1})
    show.console(text).print(summary_table(summary, "", "", 0.0))
    told = " ".join(text.getvalue().split())
    assert "scans 2 of 8 have a pose, all used no pose 5 before the IMU's readings" in told
    assert "; 1 held back at the start" in told
    text = io.StringIO()
    show.console(text).print(summary_table(summarise(record), "", "", 0.0))
    assert "scans 2, all used path" in " ".join(text.getvalue().split())


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
