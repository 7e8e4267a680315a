# SPDX-License-Identifier: MIT
"""open_dataset: every format is recognised, nothing else is, and errors say what would be."""

from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
import ros_makers
import ros_recordings
from svnicp.data.folders.clouds import CloudFolder
from svnicp.data.folders.kitti import KittiOdometry
from svnicp.data.folders.kitti_raw import KittiRaw
from svnicp.data.open_dataset import FORMATS, OpenOptions, open_dataset
from svnicp.data.ros import RosBag
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import write_tum
from svnicp.errors import ConfigError, DatasetError
from svnicp.lie import se3_exp
from svnicp.recording.write_dataset import write_dataset


def write_bag(path: Path, rng: np.random.Generator, bag_format: str = "ros1") -> Path:
    """Write a small recording of scans."""
    stored = ros_makers.stored_scans(ros_makers.true_scans(rng))
    return ros_recordings.write_bag(path, bag_format, stored)


@pytest.mark.parametrize("bag_format", ros_recordings.FORMATS)
def test_ros_recordings_are_recognised(tmp_path: Path, rng: np.random.Generator, bag_format: str):
    """Bags of both generations are opened as such, by file or by folder."""
    path = write_bag(ros_recordings.bag_path(tmp_path, bag_format), rng, bag_format)
    assert isinstance(open_dataset(path), RosBag)
    assert isinstance(open_dataset(str(tmp_path if bag_format == "ros1" else path)), RosBag)


def test_several_bags_belong_together(tmp_path: Path, rng: np.random.Generator):
    """A list of files is one recording."""
    paths = [write_bag(tmp_path / name, rng) for name in ("a.bag", "b.bag")]
    assert open_dataset(paths).info().kind == "ROS 1 bag, 2 files"


def test_truth_beside_a_bag_is_found(tmp_path: Path, rng: np.random.Generator):
    """NAME.gt.tum, as the simulator writes it, or a file that is given, is the ground truth."""
    path = write_bag(tmp_path / "drive.bag", rng)
    truth = Trajectory(np.arange(3) * 10**8, se3_exp(rng.normal(size=(3, 6))))
    write_tum(tmp_path / "drive.gt.tum", truth)
    write_tum(tmp_path / "other.tum", Trajectory(truth.stamps_ns + 7, truth.T_world_body))
    found = open_dataset(path).ground_truth
    given = open_dataset(path, ground_truth=tmp_path / "other.tum").ground_truth
    assert found is not None
    assert given is not None
    assert found.stamps_ns.tolist() == truth.stamps_ns.tolist()
    assert given.stamps_ns.tolist() == (truth.stamps_ns + 7).tolist()


def test_truth_beside_a_folder_with_a_dot_is_found(tmp_path: Path, rng: np.random.Generator):
    """The truth of the ROS 2 bag a.b is a.b.gt.tum, as it is written, and not a.gt.tum."""
    path = write_bag(tmp_path / "a.b", rng, "sqlite")
    truth = Trajectory(np.arange(3) * 10**8, se3_exp(rng.normal(size=(3, 6))))
    write_tum(tmp_path / "a.gt.tum", Trajectory(truth.stamps_ns + 7, truth.T_world_body))
    write_tum(tmp_path / "a.b.gt.tum", truth)
    found = open_dataset(path).ground_truth
    assert found is not None
    assert found.stamps_ns.tolist() == truth.stamps_ns.tolist()


def test_folders_are_told_apart(tmp_path: Path, rng: np.random.Generator):
    """KITTI odometry, KITTI raw and plain folders each get their reader."""
    files = [cloud_bytes.kitti(scan) for scan in folder_files.clouds(rng, 2)]
    folder_files.write_clouds(tmp_path / "odometry" / "velodyne", files, ".bin")
    (tmp_path / "odometry" / "times.txt").write_text("0.0\n0.1\n")
    folder_files.write_clouds(tmp_path / "raw" / "velodyne_points" / "data", files, ".bin")
    folder_files.write_clouds(tmp_path / "plain", files, ".bin")
    folder_files.write_clouds(tmp_path / "nested" / "front", files, ".bin")
    assert isinstance(open_dataset(tmp_path / "odometry"), KittiOdometry)
    assert isinstance(open_dataset(tmp_path / "raw"), KittiRaw)
    assert type(open_dataset(tmp_path / "plain")) is CloudFolder
    assert type(open_dataset(tmp_path / "nested")) is CloudFolder
    assert type(open_dataset(tmp_path / "odometry", kind="clouds")) is CloudFolder


def test_what_the_package_writes_as_kitti_it_reads(tmp_path: Path, rng: np.random.Generator):
    """A dataset survives being written as a KITTI folder: points, stamps and LiDAR poses."""
    scans = folder_files.clouds(rng, 4)
    source = tmp_path / "source"
    folder_files.write_clouds(source, [cloud_bytes.npy(scan) for scan in scans], ".npy")
    stamps_ns = folder_files.write_times(source / "times.txt", 4)
    truth = Trajectory(stamps_ns, se3_exp(0.1 * rng.normal(size=(4, 6))))
    write_tum(source / "ground_truth.tum", truth)
    write_dataset(open_dataset(source), tmp_path / "copy", "kitti")
    copy = open_dataset(tmp_path / "copy")
    assert isinstance(copy, KittiOdometry)
    for scan, written, stamp_ns in zip(copy, scans, stamps_ns, strict=True):
        np.testing.assert_array_equal(scan.points, written)
        assert scan.stamp_ns == stamp_ns
    assert copy.ground_truth is not None
    relative = np.linalg.inv(truth.T_world_body[0]) @ truth.T_world_body
    np.testing.assert_allclose(copy.ground_truth.T_world_body, relative, atol=1e-9)


def test_options_reach_the_reader(tmp_path: Path, rng: np.random.Generator):
    """Single fields and whole options do the same."""
    files = [cloud_bytes.npy(scan) for scan in folder_files.clouds(rng, 2)]
    folder_files.write_clouds(tmp_path, files, ".npy")
    for dataset in (
        open_dataset(tmp_path, scan_rate_hz=5.0),
        open_dataset(tmp_path, OpenOptions(scan_rate_hz=5.0)),
    ):
        assert [scan.stamp_ns for scan in dataset] == [0, 200_000_000]


def test_nothing_that_fits_lists_what_would(tmp_path: Path):
    """An empty folder and a text file get one sentence with every format that is understood."""
    (tmp_path / "notes.txt").write_text("hello")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(DatasetError) as caught:
            open_dataset(path)
        sentence = str(caught.value)
        assert str(path) in sentence
        assert all(entry.words in sentence for entry in FORMATS)
        assert ".pcd, .ply, .bin, .npy" in sentence


def test_a_single_cloud_is_no_recording(tmp_path: Path, rng: np.random.Generator):
    """Naming one file of a folder says what to name instead."""
    (tmp_path / "a.bin").write_bytes(cloud_bytes.kitti(folder_files.clouds(rng, 1)[0]))
    with pytest.raises(DatasetError, match=r"a\.bin: this is a single cloud; name the folder"):
        open_dataset(tmp_path / "a.bin")


def test_wrong_arguments_are_refused(tmp_path: Path):
    """A missing path, an unknown kind and an unknown option each get their own sentence."""
    with pytest.raises(DatasetError, match="there is no such file or folder"):
        open_dataset(tmp_path / "absent")
    with pytest.raises(ConfigError, match=r"kind must be one of geode, .*, not 'las'"):
        open_dataset(tmp_path, kind="las")
    with pytest.raises(ConfigError, match="lidar_topics"):
        open_dataset(tmp_path, lidar_topics="/points")
    with pytest.raises(DatasetError, match="No path was given"):
        open_dataset([])


def test_formats_that_need_more_than_a_name_are_forced(tmp_path: Path):
    """A kind that does not fit what is there fails with that kind's own sentence."""
    with pytest.raises(DatasetError, match="velodyne"):
        open_dataset(tmp_path, kind="kitti")
