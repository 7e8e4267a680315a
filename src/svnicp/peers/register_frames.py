# SPDX-License-Identifier: MIT
"""The loop of packages with the interface of KISS-ICP: ``register_frame`` and ``last_pose``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from svnicp.data.measurements import Scan
from svnicp.peers.peer import PeerRun, Recorder
from svnicp.peers.relative_times import relative_times
from svnicp.peers.spool import Spool


def register_frames(
    spool: Spool,
    odometry: Any,  # noqa: ANN401
    pose_time: Callable[[Scan], int],
) -> PeerRun:
    """Give all scans to an odometry of LiDAR alone.

    Parameters
    ----------
    spool
        The dataset.
    odometry
        Has ``register_frame(points, times)`` and ``last_pose``.
    pose_time
        The time [ns] that the pose after a scan is for.
    """
    recorder = Recorder()
    for scan in spool.scans():
        points, times = scan.points.astype(np.float64), relative_times(scan)
        with recorder.timed():
            odometry.register_frame(points, times)
        recorder.end_scan()
        recorder.pose(pose_time(scan), odometry.last_pose)
    return recorder.of_lidar(spool.T_body_lidar)
