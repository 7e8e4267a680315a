# SPDX-License-Identifier: MIT
"""RKO-LIO (Bonn): LiDAR-inertial odometry without a model of the sensors' noise.

The body is its base frame. Points are moved to the end of the scan by the IMU, and the package
itself stamps its poses; those stamps are used.
"""

import numpy as np

from svnicp.data.measurements import Scan
from svnicp.data.quaternions import quat_to_rotation
from svnicp.extras import require
from svnicp.lie import make_transform
from svnicp.peers.peer import Peer, PeerRun, Recorder
from svnicp.peers.spool import Spool


def run(spool: Spool, _configuration: str) -> PeerRun:
    """Odometry with the package's defaults; without times of points there is nothing to deskew."""
    lio = require("rko_lio.lio", "peers", "rko-lio")
    odometry, recorder = lio.LIO(lio.LIOConfig(deskew=spool.about.point_times)), Recorder()
    T_body_imu = np.eye(4)
    for one in spool.measurements():
        if not isinstance(one, Scan):
            with recorder.timed():
                odometry.add_imu_measurement(
                    one.linear_acceleration, one.angular_velocity, one.stamp_ns, T_body_imu
                )
            continue
        points, times_ns = one.points.astype(np.float64), one.point_times_ns
        if times_ns is None:
            times_ns = np.full(len(points), one.stamp_ns)
        with recorder.timed():
            odometry.register_scan(points, times_ns, spool.T_body_lidar)
        recorder.end_scan()
    for stamp_ns, pose in zip(*odometry.poses_with_timestamps(), strict=True):
        x_y_z, quat_xyzw = np.array(pose[:3]), np.array(pose[3:])
        recorder.pose(stamp_ns, make_transform(quat_to_rotation(quat_xyzw), x_y_z))
    return recorder.of_body()


PEERS = (
    Peer(
        name="rko-lio", module=__name__, imports="rko_lio", package="rko_lio", uses_imu=True,
        pose_time="end of the scan, as it states itself", run=run,
    ),
)  # fmt: skip
