# SPDX-License-Identifier: MIT
"""livox_ros_driver(2)/CustomMsg: the clouds of Livox sensors, straight from the bytes.

A point has 19 bytes: 24 000 of them are one NumPy view here and 24 000 objects in a general reader.
Their times are nanoseconds after the scan's start, which is the time base; it equals the header
unless sensor and computer have different clocks, and then the header is what the IMU agrees with.
"""

import numpy as np

from svnicp.data.ros.point_cloud2 import RawCloud, measured
from svnicp.data.ros.point_times import PointTimes
from svnicp.data.ros.wire import MessageReader

POINT = (
    ("offset_time", "u4", ()),
    ("xyz", "f4", (3,)),
    ("reflectivity", "u1", ()),
    ("tag", "u1", ()),
    ("line", "u1", ()),
)
"""Name, type and shape of what a point holds."""

LIVOX_TIMES = PointTimes(
    field="offset_time",
    unit="ns",
    absolute=False,
    header_at="start",
    evidence="livox_ros_driver defines it so",
)


def decode_livox(message: MessageReader) -> RawCloud:
    """Points of one CustomMsg with their offsets from the start of the scan [ns].

    Raises
    ------
    InputError
        If the message is cut off.
    """
    header = message.header()
    message.number("Q")  # time base, see above
    message.number("I")  # number of points, which the sequence says again
    message.numbers("u1", 4)  # sensor's number and three reserved bytes
    layout = np.dtype([(name, message.byte_order + code, shape) for name, code, shape in POINT])
    points = message.rows(layout, message.number("I"), align=4)
    return measured(header, points["xyz"].astype(np.float32), points["offset_time"])
