# SPDX-License-Identifier: MIT
"""What a user may say about a ROS recording; whatever is None is found out from it."""

from dataclasses import dataclass, field

from svnicp.arrays import Transform
from svnicp.data.ros.imu import ImuUnit
from svnicp.data.ros.point_times import PointTimeOptions


@dataclass(frozen=True, eq=False)
class RosBagOptions:
    """Choices for reading a recording."""

    lidar_topic: str | None = None
    """Topic of the scans; needed where there are several."""
    imu_topic: str | None = None
    """Topic of the IMU; needed where there are several, "none" to do without."""
    point_times: PointTimeOptions = field(default_factory=PointTimeOptions)
    """Unit and reference of the times of points."""
    imu_unit: ImuUnit | None = None
    """Unit of accelerations."""
    velodyne_model: str | None = None
    """Model that sent the packets of a VelodyneScan, such as "VLP16"."""
    T_body_lidar: Transform | None = None
    """(4, 4) extrinsics, maps LiDAR coordinates into the IMU's; from /tf_static otherwise."""
