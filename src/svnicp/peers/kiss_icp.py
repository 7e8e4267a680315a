# SPDX-License-Identifier: MIT
"""KISS-ICP (Bonn): point-to-point ICP with an adaptive threshold, LiDAR alone.

It is given the times of points, and moves all of them to the end of the scan by the motion between
the last two poses; so its poses are for the end. Without times they are for the scan's one instant.
"""

import numpy as np

from svnicp.extras import require
from svnicp.peers.peer import Peer, PeerRun, Recorder
from svnicp.peers.relative_times import relative_times
from svnicp.peers.spool import Spool


def run(spool: Spool, _configuration: str) -> PeerRun:
    """Odometry with the package's own defaults."""
    config = require("kiss_icp.config", "peers", "kiss-icp").load_config(None)
    odometry = require("kiss_icp.kiss_icp", "peers", "kiss-icp").KissICP(config)
    recorder = Recorder()
    for scan in spool.scans():
        points, times = scan.points.astype(np.float64), relative_times(scan)
        with recorder.timed():
            odometry.register_frame(points, times)
        recorder.end_scan()
        recorder.pose(scan.end_ns, odometry.last_pose)
    return recorder.of_lidar(spool.T_body_lidar)


PEERS = (
    Peer(
        name="kiss-icp", module=__name__, imports="kiss_icp", package="kiss-icp", uses_imu=False,
        pose_time="end of the scan", run=run,
    ),
)  # fmt: skip
