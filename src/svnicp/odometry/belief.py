# SPDX-License-Identifier: MIT
"""Whether a scan's pose can be believed, given where the motion model expects the body.

A pose far from the prediction is refused, unless the model gives way: that things go on as they
went is weak evidence, an IMU is strong. Which part contradicts it, place or direction, tells a
wrong match from wrong readings.
"""

import numpy as np

from svnicp.config import OdometryConfig
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.motion import PoseMeasurement

TURNED_SIGMA = 4.0
"""A rotation this many standard deviations from the prediction contradicts it."""


def is_believable(
    measurement: PoseMeasurement, motion: ConstantVelocity | InertialMotion, config: OdometryConfig
) -> bool:
    """Whether a pose is near enough to the prediction, which may have to give way."""
    floor = np.diag(np.repeat([config.gate_floor_m**2, config.gate_floor_rad**2], 3))

    def near() -> bool:
        return measurement.distance_sigma(motion.pose_covariance + floor) < config.gate_sigma

    return near() or (motion.give_way() and near())


def turned_otherwise(
    measurement: PoseMeasurement | None, motion: ConstantVelocity | InertialMotion,
    config: OdometryConfig,
) -> bool:  # fmt: skip
    """Whether the rotation alone contradicts the prediction."""
    if measurement is None:
        return False
    total = (motion.pose_covariance + measurement.covariance)[3:, 3:]
    total += np.eye(3) * config.gate_floor_rad**2
    turned = measurement.innovation[3:]
    return float(turned @ np.linalg.solve(total, turned)) > TURNED_SIGMA**2
