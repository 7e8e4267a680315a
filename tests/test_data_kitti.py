# SPDX-License-Identifier: MIT
"""KITTI odometry and KITTI raw: layouts as published, poses and times in our conventions."""

from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
from svnicp.data.folders.kitti import KittiOdometry
from svnicp.data.folders.kitti_raw import KittiRaw, sweep_fraction
from svnicp.data.folders.options import FolderOptions
from svnicp.data.folders.oxts import mercator
from svnicp.errors import DatasetError
from svnicp.lie import make_transform, se3_exp, se3_inverse, so3_exp

T_CAMERA_LIDAR = se3_exp(np.array([0.1, -0.2, 0.3, 1.2, -1.2, 1.2]))
T_VELO_IMU = se3_exp(np.array([-0.8, 0.3, -0.8, 0.01, -0.02, 0.015]))
START = "2011-09-26 13:02:25"


def row(values: np.ndarray) -> str:
    """Return numbers as KITTI writes them, with seven digits or more."""
    return " ".join(f"{value:.12e}" for value in np.ravel(values))


def write_odometry(root: Path, scans: list[np.ndarray], T_world_lidar: np.ndarray) -> Path:
    """Write a sequence with the poses of camera 0 and return its folder."""
    sequence = root / "sequences" / "07"
    files = [cloud_bytes.kitti(scan) for scan in scans]
    folder_files.write_clouds(sequence / "velodyne", files, ".bin", 6)
    times = "".join(f"{0.1036 * k:.6e}\n" for k in range(len(scans)))
    (sequence / "times.txt").write_text(times)
    calibration = f"P0: {row(np.eye(4)[:3])}\nTr: {row(T_CAMERA_LIDAR[:3])}\n"
    (sequence / "calib.txt").write_text(calibration)
    T_world_camera = T_world_lidar @ se3_inverse(T_CAMERA_LIDAR)
    T_first_camera = se3_inverse(T_world_camera[0]) @ T_world_camera
    (root / "poses").mkdir()
    poses = "".join(f"{row(T[:3])}\n" for T in T_first_camera)
    (root / "poses" / "07.txt").write_text(poses)
    return sequence


def test_kitti_odometry_is_read_with_the_poses_of_the_lidar(
    tmp_path: Path, rng: np.random.Generator
):
    """Scans, times and poses come back, the poses taken from the camera to the LiDAR."""
    scans = folder_files.clouds(rng, 6)
    T_world_lidar = se3_exp(rng.normal(size=(6, 6)))
    dataset = KittiOdometry(write_odometry(tmp_path, scans, T_world_lidar))
    read = list(dataset)
    assert [scan.stamp_ns for scan in read] == [round(0.1036 * k * 1e9) for k in range(6)]
    for scan, written in zip(read, scans, strict=True):
        np.testing.assert_array_equal(scan.points, written)
    assert dataset.ground_truth is not None
    expected = se3_inverse(T_world_lidar[0]) @ T_world_lidar
    np.testing.assert_allclose(dataset.ground_truth.T_world_body, expected, atol=1e-9)
    info = dataset.info()
    assert (info.kind, info.sensor) == ("KITTI odometry", "HDL-64E")
    assert any("already motion-compensated" in finding.value for finding in info.findings)


def test_kitti_odometry_without_poses_has_no_truth(tmp_path: Path, rng: np.random.Generator):
    """The test sequences of the benchmark, which have no poses, are read all the same."""
    sequence = write_odometry(tmp_path, folder_files.clouds(rng, 2), np.tile(np.eye(4), (2, 1, 1)))
    (tmp_path / "poses" / "07.txt").unlink()
    dataset = KittiOdometry(sequence)
    assert dataset.ground_truth is None
    assert len(list(dataset)) == 2


def test_poses_without_calibration_line_are_refused(tmp_path: Path, rng: np.random.Generator):
    """A calib.txt without Tr would put the truth into the wrong frame, so it is named."""
    sequence = write_odometry(tmp_path, folder_files.clouds(rng, 2), np.tile(np.eye(4), (2, 1, 1)))
    (sequence / "calib.txt").write_text(f"P0: {row(np.eye(4)[:3])}\n")
    with pytest.raises(DatasetError, match=r"calib\.txt: there is no line Tr:"):
        KittiOdometry(sequence)


def oxts_line(place: np.ndarray, angles: np.ndarray, force: np.ndarray, rate: np.ndarray) -> str:
    """Return the 30 numbers of an OXTS packet."""
    values = np.full(30, 7.0)
    values[:3], values[3:6], values[11:14], values[17:20] = place, angles, force, rate
    return " ".join(f"{value:.15g}" for value in values)


def stamp_line(offset_s: float) -> str:
    """Return a date as KITTI raw writes it."""
    return f"{START}.{round(offset_s * 1e9):09d}"


def write_raw(root: Path, scans: list[np.ndarray], imu_rows: list[str], imu_step_s: float) -> Path:
    """Write a drive with start and end times, OXTS and the calibration of the day."""
    day = root / "2011_09_26"
    drive = day / "2011_09_26_drive_0001_sync"
    files = [cloud_bytes.kitti(scan) for scan in scans]
    folder_files.write_clouds(drive / "velodyne_points" / "data", files, ".bin", 10)
    for name, offset_s in {"": 0.05, "_start": 0.0, "_end": 0.1}.items():
        lines = [stamp_line(0.2 + 0.1 * k + offset_s) for k in range(len(scans))]
        (drive / "velodyne_points" / f"timestamps{name}.txt").write_text("\n".join(lines))
    oxts = drive / "oxts"
    packets = [line.encode() for line in imu_rows]
    folder_files.write_clouds(oxts / "data", packets, ".txt", 10)
    stamps = [stamp_line(0.2 + imu_step_s * k) for k in range(len(imu_rows))]
    (oxts / "timestamps.txt").write_text("\n".join(stamps))
    calibration = f"calib_time: 25-May-2012 16:47:16\nR: {row(T_VELO_IMU[:3, :3])}\n"
    (day / "calib_imu_to_velo.txt").write_text(calibration + f"T: {row(T_VELO_IMU[:3, 3])}\n")
    return drive


def packets(count: int, rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Return OXTS lines of a car going north, and its (force, rate) values."""
    values = np.hstack([rng.normal([0, 0, 9.8], 0.1, (count, 3)), rng.normal(size=(count, 3))])
    yaw = np.pi / 2.0
    lines = [
        oxts_line(np.array([49.0 + 1e-6 * k, 8.4, 110.0]), np.array([0.01, 0.02, yaw]), *value)
        for k, value in enumerate(values.reshape(count, 2, 3))
    ]
    return lines, values


def test_kitti_raw_is_read_with_oxts(tmp_path: Path, rng: np.random.Generator):
    """Scans start at their start time; IMU, extrinsics and truth are of the OXTS unit."""
    lines, values = packets(60, rng)
    scans = folder_files.clouds(rng, 5)
    dataset = KittiRaw(write_raw(tmp_path, scans, lines, 0.01))
    read = list(dataset)
    start_ns = 1_317_042_145_200_000_000
    assert [scan.stamp_ns for scan in read] == [start_ns + k * 100_000_000 for k in range(5)]
    np.testing.assert_array_equal(read[3].points, scans[3])
    samples = list(dataset.imu_samples())
    assert samples[1].stamp_ns - samples[0].stamp_ns == 10_000_000
    np.testing.assert_allclose([s.linear_acceleration for s in samples], values[:, :3])
    np.testing.assert_allclose([s.angular_velocity for s in samples], values[:, 3:])
    np.testing.assert_allclose(dataset.T_body_lidar, se3_inverse(T_VELO_IMU), atol=1e-9)
    truth = dataset.ground_truth
    assert truth is not None
    assert truth.positions[-1, 1] == pytest.approx(59e-6 * np.pi / 180.0 * 6378137.0, rel=1e-6)
    np.testing.assert_allclose(truth.positions[:, [0, 2]], 0.0, atol=1e-9)
    expected = (
        so3_exp(np.array([0, 0, np.pi / 2]))
        @ so3_exp(np.array([0, 0.02, 0]))
        @ so3_exp(np.array([0.01, 0, 0]))
    )
    np.testing.assert_allclose(truth.T_world_body[7, :3, :3], expected, atol=1e-12)
    assert any("full rate" in finding.value for finding in dataset.info().findings)


def test_points_of_kitti_raw_are_timed_by_their_azimuth(tmp_path: Path, rng: np.random.Generator):
    """Ahead is the middle of the sweep, the left side comes before it and the right side after."""
    points = np.array([[10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, -10.0, 0.0]])
    np.testing.assert_allclose(sweep_fraction(points), [0.5, 0.25, 0.75])
    lines, _ = packets(30, rng)
    scans = folder_files.clouds(rng, 2)
    first, _ = KittiRaw(write_raw(tmp_path, scans, lines, 0.01))
    assert first.point_times_ns is not None
    offsets_s = (first.point_times_ns - first.stamp_ns) * 1e-9
    np.testing.assert_allclose(offsets_s, 0.1 * sweep_fraction(scans[0]), atol=1e-8)


def test_thinned_oxts_is_said(tmp_path: Path, rng: np.random.Generator):
    """The synchronised drives have 10 Hz of IMU, which is too slow, and the findings say so."""
    lines, _ = packets(5, rng)
    dataset = KittiRaw(write_raw(tmp_path, folder_files.clouds(rng, 5), lines, 0.1))
    assert any("use the extract one" in finding.value for finding in dataset.info().findings)


def test_text_scans_of_the_extract_drives_are_read(tmp_path: Path, rng: np.random.Generator):
    """Unsynchronised drives have their points as text."""
    scans = folder_files.clouds(rng, 3)
    lines, _ = packets(30, rng)
    drive = write_raw(tmp_path, scans, lines, 0.01)
    data = drive / "velodyne_points" / "data"
    for file, scan in zip(sorted(data.iterdir()), scans, strict=True):
        file.unlink()
        np.savetxt(file.with_suffix(".txt"), np.hstack([scan, scan[:, :1]]), fmt="%.17g")
    for scan, written in zip(KittiRaw(drive), scans, strict=True):
        np.testing.assert_array_equal(scan.points, written)


def test_a_drive_without_calibration_says_what_to_do(tmp_path: Path, rng: np.random.Generator):
    """Without the file of the day, the extrinsics have to be given."""
    lines, _ = packets(30, rng)
    drive = write_raw(tmp_path, folder_files.clouds(rng, 2), lines, 0.01)
    (drive.parent / "calib_imu_to_velo.txt").unlink()
    with pytest.raises(DatasetError, match=r"calib_imu_to_velo\.txt: .* give T_body_lidar"):
        KittiRaw(drive)
    given = make_transform(np.eye(3), np.array([0.8, 0.0, 0.8]))
    np.testing.assert_array_equal(
        KittiRaw(drive, FolderOptions(T_body_lidar=given)).T_body_lidar, given
    )


def test_mercator_is_metric_near_the_first_place():
    """A thousandth of a degree is what the ellipsoid's radius and the latitude make of it."""
    places = np.array([[49.0, 8.0, 100.0], [49.0, 8.001, 101.0], [49.001, 8.0, 100.0]])
    metres = mercator(places)
    per_degree = np.pi / 180.0 * 6378137.0
    steps = metres[1:] - metres[0]
    np.testing.assert_allclose(steps[0], [0.001 * per_degree * np.cos(np.deg2rad(49)), 0, 1.0])
    np.testing.assert_allclose(steps[1], [0.0, 0.001 * per_degree, 0.0], rtol=1e-4, atol=1e-9)
