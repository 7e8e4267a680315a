# SPDX-License-Identifier: MIT
"""Which files of a folder are the scans, and which lie beside them.

Scans are the cloud files of one extension, in natural order (scan2 before scan10); they may be in
the folder itself or in a subfolder. Times, IMU, extrinsics and ground truth have customary names.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from svnicp.data.dataset import Finding
from svnicp.errors import DatasetError

CLOUD_SUFFIXES = (".pcd", ".ply", ".bin", ".npy")
TAKEN = ", ".join(CLOUD_SUFFIXES)

SUBFOLDERS = ("lidar", "velodyne", "velodyne_points/data", "clouds", "pointclouds", "points",
              "scans", "pcd", "ply", "bin", "data")  # fmt: skip
TIMES_NAMES = ("times.txt", "timestamps.txt", "timestamps.csv", "times.csv", "timestamp.txt")
IMU_NAMES = ("imu.csv", "imu/data.csv", "imu_data.csv", "imu/imu_data.csv", "imu0/data.csv",
             "imu.txt", "imu/imu.csv")  # fmt: skip
EXTRINSICS_NAMES = ("extrinsics.yaml", "transforms.yaml", "extrinsics.yml", "transforms.yml")
TRUTH_NAMES = ("ground_truth.tum", "ground_truth.txt", "groundtruth.txt", "ground_truth.csv",
               "groundtruth.tum", "gt.txt", "gt.tum", "ground_truth_path.csv", "poses.txt",
               "state_groundtruth_estimate0/data.csv")  # fmt: skip


class CloudFiles(NamedTuple):
    """The scans of a folder."""

    folder: Path
    """Where they are."""
    paths: list[Path]
    """In natural order."""
    findings: tuple[Finding, ...]


def natural_key(path: Path) -> list[tuple[int, str]]:
    """Sort key by which numbers in names count as numbers."""
    parts = re.split(r"(\d+)", path.name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def find_clouds(folder: Path, suffixes: tuple[str, ...] = CLOUD_SUFFIXES) -> CloudFiles:
    """Scans in a folder or its usual subfolders.

    Raises
    ------
    DatasetError
        If there are none, or several subfolders could be meant.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder}: there is no such folder, in which the scans should be.")
    for place in (folder, *(folder / name for name in SUBFOLDERS)):
        files = clouds_in(place, suffixes)
        if files:
            return _of_one_kind(place, files)
    subfolders = sorted(place for place in folder.iterdir() if place.is_dir())
    places = [place for place in subfolders if clouds_in(place, suffixes)]
    if len(places) == 1:
        return _of_one_kind(places[0], clouds_in(places[0], suffixes))
    if places:
        names = ", ".join(place.name for place in places)
        raise DatasetError(
            f"{folder}: several subfolders have clouds ({names}); name the one that is meant."
        )
    raise DatasetError(
        f"{folder}: there are no clouds in it; scans are taken as {', '.join(suffixes)} files, "
        "one each, in the folder or in a subfolder such as lidar/."
    )


def clouds_in(folder: Path, suffixes: tuple[str, ...] = CLOUD_SUFFIXES) -> list[Path]:
    """Cloud files directly in a folder, in natural order; none if there is no such folder."""
    if not folder.is_dir():
        return []
    files = (path for path in folder.iterdir() if path.suffix.lower() in suffixes)
    visible = (path for path in files if not path.name.startswith(".") and path.is_file())
    return sorted(visible, key=natural_key)


def first_existing(folders: Iterable[Path], names: Iterable[str]) -> Path | None:
    """First of some files that is there, looking through one folder after the other."""
    names = list(names)
    places = (folder / name for folder in folders for name in names)
    return next((place for place in places if place.is_file()), None)


def _of_one_kind(folder: Path, files: list[Path]) -> CloudFiles:
    """Files of the most frequent extension; another one is a map or the like."""
    counts = Counter(path.suffix.lower() for path in files)
    suffix, count = counts.most_common(1)[0]
    findings = [Finding("scans", f"{count} {suffix} files", str(folder))]
    others = [path.name for path in files if path.suffix.lower() != suffix]
    if others:
        findings.append(
            Finding("left out", f"{len(others)} files of other types", ", ".join(others[:5]))
        )
    paths = [path for path in files if path.suffix.lower() == suffix]
    return CloudFiles(folder, paths, tuple(findings))
