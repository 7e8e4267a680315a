# SPDX-License-Identifier: MIT
"""Small simulated drives for the tests of odometry: few scans, few points, exact truth."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from sim_cases import ride
from svnicp.arrays import Floats
from svnicp.config import Config, OdometryConfig
from svnicp.data.measurements import ImuSample, Scan
from svnicp.estimate import Estimate
from svnicp.lie import se3_inverse, se3_log
from svnicp.odometry import Odometry
from svnicp.simulation.imu import IMUS
from svnicp.simulation.motion import Motion
from svnicp.simulation.ray_patterns import SpinningLidar
from svnicp.simulation.scene import SCENES
from svnicp.simulation.sensors import SENSORS
from svnicp.simulation.simulated import SimulatedDataset

SMALL = SpinningLidar(
    name="small",
    elevations_rad=np.radians(np.linspace(-40.0, 40.0, 24)),
    num_columns=300,
    ring_delays_s=np.zeros(24),
    ring_azimuths_rad=np.zeros(24),
    min_range_m=0.3,
    max_range_m=60.0,
    range_noise_m=0.01,
)
"""A LiDAR with a wide view and few points: a scan is matched in a few hundredths of a second."""
DEFAULT = Config.preset("default")
FIXED_SIZE = replace(DEFAULT, odometry=OdometryConfig(auto_voxel=False))


@cache
def drive(duration_s: float = 3.0, rest_s: float = 1.0, scene: str = "room") -> SimulatedDataset:
    """Recording that rests, then moves by a metre and turns; the same object at every call."""
    motion = ride(duration_s, rest_s, length_m=1.0, turn_rad=0.4)
    return SimulatedDataset(scene, SCENES[scene](), motion, SMALL, IMUS["xsens_mti30"])


@cache
def steady(speed_m_s: float, duration_s: float, shaken: bool, scene: str = "room", sensor: str = ""
) -> SimulatedDataset:  # fmt: skip
    """Recording of a body that moves at one speed from the first moment on."""
    times = np.linspace(0.0, duration_s, round(50 * duration_s) + 1)
    sway = 1.0 if shaken else 0.0
    ahead = speed_m_s * (times - 0.5 * duration_s)
    positions = np.column_stack([ahead, 0.05 * sway * np.sin(2.0 * times), 0.0 * times + 1.5])
    angles = sway * np.column_stack(
        [0.1 * np.sin(3.0 * times), 0.01 * np.sin(9.0 * times), 0.02 * np.sin(7.0 * times)]
    )
    motion = Motion(times, positions, angles)
    lidar = SENSORS[sensor] if sensor else SMALL
    return SimulatedDataset(scene, SCENES[scene](), motion, lidar, IMUS["xsens_mti30"])


@cache
def measured(dataset: SimulatedDataset) -> list[Scan | ImuSample]:
    """All measurements of a recording, in the order in which they arrive."""
    return list(dataset.measurements())


def feed(odometry: Odometry, measurements: Sequence[Scan | ImuSample]) -> list[Estimate]:
    """Estimates of all scans; readings go in between."""
    out = []
    for one in measurements:
        if isinstance(one, Scan):
            estimate = odometry.add_scan(one.points, one.stamp_ns, one.point_times_ns)
            if estimate is not None:
                out.append(estimate)
        else:
            odometry.add_imu(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
    return out


def errors(dataset: SimulatedDataset, estimates: list[Estimate]) -> Floats:
    """Errors (n, 6) of all poses in their body tangents, relative to the first."""
    truth = dataset.truth_at(np.array([one.stamp_ns for one in estimates])).T_world_body
    T_world_true = estimates[0].T_world_body @ se3_inverse(truth[0])
    return np.array(
        [
            se3_log(se3_inverse(one.T_world_body) @ T_world_true @ T)
            for one, T in zip(estimates, truth, strict=True)
        ]
    )


def in_front_of(scan: Scan) -> Scan:
    """A scan whose beams all end on something right in front of the sensor."""
    away = np.linalg.norm(scan.points, axis=1, keepdims=True)
    ranges = np.random.default_rng(3).uniform(0.8, 1.6, size=away.shape)
    near = (scan.points / away * ranges).astype(np.float32)
    return Scan(scan.stamp_ns, near, scan.point_times_ns)
