# SPDX-License-Identifier: MIT
"""A peer in its own process: what it gives comes back, and whatever it does, we go on."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import peer_cases
from odometry_cases import drive
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.evaluation.truth_file import Truth
from svnicp.lie import make_transform, se3_inverse, so3_exp
from svnicp.peers.peer import Peer, PeerRun, Recorder
from svnicp.peers.process import Outcome, last_line, run_peer
from svnicp.peers.row import empty_row, judge
from svnicp.peers.spool import Spool, SpoolOptions, write_spool
from svnicp.peers.store import DECIDING, Store, code_of, key_of

PEERS = {peer.name: peer for peer in peer_cases.PEERS}
NUM_SCANS = 6


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spool")
    options = SpoolOptions("indoor", ImuNoise.model("generic"), NUM_SCANS, seed=3)
    counted = []
    write_spool(drive(), folder, options, lambda: counted.append(1))
    assert len(counted) == NUM_SCANS
    return folder


@pytest.fixture(autouse=True)
def _tests_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the worker import the peers of these tests."""
    monkeypatch.setenv("PYTHONPATH", str(Path(peer_cases.__file__).parent))


@pytest.fixture(scope="module")
def still(spool) -> Iterator[Outcome]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(peer_cases.__file__).parent))
        yield run_peer(PEERS["still"], "default", spool, 60.0)


def test_a_spool_holds_the_dataset_bit_by_bit(spool):
    """Scans, IMU readings, their order and the extrinsics are those of the dataset."""
    read = Spool(spool)
    scans = [one for one in read.measurements() if isinstance(one, Scan)]
    original = drive()
    for number, scan in enumerate(scans):
        expected = original.scan(number)
        np.testing.assert_array_equal(scan.points, expected.points)
        np.testing.assert_array_equal(scan.point_times_ns, expected.point_times_ns)
        assert (scan.stamp_ns, scan.points.dtype) == (expected.stamp_ns, expected.points.dtype)
    assert len(scans) == read.about.num_scans == NUM_SCANS
    samples = list(original.imu_samples())
    stamps_ns, readings = read.imu_arrays()
    assert stamps_ns[-1] > scans[-1].end_ns  # the IMU covers the last scan
    np.testing.assert_array_equal(stamps_ns, [s.stamp_ns for s in samples[: len(stamps_ns)]])
    np.testing.assert_array_equal(readings[9, 3:], samples[9].linear_acceleration)
    ends = [m.end_ns if isinstance(m, Scan) else m.stamp_ns for m in read.measurements()]
    assert ends == sorted(ends)
    assert read.about.point_times
    np.testing.assert_array_equal(read.T_body_lidar, original.T_body_lidar)


def test_what_a_peer_gives_comes_back(still):
    """Poses, their times, the time per scan and the memory reach the program that started it."""
    assert (still.status, still.note, still.num_scans) == ("ok", "", NUM_SCANS)
    assert still.run is not None
    np.testing.assert_array_equal(
        still.run.stamps_ns, [drive().scan(n).mean_ns for n in range(NUM_SCANS)]
    )
    np.testing.assert_allclose(still.run.T_world_body[-1], np.eye(4), atol=1e-15)
    assert len(still.run.seconds) == NUM_SCANS
    assert np.all((still.run.seconds >= 0.001) & (still.run.seconds < 1.0))


def test_memory_is_that_of_the_peer_alone(spool, still):
    """200 MB more in the worker show up as such, and what this process holds does not."""
    held = np.ones(40_000_000)  # 320 MB here, which a child would inherit by getrusage
    outcome = run_peer(PEERS["heavy"], "default", spool, 60.0)
    more = outcome.peak_bytes - still.peak_bytes
    assert 190e6 < more < 260e6, held[0]


def test_a_crash_is_an_outcome(spool):
    """The signal, the scan and the last words are told."""
    outcome = run_peer(PEERS["crash"], "default", spool, 60.0)
    assert outcome.status == "crashed"
    assert outcome.note.startswith("SIGSEGV at scan 1")
    assert outcome.run is None


def test_a_hang_is_ended_at_the_limit(spool):
    """A peer that ignores SIGTERM is killed, its scan is told, and no process is left."""
    start = time.monotonic()
    outcome = run_peer(PEERS["hang"], "default", spool, 5.0)
    assert outcome.status == "timed out"
    assert outcome.note.startswith("killed after 5 s, at scan ")
    assert 5.0 < time.monotonic() - start < 60.0
    assert_no_worker_left()


def assert_no_worker_left() -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    if not children.is_file():
        pytest.skip("only Linux tells the children of a process")
    for child in children.read_text().split():
        assert b"svnicp.peers.worker" not in Path(f"/proc/{child}/cmdline").read_bytes()


def test_an_exception_is_told_by_its_last_line(spool):
    """What was raised is in the note, not the table that was printed."""
    outcome = run_peer(PEERS["fail"], "default", spool, 60.0)
    assert outcome.status == "failed"
    assert outcome.note == "exit code 1 at scan 0: ValueError: the scans do not please me"


def test_a_refusal_is_told_in_its_own_words(spool):
    """What an adapter says on purpose, such as that it needs rings, is the note and no more."""
    outcome = run_peer(PEERS["refuse"], "default", spool, 60.0)
    assert (outcome.status, outcome.note) == ("failed", "it takes no such data.")


def test_no_pose_at_all_is_no_success(spool):
    """A peer that ends well without a pose has a row that says so."""
    assert run_peer(PEERS["silent"], "default", spool, 60.0).status == "no pose"


def test_a_worker_is_killed_when_we_are_interrupted(spool):
    """An exception in the callback, as by Ctrl-C, leaves no process behind."""

    def interrupt(num_scans: int) -> None:
        if num_scans:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_peer(PEERS["hang"], "default", spool, 60.0, interrupt)
    assert_no_worker_left()


def test_the_last_line_is_short_and_without_colours(tmp_path):
    """Colours are removed, and endless lines are cut."""
    (tmp_path / "printed").write_text("first\n\x1b[1;31mlast\x1b[0m \n\n")
    assert last_line(tmp_path / "printed") == "last"
    (tmp_path / "printed").write_text("x" * 1000)
    assert len(last_line(tmp_path / "printed")) < 200


def exact_run(shift_ns: int = 0) -> PeerRun:
    """Return the truth as a peer would give it, in a world of its own, at shifted times."""
    dataset = drive()
    between_ns = 4_000_000  # the truth is known every 10 ms
    stamps_ns = np.array([dataset.scan(n).stamp_ns + between_ns for n in range(15, 28)])
    T_own_world = make_transform(so3_exp(np.array([0.1, -0.4, 2.0])), np.array([3.0, -8.0, 1.0]))
    poses = T_own_world @ dataset.truth_at(stamps_ns).T_world_body
    covariances = np.tile(np.diag([1e-4, 1e-4, 4e-4, 1e-6, 1e-6, 1e-6]), (len(poses), 1, 1))
    steps = np.concatenate([np.eye(4)[None], se3_inverse(poses[:-1]) @ poses[1:]])
    return PeerRun(
        stamps_ns + shift_ns, poses, np.full(len(poses), 0.02), covariances, steps, covariances
    )


def judged(run: PeerRun) -> Any:
    truth = Truth(drive().ground_truth, np.eye(4))
    row = empty_row("drive", PEERS["still"], "default", "")
    return judge(row, Outcome("ok", "", run, 5_000_000, 30), truth, 30)


def test_the_truth_scores_no_error():
    """Poses that are right at their own times, between those of the truth, have no error."""
    row = judged(exact_run())
    assert row.ape_m < 1e-4
    assert row.rpe_m < 1e-4
    assert row.end_m < 2e-4
    assert row.path_m > 0.5
    assert (row.num_poses, row.num_scans, row.note) == (13, 30, "poses for 13 of 30 scans")
    assert (row.mean_s, row.p95_s, row.peak_bytes) == (0.02, 0.02, 5_000_000)
    assert row.sigma_end_m == pytest.approx(0.02)
    assert row.anees_step < 0.01
    assert row.coverage == (1.0, 1.0, 1.0)


def test_without_truth_there_is_time_and_memory():
    """A dataset without ground truth gives a row without errors, and says why."""
    row = empty_row("drive", PEERS["still"], "default", "")
    row = judge(row, Outcome("ok", "", exact_run(), 5_000_000, 30), None, 30)
    assert (row.status, row.note, row.ape_m, row.mean_s) == ("ok", "no ground truth", None, 0.02)


def test_the_first_scans_do_not_count_for_the_time():
    """Programs load during the first scans; five of them are left out of mean and percentile."""
    seconds = np.concatenate([np.full(5, 9.0), np.full(19, 0.01), [0.5]])
    row = judged(replace(exact_run(), seconds=seconds))
    assert row.mean_s == pytest.approx((19 * 0.01 + 0.5) / 20)
    assert row.p95_s == pytest.approx(np.percentile(seconds[5:], 95))


def test_the_stated_time_matters():
    """The same poses said to be 50 ms later have errors of centimetres: adapters must be right."""
    assert judged(exact_run(50_000_000)).ape_m > 20.0 * judged(exact_run()).ape_m


def test_a_peer_that_flew_away_is_called_diverged(spool):
    """Poses of astronomic size are not compared, and those that are not finite are left out."""
    outcome = run_peer(PEERS["away"], "default", spool, 60.0)
    assert outcome.run is not None
    assert len(outcome.run.stamps_ns) == NUM_SCANS - 1
    run = exact_run()
    run.T_world_body[7:, 0, 3] = 1e9
    row = judged(run)
    assert (row.status, row.ape_m) == ("diverged", None)
    assert row.note == "beyond 1e+06 m at pose 7"


def test_poses_of_the_lidar_become_poses_of_the_body(rng):
    """A body that turns about itself moves the LiDAR; the recorder takes that back."""
    T_body_lidar = make_transform(so3_exp(rng.normal(size=3)), rng.normal(size=3))
    T_world_body = make_transform(so3_exp(rng.normal(size=3)), rng.normal(size=3))
    recorder = Recorder()
    recorder.pose(5, se3_inverse(T_body_lidar) @ T_world_body @ T_body_lidar)
    np.testing.assert_allclose(
        recorder.of_lidar(T_body_lidar).T_world_body[0], T_world_body, atol=1e-12
    )


def test_a_kept_row_is_found_by_its_key_alone(tmp_path):
    """A row comes back for the same inputs, and not for others or after more time is granted."""
    store = Store(tmp_path / "rows")
    row = judged(exact_run())
    store.keep(row, exact_run(), "key", 60.0)
    assert store.find(row.label, "key", 60.0) == row
    assert store.find(row.label, "key", 90.0) == row
    assert store.find(row.label, "other", 60.0) is None
    assert store.find("another", "key", 60.0) is None
    kept = store.run(row.label)
    assert kept is not None
    np.testing.assert_array_equal(kept.absolute, exact_run().absolute)
    slow = empty_row("drive", PEERS["hang"], "default", "timed out")
    store.keep(slow, None, "key", 60.0)
    assert store.find(slow.label, "key", 60.0) == slow
    assert store.find(slow.label, "key", 61.0) is None
    (tmp_path / "rows" / "still.json").write_text("{")
    assert store.find("still", "key", 60.0) is None


def test_everything_that_decides_a_row_changes_its_key():
    """Inputs, method and configuration each lead to another key."""

    def key(inputs: dict[str, object], peer: Peer, configuration: str) -> str:
        return key_of(inputs, peer, configuration, ours=False)

    first = key({"seed": 0}, PEERS["still"], "default")
    assert first == key({"seed": 0}, PEERS["still"], "default")
    others = {
        key({"seed": 1}, PEERS["still"], "default"),
        key({"seed": 0}, PEERS["crash"], "default"),
        key({"seed": 0}, PEERS["still"], "other"),
        key_of({"seed": 0}, PEERS["still"], "default", ours=True),
    }
    assert len(others | {first}) == 5


def test_all_code_that_decides_exists():
    """Every package whose change makes our rows anew is there, so that none is forgotten."""
    digests = {code_of(name) for name in DECIDING}
    assert len(digests) == len(DECIDING)
    assert code_of("nothing") not in digests


def test_a_peer_knows_whether_it_is_there():
    """Without its package it is not installed, and the line that installs it is known."""
    assert PEERS["still"].installed
    assert not PEERS["absent"].installed
    assert PEERS["absent"].install_command == "pip install no-such-package"
    assert PEERS["absent"].version == ""
