# SPDX-License-Identifier: MIT
"""A real IMU, carried by hand for four minutes: gravity, and the drift that the filter expects.

Its trajectory at 10 Hz stands for the truth. It is smooth: its turns agree with the gyroscope to
0.6 mrad/s over 0.1 s, so its own noise is well below the millimetre and the fraction of a
milliradian that are granted here. What drifts is the accelerometer, whose error of some 0.02 m/s^2
changes with the attitude as scale errors do, and which the filter calls a bias.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from svnicp.arrays import Floats, Integers, Transform
from svnicp.config import InertialConfig
from svnicp.data.imu_csv import ImuCsv
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.trajectory_files import read_trajectory
from svnicp.inertial import Eskf, ImuBuffer, start_at_rest
from svnicp.inertial.error_state import POSITION, ROTATION
from svnicp.inertial.start import Start, at_rest, start_in_motion
from svnicp.lie import se3_inverse, se3_log, so3_log

CONFIG = InertialConfig()
NOISE = ImuNoise.model("generic").scaled(CONFIG.noise_factor)
STEP_S = 0.1
"""Time between two poses of the trajectory."""
POSE_STD = np.repeat([1e-3, 3e-4], 3)
"""What the trajectory may be wrong by within a few seconds [m, rad]."""
VELOCITY_STD = 2e-3
"""The same for its derivative [m/s]."""
MARGIN = 10
"""Poses at either end that are left out: the readings begin later and end earlier."""
UP = np.array([0.0, 0.0, 1.0])


class Biases(NamedTuple):
    """What is known of the readings' errors: mean (6,), and standard deviations."""

    mean: Floats
    gyroscope_std: float
    accelerometer_std: float


UNKNOWN = Biases(np.zeros(6), CONFIG.gyroscope_bias_std, CONFIG.accelerometer_bias_std)


class Walk(NamedTuple):
    """The recording."""

    imu: ImuBuffer
    stamps_ns: Integers
    T_world_body: Transform

    @property
    def middle(self) -> int:
        """Number of the pose in the middle."""
        return len(self.stamps_ns) // 2

    def rows(self, begin: int, end: int) -> Floats:
        """Readings (n, 7) between two poses."""
        return self.imu.intervals(int(self.stamps_ns[begin]), int(self.stamps_ns[end]))

    def velocity(self, index: int) -> Floats:
        """Derivative of the positions, exact for polynomials of degree four."""
        p = self.T_world_body[index - 2 : index + 3, :3, 3]
        return (8.0 * (p[3] - p[1]) - (p[4] - p[0])) / (12.0 * STEP_S)


@pytest.fixture(scope="module")
def walk(real_data: Path) -> Walk:
    """Return the readings and the trajectory."""
    if not (real_data / "imu" / "imu.txt").is_file():
        pytest.skip(f"no IMU recording in {real_data}")
    imu = ImuBuffer()
    for one in ImuCsv(real_data / "imu" / "imu.txt").samples():
        imu.add(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
    trajectory = read_trajectory(real_data / "imu" / "traj.txt")
    return Walk(imu, trajectory.stamps_ns, trajectory.T_world_body)


def drifted(walk: Walk, begin: int, seconds: float, biases: Biases) -> tuple[Floats, Floats]:
    """Error (6,) after some seconds without any correction, and its covariance (6, 6)."""
    end = begin + round(seconds / STEP_S)
    T_begin, T_end = walk.T_world_body[begin], walk.T_world_body[end]
    start = Start(
        rotation=T_begin[:3, :3], velocity=walk.velocity(begin),
        velocity_cov=np.eye(3) * VELOCITY_STD**2,
        gyro_bias=biases.mean[:3], gyro_bias_var=biases.gyroscope_std**2,
        accel_bias=biases.mean[3:], accel_bias_cov=np.eye(3) * biases.accelerometer_std**2,
        gravity=-CONFIG.gravity_m_s2 * UP, gravity_cov=np.eye(3) * CONFIG.gravity_std**2,
        accel_bias_gravity_cov=np.zeros((3, 3)),
    )  # fmt: skip
    eskf = Eskf(start, NOISE)
    eskf.position = T_begin[:3, 3].copy()
    eskf.covariance[POSITION, POSITION] += np.diag(POSE_STD[:3] ** 2)
    eskf.covariance[ROTATION, ROTATION] += np.diag(POSE_STD[3:] ** 2)
    eskf.predict(walk.rows(begin, end))
    error = se3_log(se3_inverse(eskf.T_world_body) @ T_end)
    return error, eskf.pose_covariance + np.diag(POSE_STD**2)


def squared_errors(walk: Walk, begins: range, seconds: float, biases: Biases) -> Floats:
    """Squared errors over their variances, (n, 3): pose, position and rotation, each 1 on average.

    They are not independent: windows share the same slowly changing bias.
    """
    found = []
    for begin in begins:
        error, covariance = drifted(walk, begin, seconds, biases)
        blocks = (slice(0, 6), slice(0, 3), slice(3, 6))
        found.append(
            [error[b] @ np.linalg.solve(covariance[b, b], error[b]) / len(error[b]) for b in blocks]
        )
    return np.array(found)


def measured_biases(walk: Walk, begins: range) -> Biases:
    """Mean and scatter of what readings are off by, in pieces of five seconds."""
    pieces = np.array([_off_by(walk, begin, 50) for begin in begins])
    spread = pieces.std(axis=0, ddof=1)
    means_of_axes = (float(np.sqrt(np.mean(spread[part] ** 2))) for part in (slice(3), slice(3, 6)))
    return Biases(pieces.mean(axis=0), *means_of_axes)


def _off_by(walk: Walk, begin: int, count: int) -> Floats:
    """Mean readings minus those that the trajectory asks for, (6,)."""
    rows = walk.rows(begin, begin + count)[1:]
    read = np.average(rows[:, 1:], axis=0, weights=rows[:, 0])
    asked = []
    for index in range(begin, begin + count):
        before, here, after = walk.T_world_body[index - 1 : index + 2]
        rate = so3_log(here[:3, :3].T @ after[:3, :3]) / STEP_S
        pull = (after[:3, 3] - 2.0 * here[:3, 3] + before[:3, 3]) / STEP_S**2
        asked.append(np.r_[rate, here[:3, :3].T @ (pull + CONFIG.gravity_m_s2 * UP)])
    return read - np.mean(asked, axis=0)


def test_half_a_second_shows_where_up_is(walk: Walk):
    """Starts all along the way find gravity to 1.4 degrees, and as well as they say."""
    squares, tilts = [], []
    for index in range(MARGIN, len(walk.stamps_ns) - MARGIN, 25):
        end_ns = int(walk.stamps_ns[index])
        begin_ns = end_ns - int(CONFIG.start_s * 1e9)
        window = walk.imu.window(begin_ns, end_ns)
        still = at_rest(window, CONFIG)
        if still:
            start = start_at_rest(window, CONFIG)
        else:
            start = start_in_motion(walk.imu.intervals(begin_ns, end_ns), 1.0, CONFIG)
        # At rest the mean is of the middle of the window; in motion it is turned to its end.
        middle = index - (round(0.5 * CONFIG.start_s / STEP_S) if still else 0)
        up = start.rotation @ walk.T_world_body[middle, :3, :3].T @ UP
        tilt_var = start.gravity_cov[0, 0] / CONFIG.gravity_m_s2**2
        tilts.append(float(np.arctan2(np.hypot(up[0], up[1]), up[2])))
        squares.append((up[0] ** 2 + up[1] ** 2) / (2.0 * tilt_var))
    assert len(tilts) > 90
    assert max(tilts) < np.radians(1.4)
    assert np.mean(squares) < 2.0


@pytest.mark.parametrize("seconds", [1.0, 2.0, 5.0])
def test_the_default_covariance_covers_the_drift(walk: Walk, seconds: float):
    """With nothing known of the biases, no drift is a surprise, and none is lost in the doubt."""
    begins = range(MARGIN, len(walk.stamps_ns) - MARGIN - 50, 10)
    squares = squared_errors(walk, begins, seconds, UNKNOWN)
    assert squares[:, 0].max() < 22.5 / 6.0  # 99.9 % of a chi-square with six degrees of freedom
    assert 0.005 < squares[:, 1].mean() < 1.0


@pytest.mark.parametrize("seconds", [1.0, 2.0, 5.0])
def test_known_biases_make_the_drift_what_the_filter_expects(walk: Walk, seconds: float):
    """Biases and their scatter from the first half predict the drift of the second half."""
    biases = measured_biases(walk, range(MARGIN, walk.middle - 50, 50))
    begins = range(walk.middle, len(walk.stamps_ns) - MARGIN - 50, 10)
    pose, position, rotation = squared_errors(walk, begins, seconds, biases).mean(axis=0)
    assert 0.3 < pose < 2.0
    assert 0.5 < position < 2.0
    assert 0.05 < rotation < 2.0  # the gyroscope is better than a generic one
