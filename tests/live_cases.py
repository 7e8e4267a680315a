# SPDX-License-Identifier: MIT
"""For the tests of live odometry: a short drive as messages, and what odometry makes of it."""

import time
from collections.abc import Callable
from functools import cache

from odometry_cases import drive, feed, measured
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.data.ros.options import RosBagOptions
from svnicp.estimate import Estimate
from svnicp.live import InboxConfig, LiveEstimate, LiveOdometry
from svnicp.live.connection import Connection
from svnicp.live.decoder import LiveDecoder
from svnicp.live.outgoing import MessageMaker
from svnicp.odometry import Odometry
from svnicp.recording.ros_messages import RosMessages

NOISE = ImuNoise.model("xsens_mti30")
PATIENT = InboxConfig(max_scans=100, max_start_scans=100, imu_wait_s=2.0)
DRIVE = drive(duration_s=1.7, rest_s=0.6)
"""A short drive: seventeen scans, of which the first half second starts the filter."""
LIDAR, IMU = "/points", "/imu/data"
TYPES = {LIDAR: "sensor_msgs/msg/PointCloud2", IMU: "sensor_msgs/msg/Imu"}


@cache
def sent(version: int) -> list[tuple[str, bytes]]:
    """Topics and bytes of all messages of the drive, in the order in which they arrive."""
    make = RosMessages(version)  # pyright: ignore[reportArgumentType]
    return [
        (LIDAR, make.serialise(make.cloud(one)))
        if isinstance(one, Scan)
        else (IMU, make.serialise(make.imu(one)))
        for one in measured(DRIVE)
    ]


@cache
def expected() -> list[Estimate]:
    """What plain odometry makes of the drive."""
    return feed(Odometry(imu=NOISE), measured(DRIVE))


def live_on(connection: Connection, maker: MessageMaker, encoding: str) -> LiveOdometry:
    """Live odometry that listens to a connection and publishes there; not started."""

    def publish(one: LiveEstimate) -> None:
        for message in maker.messages(one):
            connection.publish(message)

    live = LiveOdometry(Odometry(imu=NOISE), [publish], PATIENT)
    options = RosBagOptions(lidar_topic=LIDAR, imu_topic=IMU)
    connection.listen(LiveDecoder(live, options, encoding))  # pyright: ignore[reportArgumentType]
    return live


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
