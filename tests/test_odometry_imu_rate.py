# SPDX-License-Identifier: MIT
"""Poses between scans: true, as sure as they say, without an effect on the odometry itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from odometry_cases import DEFAULT, drive, feed, measured
from svnicp.cli import __main__ as cli
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.trajectory_files import read_tum
from svnicp.estimate import Estimate
from svnicp.lie import se3_inverse, se3_log
from svnicp.odometry import Odometry
from svnicp.odometry.imu_rate import ImuPose, imu_rate_poses, newest_pose

XSENS = ImuNoise.model("xsens_mti30")
SECONDS, REST_S = 3.0, 0.8


@pytest.fixture(scope="module")
def ridden() -> list[tuple[Estimate, list[ImuPose]]]:
    """Return the estimates of a drive, each with the poses asked for before the next scan."""
    odometry, out = Odometry(DEFAULT, XSENS, drive(SECONDS, REST_S).T_body_lidar), []
    estimate = None
    for one in measured(drive(SECONDS, REST_S)):
        if isinstance(one, ImuSample):
            odometry.add_imu(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
            continue
        if estimate is not None:
            out.append((estimate, imu_rate_poses(odometry)))
        estimate = odometry.process(one)
    return out


def test_there_is_a_pose_for_every_reading(ridden):
    """Each reading after the estimate has its pose, at its own time, up to the newest."""
    measurements = measured(drive(SECONDS, REST_S))
    stamps_ns = [one.stamp_ns for one in measurements if isinstance(one, ImuSample)]
    for estimate, poses in ridden:
        wanted = [stamp for stamp in stamps_ns if estimate.stamp_ns < stamp <= poses[-1].stamp_ns]
        assert [pose.stamp_ns for pose in poses] == wanted
        assert len(poses) >= 14  # 100 Hz; the estimate is for the middle of the scan before


def test_poses_are_near_the_truth_and_as_sure_as_they_say(ridden):
    """At every reading the step from the estimate is true within its own standard deviations."""
    truth_at = drive(SECONDS, REST_S).truth_at
    squares, lengths = [], []
    for estimate, poses in ridden:
        stamps = np.array([estimate.stamp_ns, *(pose.stamp_ns for pose in poses)])
        first, *true = truth_at(stamps).T_world_body
        for pose, T in zip(poses, true, strict=True):
            step = se3_inverse(estimate.T_world_body) @ pose.T_world_body
            error = se3_log(se3_inverse(step) @ se3_inverse(first) @ T)
            lengths.append(np.linalg.norm(error[:3]))
            squares.append(error @ np.linalg.solve(pose.covariance, error) / 6.0)
    assert max(lengths) < 0.01
    assert np.mean(squares) < 2.0


def test_covariances_grow_from_that_of_the_estimate(ridden):
    """The first is hardly more than the estimate's; then they grow, in translation above all."""
    for estimate, poses in ridden:
        sums = [np.trace(pose.covariance[:3, :3]) for pose in poses]
        before = np.trace(estimate.covariance[:3, :3])
        assert before <= sums[0] * (1.0 + 1e-9)
        assert np.all(np.diff(sums) > 0.0)
        velocity = (poses[-1].T_world_body - poses[-2].T_world_body)[:3, 3] / 0.01
        assert_allclose(poses[-1].velocity_world, velocity, atol=0.02)


def test_asking_changes_nothing():
    """Estimates are the same bits whether poses are asked for in between or not."""
    measurements = measured(drive(1.6, 0.8))

    def trajectory(*, ask: bool) -> list[Estimate]:
        odometry, out = Odometry(DEFAULT, XSENS), []
        for one in measurements:
            out += feed(odometry, [one])
            if ask:
                newest_pose(odometry)
        return out

    for asked, plain in zip(trajectory(ask=True), trajectory(ask=False), strict=True):
        assert_array_equal(asked.T_world_body, plain.T_world_body)
        assert_array_equal(asked.covariance, plain.covariance)


def test_the_newest_is_the_last_of_all():
    """Gone through at once or one by one, the readings lead to the same pose."""
    odometry = Odometry(DEFAULT, XSENS)
    feed(odometry, measured(drive(SECONDS, REST_S)))
    last_ns = imu_rate_poses(odometry)[-1].stamp_ns
    for number in range(1, 300):
        odometry.add_imu(last_ns + number * 10**7, [0.1, 0.0, 0.3], [1.0, 0.2, 9.5 + 0.01 * number])
    newest, last = newest_pose(odometry), imu_rate_poses(odometry)[-1]
    assert newest is not None
    assert newest.stamp_ns == last.stamp_ns == last_ns + 299 * 10**7
    assert_allclose(newest.T_world_body, last.T_world_body, atol=1e-9)
    assert_allclose(newest.covariance, last.covariance, rtol=1e-6, atol=1e-12)
    assert_allclose(newest.velocity_world, last.velocity_world, atol=1e-9)


def test_there_are_no_poses_where_nothing_is_known():
    """None before the first estimate, none without an IMU, none beyond a gap in the readings."""
    measurements = measured(drive(1.6, 0.8))
    scans = [one for one in measurements if isinstance(one, Scan)]
    alone, inertial = Odometry(DEFAULT), Odometry(DEFAULT, XSENS)
    assert newest_pose(inertial) is None
    feed(alone, scans[:2])
    assert imu_rate_poses(alone) == []
    feed(inertial, measurements[: measurements.index(scans[8]) + 1])
    newest = newest_pose(inertial)
    assert newest is not None
    inertial.add_imu(newest.stamp_ns + 300_000_000, np.zeros(3), [0.0, 0.0, 9.8])
    after = newest_pose(inertial)
    assert after is not None
    assert after.stamp_ns == newest.stamp_ns


def test_the_command_writes_them(tmp_path, capsys):
    """--imu-rate gives imu_rate.tum, the same when the run is interrupted and resumed."""
    words = ["run", "room", "--duration", "1.4", "--imu-rate", "--quiet"]
    assert cli.main([*words, "--out", str(tmp_path / "whole")]) == 0
    poses = read_tum(tmp_path / "whole" / "imu_rate.tum", position_only=False)
    scans = read_tum(tmp_path / "whole" / "trajectory.tum", position_only=False)
    assert len(poses) > 8 * len(scans)
    assert np.all(np.diff(poses.stamps_ns) > 0)
    assert poses.stamps_ns[0] > scans.stamps_ns[0]
    assert poses.stamps_ns[-1] > scans.stamps_ns[-1]
    assert cli.main([*words, "--max-scans", "9", "--out", str(tmp_path / "again")]) == 0
    assert cli.main([*words, "--resume", "--out", str(tmp_path / "again")]) == 0
    for name in ("imu_rate.tum", "trajectory.tum"):
        whole, again = (tmp_path / folder / name for folder in ("whole", "again"))
        assert whole.read_bytes() == again.read_bytes()
    assert cli.main([*words, "--no-imu", "--out", str(tmp_path / "none")]) == 2
    assert "--imu-rate" in capsys.readouterr().err
