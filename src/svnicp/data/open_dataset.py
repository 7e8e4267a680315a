# SPDX-License-Identifier: MIT
"""The verb ``open_dataset``: from a path to a dataset, whatever its format.

Each format has a small function that looks at a path, most specific first; the first that fits
opens it. ``kind`` forces one of them. Everything that is not given is detected and reported.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from svnicp.cloud_files.read import PARSERS
from svnicp.data.dataset import Dataset
from svnicp.data.folders.clouds import CloudFolder, truth_finding
from svnicp.data.folders.find_files import SUBFOLDERS, TAKEN, clouds_in
from svnicp.data.folders.geode import is_geode, open_geode
from svnicp.data.folders.kitti import KittiOdometry
from svnicp.data.folders.kitti_raw import KittiRaw
from svnicp.data.folders.options import FolderOptions
from svnicp.data.folders.subt_mrs import is_subt_mrs, open_subt_mrs
from svnicp.data.ros import RosBag, RosBagOptions, is_ros_recording
from svnicp.data.trajectory_files import read_trajectory
from svnicp.data.with_knowledge import Knowledge, KnownDataset
from svnicp.errors import ConfigError, DatasetError


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenOptions(RosBagOptions):
    """What may be said about a recording by hand; what is left None is detected.

    The options of bags are inherited; those that make sense for a folder hold for it, too.
    """

    kind: str | None = None
    """Format, instead of recognising it."""
    ground_truth: Path | None = None
    """File with the true trajectory of the body."""
    bin_columns: int | None = None
    """Values per point in .bin files, 3 to 6."""
    scan_rate_hz: float | None = None
    """Scans per second where nothing says when they were taken [Hz]."""

    @property
    def folder(self) -> FolderOptions:
        """The part that concerns folders."""
        return FolderOptions(
            bin_columns=self.bin_columns,
            scan_rate_hz=self.scan_rate_hz,
            point_times=self.point_times,
            imu_unit=self.imu_unit,
            T_body_lidar=self.T_body_lidar,
            ground_truth=self.ground_truth,
        )


class Format(NamedTuple):
    """One format that is understood."""

    kind: str
    words: str
    """What it is, for a list of formats."""
    fits: Callable[[Path], bool]
    """Whether a path looks like it."""
    open: Callable[[list[Path], OpenOptions], Dataset]


def open_dataset(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    options: OpenOptions | None = None,
    **changes: Any,  # noqa: ANN401
) -> Dataset:
    """Recording in a file or folder of any format that is understood.

    Parameters
    ----------
    path
        A bag, a folder, or several bags that belong together.
    options
        What is known already.
    **changes
        Single fields of `OpenOptions`, by name: ``kind="kitti"``, ``lidar_topic="/points"``.

    Raises
    ------
    DatasetError
        If there is no such path, it is in no known format, or it cannot be read.
    ConfigError
        If an option does not exist or makes no sense.
    """
    try:
        options = replace(options or OpenOptions(), **changes)
    except TypeError as error:
        raise ConfigError(f"open_dataset does not know this option: {error}.") from None
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not given or "" in given:
        raise DatasetError("No path was given; name a bag or a folder.")
    paths = [_named(Path(each)) for each in given]
    for each in paths:
        if not each.exists():
            raise DatasetError(f"{each}: there is no such file or folder; check the path.")
    return _format_of(paths[0], options.kind).open(paths, options)


def _named(path: Path) -> Path:
    """Return the path itself, or with a name what has none: the present folder, or one above."""
    return path if path.name not in ("", "..") else path.resolve()


def _format_of(path: Path, kind: str | None) -> Format:
    """Format that is given, or the first that fits."""
    if kind is not None:
        chosen = next((entry for entry in FORMATS if entry.kind == kind), None)
        if chosen is None:
            kinds = ", ".join(entry.kind for entry in FORMATS)
            raise ConfigError(f"kind must be one of {kinds}, not {kind!r}.")
        return chosen
    found = next((entry for entry in FORMATS if entry.fits(path)), None)
    if found is not None:
        return found
    if path.is_file() and path.suffix.lower() in (*PARSERS, ".bin", ".las"):
        raise DatasetError(f"{path}: this is a single cloud; name the folder with the recording.")
    understood = "; ".join(entry.words for entry in FORMATS)
    raise DatasetError(f"{path}: this is no recording that is understood, which are: {understood}.")


def _is_kitti_raw(path: Path) -> bool:
    return (path / "velodyne_points" / "data").is_dir()


def _is_kitti(path: Path) -> bool:
    has_clouds = bool(clouds_in(path / "velodyne", (".bin",)))
    return has_clouds and any((path / name).is_file() for name in ("calib.txt", "times.txt"))


def _is_cloud_folder(path: Path) -> bool:
    if not path.is_dir():
        return False
    below = (place for place in path.iterdir() if place.is_dir())
    return any(clouds_in(place) for place in (path, *(path / name for name in SUBFOLDERS), *below))


def _open_bag(paths: list[Path], options: OpenOptions) -> Dataset:
    """Bag, with the ground truth that is given or lies beside it as NAME.gt.tum."""
    recording = RosBag(paths, options)
    beside = paths[0].parent / f"{paths[0].stem}.gt.tum"
    file = options.ground_truth or (beside if beside.is_file() else None)
    if file is None:
        return recording
    truth = read_trajectory(file)
    knowledge = Knowledge(ground_truth=truth, findings=(truth_finding(truth, file),))
    return KnownDataset(recording, knowledge)


FORMATS: tuple[Format, ...] = (
    Format(
        "geode",
        "bags of GEODE",
        is_geode,
        lambda paths, options: open_geode(paths, options, options.ground_truth),
    ),
    Format(
        "subt_mrs",
        "SubT-MRS (folders with raw_data_*.bag, lidar/*.las or TartanAir scenes)",
        is_subt_mrs,
        lambda paths, options: open_subt_mrs(paths, options.folder, options),
    ),
    Format(
        "ros",
        "ROS 1 and ROS 2 recordings (.bag, .mcap, .db3, and folders with them)",
        is_ros_recording,
        _open_bag,
    ),
    Format(
        "kitti_raw",
        "KITTI raw (a drive with velodyne_points/)",
        _is_kitti_raw,
        lambda paths, options: KittiRaw(paths[0], options.folder),
    ),
    Format(
        "kitti",
        "KITTI odometry (a sequence with velodyne/ and times.txt)",
        _is_kitti,
        lambda paths, options: KittiOdometry(paths[0], options.folder),
    ),
    Format(
        "clouds",
        f"folders of {TAKEN} files",
        _is_cloud_folder,
        lambda paths, options: CloudFolder(paths[0], options.folder),
    ),
)
"""All formats, most specific first."""
