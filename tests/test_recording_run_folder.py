# SPDX-License-Identifier: MIT
"""The folder of a run: what its files say, that they survive, and that a run can go on."""

import csv
import dataclasses
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from rosbags.highlevel import AnyReader

from recording_inputs import make_estimate, read_messages
from svnicp import __version__, read_cloud
from svnicp.data.trajectory_files import read_kitti, read_tum
from svnicp.errors import DatasetError, InputError
from svnicp.estimate import Estimate
from svnicp.pose_gaussian import PoseGaussian
from svnicp.recording import (
    RunDescription,
    RunFolder,
    read_covariances,
    read_description,
    read_particles,
)

DESCRIPTION = RunDescription(
    data="corridor.mcap", command="svnicp run corridor.mcap", seed=3, config={"stein": {"K": 30}}
)
NAMES = {
    "trajectory.tum", "trajectory.kitti", "relative.tum", "covariance.csv", "scans.csv",
    "timing.csv", "odometry.mcap", "run.yaml",
}  # fmt: skip


def write_run(path: Path, estimates: Iterable[Estimate], *, particles: bool = False) -> None:
    with RunFolder.open(path, DESCRIPTION, particles=particles) as run:
        for estimate in estimates:
            run.on_estimate(estimate)


def contents(path: Path) -> dict[str, bytes]:
    """All files but run.yaml, which says when."""
    return {file.name: file.read_bytes() for file in path.iterdir() if file.name != "run.yaml"}


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def check_files(path: Path, indices) -> None:
    """Every file of a run holds exactly these estimates."""
    estimates = [make_estimate(index) for index in indices]
    stamps_ns = np.array([estimate.stamp_ns for estimate in estimates])
    poses = np.array([estimate.T_world_body for estimate in estimates])
    tum = read_tum(path / "trajectory.tum")
    np.testing.assert_array_equal(tum.stamps_ns, stamps_ns)
    np.testing.assert_allclose(tum.T_world_body, poses, atol=1e-14)
    kitti = read_kitti(path / "trajectory.kitti", stamps_ns)
    np.testing.assert_allclose(kitti.T_world_body, poses, atol=1e-14)
    steps = read_tum(path / "relative.tum", position_only=False)
    np.testing.assert_array_equal(steps.stamps_ns, stamps_ns)
    np.testing.assert_allclose(
        steps.T_world_body, [estimate.T_previous_body for estimate in estimates], atol=1e-14
    )
    covariances = read_covariances(path / "covariance.csv")
    np.testing.assert_array_equal(covariances.stamps_ns, stamps_ns)
    np.testing.assert_array_equal(
        covariances.absolute, [estimate.covariance for estimate in estimates]
    )
    for name, per_scan in (("scans.csv", 1), ("timing.csv", 2)):
        stamps = [int(row["stamp_ns"]) for row in rows(path / name)]
        assert stamps == list(np.repeat(stamps_ns, per_scan))
    with AnyReader([path / "odometry.mcap"]) as reader:
        found = [time_ns for _, time_ns, _ in reader.messages()]
    assert found == list(np.repeat(stamps_ns, 3))


def test_every_file_holds_every_estimate(tmp_path):
    """A finished run has all its files, each with all estimates."""
    write_run(tmp_path / "new" / "run", map(make_estimate, range(4)), particles=True)
    check_files(tmp_path / "new" / "run", range(4))
    names = {file.name for file in (tmp_path / "new" / "run").iterdir()}
    assert names == NAMES | {"particles.npz"}


def test_files_are_whole_after_every_estimate(tmp_path):
    """Before the run is closed, all files can be read up to the last estimate."""
    run = RunFolder.open(tmp_path, DESCRIPTION, particles=True)
    for index in range(3):
        run.on_estimate(make_estimate(index))
        check_files(tmp_path, range(index + 1))
        assert len(read_particles(tmp_path).stamps_ns) == index + 1
    assert read_description(tmp_path).state == "running"
    run.close()


def test_odometry_follows_the_conventions_of_ros(tmp_path):
    """Pose covariance in fixed world axes, twist in the child frame, neither singular."""
    exact = dataclasses.replace(make_estimate(0), covariance=np.zeros((6, 6)))
    with RunFolder.open(tmp_path, DESCRIPTION) as run:
        run.on_estimate(exact)
        run.on_estimate(make_estimate(7))
    (_, first), (_, second) = read_messages(tmp_path / "odometry.mcap")["/odometry"]
    assert np.linalg.eigvalsh(first.pose.covariance.reshape(6, 6)).min() > 0.0
    assert (second.header.frame_id, second.child_frame_id) == ("odom", "base_link")
    estimate = make_estimate(7)
    back = PoseGaussian.from_ros(estimate.T_world_body, second.pose.covariance.reshape(6, 6))
    np.testing.assert_allclose(back.covariance, estimate.covariance, atol=1e-11)
    assert np.abs(second.pose.covariance.reshape(6, 6) - estimate.covariance).max() > 1e-4
    twist = second.twist.twist
    np.testing.assert_array_equal(
        [twist.linear.x, twist.linear.y, twist.linear.z, twist.angular.x, twist.angular.y,
         twist.angular.z],
        estimate.twist,
    )  # fmt: skip
    np.testing.assert_allclose(
        second.twist.covariance.reshape(6, 6), estimate.twist_covariance, atol=1e-11
    )
    assert second.pose.pose.position.x == estimate.T_world_body[0, 3]


def test_diagnostics_say_how_it_goes(tmp_path):
    """Fine is level 0, a weak direction is a warning, a scan that was not used is an error."""
    with RunFolder.open(tmp_path, DESCRIPTION) as run:
        for estimate in (make_estimate(0), make_estimate(1), make_estimate(2, ok=False)):
            run.on_estimate(estimate)
    found = read_messages(tmp_path / "odometry.mcap")
    assert {message.transforms[0].child_frame_id for _, message in found["/tf"]} == {"base_link"}
    arrays = [message for _, message in found["/diagnostics"]]
    assert [array.status[0].level for array in arrays] == [0, 1, 2]
    assert arrays[2].status[0].message == make_estimate(2, ok=False).message
    facts = {value.key: value.value for value in arrays[1].status[0].values}
    assert facts["status"] == "CONVERGED"
    assert facts["weak direction 1"].startswith("translation along (+1.00, +0.00, +0.00)")


def test_tables_hold_what_else_is_known(tmp_path):
    """scans.csv and timing.csv have every number, and empty cells where there is none."""
    write_run(tmp_path, [make_estimate(1)])
    estimate = make_estimate(1)
    (row,) = rows(tmp_path / "scans.csv")
    assert (row["status"], row["ok"], row["num_points"]) == ("CONVERGED", "1", "1001")
    assert float(row["nis"]) == estimate.nis
    assert estimate.kalman_gain is not None
    assert float(row["kalman_gain_rz"]) == estimate.kalman_gain[5]
    assert float(row["twist_tx"]) == estimate.twist[0]
    assert row["accelerometer_bias_x"] == ""
    assert row["weak_directions"] == str(estimate.weak_directions[0])
    timing = {row["stage"]: float(row["seconds"]) for row in rows(tmp_path / "timing.csv")}
    assert timing == estimate.timing_s


def test_run_yaml_tells_how_to_make_the_run_again(tmp_path):
    """Version, data, seed, command, parameters, and how it ended are in run.yaml."""
    write_run(tmp_path, map(make_estimate, range(2)))
    content = yaml.safe_load((tmp_path / "run.yaml").read_text())
    assert content["svnicp"] == __version__
    assert content["config"] == {"stein": {"K": 30}}
    assert (content["data"], content["seed"]) == ("corridor.mcap", 3)
    assert (content["state"], content["num_scans"]) == ("finished", 2)
    assert read_description(tmp_path).command == "svnicp run corridor.mcap"


def test_an_interrupted_run_says_so(tmp_path):
    """Ctrl-C closes the files, and run.yaml says that the run was interrupted."""

    def interrupted() -> Iterator[Estimate]:
        yield make_estimate(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_run(tmp_path, interrupted())
    assert read_description(tmp_path).state == "interrupted"
    check_files(tmp_path, [0])


def test_map_and_particles(tmp_path):
    """map.ply has the points; particles.npz those of every scan, however many each has."""
    points = np.random.default_rng(1).normal(size=(10, 3))
    with RunFolder.open(tmp_path, DESCRIPTION, particles=True) as run:
        run.on_estimate(make_estimate(0, num_particles=2))
        run.on_estimate(dataclasses.replace(make_estimate(1), particles=None))
        run.on_estimate(make_estimate(2, num_particles=5))
        run.write_map(points)
    np.testing.assert_array_equal(read_cloud(tmp_path / "map.ply"), points)
    particles = read_particles(tmp_path)
    assert particles.first.tolist() == [0, 2, 7]
    np.testing.assert_array_equal(
        particles.T_world_body[2:], make_estimate(2, num_particles=5).particles
    )
    with np.load(tmp_path / "particles.npz") as arrays:
        np.testing.assert_array_equal(arrays["stamps_ns"], particles.stamps_ns)


def test_an_existing_run_is_safe(tmp_path):
    """Another run in the folder is refused; overwriting deletes its files and no others."""
    write_run(tmp_path, map(make_estimate, range(3)), particles=True)
    (tmp_path / "notes.txt").write_text("mine")
    for name in ("state.npz", "map.ply", "map.part", "ground_truth.tum"):
        (tmp_path / name).write_text("of the run before")
    with pytest.raises(InputError, match="a run in this folder already"):
        RunFolder.open(tmp_path, DESCRIPTION)
    check_files(tmp_path, range(3))
    with RunFolder.open(tmp_path, DESCRIPTION, overwrite=True) as run:
        run.on_estimate(make_estimate(5))
    check_files(tmp_path, [5])
    assert {file.name for file in tmp_path.iterdir()} == NAMES | {"notes.txt"}


def test_a_run_without_a_pose_makes_room(tmp_path):
    """A run that ended before its first estimate is replaced without a word; other files stay."""
    write_run(tmp_path, [], particles=True)
    (tmp_path / "notes.txt").write_text("mine")
    write_run(tmp_path, [make_estimate(5)])
    check_files(tmp_path, [5])
    assert {file.name for file in tmp_path.iterdir()} == NAMES | {"notes.txt"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trajectory.tum", b"0 1 2 3 0 0 0 1\n"),
        ("scans.csv", b"stamp_ns,mine\n1,2\n"),
        ("odometry.mcap", b"another recording"),
        ("particles.npz", b"other particles"),
        ("imu_rate.tum", b"0 1 2 3 0 0 0 1\n"),
        ("ground_truth.tum", b"0 1 2 3 0 0 0 1\n"),
        ("map.ply", b"ply\n"),
        ("state.npz", b"a state"),
        ("report.html", b"a report"),
        ("run.yaml", b"mine: 1\n"),
    ],
)
def test_anything_in_a_run_without_a_pose_keeps_it(tmp_path, name, content):
    """One file that such a run would not have left, and the folder is refused and left alone."""
    write_run(tmp_path, [], particles=True)
    (tmp_path / name).write_bytes(content)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(InputError, match="a run in this folder already"):
        RunFolder.open(tmp_path, DESCRIPTION)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_run_that_goes_on_is_not_replaced(tmp_path):
    """Before its first pose, a run that has not ended keeps its folder."""
    run = RunFolder.open(tmp_path, DESCRIPTION)
    with pytest.raises(InputError, match="a run in this folder already"):
        RunFolder.open(tmp_path, DESCRIPTION)
    run.close()
    RunFolder.open(tmp_path, DESCRIPTION).close()


def test_estimates_out_of_order_are_refused(tmp_path):
    """A stamp that does not increase is an error, and the files stay as they were."""
    with RunFolder.open(tmp_path, DESCRIPTION) as run:
        run.on_estimate(make_estimate(2))
        for index in (2, 1):
            with pytest.raises(InputError, match="order of time"):
                run.on_estimate(make_estimate(index))
    check_files(tmp_path, [2])


def test_a_bad_estimate_is_not_written_in_part(tmp_path):
    """An estimate whose covariance is none is refused before any file takes it."""
    with RunFolder.open(tmp_path, DESCRIPTION) as run:
        run.on_estimate(make_estimate(0))
        bad = dataclasses.replace(make_estimate(1), covariance=np.full((6, 6), np.nan))
        with pytest.raises(InputError, match="finite"):
            run.on_estimate(bad)
        run.on_estimate(make_estimate(2))
    check_files(tmp_path, [0, 2])


@pytest.mark.parametrize("ended", [True, False])
def test_a_resumed_run_equals_one_that_was_never_interrupted(tmp_path, ended):
    """Cut back to its third estimate and continued, all files are the same bytes."""
    run = RunFolder.open(tmp_path / "again", DESCRIPTION, particles=True)
    for index in range(5):
        run.on_estimate(make_estimate(index))
    if not ended:  # what a kill would leave behind now
        shutil.copytree(tmp_path / "again", tmp_path / "killed")
    run.close()
    if not ended:
        shutil.rmtree(tmp_path / "again")
        (tmp_path / "killed").rename(tmp_path / "again")
    with RunFolder.resume(tmp_path / "again", make_estimate(2).stamp_ns) as run:
        assert run.num_scans == 3
        check_files(tmp_path / "again", range(3))
        for index in range(3, 6):
            run.on_estimate(make_estimate(index))
    write_run(tmp_path / "straight", map(make_estimate, range(6)), particles=True)
    assert contents(tmp_path / "again") == contents(tmp_path / "straight")
    assert read_description(tmp_path / "again").num_scans == 6


def test_resuming_drops_lines_that_were_not_finished(tmp_path):
    """A line that a kill cut off in any text file is gone when the run goes on."""
    write_run(tmp_path, map(make_estimate, range(2)))
    for name in NAMES - {"odometry.mcap", "run.yaml"}:
        with (tmp_path / name).open("a") as file:
            file.write("17")
    with RunFolder.resume(tmp_path, make_estimate(1).stamp_ns) as run:
        run.on_estimate(make_estimate(2))
    check_files(tmp_path, range(3))


def test_resuming_needs_a_run_that_has_the_stamp(tmp_path):
    """No run, a missing file and a stamp that is not there each get their sentence."""
    with pytest.raises(DatasetError, match="is this the folder of a run"):
        RunFolder.resume(tmp_path, 0)
    write_run(tmp_path, map(make_estimate, range(3)))
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match="there is no pose of 5 ns"):
        RunFolder.resume(tmp_path, 5)
    assert contents(tmp_path) == before
    (tmp_path / "scans.csv").unlink()
    with pytest.raises(DatasetError, match=r"scans\.csv is missing"):
        RunFolder.resume(tmp_path, make_estimate(1).stamp_ns)


WRITER = """
import sys
from recording_inputs import make_estimate
from svnicp.recording import RunDescription, RunFolder
run = RunFolder.open(sys.argv[1], RunDescription(data="none"), particles=True)
for index in range(1_000_000):
    run.on_estimate(make_estimate(index))
    print(index, flush=True)
"""


def test_a_killed_run_leaves_valid_files(tmp_path):
    """After kill -9 every file is valid up to the last estimate, and the run can be resumed."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "run")]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        printed = [process.stdout.readline() for _ in range(25)]
        process.send_signal(signal.SIGKILL)
        printed += process.stdout.readlines()
    last = int(printed[-1])
    lines = (tmp_path / "run" / "trajectory.tum").read_text().splitlines(keepends=True)
    assert len(lines) - 1 in {last, last + 1}  # a kill between write and print loses the print only
    for name in NAMES - {"odometry.mcap", "run.yaml"}:
        assert (tmp_path / "run" / name).read_text().endswith("\n")
    with AnyReader([tmp_path / "run" / "odometry.mcap"]) as reader:
        assert len(list(reader.messages())) >= 3 * len(lines)
    assert len(read_particles(tmp_path / "run").stamps_ns) >= len(lines)
    with RunFolder.resume(tmp_path / "run", make_estimate(len(lines) - 1).stamp_ns):
        pass
    check_files(tmp_path / "run", range(len(lines)))


def test_a_full_disk_ends_with_a_sentence(tmp_path):
    """When the disk takes no more, one sentence says so and every file stays valid."""
    resource = pytest.importorskip("resource")
    run = RunFolder.open(tmp_path, DESCRIPTION)
    run.on_estimate(make_estimate(0))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, ((tmp_path / "odometry.mcap").stat().st_size + 700, limits[1])
    )
    try:
        with pytest.raises(InputError, match=r"odometry\.mcap: .* cannot be written"):
            run.on_estimate(make_estimate(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    check_files(tmp_path, [0])
    run.on_estimate(make_estimate(2))
    run.close()
    check_files(tmp_path, [0, 2])
