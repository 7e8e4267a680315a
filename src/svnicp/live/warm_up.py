# SPDX-License-Identifier: MIT
"""Everything compiled and loaded before the first measurement comes, so that none has to wait."""

from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.live.inbox import InboxConfig
from svnicp.live.live_odometry import Listener, LiveOdometry
from svnicp.odometry.run import odometry_for
from svnicp.simulation.simulate import simulate

SECONDS = 1.5
"""How much is simulated: the filter starts after half a second."""


def warm_up(config: Config, imu: ImuNoise | None, listener: Listener) -> None:
    """Run odometry with these parameters over simulated scans, and show them to a listener."""
    dataset = simulate("room", duration_s=SECONDS, rig="alpha")
    odometry = odometry_for(dataset, config, imu=imu if imu is not None else False)
    patient = InboxConfig(max_scans=dataset.num_scans)
    with LiveOdometry(odometry, [listener], patient) as live:
        for one in dataset.measurements():
            if isinstance(one, Scan):
                live.add_scan(one)
            else:
                live.add_imu(one)
