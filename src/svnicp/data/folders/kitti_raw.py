# SPDX-License-Identifier: MIT
"""KITTI raw: velodyne_points/ with start and end times, oxts/, calib_imu_to_velo.txt.

Scans are not corrected for motion and have no times of points, but the scanner turns evenly: the
azimuth of a point says when it was measured between the scan's start and end. The body is the IMU.
"""

import os
from pathlib import Path

import numpy as np

from svnicp.arrays import Points, Transform
from svnicp.cloud_files.scan_cloud import ScanCloud, finite_scan
from svnicp.data.dataset import Finding
from svnicp.data.extrinsics import checked_extrinsics
from svnicp.data.folders.bin_format import KITTI_COLUMNS, read_bin_scan
from svnicp.data.folders.clouds import truth_finding
from svnicp.data.folders.find_files import find_clouds
from svnicp.data.folders.kitti import read_calibration
from svnicp.data.folders.options import FolderOptions
from svnicp.data.folders.oxts import Oxts
from svnicp.data.folders.scan_folder import FolderParts, ReadScan, ScanFolder
from svnicp.data.folders.scan_times import TimedFiles, timed_files
from svnicp.data.ros.point_times import PointTimeOptions
from svnicp.data.trajectory_files import read_trajectory
from svnicp.errors import DatasetError
from svnicp.lie import make_transform, se3_inverse

CALIBRATION = "calib_imu_to_velo.txt"


class KittiRaw(ScanFolder):
    """One drive of KITTI raw, synchronised or not.

    Parameters
    ----------
    path
        The folder of the drive: ``2011_09_26/2011_09_26_drive_0001_sync``.
    options
        What is known already; the rest is detected.

    Raises
    ------
    DatasetError
        If there are no scans, or what lies beside them does not fit.
    """

    def __init__(self, path: str | os.PathLike[str], options: FolderOptions | None = None) -> None:
        root, options = Path(path), options or FolderOptions()
        velodyne = root / "velodyne_points"
        clouds = find_clouds(velodyne / "data", (".bin", ".txt"))
        files, read, time_findings = _timed_scans(velodyne, clouds.paths)
        oxts = Oxts(root / "oxts") if (root / "oxts").is_dir() else None
        T_body_lidar, extrinsics = _extrinsics(root, oxts is not None, options)
        truth = oxts.ground_truth if oxts else None
        truth_file = root / "oxts"
        if options.ground_truth is not None:
            truth = read_trajectory(options.ground_truth, stamps_ns=files.stamps_ns)
            truth_file = options.ground_truth
        truth_findings = (truth_finding(truth, truth_file),) if truth else ()
        super().__init__(
            FolderParts(
                name=root.resolve().name,
                kind="KITTI raw",
                files=files,
                read=read,
                T_body_lidar=T_body_lidar,
                imu=oxts,
                ground_truth=truth,
                point_times=PointTimeOptions(
                    unit="s", reference="start", ignore=options.point_times.ignore
                ),
                findings=(*clouds.findings, *time_findings, extrinsics, *truth_findings),
                sensor="HDL-64E",
                imu_name="OXTS RT3003",
            )
        )


def sweep_fraction(points: Points) -> np.ndarray:
    """(n,) share of the sweep at which points were measured, in [0, 1].

    The scanner turns clockwise seen from above, begins a sweep at the back and faces forward in
    the middle of it.
    """
    return 0.5 - np.arctan2(points[:, 1], points[:, 0]) / (2.0 * np.pi)


def _timed_scans(
    velodyne: Path, paths: list[Path]
) -> tuple[TimedFiles, ReadScan, tuple[Finding, ...]]:
    """Scans stamped at their start, with the times of points where start and end are known."""
    start_file, end_file = velodyne / "timestamps_start.txt", velodyne / "timestamps_end.txt"
    if not (start_file.is_file() and end_file.is_file()):
        times_file = velodyne / "timestamps.txt"
        known = times_file if times_file.is_file() else None
        return timed_files(paths, known), _read_raw_scan, ()
    starts, ends = timed_files(paths, start_file), timed_files(paths, end_file)
    end_ns = dict(zip(ends.paths, ends.stamps_ns, strict=True))
    pairs = zip(starts.paths, starts.stamps_ns, strict=True)
    durations_s = {
        path: float(end_ns[path] - start_ns) * 1e-9 for path, start_ns in pairs if path in end_ns
    }

    def read(path: Path) -> ScanCloud:
        cloud = _read_raw_scan(path)
        times_s = sweep_fraction(cloud.points) * durations_s.get(path, 0.0)
        return cloud._replace(times=times_s, time_field="azimuth")

    finding = Finding(
        "sweep",
        "times of points from their azimuth, clockwise between start and end of the scan",
        f"{start_file.name}, {end_file.name}",
    )
    return starts, read, (finding,)


def _read_raw_scan(path: Path) -> ScanCloud:
    """Scan of a .bin file (sync) or of a .txt file with ``x y z reflectance`` lines (extract)."""
    if path.suffix.lower() == ".bin":
        return read_bin_scan(path, KITTI_COLUMNS)
    try:
        if path.stat().st_size == 0:
            return ScanCloud(np.empty((0, 3)))
        return finite_scan(np.loadtxt(path, usecols=(0, 1, 2), ndmin=2))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: the points cannot be read as numbers ({error}).") from None


def _extrinsics(root: Path, has_imu: bool, options: FolderOptions) -> tuple[Transform, Finding]:
    """T_imu_velo, from the calibration of the day beside the drive."""
    if options.T_body_lidar is not None:
        return checked_extrinsics(options.T_body_lidar, "T_body_lidar as given")
    if not has_imu:
        return np.eye(4), Finding("extrinsics", "there is no oxts/: the body is the LiDAR")
    places = [root / CALIBRATION, root.resolve().parent / CALIBRATION]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise DatasetError(
            f"{places[1]}: there is no such file, so the place of the LiDAR on the IMU is unknown; "
            "download the calibration of the day, or give T_body_lidar."
        )
    entries = read_calibration(file)
    R, t = entries.get("R", np.empty(0)), entries.get("T", np.empty(0))
    if len(R) != 9 or len(t) != 3:
        raise DatasetError(f"{file}: lines R: with 9 and T: with 3 numbers are expected.")
    T_velo_imu, _ = checked_extrinsics(make_transform(R.reshape(3, 3), t), str(file))
    return checked_extrinsics(se3_inverse(T_velo_imu), f"{file}, inverted")
