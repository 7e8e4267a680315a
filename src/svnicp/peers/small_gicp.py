# SPDX-License-Identifier: MIT
"""small_gicp (AIST): scan-to-map VGICP, the strongest odometry that can be made of the library.

The library registers; the loop around it is what its users write: predict at constant velocity,
align with a map of Gaussian voxels, insert. It has no deskewing: a pose by ``default`` is for the
mean time of the points. ``deskewed`` adds that of KISS-ICP, to the end of the scan, in NumPy.
"""

import os

import numpy as np

from svnicp.arrays import Floats, Points, Transform
from svnicp.extras import require
from svnicp.lie import orthonormalise, se3_exp, se3_inverse, se3_log
from svnicp.peers.peer import DEFAULT, Peer, PeerRun, Recorder
from svnicp.peers.relative_times import relative_times
from svnicp.peers.spool import Spool

DESKEWED = "deskewed"
VOXEL_M, DOWNSAMPLING_M = 1.0, 0.25
"""Defaults of the library's ``align`` for VGICP [m]."""
DESKEW_STEPS = 200
"""Moments of a scan between which the sensor is taken to stand still."""


def configurations(_scene: str, point_times: bool) -> tuple[str, ...]:
    """The plain loop, and the same with deskewing where points have times."""
    return (DEFAULT, DESKEWED) if point_times else (DEFAULT,)


def run(spool: Spool, configuration: str) -> PeerRun:
    """Scan-to-map VGICP over a dataset."""
    small_gicp = require("small_gicp", "peers", "small-gicp")
    threads = os.cpu_count() or 1
    voxels, recorder = small_gicp.GaussianVoxelMap(VOXEL_M), Recorder()
    T_world_lidar, T_step = np.eye(4), np.eye(4)
    for number, scan in enumerate(spool.scans()):
        points, times = scan.points.astype(np.float64), relative_times(scan)
        with recorder.timed():
            if configuration == DESKEWED and len(times):
                points = deskewed(points, times, T_step)
            cloud, _ = small_gicp.preprocess_points(points, DOWNSAMPLING_M, num_threads=threads)
            if number:
                found = small_gicp.align(voxels, cloud, T_world_lidar @ T_step, num_threads=threads)
                T_before, T_world_lidar = T_world_lidar, orthonormalise(found.T_target_source)
                T_step = se3_inverse(T_before) @ T_world_lidar
            voxels.insert(cloud, T_world_lidar)
        recorder.end_scan()
        recorder.pose(scan.end_ns if configuration == DESKEWED else scan.mean_ns, T_world_lidar)
    return recorder.of_lidar(spool.T_body_lidar)


def deskewed(points: Points, times: Floats, T_step: Transform) -> Points:
    """Points (n, 3) moved to the end of the scan, by the motion of the scan before."""
    moments = np.minimum((times * DESKEW_STEPS).astype(np.intp), DESKEW_STEPS - 1)
    shares = (np.arange(DESKEW_STEPS) + 0.5) / DESKEW_STEPS - 1.0
    T_end_moment = se3_exp(shares[:, None] * se3_log(T_step))[moments]
    return np.einsum("nij,nj->ni", T_end_moment[:, :3, :3], points) + T_end_moment[:, :3, 3]


PEERS = (
    Peer(
        name="small-gicp", module=__name__, imports="small_gicp", package="small_gicp",
        uses_imu=False, pose_time="mean time of the points, the end if deskewed", run=run,
        configurations=configurations,
    ),
)  # fmt: skip
