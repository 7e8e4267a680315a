# SPDX-License-Identifier: MIT
"""Folders of clouds: every format is read back as it was written; bad files are named."""

from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
from folder_files import START_NS
from svnicp.data.dataset import DatasetInfo
from svnicp.data.folders.clouds import CloudFolder
from svnicp.data.folders.options import FolderOptions
from svnicp.data.ros.point_times import PointTimeOptions, Unit
from svnicp.errors import ConfigError, DatasetError

WRITERS = {
    ".pcd": cloud_bytes.pcd,
    ".ply": cloud_bytes.ply,
    ".bin": cloud_bytes.kitti,
    ".npy": cloud_bytes.npy,
}


def found(info: DatasetInfo, what: str) -> str:
    """Return what a dataset says about one subject."""
    return " / ".join(finding.value for finding in info.findings if finding.what == what)


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_is_read_back(tmp_path: Path, rng: np.random.Generator, suffix: str):
    """Points are the same bit for bit, in natural order, with the stamps of the times file."""
    scans = folder_files.clouds(rng, 11)
    folder_files.write_clouds(tmp_path, [WRITERS[suffix](scan) for scan in scans], suffix)
    stamps_ns = folder_files.write_times(tmp_path / "times.txt", 11)
    dataset = CloudFolder(tmp_path)
    for _ in range(2):  # iterating starts again from the beginning
        read = list(dataset)
        assert [scan.stamp_ns for scan in read] == stamps_ns.tolist()
        for scan, written in zip(read, scans, strict=True):
            np.testing.assert_array_equal(scan.points, written)
            assert scan.point_times_ns is None
    info = dataset.info()
    assert (info.num_scans, info.scan_period_s) == (11, pytest.approx(0.1))
    assert info.duration_s == pytest.approx(1.0)
    assert "simultaneous" in found(info, "point time")


def test_without_times_ten_hertz_are_assumed_and_said(tmp_path: Path, rng: np.random.Generator):
    """Scans in a subfolder without any times are 10 Hz, and the findings say so."""
    scans = folder_files.clouds(rng, 3)
    folder_files.write_clouds(tmp_path / "lidar", [cloud_bytes.npy(scan) for scan in scans], ".npy")
    (tmp_path / "lidar" / "map.ply").write_bytes(cloud_bytes.ply(scans[0]))
    dataset = CloudFolder(tmp_path)
    assert [scan.stamp_ns for scan in dataset] == [0, 100_000_000, 200_000_000]
    assert "10 Hz assumed" in found(dataset.info(), "scan times")
    assert "1 files of other types" in found(dataset.info(), "left out")


TIME_FIELDS = {
    "Ouster, ns from the start": ("t", lambda ns: ns.astype(np.uint32)),
    "Velodyne, s before the end": (
        "time",
        lambda ns: ((ns - 99_000_000) * 1e-9).astype(np.float32),
    ),
    "Livox, us from the start": ("offset_time", lambda ns: (ns // 1000).astype(np.uint32)),
}


@pytest.mark.parametrize("case", TIME_FIELDS)
def test_times_of_points_are_found_in_pcd_files(
    tmp_path: Path, rng: np.random.Generator, case: str
):
    """Times of any unit and sign arrive as absolute nanoseconds, aligned with their points."""
    field, convert = TIME_FIELDS[case]
    scans = folder_files.clouds(rng, 4, points=100)
    offsets_ns = np.arange(100) * 1_000_000
    scans[1][10] = np.nan
    files = [folder_files.timed_pcd(scan, convert(offsets_ns), field) for scan in scans]
    folder_files.write_clouds(tmp_path, files, ".pcd")
    stamps_ns = folder_files.write_times(tmp_path / "times.txt", 4)
    read = list(CloudFolder(tmp_path))
    base = stamps_ns - (99_000_000 if field == "time" else 0)
    keep = np.isfinite(scans[1]).all(axis=1)
    assert read[1].point_times_ns is not None
    np.testing.assert_allclose(read[1].point_times_ns, base[1] + offsets_ns[keep], atol=10)
    np.testing.assert_array_equal(read[1].points, scans[1][keep])
    assert read[2].stamp_ns == pytest.approx(base[2], abs=10)
    assert read[2].end_ns == pytest.approx(base[2] + 99_000_000, abs=10)


def test_absolute_times_of_points_stamp_scans_without_times(
    tmp_path: Path, rng: np.random.Generator
):
    """Where nothing else says when, scans start at their first point."""
    scans = folder_files.clouds(rng, 4, points=100)
    starts_s = [1.6e9 + 0.1 * k for k in range(4)]
    files = [
        folder_files.timed_ply(scan, start_s + np.linspace(0.0, 0.09, 100))
        for scan, start_s in zip(scans, starts_s, strict=True)
    ]
    folder_files.write_clouds(tmp_path, files, ".ply")
    dataset = CloudFolder(tmp_path)
    stamps_s = [scan.stamp_ns * 1e-9 for scan in dataset]
    np.testing.assert_allclose(stamps_s, starts_s, atol=1e-6)
    assert "say when a scan starts" in found(dataset.info(), "point time")


def test_times_of_points_can_be_ignored(tmp_path: Path, rng: np.random.Generator):
    """A flag turns them off, for data that are known to be deskewed."""
    scan = folder_files.clouds(rng, 1, points=100)[0]
    times = (np.arange(100) * 1_000_000).astype(np.uint32)
    folder_files.write_clouds(tmp_path, [folder_files.timed_pcd(scan, times)] * 3, ".pcd")
    options = FolderOptions(point_times=PointTimeOptions(ignore=True))
    assert all(scan.point_times_ns is None for scan in CloudFolder(tmp_path, options))


@pytest.mark.parametrize(("unit", "kept"), [("s", False), ("us", False), ("ns", True)])
def test_a_wrong_unit_of_point_times_is_said(
    tmp_path: Path, rng: np.random.Generator, unit: Unit, kept: bool, caplog
):
    """Times that no scan can have are said, with the unit that fits, and not used."""
    scan = folder_files.clouds(rng, 1, points=100)[0]
    times = (np.arange(100) * 1_000_000).astype(np.uint32)
    folder_files.write_clouds(tmp_path, [folder_files.timed_pcd(scan, times)] * 3, ".pcd")
    options = FolderOptions(point_times=PointTimeOptions(unit=unit))
    scans = list(CloudFolder(tmp_path, options))
    assert [scan.point_times_ns is not None for scan in scans] == [kept] * 3
    assert ("use --point-time-unit ns" in caplog.text) == (not kept)
    assert ("3 scans had impossible point times" in caplog.text) == (not kept)


def test_what_lies_beside_the_clouds_is_used(tmp_path: Path, rng: np.random.Generator):
    """IMU, extrinsics and ground truth are found by name, and measurements come in order."""
    scans = folder_files.clouds(rng, 3)
    folder_files.write_clouds(tmp_path / "lidar", [cloud_bytes.kitti(s) for s in scans], ".bin")
    stamps_ns = folder_files.write_times(tmp_path / "lidar" / "timestamps.txt", 3)
    imu_ns = START_NS - 10_000_000 + np.arange(60) * 5_000_000
    rows = np.hstack([rng.normal(size=(60, 3)), rng.normal([0, 0, 9.8], 0.1, size=(60, 3))])
    header = "timestamp,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z"
    folder_files.write_imu(tmp_path / "imu.csv", header, rows, imu_ns)
    (tmp_path / "extrinsics.yaml").write_text("T_imu_lidar: [0.1, 0.2, 0.3, 0, 0, 0.6, 0.8]\n")
    truth = "".join(f"{ns // 10**9}.{ns % 10**9:09d} {k} 0 0 0 0 0.6 0.8\n"
                    for k, ns in enumerate(stamps_ns))  # fmt: skip
    (tmp_path / "ground_truth.tum").write_text(truth)
    dataset = CloudFolder(tmp_path)
    samples = list(dataset.imu_samples())
    assert [sample.stamp_ns for sample in samples] == imu_ns.tolist()
    np.testing.assert_array_equal([sample.angular_velocity for sample in samples], rows[:, :3])
    np.testing.assert_array_equal([sample.linear_acceleration for sample in samples], rows[:, 3:])
    np.testing.assert_allclose(dataset.T_body_lidar[:3, 3], [0.1, 0.2, 0.3])
    assert dataset.ground_truth is not None
    assert dataset.ground_truth.stamps_ns.tolist() == stamps_ns.tolist()
    times = [m.stamp_ns for m in dataset.measurements()]
    assert times == sorted(times)
    assert len(times) == 63
    info = dataset.info()
    assert info.imu_period_s == pytest.approx(0.005)
    assert "m/s^2" in found(info, "IMU acceleration unit")
    assert "3 poses" in found(info, "ground truth")


def test_imu_that_ends_early_is_said(tmp_path: Path, rng: np.random.Generator, caplog):
    """An IMU file that covers half of the scans gives one warning with the time that is missing."""
    folder_files.write_clouds(tmp_path, [cloud_bytes.npy(s) for s in folder_files.clouds(rng, 40)],
                              ".npy")  # fmt: skip
    folder_files.write_times(tmp_path / "times.txt", 40)
    rows = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 9.8], (400, 1))
    imu_ns = START_NS + np.arange(400) * 5_000_000
    folder_files.write_imu(tmp_path / "imu.csv", "t,wx,wy,wz,ax,ay,az", rows, imu_ns)
    dataset = CloudFolder(tmp_path)
    assert "ends 1.91 s before the last scan" in caplog.text
    assert "ends 1.91 s" in found(dataset.info(), "IMU coverage")


@pytest.mark.parametrize("columns", [3, 5, 6])
def test_other_numbers_of_columns_are_detected(
    tmp_path: Path, rng: np.random.Generator, columns: int
):
    """A .bin folder of 3, 5 or 6 values per point is read right and that is said."""
    scans = folder_files.clouds(rng, 3, points=1200)
    files = [cloud_bytes.kitti(scan, columns) for scan in scans]
    folder_files.write_clouds(tmp_path, files, ".bin")
    dataset = CloudFolder(tmp_path)
    for scan, written in zip(dataset, scans, strict=True):
        np.testing.assert_array_equal(scan.points, written)
    assert found(dataset.info(), "values per point") == str(columns)
    assert list(CloudFolder(tmp_path, FolderOptions(bin_columns=columns)))


def test_float64_bin_is_refused_by_name(tmp_path: Path, rng: np.random.Generator):
    """Doubles, of full precision or cast from float32, are recognised for what they are."""
    sparse = rng.uniform(-40.0, 40.0, size=(600, 3))
    sparse[::2] = 0.0
    for name, scan in {
        "sparse": sparse,
        "cast": folder_files.clouds(rng, 1, points=600)[0],
        "full": rng.uniform(-40.0, 40.0, size=(600, 3)),
        "round": np.round(rng.uniform(-40.0, 40.0, size=(600, 3)) * 4.0) / 4.0,
    }.items():
        rows = np.hstack([scan, np.full((600, 1), 0.5)])
        folder_files.write_clouds(tmp_path / name, [rows.astype("<f8").tobytes()], ".bin")
        with pytest.raises(DatasetError, match=r"0\.bin: these are float64 values"):
            list(CloudFolder(tmp_path / name))


def test_scans_of_mostly_zeros_are_no_doubles(tmp_path: Path, rng: np.random.Generator):
    """Zeros where nothing came back do not make a float32 file look like something else."""
    scan = folder_files.clouds(rng, 1, points=600)[0]
    scan[20:] = 0.0
    rows = np.zeros((600, 4), dtype="<f4")
    rows[:, :3] = scan
    folder_files.write_clouds(tmp_path, [rows.tobytes()], ".bin")
    (read,) = CloudFolder(tmp_path)
    np.testing.assert_array_equal(read.points, scan)


@pytest.mark.parametrize("bad", [[0], [3], [0, 1, 2, 4]])
def test_files_that_cannot_be_read_are_left_out_and_counted(
    tmp_path: Path, rng: np.random.Generator, caplog, bad: list[int]
):
    """Truncated files cost their own scans; one warning, once, counts them and names the first."""
    files = [cloud_bytes.kitti(scan) for scan in folder_files.clouds(rng, 5)]
    for place in bad:
        files[place] = files[place][:-7]
    folder_files.write_clouds(tmp_path, files, ".bin")
    (tmp_path / "times.txt").write_text("0.0\n0.1\n0.2\n0.3\n0.4\n")
    folder = CloudFolder(tmp_path)
    for _ in range(2):
        stamps_ns = [scan.stamp_ns for scan in folder]
        assert stamps_ns == [100_000_000 * k for k in range(5) if k not in bad]
    (said,) = [record.getMessage() for record in caplog.records]
    assert f"{len(bad)} of 5 scans cannot be read" in said
    assert f"{bad[0]}.bin: 6393 bytes are not a whole number" in said


def test_a_folder_of_nothing_that_can_be_read_is_an_error(tmp_path: Path, rng: np.random.Generator):
    """If all files are cut off, the sentence about the first is raised."""
    files = [cloud_bytes.kitti(scan)[:-7] for scan in folder_files.clouds(rng, 3)]
    folder_files.write_clouds(tmp_path, files, ".bin")
    with pytest.raises(DatasetError, match=r"0\.bin: 6393 bytes are not a whole number"):
        list(CloudFolder(tmp_path))


@pytest.mark.parametrize("suffix", WRITERS)
def test_empty_and_nan_scans_are_counted_and_the_rest_goes_on(
    tmp_path: Path, rng: np.random.Generator, caplog, suffix: str
):
    """A scan of NaN and one without points are empty scans; one warning counts them."""
    scans = folder_files.clouds(rng, 5)
    scans[1] = np.full((50, 3), np.nan)
    scans[2] = np.empty((0, 3))
    scans[3][::7] = np.nan
    folder_files.write_clouds(tmp_path, [WRITERS[suffix](scan) for scan in scans], suffix)
    read = list(CloudFolder(tmp_path))
    assert [len(scan.points) for scan in read] == [400, 0, 0, 342, 400]
    np.testing.assert_array_equal(read[3].points, scans[3][np.isfinite(scans[3][:, 0])])
    assert f"2 scans have no usable points (the first is 1{suffix})" in caplog.text
    assert "dropped 108 points" in caplog.text
    assert len(caplog.records) == 2


def test_an_empty_folder_says_what_it_takes(tmp_path: Path):
    """The sentence names the folder and every format that would do."""
    with pytest.raises(DatasetError, match=r"\.pcd, \.ply, \.bin, \.npy") as caught:
        CloudFolder(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_several_subfolders_are_listed(tmp_path: Path, rng: np.random.Generator):
    """Two sensors in two subfolders cannot be told apart, so one has to be named."""
    scan = cloud_bytes.npy(folder_files.clouds(rng, 1)[0])
    for name in ("front", "rear"):
        folder_files.write_clouds(tmp_path / name, [scan], ".npy")
    with pytest.raises(DatasetError, match="front, rear"):
        CloudFolder(tmp_path)
    assert len(list(CloudFolder(tmp_path / "rear"))) == 1


def test_given_extrinsics_win(tmp_path: Path, rng: np.random.Generator):
    """What is given by hand is used instead of the file, and checked like it."""
    folder_files.write_clouds(tmp_path, [cloud_bytes.npy(folder_files.clouds(rng, 1)[0])], ".npy")
    (tmp_path / "extrinsics.yaml").write_text("T_body_lidar: [1, 2, 3, 0, 0, 0, 1]\n")
    T_body_lidar = np.eye(4)
    T_body_lidar[:3, 3] = [0.5, 0.0, -0.25]
    dataset = CloudFolder(tmp_path, FolderOptions(T_body_lidar=T_body_lidar))
    np.testing.assert_array_equal(dataset.T_body_lidar, T_body_lidar)
    assert "as given" in dataset.info().findings[1].evidence


def test_a_rate_must_make_sense():
    """A negative rate is refused before anything is read."""
    with pytest.raises(ConfigError, match="scan_rate_hz"):
        FolderOptions(scan_rate_hz=-10.0)
