# SPDX-License-Identifier: MIT
"""KITTI odometry: velodyne/*.bin, times.txt, calib.txt, and the poses of the left camera.

The benchmark's scans are already corrected for the motion of the car; a folder that we wrote says
what holds for its own. There is no IMU: the body is the LiDAR. Poses are of camera 0 in its first
frame; calib.txt takes them to the LiDAR.
"""

import os
from pathlib import Path

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.dataset import Finding
from svnicp.data.extrinsics import checked_extrinsics
from svnicp.data.folders.clouds import scan_reader, truth_finding
from svnicp.data.folders.find_files import find_clouds, first_existing
from svnicp.data.folders.kitti_notes import read_kitti_notes
from svnicp.data.folders.options import FolderOptions
from svnicp.data.folders.scan_folder import FolderParts, ScanFolder
from svnicp.data.folders.scan_times import TimedFiles, timed_files
from svnicp.data.text_rows import read_lines
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_kitti, read_trajectory
from svnicp.errors import DatasetError
from svnicp.lie import make_transform, se3_inverse

TR_KEYS = ("Tr", "Tr_velo_to_cam", "Tr_velo_cam")
"""Names of the transform from LiDAR to camera 0 in calib.txt."""


class KittiOdometry(ScanFolder):
    """One sequence of the KITTI odometry benchmark, or a folder in its layout.

    Parameters
    ----------
    path
        The folder of the sequence: ``sequences/00``.
    options
        What is known already; the rest is detected.

    Raises
    ------
    DatasetError
        If there are no scans, or times, calibration or poses do not fit them.
    """

    def __init__(self, path: str | os.PathLike[str], options: FolderOptions | None = None) -> None:
        root, options = Path(path), options or FolderOptions()
        clouds = find_clouds(root / "velodyne", (".bin",))
        times_file = first_existing([root], ["times.txt"])
        files = timed_files(clouds.paths, times_file, options.scan_rate_hz)
        read, read_findings = scan_reader(clouds, options)
        truth, truth_findings = _ground_truth(root, files, options)
        body = Finding("extrinsics", "there is no IMU: the body is the LiDAR", "", "")
        notes, deskewed = read_kitti_notes(root)
        super().__init__(
            FolderParts(
                name=f"kitti_{root.resolve().name}",
                kind="KITTI odometry",
                files=files,
                read=read,
                T_body_lidar=np.eye(4),
                ground_truth=truth,
                findings=(*clouds.findings, *read_findings, body, deskewed, *truth_findings),
                sensor=notes.sensor,
            )
        )


def read_calibration(path: Path) -> dict[str, np.ndarray]:
    """Numbers of every ``key: values`` line of a KITTI calibration file."""
    entries = {}
    for row in read_lines(path):
        key = row.words[0].removesuffix(":")
        if len(row.words) > 1 and row.words[0].endswith(":") and key != "calib_time":
            entries[key] = row.numbers(list(range(1, len(row.words))))
    return entries


def camera_from_lidar(path: Path) -> Transform:
    """T_camera_lidar of a calib.txt, (4, 4).

    Raises
    ------
    DatasetError
        If it is not there, or not a rigid motion.
    """
    entries = read_calibration(path)
    key = next((key for key in TR_KEYS if key in entries), None)
    if key is None or len(entries[key]) != 12:
        raise DatasetError(
            f"{path}: there is no line Tr: with 12 numbers, which takes LiDAR coordinates to the "
            "camera; without it the ground truth cannot be used, so restore it."
        )
    upper = entries[key].reshape(3, 4)
    return checked_extrinsics(make_transform(upper[:, :3], upper[:, 3]), f"{path}, {key}")[0]


def _ground_truth(
    root: Path, files: TimedFiles, options: FolderOptions
) -> tuple[Trajectory | None, tuple[Finding, ...]]:
    """Poses of the LiDAR: a file that is given is of the body, one that is found of camera 0."""
    if options.ground_truth is not None:
        truth = read_trajectory(options.ground_truth, stamps_ns=files.stamps_ns)
        return truth, (truth_finding(truth, options.ground_truth),)
    number = root.resolve().name
    beside = [root, root.resolve().parent.parent]
    file = first_existing(beside, ["poses.txt", f"poses/{number}.txt"])
    calibration = root / "calib.txt"
    if file is None or not calibration.is_file():
        return None, ()
    T_camera_lidar = camera_from_lidar(calibration)
    T_first_camera = read_kitti(file, files.stamps_ns)
    T_world_lidar = se3_inverse(T_camera_lidar) @ T_first_camera.T_world_body @ T_camera_lidar
    truth = Trajectory(files.stamps_ns, T_world_lidar)
    frame = Finding("ground-truth frame", "taken from camera 0 to the LiDAR", str(calibration))
    return truth, (truth_finding(truth, file), frame)
