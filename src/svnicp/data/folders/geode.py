# SPDX-License-Identifier: MIT
"""GEODE: ROS 1 bags of three rigs (alpha, beta, gamma) with ground truth as TUM files beside them.

The rig is told from the topics; it gives extrinsics and the frame of the ground truth, which is
taken to our body where it has rotations. A prism has none: then its place on the body is given.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.dataset import Finding
from svnicp.data.extrinsics import checked_extrinsics
from svnicp.data.folders.clouds import truth_finding
from svnicp.data.folders.find_files import first_existing
from svnicp.data.folders.geode_rigs import RIGS, T_TRUTH_LIDAR, Reference, reference_of
from svnicp.data.ros import RosBag, RosBagOptions
from svnicp.data.ros.bag_files import all_contents, open_files
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_trajectory
from svnicp.data.with_knowledge import Knowledge, KnownDataset
from svnicp.errors import DatasetError
from svnicp.lie import se3_inverse

RIG_WORD = re.compile(r"(?:^|[-_ ])(alpha|beta|gamma)(?=$|[-_ ])", re.IGNORECASE)


def is_geode(path: Path) -> bool:
    """Whether a bag's name or folder says GEODE or names a rig, and it has a rig's topics."""
    if not path.is_file() or path.suffix != ".bag":
        return False
    named = any("geode" in part.lower() for part in path.resolve().parts[-4:])
    if not named and not RIG_WORD.search(path.stem):
        return False
    return _rig_of(_topics([path])) is not None


def open_geode(
    paths: list[Path], options: RosBagOptions | None = None, truth_file: Path | None = None
) -> KnownDataset:
    """Open a sequence of GEODE.

    Parameters
    ----------
    paths
        Its bag, or several that belong together.
    options
        What is known already; topics and extrinsics of the rig are filled in.
    truth_file
        Ground truth, in the frame in which GEODE publishes it; None to look for it beside the bag.

    Raises
    ------
    DatasetError
        If the bag has the topics of none of the rigs, or cannot be read.
    """
    options = options or RosBagOptions()
    name = _rig_name(paths)
    rig = RIGS[name]
    given = options.T_body_lidar
    where = f"table for rig {name}" if given is None else "T_body_lidar as given"
    T_body_lidar, extrinsics = checked_extrinsics(
        rig.T_imu_lidar if given is None else given, where
    )
    recording = RosBag(
        paths,
        replace(
            options,
            lidar_topic=options.lidar_topic or rig.lidar_topic,
            imu_topic=options.imu_topic or rig.imu_topic,
            T_body_lidar=T_body_lidar,
        ),
    )
    truth, T_body_truth, findings = _truth(paths[0], name, T_body_lidar, truth_file)
    return KnownDataset(
        recording,
        Knowledge(
            kind=f"GEODE, rig {name}",
            ground_truth=truth,
            T_body_truth=T_body_truth,
            findings=(extrinsics, *findings),
            sensor=rig.sensor,
            imu=rig.imu,
        ),
    )


def body_truth(
    measured: Trajectory, rig: str, reference: Reference, T_body_lidar: Transform
) -> tuple[Trajectory, Transform]:
    """Ground truth of the body, and the place on the body of what it is about.

    Parameters
    ----------
    measured
        Poses, or positions only, in the frame in which GEODE publishes them.
    rig, reference
        Who recorded the scans, and who measured the truth.
    T_body_lidar
        Extrinsics of the rig.

    Returns
    -------
    With rotations: the trajectory of the body, and the identity. Without: the positions as they
    were measured, and where their point is on the body.
    """
    T_truth_lidar = T_TRUTH_LIDAR.get((rig, reference), np.eye(4))
    T_body_truth = T_body_lidar @ se3_inverse(T_truth_lidar)
    if measured.position_only:
        return measured, T_body_truth
    T_world_body = measured.T_world_body @ se3_inverse(T_body_truth)
    return Trajectory(measured.stamps_ns, T_world_body), np.eye(4)


def _truth(
    path: Path, rig: str, T_body_lidar: Transform, truth_file: Path | None
) -> tuple[Trajectory | None, Transform | None, tuple[Finding, ...]]:
    file = truth_file or _find_truth(path)
    if file is None:
        return None, None, ()
    reference = reference_of("/".join(path.resolve().parts[-3:]))
    measured = read_trajectory(file, position_only=True if reference == "leica" else None)
    truth, T_body_truth = body_truth(measured, rig, reference, T_body_lidar)
    if truth.position_only:
        x, y, z = T_body_truth[:3, 3]
        words = f"positions of a prism at ({x:.3f}, {y:.3f}, {z:.3f}) m in the body"
    else:
        words = "taken to the IMU"
    frame = Finding("ground-truth frame", words, f"measured by {reference}, recorded by {rig}")
    return truth, T_body_truth, (truth_finding(truth, file), frame)


def _find_truth(path: Path) -> Path | None:
    """TUM file named like the bag, with or without the rig, beside it or in groundtruth/traj."""
    stems = dict.fromkeys([path.stem, RIG_WORD.sub("", path.stem)])
    names = [f"{stem}{suffix}" for stem in stems for suffix in (".txt", ".tum", ".gt.tum")]
    near = [path.resolve().parent, *path.resolve().parent.parents][:3]
    folders = [*near[:1], *(place / "groundtruth" / "traj" for place in near)]
    return first_existing(folders, names)


def _rig_name(paths: list[Path]) -> str:
    topics = _topics(paths)
    name = _rig_of(topics)
    if name is None:
        wanted = ", ".join(f"{rig.lidar_topic} ({name})" for name, rig in RIGS.items())
        raise DatasetError(
            f"{paths[0]}: none of GEODE's LiDAR topics is in it: {wanted}; "
            f"it has {', '.join(topics)}."
        )
    return name


def _rig_of(topics: list[str]) -> str | None:
    """Rig whose LiDAR is among the topics."""
    return next((name for name, rig in RIGS.items() if rig.lidar_topic in topics), None)


def _topics(paths: list[Path]) -> list[str]:
    return [topic.name for topic in all_contents(open_files(paths)).topics]
