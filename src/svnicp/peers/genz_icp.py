# SPDX-License-Identifier: MIT
"""GenZ-ICP (POSTECH): point-to-plane and point-to-point weighed by planarity, LiDAR alone.

Deskewing is off in its defaults and in every configuration that it ships, so a pose fits the scan
as a whole best: it is taken for the mean time of the points.
"""

from pathlib import Path

from svnicp.extras import require
from svnicp.peers.peer import DEFAULT, Peer, PeerRun
from svnicp.peers.register_frames import register_frames
from svnicp.peers.spool import Spool

SHIPPED = {
    "long_corridor": "long_corridor.yaml",
    "corridor": "corridor.yaml",
    "indoor": "indoor.yaml",
    "outdoor": "outdoor.yaml",
    "kitti": "kitti.yaml",
    "newer_college": "newer_college.yaml",
}
"""Configuration in the package for each kind of scene."""


def configurations(scene: str, _point_times: bool) -> tuple[str, ...]:
    """Defaults, and what the package has for the scene."""
    return (DEFAULT, SHIPPED[scene]) if scene in SHIPPED else (DEFAULT,)


def run(spool: Spool, configuration: str) -> PeerRun:
    """Odometry with the defaults or one of the package's configurations."""
    load_config = require("genz_icp.config", "peers", "genz-icp").load_config
    config = load_config(None if configuration == DEFAULT else Path(configuration))
    odometry = require("genz_icp.genz_icp", "peers", "genz-icp").GenZICP(config)
    return register_frames(spool, odometry, lambda scan: scan.mean_ns)


PEERS = (
    Peer(
        name="genz-icp", module=__name__, imports="genz_icp", package="genz-icp", uses_imu=False,
        pose_time="mean time of the scan's points", run=run, configurations=configurations,
    ),
)  # fmt: skip
