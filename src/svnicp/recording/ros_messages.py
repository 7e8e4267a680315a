# SPDX-License-Identifier: MIT
"""Measurements and poses as ROS messages, for ROS 1 and ROS 2 alike.

One ``RosMessages`` knows the message types of one version of ROS: it builds messages, serialises
them, and describes their types to a bag. Frames are named as in REP 105.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from svnicp.arrays import Floats, Transform
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.quaternions import rotation_to_quat
from svnicp.errors import DatasetError

Message: TypeAlias = Any
"""A message of ROS; rosbags makes the classes when the program runs."""

WORLD_FRAME = "odom"
BODY_FRAME = "base_link"
LIDAR_FRAME = "lidar"

CLOUD = "sensor_msgs/msg/PointCloud2"
IMU = "sensor_msgs/msg/Imu"
TF = "tf2_msgs/msg/TFMessage"

_FLOAT32, _UINT32 = 7, 6  # numbers of types in sensor_msgs/PointField
_LONGEST_SCAN_NS = 2**32 - 1
_END_OF_TIME_NS = 2**31 * 1_000_000_000


class RosMessages:
    """Builds and serialises the messages of ROS 1 (Noetic) or ROS 2 (Humble and later)."""

    def __init__(self, version: Literal[1, 2]) -> None:
        self.version = version
        self.store: Any = get_typestore(Stores.ROS1_NOETIC if version == 1 else Stores.ROS2_HUMBLE)
        if TF not in self.store.types:
            self.store.register(
                get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TF)
            )

    def make(self, msgtype: str, **fields: object) -> Message:
        """Return a message of a type such as ``geometry_msgs/msg/Vector3``."""
        return self.store.types[msgtype](**fields)

    def fill(self, msgtype: str, fields: Mapping[str, Any]) -> Message:
        """Return a message of nested fields; a list of numbers becomes an array."""
        types = dict(self.store.fielddefs[msgtype][1])
        made: dict[str, object] = {}
        for name, value in fields.items():
            if isinstance(value, Mapping):
                made[name] = self.fill(types[name][1], value)
            else:
                made[name] = np.array(value) if isinstance(value, list) else value
        return self.make(msgtype, **made)

    def serialise(self, message: Message) -> bytes:
        """Return a message as it is stored and sent."""
        name = message.__msgtype__
        if self.version == 1:
            return bytes(self.store.serialize_ros1(message, name))
        return bytes(self.store.serialize_cdr(message, name))

    def header(self, stamp_ns: int, frame: str) -> Message:
        """Return a header.

        Raises
        ------
        DatasetError
            If the stamp is one that ROS cannot hold.
        """
        if not 0 <= stamp_ns < _END_OF_TIME_NS:
            raise DatasetError(
                f"the stamp {stamp_ns} ns is before 1970 or after 2038, where ROS has no times; "
                "shift the stamps of the data."
            )
        seconds, nanoseconds = divmod(int(stamp_ns), 1_000_000_000)
        stamp = self.make("builtin_interfaces/msg/Time", sec=seconds, nanosec=nanoseconds)
        sequence = {"seq": 0} if self.version == 1 else {}
        return self.make("std_msgs/msg/Header", **sequence, stamp=stamp, frame_id=frame)

    def vector(self, xyz: Floats, msgtype: str = "geometry_msgs/msg/Vector3") -> Message:
        """Return three numbers (3,)."""
        x, y, z = map(float, xyz)
        return self.make(msgtype, x=x, y=y, z=z)

    def quaternion(self, rotation: Floats) -> Message:
        """Return a rotation (3, 3) as a quaternion."""
        x, y, z, w = map(float, rotation_to_quat(rotation))
        return self.make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)

    def transform(
        self, stamp_ns: int, parent: str, child: str, T_parent_child: Transform
    ) -> Message:
        """Return a TFMessage with one transform (4, 4)."""
        transform = self.make(
            "geometry_msgs/msg/Transform",
            translation=self.vector(T_parent_child[:3, 3]),
            rotation=self.quaternion(T_parent_child[:3, :3]),
        )
        stamped = self.make(
            "geometry_msgs/msg/TransformStamped",
            header=self.header(stamp_ns, parent), child_frame_id=child, transform=transform,
        )  # fmt: skip
        return self.make(TF, transforms=[stamped])

    def imu(self, sample: ImuSample) -> Message:
        """Return an IMU reading in rad/s and m/s^2; a -1 says that there is no orientation."""
        return self.make(
            IMU,
            header=self.header(sample.stamp_ns, BODY_FRAME),
            orientation=self.quaternion(np.eye(3)),
            orientation_covariance=np.array([-1.0, 0, 0, 0, 0, 0, 0, 0, 0]),
            angular_velocity=self.vector(sample.angular_velocity),
            angular_velocity_covariance=np.zeros(9),
            linear_acceleration=self.vector(sample.linear_acceleration),
            linear_acceleration_covariance=np.zeros(9),
        )

    def cloud(self, scan: Scan) -> Message:
        """Return a scan as float32 x, y, z and, where times are known, uint32 t.

        The header marks the start of the scan and t counts nanoseconds from there.
        """
        start_ns, packed = _packed_points(scan)
        dtypes = packed.dtype.fields or {}
        fields = [
            self.make(
                "sensor_msgs/msg/PointField",
                name=name, offset=int(place[1]), count=1,
                datatype=_UINT32 if name == "t" else _FLOAT32,
            )
            for name, place in dtypes.items()
        ]  # fmt: skip
        return self.make(
            CLOUD,
            header=self.header(start_ns, LIDAR_FRAME),
            height=1, width=len(packed), fields=fields, is_bigendian=False,
            point_step=packed.dtype.itemsize, row_step=packed.nbytes,
            data=packed.view(np.uint8), is_dense=True,
        )  # fmt: skip


def _packed_points(scan: Scan) -> tuple[int, np.ndarray]:
    """Return when a scan starts [ns], and its points as records of x, y, z and perhaps t."""
    names = ["x", "y", "z"]
    times = scan.point_times_ns
    packed = np.empty(
        len(scan.points),
        [(name, "<f4") for name in names] + ([] if times is None else [("t", "<u4")]),
    )
    for name, column in zip(names, np.asarray(scan.points).T, strict=True):
        packed[name] = column
    if times is None or len(times) == 0:
        return scan.stamp_ns, packed
    start_ns = min(scan.stamp_ns, int(times.min()))
    if int(times.max()) - start_ns > _LONGEST_SCAN_NS:
        raise DatasetError(
            f"the scan at {scan.stamp_ns} ns covers "
            f"{1e-9 * (int(times.max()) - start_ns):.1f} s, and the times of points in a bag "
            "cover at most 4.29 s; check the times, or write it without them."
        )
    packed["t"] = times - start_ns
    return start_ns, packed
