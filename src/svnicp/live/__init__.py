# SPDX-License-Identifier: MIT
"""Live odometry: measurements as they come in, estimates as they are made.

``LiveOdometry`` is the core; sources put measurements in (a replay, the Foxglove WebSocket, ROS 1,
ROS 2 over Zenoh), and the same connections publish the estimates.
"""

from svnicp.live.inbox import InboxConfig
from svnicp.live.live_odometry import LiveEstimate, LiveOdometry
from svnicp.live.statistics import LiveStatistics

__all__ = ["InboxConfig", "LiveEstimate", "LiveOdometry", "LiveStatistics"]
