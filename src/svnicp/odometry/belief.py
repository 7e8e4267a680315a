# SPDX-License-Identifier: MIT
"""Whether a scan's pose can be believed, given where the motion model expects the body.

A pose far from the prediction is refused, unless the model gives way: that things go on as they
went is weak evidence, an IMU is strong. What contradicts it, the direction or a place near by, or
but a place farther away, tells wrong readings from a wrong match.
"""

import numpy as np

from svnicp.arrays import Points, Transform
from svnicp.config import OdometryConfig
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.lie import transform_points
from svnicp.local_map import VoxelMap
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.motion import PoseMeasurement

HERE = 0.5
"""A scan lies in a map when this share of its points has a map point in reach."""
LOOKED_AT = 1000
"""About so many points of a scan are looked at for that."""
TURNED_SIGMA = 4.0
"""A rotation this many standard deviations from the prediction contradicts it."""
NEAR_M = 0.5
"""Things that repeat (panels, ribs, windows) do so farther apart than this [m]."""


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


def is_near(measurement: PoseMeasurement | None) -> bool:
    """Whether a pose is too near to the prediction to be a match with the next of equal things."""
    return measurement is not None and float(np.linalg.norm(measurement.innovation[:3])) < NEAR_M


def lies_in(local_map: VoxelMap, points: Points, T_world_body: Transform, reach_m: float) -> bool:
    """Whether a scan (n, 3) at this pose lies where the map is, surfaces or not."""
    some = points[:: 1 + len(points) // LOOKED_AT]
    found = local_map.nearest(transform_points(T_world_body, some), 1, reach_m).indices[:, 0]
    return float((found != EMPTY).mean()) > HERE
