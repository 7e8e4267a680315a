# SPDX-License-Identifier: MIT
"""Any folder of .pcd, .ply, .bin or .npy files, with whatever lies beside them.

Times, an IMU csv, extrinsics and ground truth are taken where they are found under their usual
names; what was found, assumed or detected is in the findings.
"""

import logging
import os
from pathlib import Path

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.dataset import Finding
from svnicp.data.extrinsics import checked_extrinsics, read_extrinsics
from svnicp.data.folders.bin_format import bin_columns, read_bin_scan
from svnicp.data.folders.find_files import (
    EXTRINSICS_NAMES,
    IMU_NAMES,
    SUBFOLDERS,
    TIMES_NAMES,
    TRUTH_NAMES,
    CloudFiles,
    find_clouds,
    first_existing,
)
from svnicp.data.folders.options import FolderOptions
from svnicp.data.folders.scan_folder import FolderParts, ReadScan, ScanFolder, read_table_scan
from svnicp.data.folders.scan_times import TimedFiles, timed_files
from svnicp.data.imu_csv import ImuCsv
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_trajectory

log = logging.getLogger(__name__)


class CloudFolder(ScanFolder):
    """A folder with one cloud file per scan.

    Parameters
    ----------
    path
        The folder; the clouds are in it or in a subfolder.
    options
        What is known already; the rest is detected.

    Raises
    ------
    DatasetError
        If there are no clouds, or what lies beside them cannot be understood.
    """

    def __init__(self, path: str | os.PathLike[str], options: FolderOptions | None = None) -> None:
        root, options = Path(path), options or FolderOptions()
        clouds = find_clouds(root)
        places = surroundings(root, clouds.folder)
        times_file = first_existing(places, TIMES_NAMES)
        files = timed_files(clouds.paths, times_file, options.scan_rate_hz)
        read, read_findings = scan_reader(clouds, options)
        imu_file = first_existing(places, IMU_NAMES)
        T_body_lidar, extrinsics = folder_extrinsics(places, options)
        truth, truth_findings = folder_truth(places, files, options)
        parts = FolderParts(
            name=root.resolve().name,
            kind=f"folder of {clouds.paths[0].suffix.lower()} files",
            files=files,
            read=read,
            T_body_lidar=T_body_lidar,
            imu=ImuCsv(imu_file, options.imu_unit) if imu_file else None,
            ground_truth=truth,
            point_times=options.point_times,
            findings=(*clouds.findings, *read_findings, extrinsics, *truth_findings),
        )
        super().__init__(parts)


def surroundings(root: Path, clouds: Path) -> list[Path]:
    """Folders in which times and the like may lie: from the clouds' up to the one that was named.

    One that is named directly, such as velodyne/, may have them beside it.
    """
    if clouds == root:
        return [root, root.parent] if root.name in SUBFOLDERS else [root]
    return [clouds, *(parent for parent in clouds.parents if parent.is_relative_to(root))]


def scan_reader(clouds: CloudFiles, options: FolderOptions) -> tuple[ReadScan, tuple[Finding, ...]]:
    """Reader of the files of one extension."""
    if clouds.paths[0].suffix.lower() != ".bin":
        if options.bin_columns is not None:
            log.warning(
                "%s: bin_columns=%d has no effect, as the scans are no .bin files.",
                *(clouds.folder, options.bin_columns),
            )
        return read_table_scan, ()
    columns, finding = bin_columns(clouds.paths, options.bin_columns)
    return lambda path: read_bin_scan(path, columns), (finding,)


def folder_extrinsics(places: list[Path], options: FolderOptions) -> tuple[Transform, Finding]:
    """Extrinsics as given, from a file, or the identity."""
    if options.T_body_lidar is not None:
        return checked_extrinsics(options.T_body_lidar, "T_body_lidar as given")
    file = first_existing(places, EXTRINSICS_NAMES)
    if file is not None:
        return read_extrinsics(file)
    words = "none found: the LiDAR's frame is taken as the body's"
    return np.eye(4), Finding("extrinsics", words, "", "--extrinsics")


def folder_truth(
    places: list[Path], files: TimedFiles, options: FolderOptions
) -> tuple[Trajectory | None, tuple[Finding, ...]]:
    """Ground truth as given or found, None without."""
    file = options.ground_truth or first_existing(places, TRUTH_NAMES)
    if file is None:
        return None, ()
    truth = read_trajectory(file, stamps_ns=files.stamps_ns)
    return truth, (truth_finding(truth, file),)


def truth_finding(truth: Trajectory, file: Path) -> Finding:
    """Say what a ground truth covers."""
    what = "positions" if truth.position_only else "poses"
    words = f"{len(truth)} {what} over {truth.duration_s:.1f} s and {truth.length_m:.1f} m"
    return Finding("ground truth", words, str(file), "--ground-truth")
