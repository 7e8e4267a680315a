# SPDX-License-Identifier: MIT
"""What is wrong between the parts of a recording, said when it is opened or described."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
from recording_inputs import SmallDataset
from svnicp.data import Trajectory
from svnicp.data.open_dataset import open_dataset
from svnicp.data.trajectory_files import write_tum
from svnicp.errors import DatasetError
from svnicp.recording import write_dataset


@pytest.fixture
def clouds(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Return a folder of timed scans of the same time as the small dataset."""
    folder = tmp_path / "clouds"
    files = [cloud_bytes.npy(scan) for scan in folder_files.clouds(rng, 3)]
    folder_files.write_clouds(folder, files, ".npy")
    stamps = [str(scan.stamp_ns) for scan in SmallDataset(3).all_scans]
    (folder / "times.txt").write_text("\n".join(stamps))
    return folder


@pytest.mark.parametrize("bag", [True, False])
@pytest.mark.parametrize("shift_s", [-5e7, 0.0, 40.0])
def test_ground_truth_of_another_time_is_said(tmp_path, clouds, bag, shift_s, caplog):
    """A trajectory that never meets the scans is warned of, and a good one is not."""
    write_dataset(SmallDataset(3), tmp_path / "a.mcap")
    truth = SmallDataset(3).ground_truth
    assert truth is not None
    shifted = Trajectory(truth.stamps_ns + int(shift_s * 1e9), truth.T_world_body)
    write_tum(tmp_path / "truth.tum", shifted)
    caplog.clear()
    open_dataset(tmp_path / "a.mcap" if bag else clouds, ground_truth=tmp_path / "truth.tum")
    assert ("scans and ground truth never meet" in caplog.text) == (shift_s != 0.0)
    assert ("before the first scan" in caplog.text) == (shift_s < 0.0)


def test_the_same_file_twice_is_refused(tmp_path):
    """One file, even under two names, is one part of a recording."""
    write_dataset(SmallDataset(3), tmp_path / "a.bag")
    (tmp_path / "link.bag").symlink_to(tmp_path / "a.bag")
    for name in ("a.bag", "link.bag"):
        with pytest.raises(DatasetError, match=f"{name} is named twice"):
            open_dataset([tmp_path / "a.bag", tmp_path / name])


def test_copies_of_a_recording_are_said(tmp_path, caplog):
    """Two files with the LiDAR at the same time are doubtful; parts that follow each other not."""
    write_dataset(SmallDataset(3), tmp_path / "a.bag")
    shutil.copy(tmp_path / "a.bag", tmp_path / "b.bag")
    later = SmallDataset(3)
    later.ground_truth = None
    later.all_samples = []
    for index, scan in enumerate(later.all_scans):
        assert scan.point_times_ns is not None
        later.all_scans[index] = type(scan)(
            scan.stamp_ns + 300_000_000, scan.points, scan.point_times_ns + 300_000_000
        )
    write_dataset(later, tmp_path / "c.bag")
    for other, copies in (("b.bag", True), ("c.bag", False)):
        caplog.clear()
        open_dataset([tmp_path / "a.bag", tmp_path / other])
        assert ("at the same time" in caplog.text) == copies


def test_several_folders_of_clouds_are_refused(clouds):
    """A second folder would be ignored, so it is not accepted."""
    with pytest.raises(DatasetError, match="only bags may be opened several at a time"):
        open_dataset([clouds, clouds])


def test_the_samples_of_an_imu_table_are_counted(clouds, caplog):
    """Info tells the number of samples and gaps of a csv, and that some do not go forward."""
    start_ns = SmallDataset(3).all_scans[0].stamp_ns
    times = [start_ns + 5_000_000 * k for k in (*range(20), 19, 18, *range(40, 61))]
    rows = [f"{time},0,0,0,0,0,9.81" for time in times]
    (clouds / "imu.csv").write_text("timestamp,gx,gy,gz,ax,ay,az\n" + "\n".join(rows))
    dataset = open_dataset(clouds)
    for _ in range(2):
        (said,) = [entry.value for entry in dataset.info().findings if entry.what == "IMU samples"]
        assert said == "41 messages at 200.0 Hz, 1 gaps, the longest 0.11 s"
    assert caplog.text.count("dropped 2 IMU samples") == 1


def test_faults_of_a_bag_are_said_once_and_with_its_name(tmp_path, caplog):
    """Walking through a recording again does not repeat its warnings."""
    dataset = SmallDataset(5)
    scan = dataset.all_scans[2]
    dataset.all_scans[2] = type(scan)(scan.stamp_ns, np.zeros((0, 3)), np.zeros(0, dtype=np.int64))
    write_dataset(dataset, tmp_path / "drive.bag")
    read = open_dataset(tmp_path / "drive.bag")
    caplog.clear()
    for _ in range(3):
        assert len(list(read)) == 5
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("drive.bag: 1 of 5 scans")
