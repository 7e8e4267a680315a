# SPDX-License-Identifier: MIT
"""The verb ``open_dataset``: from a path to a dataset, whatever its format.

Each format has a small function that looks at a path, most specific first; the first that fits
opens it. ``kind`` forces one of them. Everything that is not given is detected and reported.
"""

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from svnicp.cloud_files.read import PARSERS
from svnicp.data.dataset import Dataset
from svnicp.data.folders.clouds import CloudFolder, truth_finding
from svnicp.data.folders.find_files import SUBFOLDERS, TAKEN, clouds_in
from svnicp.data.folders.geode import is_geode, open_geode
from svnicp.data.folders.kitti import KittiOdometry
from svnicp.data.folders.kitti_raw import KittiRaw
from svnicp.data.folders.subt_mrs import is_subt_mrs, open_subt_mrs
from svnicp.data.open_options import OpenOptions, changed
from svnicp.data.ros import RosBag, is_ros_recording
from svnicp.data.trajectory_files import read_trajectory
from svnicp.data.with_knowledge import Knowledge, KnownDataset
from svnicp.errors import ConfigError, DatasetError

log = logging.getLogger(__name__)


RUN_FILES = ("run.yaml", "trajectory.tum")
"""What ``svnicp run`` writes, beside a bag of its own."""


class Format(NamedTuple):
    """One format that is understood."""

    kind: str
    words: str
    """What it is, for a list of formats."""
    fits: Callable[[Path], bool]
    """Whether a path looks like it."""
    open: Callable[[list[Path], OpenOptions], Dataset]
    has_bags: bool = True
    """Whether what may be said about bags may matter to it."""
    has_folders: bool = True
    """Whether what may be said about folders of clouds may matter to it."""


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
        Single fields of `OpenOptions` or flags of the command line, by name: ``kind="kitti"``,
        ``lidar_topic="/points"``, ``point_time_unit="us"``, ``extrinsics="rig.yaml"``.

    Raises
    ------
    DatasetError
        If there is no such path, it is in no known format, or it cannot be read.
    ConfigError
        If an option does not exist or makes no sense.
    """
    options = changed(options or OpenOptions(), changes)
    paths = _paths(path)
    found = _format_of(paths[0], options.kind)
    unused = {
        **({} if found.has_bags else options.only_for_bags),
        **({} if found.has_folders else options.only_for_folders),
    }
    for name, value in unused.items():
        log.warning("%s: %s=%s has no effect on this kind of recording.", paths[0], name, value)
    if len(paths) > 1 and not found.has_bags:
        raise DatasetError(
            f"{paths[1]}: only bags may be opened several at a time; name one folder."
        )
    try:
        dataset = found.open(paths, options)
    except DatasetError:
        if all((paths[0] / name).is_file() for name in RUN_FILES):
            raise DatasetError(
                f"{paths[0]}: this is the folder of a run, in which there are no scans; name the "
                "recording that was run, or look at the run by svnicp evaluate or svnicp report."
            ) from None
        raise
    _check_truth(dataset)
    return dataset


def _check_truth(dataset: Dataset) -> None:
    """Warn of a ground truth of another time than the scans."""
    truth, span_ns = dataset.ground_truth, dataset.span_ns
    if truth is None or span_ns is None or not len(truth):
        return
    late_s = 1e-9 * (int(truth.stamps_ns[0]) - span_ns[1])
    early_s = 1e-9 * (span_ns[0] - int(truth.stamps_ns[-1]))
    if max(late_s, early_s) > 0.0:
        log.warning(
            "%s: scans and ground truth never meet: it %s; is it of this recording and this clock?",
            dataset.name,
            f"starts {late_s:.6g} s after the last scan"
            if late_s > 0.0
            else f"ends {early_s:.6g} s before the first scan",
        )


def _paths(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Paths that were given, one or several, each with a name and there."""
    given = [path] if isinstance(path, str | os.PathLike) else path
    if not isinstance(given, Sequence) or not all(isinstance(p, str | os.PathLike) for p in given):
        raise DatasetError(f"A path must be a text or a Path, or a list of them, not {path!r}.")
    if not given or "" in given:
        raise DatasetError("No path was given; name a bag or a folder.")
    paths = [_named(Path(each)) for each in given]
    for each in paths:
        if not each.exists():
            raise DatasetError(f"{each}: there is no such file or folder; check the path.")
    return paths


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
    name = paths[0].name if paths[0].is_dir() else paths[0].stem
    beside = paths[0].parent / f"{name}.gt.tum"
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
        has_folders=False,
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
        has_folders=False,
    ),
    Format(
        "kitti_raw",
        "KITTI raw (a drive with velodyne_points/)",
        _is_kitti_raw,
        lambda paths, options: KittiRaw(paths[0], options.folder),
        has_bags=False,
    ),
    Format(
        "kitti",
        "KITTI odometry (a sequence with velodyne/ and times.txt)",
        _is_kitti,
        lambda paths, options: KittiOdometry(paths[0], options.folder),
        has_bags=False,
    ),
    Format(
        "clouds",
        f"folders of {TAKEN} files",
        _is_cloud_folder,
        lambda paths, options: CloudFolder(paths[0], options.folder),
        has_bags=False,
    ),
)
"""All formats, most specific first."""
