# SPDX-License-Identifier: MIT
"""KISS-ICP (Bonn): point-to-point ICP with an adaptive threshold, LiDAR alone.

It is given the times of points, and moves all of them to the end of the scan by the motion between
the last two poses; so its poses are for the end. Without times they are for the scan's one instant.
"""

from svnicp.extras import require
from svnicp.peers.peer import Peer, PeerRun
from svnicp.peers.register_frames import register_frames
from svnicp.peers.spool import Spool


def run(spool: Spool, _configuration: str) -> PeerRun:
    """Odometry with the package's own defaults."""
    config = require("kiss_icp.config", "peers", "kiss-icp").load_config(None)
    odometry = require("kiss_icp.kiss_icp", "peers", "kiss-icp").KissICP(config)
    return register_frames(spool, odometry, lambda scan: scan.end_ns)


PEERS = (
    Peer(
        name="kiss-icp", module=__name__, imports="kiss_icp", package="kiss-icp", uses_imu=False,
        pose_time="end of the scan", run=run,
    ),
)  # fmt: skip
