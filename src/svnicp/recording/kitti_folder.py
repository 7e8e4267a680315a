# SPDX-License-Identifier: MIT
"""A sequence in the layout of KITTI odometry: velodyne/, times.txt, calib.txt, poses.txt.

KITTI has neither point times nor an IMU, and its poses are of a camera that looks forward: here it
sits in the LiDAR's origin (x right, y down, z forward), which calib.txt says.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from svnicp.arrays import Integers, Transform
from svnicp.data.measurements import Scan
from svnicp.data.stamps import seconds_text
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import kitti_line
from svnicp.lie import se3_exp, se3_inverse, se3_log

T_CAMERA_LIDAR: Transform = np.array(
    [[0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)
"""(4, 4) extrinsics in calib.txt."""


def write_kitti_folder(path: Path, scans: Iterable[Scan]) -> Integers:
    """Write scans to a new folder and return their stamps (n,) [ns]; memory does not grow."""
    (path / "velodyne").mkdir(parents=True)
    stamps_ns: list[int] = []
    with (path / "times.txt").open("x", encoding="ascii") as times:
        for number, scan in enumerate(scans):
            points = np.zeros((len(scan.points), 4), dtype="<f4")
            points[:, :3] = scan.points
            (path / "velodyne" / f"{number:06d}.bin").write_bytes(points.tobytes())
            times.write(f"{seconds_text(scan.stamp_ns)}\n")
            stamps_ns.append(scan.stamp_ns)
    projections = [f"P{camera}: {kitti_line(np.eye(4))}" for camera in range(4)]
    calibration = "".join(projections) + f"Tr: {kitti_line(T_CAMERA_LIDAR)}"
    (path / "calib.txt").write_text(calibration, encoding="ascii")
    return np.array(stamps_ns, dtype=np.int64)


def write_kitti_poses(path: Path, trajectory: Trajectory, stamps_ns: Integers) -> None:
    """Write the camera's poses in its first frame at the stamps (n,) [ns] of the scans.

    Parameters
    ----------
    path
        The file.
    trajectory
        Poses of the LiDAR in any world, over the whole time of the stamps.
    stamps_ns
        When the scans start.
    """
    T_world_camera = poses_at(trajectory, stamps_ns) @ se3_inverse(T_CAMERA_LIDAR)
    T_first_camera = se3_inverse(T_world_camera[0]) @ T_world_camera
    path.write_text("".join(map(kitti_line, T_first_camera)), encoding="ascii")


def poses_at(trajectory: Trajectory, stamps_ns: Integers) -> Transform:
    """Poses (n, 4, 4) at stamps (n,) within a trajectory, at constant twist between its poses."""
    after = np.clip(
        np.searchsorted(trajectory.stamps_ns, stamps_ns), 1, max(len(trajectory) - 1, 1)
    )
    before = after - 1
    if len(trajectory) == 1:
        return np.repeat(trajectory.T_world_body, len(stamps_ns), axis=0)
    start_ns, end_ns = trajectory.stamps_ns[before], trajectory.stamps_ns[after]
    share = (stamps_ns - start_ns) / (end_ns - start_ns)
    T_start = trajectory.T_world_body[before]
    xi = se3_log(se3_inverse(T_start) @ trajectory.T_world_body[after])
    return T_start @ se3_exp(share[:, None] * xi)
