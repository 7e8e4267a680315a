# SPDX-License-Identifier: MIT
"""Bags of ROS 1 and ROS 2 behind one small interface: a message, its topic, its time.

Wraps the writers of rosbags. Measurements go in as they are complete, a scan at its last point;
the extrinsics go first, on /tf_static.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2

from svnicp.arrays import Transform
from svnicp.data.measurements import ImuSample, Scan
from svnicp.recording.ros_messages import BODY_FRAME, LIDAR_FRAME, Message, RosMessages

CLOUD_TOPIC = "/lidar/points"
IMU_TOPIC = "/imu/data"
STATIC_TF_TOPIC = "/tf_static"

BagKind = Literal["ros1", "ros2", "ros2-mcap"]

_FOREVER = QosTime(0x7FFFFFFF, 0x7FFFFFFF)
_LATCHED = Qos(
    QosHistory.KEEP_LAST, 1, QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL, _FOREVER,
    _FOREVER, QosLiveliness.AUTOMATIC, _FOREVER, avoid_ros_namespace_conventions=False,
)  # fmt: skip


class BagFile:
    """A bag that is being written; use it in a ``with`` statement, which finishes it."""

    def __init__(self, path: Path, kind: BagKind) -> None:
        self.messages = RosMessages(1 if kind == "ros1" else 2)
        self._writer: Any
        if kind == "ros1":
            self._writer = Writer1(path)
        else:
            plugin = StoragePlugin.MCAP if kind == "ros2-mcap" else StoragePlugin.SQLITE3
            self._writer = Writer2(path, version=9, storage_plugin=plugin)
        self._connections: dict[str, Any] = {}

    def __enter__(self) -> "BagFile":
        self._writer.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._writer.__exit__(*exception)

    def write(self, topic: str, stamp_ns: int, message: Message) -> None:
        """Add a message that was received at this time [ns]."""
        if topic not in self._connections:
            self._connections[topic] = self._connect(topic, message.__msgtype__)
        self._writer.write(self._connections[topic], stamp_ns, self.messages.serialise(message))

    def _connect(self, topic: str, msgtype: str) -> Any:  # noqa: ANN401
        """Announce a topic; static transforms are kept for those who come late."""
        latched: dict[str, Any] = {}
        if topic == STATIC_TF_TOPIC:
            one = self.messages.version == 1
            latched = {"latching": 1} if one else {"offered_qos_profiles": [_LATCHED]}
        return self._writer.add_connection(topic, msgtype, typestore=self.messages.store, **latched)


def write_bag(
    path: Path, kind: BagKind, T_body_lidar: Transform, measurements: Iterable[Scan | ImuSample]
) -> None:
    """Write measurements, in the order in which they are complete, to a new bag.

    Parameters
    ----------
    path
        File of a ROS 1 bag, folder of a ROS 2 bag; it must not exist.
    kind
        Version of ROS, and what holds the messages.
    T_body_lidar
        (4, 4) extrinsics for /tf_static, where the body is the frame of the IMU.
    measurements
        What to write.
    """
    with BagFile(path, kind) as bag:
        make = bag.messages
        for number, measurement in enumerate(measurements):
            is_scan = isinstance(measurement, Scan)
            stamp_ns = measurement.end_ns if is_scan else measurement.stamp_ns
            if number == 0:
                static = make.transform(stamp_ns, BODY_FRAME, LIDAR_FRAME, T_body_lidar)
                bag.write(STATIC_TF_TOPIC, stamp_ns, static)
            if is_scan:
                bag.write(CLOUD_TOPIC, stamp_ns, make.cloud(measurement))
            else:
                bag.write(IMU_TOPIC, stamp_ns, make.imu(measurement))
