# SPDX-License-Identifier: MIT
"""The verb ``write_dataset``: any dataset to a bag or folder that other programs read.

What is written appears whole or not at all; ground truth, where there is any, is put beside it as
a TUM file. Measurements are passed on one at a time, so memory does not grow.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from svnicp.data.dataset import Dataset
from svnicp.data.folders.kitti_notes import KittiNotes
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import tum_line, write_tum
from svnicp.errors import DatasetError, InputError
from svnicp.recording.appear_whole import appear_whole
from svnicp.recording.bag_files import BagKind, write_bag
from svnicp.recording.kitti_folder import write_kitti_folder, write_kitti_poses
from svnicp.recording.replaceable import check_replaceable

FORMATS = {
    "mcap": "one MCAP file, as ROS 2 and Foxglove read it (.mcap)",
    "ros1": "ROS 1 bag (.bag)",
    "ros2": "ROS 2 bag: a folder with an sqlite file",
    "ros2-mcap": "ROS 2 bag: a folder with an MCAP file",
    "kitti": "KITTI odometry: a folder with velodyne/, times.txt, calib.txt and poses.txt",
}
"""What can be written, by the name of the format."""

Progress = Callable[[int, int | None], None]
"""Called with the number of scans written and the number of all, None if that is not known."""

_SUFFIXES = {".mcap": "mcap", ".bag": "ros1"}
_BAGS: dict[str, BagKind] = {
    "mcap": "ros2-mcap",
    "ros1": "ros1",
    "ros2": "ros2",
    "ros2-mcap": "ros2-mcap",
}

Measurement = TypeVar("Measurement", bound=Scan | ImuSample)

log = logging.getLogger(__name__)


def write_dataset(
    dataset: Dataset,
    path: str | os.PathLike[str],
    format: str | None = None,
    progress: Progress | None = None,
    *,
    overwrite: bool = False,
) -> list[Path]:
    """Write all measurements of a dataset, its extrinsics and its ground truth.

    Parameters
    ----------
    dataset
        What to write.
    path
        The file or folder to write; the folder it goes into must exist.
    format
        One of `FORMATS`; None to tell from ``.mcap`` or ``.bag`` at the end of the path.
    progress
        Called after every scan.
    overwrite
        Whether to replace a recording that is there; a folder only if all of it was written here.

    Returns
    -------
    list
        What was written: the path, and the ground truth's ``NAME.gt.tum`` where there is one.

    Raises
    ------
    InputError
        If the format is not clear, or the path cannot be written.
    DatasetError
        If the dataset has no scans, or cannot be read.
    """
    path = Path(path)
    path = path if path.name not in ("", "..") else path.resolve()
    chosen = _format(path, format)
    is_folder = chosen not in _SUFFIXES.values()
    truth_path = path.parent / f"{path.name if is_folder else path.stem}.gt.tum"
    truth = dataset.ground_truth
    check_replaceable(path, is_folder=is_folder, overwrite=overwrite)
    if truth is not None and not _is_already(truth_path, truth):
        check_replaceable(truth_path, is_folder=False, overwrite=overwrite)
    with appear_whole(path) as place:
        if chosen == "kitti":
            _write_kitti(dataset, place, progress)
        else:
            _write_bag(dataset, place, chosen, progress)
        if truth is not None:
            with appear_whole(truth_path) as truth_place:
                write_tum(truth_place, truth)
    return [path] if truth is None else [path, truth_path]


def _format(path: Path, format: str | None) -> str:
    """Name of the format, given or told from the path, if both fit."""
    told = _SUFFIXES.get(path.suffix)
    if format is None and told is None:
        raise InputError(
            f"{path}: the format cannot be told from this name; end it with .mcap or .bag, or "
            f"choose one of {', '.join(FORMATS)} by format=NAME."
        )
    chosen = format or told or ""
    if chosen not in FORMATS:
        raise InputError(f"There is no format '{chosen}'; choose {', '.join(FORMATS)}.")
    if told != (chosen if chosen in _SUFFIXES.values() else None):
        wanted = {name: suffix for suffix, name in _SUFFIXES.items()}.get(chosen)
        what = f"must end with {wanted}" if wanted else "is a folder, so leave the suffix off"
        raise InputError(f"{path}: what is written in the format '{chosen}' {what}.")
    return chosen


def _is_already(path: Path, truth: Trajectory) -> bool:
    """Whether a file is this ground truth, of the same measurements in another format."""
    if not path.is_file():
        return False
    poses = zip(truth.stamps_ns, truth.T_world_body, strict=True)
    text = "".join(tum_line(int(stamp_ns), T_world_body) for stamp_ns, T_world_body in poses)
    return path.read_bytes() == text.encode("ascii")


def _write_bag(dataset: Dataset, place: Path, chosen: str, progress: Progress | None) -> None:
    """Write a bag to a place that does not exist yet."""
    # A single MCAP file is what a ROS 2 bag folder of that storage has inside.
    bag = place.parent / "bag" / place.stem if chosen == "mcap" else place
    measurements = _watched(dataset, dataset.measurements(), progress)
    try:
        write_bag(bag, _BAGS[chosen], dataset.T_body_lidar, measurements)
    except sqlite3.Error as error:
        raise InputError(f"{place.name}: the bag cannot be written ({error}).") from None
    if chosen == "mcap":
        (bag / f"{bag.name}.mcap").rename(place)


def _write_kitti(dataset: Dataset, place: Path, progress: Progress | None) -> None:
    """Write a KITTI sequence, and say what it cannot hold."""
    lost = []
    if next(dataset.imu_samples(), None) is not None:
        lost.append("the IMU's samples")
    first = next(dataset.scans(), None)
    if first is not None and first.point_times_ns is not None:
        lost.append("the times of the points, without which scans cannot be undistorted")
    if lost:
        log.warning("%s: KITTI has no place for %s; a bag has.", place.name, " and ".join(lost))
    stamps_ns = write_kitti_folder(place, _watched(dataset, dataset.scans(), progress))
    distorted = first is not None and first.point_times_ns is not None
    notes = KittiNotes(
        sensor=dataset.info().sensor, motion_compensated=False if distorted else None
    )
    notes.write(place)
    truth = dataset.ground_truth
    if truth is None or truth.position_only:
        return
    if stamps_ns[0] < truth.stamps_ns[0] or stamps_ns[-1] > truth.stamps_ns[-1]:
        log.warning("%s: the ground truth does not cover all scans, so no poses.txt is written.",
                    place.name)  # fmt: skip
        return
    of_lidar = Trajectory(truth.stamps_ns, truth.T_world_body @ dataset.T_body_lidar)
    write_kitti_poses(place / "poses.txt", of_lidar, stamps_ns)


def _watched(
    dataset: Dataset, measurements: Iterator[Measurement], progress: Progress | None
) -> Iterator[Measurement]:
    """Pass measurements on, count the scans among them, and miss them if there are none."""
    total = dataset.info().num_scans
    done = 0
    for measurement in measurements:
        yield measurement
        if isinstance(measurement, Scan):
            done += 1
            if progress is not None:
                progress(done, total)
    if done == 0:
        raise DatasetError(
            f"{dataset.name}: the dataset has no scans, so there is nothing to write."
        )
