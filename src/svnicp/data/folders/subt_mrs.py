# SPDX-License-Identifier: MIT
"""SubT-MRS, the dataset of the ICCV 2023 SLAM challenge, in the forms in which it is published.

Real sequences are ROS 1 bags, split into ``raw_data_*.bag``, with Velodyne packets, or folders with
.las scans; simulated ones (TartanAir) are bags or folders with .ply scans without times of points.
Extrinsics come from a table, ground truth from ``ground_truth_path.csv``.
"""

from dataclasses import replace
from pathlib import Path

from svnicp.arrays import Transform
from svnicp.data.dataset import Dataset, Finding
from svnicp.data.extrinsics import checked_extrinsics
from svnicp.data.folders.clouds import truth_finding
from svnicp.data.folders.find_files import find_clouds, first_existing
from svnicp.data.folders.las import read_las_scan
from svnicp.data.folders.npy_imu import NpyImu
from svnicp.data.folders.options import FolderOptions
from svnicp.data.folders.scan_folder import FolderParts, ScanFolder, read_table_scan
from svnicp.data.folders.scan_times import timed_files
from svnicp.data.folders.subt_mrs_rigs import Rig, rig_of
from svnicp.data.imu_csv import ImuCsv
from svnicp.data.ros import PointTimeOptions, RosBag, RosBagOptions
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_trajectory
from svnicp.data.with_knowledge import Knowledge, KnownDataset

TRUTH_NAME = "ground_truth_path.csv"
IMU_CSV = "imu/imu_data.csv"
KIND = "SubT-MRS"
NAMES = ("subt_mrs", "subt-mrs", "tartanair_lidar", "tartanair_", "final_challenge_ugv",
         "urban_challenge_ugv", "laurel_caverns", "hawkins_", "mill19_")  # fmt: skip
"""Beginnings of the names of its files and folders, in lower case."""


def is_subt_mrs(path: Path) -> bool:
    """Whether a path looks like a sequence of SubT-MRS."""
    named = any(word in part.lower() for part in path.resolve().parts[-2:] for word in NAMES)
    if path.is_file():
        return named and path.suffix == ".bag"
    if any(path.glob("raw_data_*.bag")):
        return True
    lidar = path / "lidar"
    has_las = any(lidar.glob("*.las"))
    has_tartan = any(lidar.glob("*_lidar.ply")) and (path / "imu").is_dir()
    return has_las or has_tartan or (named and any(path.glob("*.bag")))


def open_subt_mrs(
    paths: list[Path],
    folder_options: FolderOptions | None = None,
    ros_options: RosBagOptions | None = None,
) -> Dataset:
    """Open a sequence, from bags or from a folder.

    Parameters
    ----------
    paths
        The bag, the folder with bags, the folder with scans, or several bags that belong together.
    folder_options, ros_options
        What is known already; topics and extrinsics of the dataset are filled in.

    Raises
    ------
    DatasetError
        If nothing in it can be read.
    """
    folder_options = folder_options or FolderOptions()
    ros_options = ros_options or RosBagOptions()
    rig = rig_of("/".join(paths[0].resolve().parts[-3:]))
    T_body_lidar, extrinsics = _extrinsics(rig, paths[0], folder_options, ros_options)
    root = paths[0] if paths[0].is_dir() else paths[0].parent
    file = folder_options.ground_truth or first_existing([root, root.parent], [TRUTH_NAME])
    truth = read_trajectory(file) if file else None
    findings = (extrinsics, *((truth_finding(truth, file),) if truth and file else ()))
    from_bag = paths[0].is_file() or any(paths[0].glob("*.bag"))
    if not from_bag:
        return _folder(paths[0], rig, T_body_lidar, truth, findings, folder_options)
    recording = RosBag(paths, _bag_options(rig, T_body_lidar, ros_options))
    return KnownDataset(
        recording,
        Knowledge(
            name=paths[0].resolve().stem,
            kind=KIND,
            ground_truth=truth,
            findings=findings,
            sensor="" if rig.simulated else "VLP-16",
            imu="" if rig.simulated else "Epson M-G365",
        ),
    )


def _bag_options(rig: Rig, T_body_lidar: Transform, given: RosBagOptions) -> RosBagOptions:
    """Topics and conventions of the dataset, where nothing else is given."""
    if rig.simulated:
        return replace(
            given,
            lidar_topic=given.lidar_topic or "/tartanair/velodyne",
            imu_topic=given.imu_topic or "/tartanair/imu",
            point_times=PointTimeOptions(ignore=True),
            T_body_lidar=T_body_lidar,
        )
    return replace(
        given,
        lidar_topic=given.lidar_topic or "/velodyne_packets",
        imu_topic=given.imu_topic or "/imu/data",
        velodyne_model=given.velodyne_model or "VLP16",
        T_body_lidar=T_body_lidar,
    )


def _folder(
    root: Path,
    rig: Rig,
    T_body_lidar: Transform,
    truth: Trajectory | None,
    findings: tuple[Finding, ...],
    options: FolderOptions,
) -> ScanFolder:
    """Folder with lidar/*.las or lidar/*.ply, their timestamps.txt, and imu/."""
    clouds = find_clouds(root / "lidar", (".las", ".ply"))
    simulated = rig.simulated or clouds.paths[0].suffix.lower() == ".ply"
    times_file = first_existing([clouds.folder, root], ["timestamps.txt"])
    imu = None
    if (root / IMU_CSV).is_file():
        imu = ImuCsv(root / IMU_CSV, options.imu_unit)
    elif first_existing([root / "imu"], ["acc.npy", "acc.txt"]):
        imu = NpyImu(root / "imu", options.imu_unit)
    is_las = clouds.paths[0].suffix.lower() == ".las"
    return ScanFolder(
        FolderParts(
            name=root.resolve().name,
            kind=f"{KIND}, folder of {clouds.paths[0].suffix.lower()} files",
            files=timed_files(clouds.paths, times_file, options.scan_rate_hz),
            read=read_las_scan if is_las else read_table_scan,
            T_body_lidar=T_body_lidar,
            imu=imu,
            ground_truth=truth,
            point_times=PointTimeOptions(ignore=True) if simulated else options.point_times,
            findings=(*findings, *clouds.findings),
            sensor="" if simulated else "VLP-16",
            imu_name="" if simulated else "Epson M-G365",
        )
    )


def _extrinsics(
    rig: Rig, path: Path, folder_options: FolderOptions, ros_options: RosBagOptions
) -> tuple[Transform, Finding]:
    given = folder_options.T_body_lidar
    given = ros_options.T_body_lidar if given is None else given
    if given is not None:
        return checked_extrinsics(given, "T_body_lidar as given")
    T_body_lidar, finding = checked_extrinsics(rig.T_imu_lidar, f"table for {path.name}")
    return T_body_lidar, replace(finding, evidence=f"{finding.evidence} {rig.note}".strip())
