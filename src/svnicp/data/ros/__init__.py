# SPDX-License-Identifier: MIT
"""ROS recordings without ROS: bags of both generations, clouds of every maker, in SI units."""

from svnicp.data.ros.bag import RosBag
from svnicp.data.ros.bag_files import is_ros_recording
from svnicp.data.ros.options import RosBagOptions
from svnicp.data.ros.point_times import PointTimeOptions, PointTimes

__all__ = ["PointTimeOptions", "PointTimes", "RosBag", "RosBagOptions", "is_ros_recording"]
