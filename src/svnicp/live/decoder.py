# SPDX-License-Identifier: MIT
"""From messages as they come in over a network to measurements in the inbox.

In: the bytes of PointCloud2 (or Livox, or Velodyne packets) and Imu, of ROS 1 or ROS 2. Their first
messages tell units and conventions, by the same rules as for recordings; then every message becomes
a scan or a reading. A message that cannot be read is counted and left out.
"""

import time

from svnicp.data.ros.imu import decode_imu
from svnicp.data.ros.imu_stream import ImuStream, open_imu
from svnicp.data.ros.lidar_stream import LidarStream, open_lidar
from svnicp.data.ros.options import RosBagOptions
from svnicp.data.ros.raw_message import RawMessage, Topic, short_type
from svnicp.data.ros.tally import Tally
from svnicp.data.ros.topics import IMU_TYPES, LIDAR_TYPES
from svnicp.data.ros.wire import Encoding
from svnicp.errors import DatasetError, InputError
from svnicp.live.live_odometry import LiveOdometry

NUM_FIRST_SCANS = 5
"""Scans from which the reading of all others is decided."""
FIRST_IMU_NS = 500_000_000
"""Time of the readings from which the unit of all others is decided [ns]."""
MAX_FIRST_IMU = 2000
"""Readings after which it is decided in any case."""


class LiveDecoder:
    """Understands the messages of one LiDAR and one IMU.

    Parameters
    ----------
    live
        Gets the measurements.
    options
        What is known about them; the topics decide which messages are taken.
    encoding
        "ros1", or "cdr" for ROS 2.
    """

    def __init__(self, live: LiveOdometry, options: RosBagOptions, encoding: Encoding) -> None:
        self._live = live
        self._options = options
        self._encoding: Encoding = encoding
        self._lidar: LidarStream | None = None
        self._imu: ImuStream | None = None
        self._first_scans: list[RawMessage] = []
        self._first_readings: list[RawMessage] = []
        self._names: dict[str, str | None] = {
            "lidar": options.lidar_topic,
            "imu": options.imu_topic,
        }

    @property
    def uses_imu(self) -> bool:
        """Whether readings of an IMU are of use."""
        return self._live.uses_imu

    def wants(self, topic: str, msgtype: str) -> bool:
        """Whether the messages of a topic are of use: the named one, or the first of its kind."""
        kind = _kind(msgtype)
        if kind is None or (kind == "imu" and not self._live.uses_imu):
            return False
        named = self._names[kind]
        if named is None:
            self._names[kind] = topic
            return True
        return named.strip("/") == topic.strip("/")

    def on_message(self, topic: str, msgtype: str, data: bytes) -> None:
        """Take one message of a topic that is wanted."""
        message = RawMessage(topic, time.time_ns(), data, self._encoding)
        try:
            if _kind(msgtype) == "imu":
                self._on_imu(message)
            else:
                self._on_lidar(message, short_type(msgtype))
        except (InputError, DatasetError) as error:
            self._live.refuse(f"{topic}: {error}")

    def _on_lidar(self, message: RawMessage, msgtype: str) -> None:
        """Decode a cloud, once the first few have told how."""
        if self._lidar is not None:
            self._add_scan(self._lidar, message)
            return
        self._first_scans.append(message)
        if len(self._first_scans) < NUM_FIRST_SCANS:
            return
        first, self._first_scans = self._first_scans, []
        self._lidar = open_lidar(Topic(message.topic, msgtype, len(first)), first, self._options)
        for one in first:
            self._add_scan(self._lidar, one)

    def _add_scan(self, stream: LidarStream, message: RawMessage) -> None:
        """Hand on one scan."""
        scan = stream.scan(stream.decode(message.reader()), Tally(""))
        self._live.add_scan(scan)

    def _on_imu(self, message: RawMessage) -> None:
        """Decode a reading, once the first half second has told the unit."""
        if self._imu is not None:
            self._live.add_imu(self._imu.sample(message.reader()))
            return
        first = self._first_readings
        first.append(message)
        times_ns = [decode_imu(one.reader())[0].stamp_ns for one in (first[0], message)]
        if times_ns[1] - times_ns[0] < FIRST_IMU_NS and len(first) < MAX_FIRST_IMU:
            return
        topic = Topic(message.topic, IMU_TYPES[0], len(first))
        self._imu = open_imu(topic, first, self._options.imu_unit)
        self._first_readings = []
        for one in first:
            self._live.add_imu(self._imu.sample(one.reader()))


def _kind(msgtype: str) -> str | None:
    """Return "lidar" or "imu" by the type of a message, None for any other."""
    short = short_type(msgtype)
    if short in IMU_TYPES:
        return "imu"
    return "lidar" if short in LIDAR_TYPES else None
