# SPDX-License-Identifier: MIT
"""Real recordings for tests: messages encoded by rosbags, bags written by its writers.

The package reads messages with code of its own, so rosbags' encoder is an independent witness of
what their bytes are.
"""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from svnicp.data.ros.raw_message import RawMessage
from svnicp.data.ros.wire import Encoding

EXTRA_TYPES = {
    "velodyne_msgs/msg/VelodynePacket": "time stamp\nuint8[1206] data",
    "velodyne_msgs/msg/VelodyneScan": "std_msgs/Header header\nVelodynePacket[] packets",
    "livox_ros_driver/msg/CustomPoint": "uint32 offset_time\nfloat32 x\nfloat32 y\nfloat32 z\n"
    "uint8 reflectivity\nuint8 tag\nuint8 line",
    "livox_ros_driver/msg/CustomMsg": "std_msgs/Header header\nuint64 timebase\nuint32 point_num\n"
    "uint8 lidar_id\nuint8[3] rsvd\nCustomPoint[] points",
}

STORES = {"ros1": get_typestore(Stores.ROS1_NOETIC), "cdr": get_typestore(Stores.ROS2_HUMBLE)}
for _encoding, _store in STORES.items():
    for _name, _text in EXTRA_TYPES.items():
        _text = (
            _text
            if _encoding == "ros1"
            else _text.replace("time stamp", "builtin_interfaces/Time stamp")
        )
        _store.register(get_types_from_msg(_text, _name))

FORMATS = ("ros1", "sqlite", "mcap")
FLOAT32, FLOAT64, UINT8, UINT16, UINT32 = 7, 8, 2, 4, 6
START_NS = 1_700_000_000_000_000_000
PERIOD_NS = 100_000_000


class Stored(NamedTuple):
    """One message to be written to a bag."""

    topic: str
    msgtype: str
    log_ns: int
    message: "Encodable"


class Encodable:
    """A message that can be made of the types of ROS 1 or ROS 2."""

    def __init__(self, msgtype: str, **fields: Any) -> None:
        self.msgtype = msgtype
        self.fields = fields

    def build(self, encoding: Encoding) -> object:
        """Object of rosbags with all fields, those inside too."""
        fields = dict(self.fields)
        if self.msgtype == "std_msgs/msg/Header" and encoding == "ros1":
            fields["seq"] = 7
        built = {name: _build(value, encoding) for name, value in fields.items()}
        return STORES[encoding].types[self.msgtype](**built)

    def encode(self, encoding: Encoding) -> bytes:
        """Bytes of the message."""
        store = STORES[encoding]
        serialize = store.serialize_ros1 if encoding == "ros1" else store.serialize_cdr
        return bytes(serialize(self.build(encoding), self.msgtype))

    def raw(self, encoding: Encoding) -> RawMessage:
        """Return the message as a bag would hand it out."""
        return RawMessage("/topic", 0, self.encode(encoding), encoding)


def _build(value: Any, encoding: Encoding) -> Any:
    if isinstance(value, Encodable):
        return value.build(encoding)
    if isinstance(value, list):
        return [_build(item, encoding) for item in value]
    return value


def time_message(stamp_ns: int) -> Encodable:
    sec, nanosec = divmod(stamp_ns, 1_000_000_000)
    return Encodable("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)


def header_message(stamp_ns: int, frame_id: str = "lidar") -> Encodable:
    return Encodable("std_msgs/msg/Header", stamp=time_message(stamp_ns), frame_id=frame_id)


def vector_message(xyz: npt.ArrayLike, kind: str = "Vector3") -> Encodable:
    x, y, z = np.asarray(xyz, float).tolist()
    return Encodable(f"geometry_msgs/msg/{kind}", x=x, y=y, z=z)


def quaternion_message(xyzw: Sequence[float]) -> Encodable:
    x, y, z, w = (float(value) for value in xyzw)
    return Encodable("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)


def imu_message(
    stamp_ns: int, rate: npt.ArrayLike, acceleration: npt.ArrayLike, frame_id: str = "imu"
) -> Encodable:
    covariance = np.arange(9.0)
    return Encodable(
        "sensor_msgs/msg/Imu",
        header=header_message(stamp_ns, frame_id),
        orientation=quaternion_message([0.0, 0.0, 0.0, 1.0]),
        orientation_covariance=covariance,
        angular_velocity=vector_message(rate),
        angular_velocity_covariance=covariance,
        linear_acceleration=vector_message(acceleration),
        linear_acceleration_covariance=covariance,
    )


def tf_message(
    transforms: Iterable[tuple[str, str, Sequence[float], Sequence[float]]],
) -> Encodable:
    """Transforms as (parent, child, translation, quaternion xyzw)."""
    return Encodable(
        "tf2_msgs/msg/TFMessage",
        transforms=[
            Encodable(
                "geometry_msgs/msg/TransformStamped",
                header=header_message(0, parent),
                child_frame_id=child,
                transform=Encodable(
                    "geometry_msgs/msg/Transform",
                    translation=vector_message(translation),
                    rotation=quaternion_message(xyzw),
                ),
            )
            for parent, child, translation, xyzw in transforms
        ],
    )


def cloud_message(
    stamp_ns: int,
    points: np.ndarray,
    fields: Sequence[tuple[str, int, int]],
    *,
    width: int | None = None,
    row_padding: int = 0,
    big_endian: bool = False,
    frame_id: str = "lidar",
) -> Encodable:
    """PointCloud2 of a structured array, whose layout is that of its data.

    ``fields`` are (name, offset, type) as PointField has them; rows are of ``width`` points.
    """
    width = len(points) if width is None else width
    height = len(points) // width if width else 1
    rows = [
        points[row * width : (row + 1) * width].tobytes() + b"\xff" * row_padding
        for row in range(height)
    ]
    return Encodable(
        "sensor_msgs/msg/PointCloud2",
        header=header_message(stamp_ns, frame_id),
        height=height,
        width=width,
        fields=[
            Encodable("sensor_msgs/msg/PointField", name=n, offset=o, datatype=d, count=1)
            for n, o, d in fields
        ],
        is_bigendian=big_endian,
        point_step=points.dtype.itemsize,
        row_step=width * points.dtype.itemsize + row_padding,
        data=np.frombuffer(b"".join(rows), np.uint8),
        is_dense=False,
    )


def struct_points(layout: np.dtype, points: np.ndarray, **fields: np.ndarray) -> np.ndarray:
    """Structured array with x, y, z and other fields; what is not given is nonsense."""
    rows = np.frombuffer(b"\x5a" * (layout.itemsize * len(points)), layout).copy()
    for axis, values in zip("xyz", points.T, strict=True):
        rows[axis] = values
    for name, values in fields.items():
        rows[name] = values
    return rows


def packet_bytes(
    azimuth_cdeg: int, distances_m: np.ndarray, stamp_us: int, product: int = 0x22
) -> bytes:
    """One data packet of a Velodyne: 12 blocks, 32 returns each, then time, mode and product.

    ``distances_m`` is (12, 32); azimuth goes on by 0.4 degrees from block to block, and
    ``stamp_us`` is the sensor's own time since the full hour.
    """
    blocks = b""
    for block, distances in enumerate(distances_m):
        blocks += struct.pack("<HH", 0xEEFF, (azimuth_cdeg + 40 * block) % 36000)
        for distance in distances:
            blocks += struct.pack("<HB", round(distance / 0.002), 100)
    packet = blocks + struct.pack("<IBB", stamp_us, 0x37, product)
    assert len(packet) == 1206
    return packet


def velodyne_message(stamps_ns: Sequence[int], packets: Sequence[bytes]) -> Encodable:
    """VelodyneScan whose header has the stamp of the last packet."""
    return Encodable(
        "velodyne_msgs/msg/VelodyneScan",
        header=header_message(stamps_ns[-1], "velodyne"),
        packets=[
            Encodable(
                "velodyne_msgs/msg/VelodynePacket",
                stamp=time_message(stamp_ns),
                data=np.frombuffer(packet, np.uint8),
            )
            for stamp_ns, packet in zip(stamps_ns, packets, strict=True)
        ],
    )


def livox_message(stamp_ns: int, points: np.ndarray, offsets_ns: np.ndarray) -> Encodable:
    """CustomMsg of (n, 3) points."""
    return Encodable(
        "livox_ros_driver/msg/CustomMsg",
        header=header_message(stamp_ns, "livox_frame"),
        timebase=stamp_ns,
        point_num=len(points),
        lidar_id=1,
        rsvd=np.zeros(3, np.uint8),
        points=[
            Encodable(
                "livox_ros_driver/msg/CustomPoint",
                offset_time=int(offset),
                x=float(x),
                y=float(y),
                z=float(z),
                reflectivity=9,
                tag=16,
                line=2,
            )
            for (x, y, z), offset in zip(points, offsets_ns, strict=True)
        ],
    )


def write_bag(path: Path, bag_format: str, stored: Iterable[Stored]) -> Path:
    """Write a recording: "ros1" a .bag file, "sqlite" or "mcap" the folder of a ROS 2 bag."""
    encoding: Encoding = "ros1" if bag_format == "ros1" else "cdr"
    plugin = StoragePlugin.MCAP if bag_format == "mcap" else StoragePlugin.SQLITE3
    writer = (
        Writer1(path) if encoding == "ros1" else Writer2(path, version=9, storage_plugin=plugin)
    )
    connections: dict[str, Any] = {}
    with writer:
        for topic, msgtype, log_ns, message in stored:
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, msgtype, typestore=STORES[encoding]
                )
            writer.write(connections[topic], log_ns, message.encode(encoding))
    return path


def bag_path(folder: Path, bag_format: str, name: str = "drive") -> Path:
    """Where a recording of a format goes."""
    return folder / (f"{name}.bag" if bag_format == "ros1" else name)
