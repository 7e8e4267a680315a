# SPDX-License-Identifier: MIT
"""SubT-MRS in its published forms: split bags of packets, .las folders, TartanAir scenes."""

from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
import ros_makers
import ros_recordings
from folder_files import START_NS
from ros_recordings import Stored
from svnicp.data.folders.las import read_las_scan
from svnicp.data.folders.npy_imu import NpyImu
from svnicp.data.folders.subt_mrs_rigs import rig_of
from svnicp.data.open_dataset import open_dataset
from svnicp.errors import DatasetError

TRUTH_HEADER = "timestamp, p_w_b_x, p_w_b_y, p_w_b_z, q_w_b_x, q_w_b_y, q_w_b_z, q_w_b_w"
IMU_HEADER = (
    "timestamp(ns), q_x, q_y, q_z, q_w, ang_vel_x, ang_vel_y, ang_vel_z, "
    "lin_acc_x, lin_acc_y, lin_acc_z"
)


def write_truth(path: Path, start_ns: int) -> None:
    """Write ten poses one metre apart, the rows upside down."""
    rows = [f"{start_ns + k * 10**8}, {k}, 0, 0, 0, 0, 0.6, 0.8" for k in range(10)]
    path.write_text("\n".join([TRUTH_HEADER, *reversed(rows)]))


def packet_scan(start_ns: int, distance_m: float) -> Stored:
    """Return one revolution of VLP-16 packets at the same distance all around."""
    stamps_ns = [start_ns + 1_327_000 * i for i in range(75)]
    since_hour_us = (start_ns // 1000) % 3_600_000_000
    packets = [
        ros_recordings.packet_bytes(
            480 * i, np.full((12, 32), distance_m), since_hour_us + 1327 * i
        )
        for i in range(75)
    ]
    message = ros_recordings.velodyne_message(stamps_ns, packets)
    return Stored("/velodyne_packets", "velodyne_msgs/msg/VelodyneScan", stamps_ns[-1], message)


def test_split_bags_of_packets_are_one_recording(tmp_path: Path, rng: np.random.Generator):
    """Packets and IMU of all raw_data_*.bag files come in order, with truth and extrinsics."""
    pytest.importorskip("velodyne_decoder")
    folder = tmp_path / "SubT_MRS_Hawkins_Multi_Floor_LegRobot"
    folder.mkdir()
    start_ns = ros_recordings.START_NS
    samples = ros_makers.true_imu(rng, 0.8)
    imu = ros_makers.stored_imu(samples)
    scans = [packet_scan(start_ns + k * 10**8, 5.0 + k) for k in range(8)]
    split_ns = start_ns + 4 * 10**8
    for part, name in enumerate(["raw_data_0.bag", "raw_data_1.bag"]):
        stored = [item for item in [*scans, *imu] if (item.log_ns >= split_ns) == bool(part)]
        ros_recordings.write_bag(folder / name, "ros1", sorted(stored, key=lambda m: m.log_ns))
    write_truth(folder / "ground_truth_path.csv", start_ns)
    dataset = open_dataset(folder)
    read = list(dataset)
    distances = [np.median(np.linalg.norm(scan.points, axis=1)) for scan in read]
    np.testing.assert_allclose(distances, 5.0 + np.arange(8), atol=0.05)
    assert read[0].stamp_ns == pytest.approx(start_ns, abs=100_000)
    ros_makers.assert_same_imu(list(dataset.imu_samples()), samples)
    np.testing.assert_allclose(dataset.T_body_lidar[:3, 3], [0.08, 0.029, 0.03])
    assert dataset.ground_truth is not None
    np.testing.assert_array_equal(dataset.ground_truth.positions[:, 0], np.arange(10.0))
    info = dataset.info()
    assert info.kind.startswith("SubT-MRS, ")
    assert (info.sensor, info.imu) == ("VLP-16", "Epson M-G365")
    assert [finding.what for finding in info.findings].count("extrinsics") == 1


def test_las_folders_are_read(tmp_path: Path, rng: np.random.Generator):
    """Scans of lidar/*.las, their stamps, the IMU csv with quaternions, the table's extrinsics."""
    root = tmp_path / "SubT_MRS_Laurel_Caverns_Handheld3"
    scans = [np.round(scan, 3) for scan in folder_files.clouds(rng, 4, points=100)]
    times = np.arange(100) * 0.00099
    files = [folder_files.las(scan, times, 3) for scan in scans]
    folder_files.write_clouds(root / "lidar", files, ".las")
    stamps_ns = folder_files.write_times(root / "lidar" / "timestamps.txt", 4)
    rows = np.hstack([np.tile([0.0, 0, 0, 1], (80, 1)), rng.normal(size=(80, 3)),
                      rng.normal([0, 0, 9.8], 0.1, (80, 3))])  # fmt: skip
    imu_ns = START_NS + np.arange(80) * 5_000_000
    folder_files.write_imu(root / "imu" / "imu_data.csv", IMU_HEADER, rows, imu_ns)
    dataset = open_dataset(root)
    for scan, written, stamp_ns in zip(dataset, scans, stamps_ns, strict=True):
        np.testing.assert_allclose(scan.points, written, atol=1e-9)
        assert scan.stamp_ns == stamp_ns
        assert scan.point_times_ns is not None
        np.testing.assert_allclose(scan.point_times_ns - stamp_ns, times * 1e9, atol=1)
    samples = list(dataset.imu_samples())
    np.testing.assert_array_equal([s.angular_velocity for s in samples], rows[:, 4:7])
    np.testing.assert_allclose(dataset.T_body_lidar[:3, :3], np.eye(3))


def test_tartanair_folders_have_simultaneous_points_in_north_east_down(
    tmp_path: Path, rng: np.random.Generator
):
    """Points have no times, IMU arrays are read, and up is -z of the IMU."""
    root = tmp_path / "TartanAir_lidar_factory"
    scans = folder_files.clouds(rng, 3)
    (root / "lidar").mkdir(parents=True)
    (root / "imu").mkdir()
    for k, scan in enumerate(scans):
        data = folder_files.timed_ply(scan, np.linspace(0.0, 0.1, len(scan)))  # to be ignored
        (root / "lidar" / f"{k:06d}_lcam_front_lidar.ply").write_bytes(data)
    (root / "lidar" / "timestamps.txt").write_text("0.0\n0.1\n0.2\n")
    acceleration = rng.normal([0, 0, -9.8], 0.1, (30, 3))
    rate = rng.normal(size=(30, 3))
    np.save(root / "imu" / "acc.npy", acceleration)
    np.savetxt(root / "imu" / "gyro.txt", rate, fmt="%.17g")
    np.save(root / "imu" / "imu_time.npy", np.arange(30) * 0.01)
    dataset = open_dataset(root)
    read = list(dataset)
    assert [scan.stamp_ns for scan in read] == [0, 10**8, 2 * 10**8]
    assert all(scan.point_times_ns is None for scan in read)
    np.testing.assert_array_equal(read[2].points, scans[2])
    samples = list(dataset.imu_samples())
    np.testing.assert_array_equal([s.linear_acceleration for s in samples], acceleration)
    np.testing.assert_array_equal([s.angular_velocity for s in samples], rate)
    assert samples[7].stamp_ns == 70_000_000
    up_lidar = np.array([0.0, 0.0, 1.0])
    np.testing.assert_array_equal(dataset.T_body_lidar[:3, :3] @ up_lidar, [0.0, 0.0, -1.0])


def test_tartanair_bags_use_its_topics_and_no_times(tmp_path: Path, rng: np.random.Generator):
    """The simulated bags are opened without flags, although they carry a time field."""
    scans = ros_makers.true_scans(rng)
    stored = ros_makers.stored_scans(scans, topic="/tartanair/velodyne")
    stored += ros_makers.stored_imu(ros_makers.true_imu(rng), topic="/tartanair/imu")
    path = tmp_path / "TartanAir_lidar_ocean_noise0.bag"
    ros_recordings.write_bag(path, "ros1", sorted(stored, key=lambda m: m.log_ns))
    dataset = open_dataset(path)
    first = next(iter(dataset))
    np.testing.assert_array_equal(first.points, scans[0].points)
    assert first.point_times_ns is None
    assert dataset.T_body_lidar[2, 2] == pytest.approx(-1.0)


def test_sequences_are_told_apart_by_their_names():
    """Each published name leads to its rig, and an unknown one says so."""
    assert rig_of("SubT_MRS_Hawkins_Long_Corridor_RC").T_imu_lidar[0, 0] == 0.9992129
    assert rig_of("SubT_MRS_Urban_Challenge_UGV2").T_imu_lidar[0, 3] == -0.0351814
    assert rig_of("SubT_MRS_MILL19_Block_LiDAR").T_imu_lidar[0, 1] == 0.003771516
    assert rig_of("TartanAir_lidar_sewerage").simulated
    assert "not in the table" in rig_of("my_own_cave").note


@pytest.mark.parametrize(("point_format", "minor"), [(0, 2), (1, 0), (2, 2), (3, 3), (6, 4),
                                                     (7, 4), (8, 4)])  # fmt: skip
def test_las_point_formats_are_read(
    tmp_path: Path, rng: np.random.Generator, point_format: int, minor: int
):
    """Coordinates and GPS times of every uncompressed format come back."""
    points = np.round(rng.uniform(-50.0, 50.0, size=(30, 3)), 3)
    times = rng.uniform(0.0, 1e5, size=30)
    (tmp_path / "a.las").write_bytes(
        folder_files.las(points, None if point_format in (0, 2) else times, point_format, minor)
    )
    scan = read_las_scan(tmp_path / "a.las")
    np.testing.assert_allclose(scan.points, points, atol=1e-9)
    if point_format in (0, 2):
        assert scan.times is None
    else:
        np.testing.assert_array_equal(scan.times, times)


def test_bad_las_files_are_refused_by_name(tmp_path: Path, rng: np.random.Generator):
    """Cut off, compressed, or something else: the sentence names the file and the reason."""
    good = folder_files.las(rng.uniform(size=(30, 3)), None, 0)
    compressed = bytearray(good)
    compressed[104] |= 0x80
    for data, message in [
        (good[:-5], "promises 30 points and the file holds 29"),
        (good[:100], "not a LAS file"),
        (bytes(compressed), "compressed"),
        (b"LAZF" + good[4:], "not a LAS file"),
    ]:
        (tmp_path / "a.las").write_bytes(data)
        with pytest.raises(DatasetError, match=message) as caught:
            read_las_scan(tmp_path / "a.las")
        assert "a.las" in str(caught.value)


def test_imu_arrays_that_do_not_fit_are_refused(tmp_path: Path, rng: np.random.Generator):
    """A missing or shorter array is named before anything is iterated."""
    root = tmp_path / "TartanAir_lidar_factory"
    (root / "lidar").mkdir(parents=True)
    (root / "imu").mkdir()
    scan = cloud_bytes.ply(folder_files.clouds(rng, 1)[0])
    (root / "lidar" / "000000_lcam_front_lidar.ply").write_bytes(scan)
    np.save(root / "imu" / "acc.npy", np.ones((5, 3)))
    np.save(root / "imu" / "gyro.npy", np.ones((4, 3)))
    with pytest.raises(DatasetError, match="imu_time"):
        open_dataset(root)
    np.save(root / "imu" / "imu_time.npy", np.arange(5.0))
    with pytest.raises(DatasetError, match="do not fit each other"):
        open_dataset(root)


def test_imu_rows_that_go_back_are_dropped_and_said(tmp_path: Path, caplog):
    """Repeated and backward times cost their rows, and a warning says how many."""
    np.save(tmp_path / "acc.npy", np.full((5, 3), 5.6))
    np.save(tmp_path / "gyro.npy", np.zeros((5, 3)))
    np.save(tmp_path / "imu_time.npy", np.array([0.0, 0.1, 0.1, 0.05, 0.2]))
    samples = list(NpyImu(tmp_path).samples())
    assert [one.stamp_ns for one in samples] == [0, 10**8, 2 * 10**8]
    assert "dropped 2 of 5 IMU samples" in caplog.text


@pytest.mark.parametrize("time", [np.nan, np.inf, 1e300])
def test_imu_times_that_are_none_are_refused(tmp_path: Path, time: float):
    """A time that is not finite, or beyond all calendars, is named instead of wrapped around."""
    np.save(tmp_path / "acc.npy", np.full((2, 3), 5.6))
    np.save(tmp_path / "gyro.npy", np.zeros((2, 3)))
    np.save(tmp_path / "imu_time.npy", np.array([0.0, time]))
    with pytest.raises(DatasetError, match="imu_time"):
        NpyImu(tmp_path)
