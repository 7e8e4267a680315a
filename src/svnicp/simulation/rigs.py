# SPDX-License-Identifier: MIT
"""Sensors as they are mounted together: which LiDAR, which IMU, and where one sits on the other.

Names follow the recordings they stand for: SubT-MRS's payload on its carriers, its simulated
drones, and the three rigs of GEODE.
"""

from dataclasses import dataclass, field

import numpy as np

from svnicp.arrays import Transform
from svnicp.lie import make_transform, so3_exp


def _mounted(x: float, y: float, z: float, turn_deg: float = 0.0) -> Transform:
    """Return T_body_lidar of an offset [m] and a small turn about an oblique axis [deg]."""
    axis = np.array([0.6, -0.48, 0.64])
    return make_transform(so3_exp(np.radians(turn_deg) * axis), np.array([x, y, z]))


@dataclass(frozen=True, eq=False)
class Rig:
    """A LiDAR and an IMU on one bracket."""

    sensor: str
    """Name in ``SENSORS``."""
    imu: str
    """Name in ``IMUS``."""
    T_body_lidar: Transform = field(default_factory=lambda: np.eye(4))
    """(4, 4) maps LiDAR coordinates into the body, which is the IMU."""
    point_times: bool = True
    """Whether points have their own times; otherwise a scan is of one instant."""


RIGS: dict[str, Rig] = {
    "subt_ugv": Rig("vlp16", "epson_m_g365", _mounted(-0.0352, -0.0147, 0.0643)),
    "subt_handheld": Rig("vlp16", "epson_m_g365", _mounted(0.08, 0.029, 0.03)),
    "subt_hawkins": Rig("vlp16", "epson_m_g365", _mounted(0.08, 0.029, 0.03, 1.2)),
    "tartanair": Rig("vlp16", "realsense", point_times=False),
    "alpha": Rig("vlp16", "xsens_mti30", _mounted(0.0961, -0.1338, 0.3032, 0.4)),
    "beta": Rig("os1_64", "xsens_mti30", _mounted(-0.0272, -0.0349, 0.0626, 0.4)),
    "gamma": Rig("livox_avia", "xsens_mti30", _mounted(0.0493, -0.0125, 0.0269, 0.4)),
}
"""Every rig by name."""
