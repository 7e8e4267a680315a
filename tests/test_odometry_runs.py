# SPDX-License-Identifier: MIT
"""Odometry on small drives: accurate, honest, repeatable, with and without an IMU."""

import dataclasses
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from odometry_cases import DEFAULT, drive, errors, feed, measured, steady
from svnicp.arrays import Floats
from svnicp.config import DriftConfig, InertialConfig, OdometryConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.errors import InputError
from svnicp.estimate import Estimate
from svnicp.lie import (
    make_transform,
    se3_adjoint,
    se3_exp,
    se3_inverse,
    se3_log,
    so3_exp,
    transform_points,
)
from svnicp.odometry import Odometry, run
from svnicp.odometry.drift import SHOWN, MapDrift
from svnicp.odometry.inertial_motion import InertialMotion
from threads import needs_two_threads, num_threads

XSENS = ImuNoise.model("xsens_mti30")
WITH_IMU = pytest.mark.parametrize("imu", [None, XSENS], ids=["lidar", "inertial"])


@cache
def estimates(imu: ImuNoise | None) -> list[Estimate]:
    """All estimates of the drive through the room."""
    return feed(Odometry(DEFAULT, imu), measured(drive()))


@WITH_IMU
def test_a_drive_is_followed(imu: ImuNoise | None):
    """Every scan after the start is used; poses are right to 6 mm and 3 mrad, twists too."""
    got, truth = estimates(imu), drive().truth_at
    assert len(got) == (30 if imu is None else 25)
    assert [one.status for one in got[:2]] == ["first", "ok"]
    assert all(one.ok for one in got)
    error = errors(drive(), got)
    assert np.abs(error[:, :3]).max() < 0.006
    assert np.abs(error[:, 3:]).max() < 0.003
    last = truth(np.array([got[-1].stamp_ns]))
    velocity = last.T_world_body[0, :3, :3].T @ last.velocity_world[0]
    assert_allclose(got[-1].twist[:3], velocity, atol=0.1)
    assert_allclose(got[-1].twist[3:], last.angular_velocity_body[0], atol=0.1)


@WITH_IMU
def test_errors_are_covered(imu: ImuNoise | None):
    """Steps and the last pose lie within their covariances: NEES of steps near one."""
    got = estimates(imu)
    truth = drive().truth_at(np.array([one.stamp_ns for one in got])).T_world_body
    squared = []
    for n in range(1, len(got)):
        step = se3_inverse(truth[n - 1]) @ truth[n]
        error = se3_log(se3_inverse(got[n].T_previous_body) @ step)
        squared.append(error @ np.linalg.solve(got[n].relative_covariance, error) / 6.0)
    assert 0.05 < np.mean(squared) < 2.0
    final = errors(drive(), got)[-1]
    assert final @ np.linalg.solve(got[-1].covariance, final) / 6.0 < 4.0


@WITH_IMU
def test_estimates_agree_with_themselves(imu: ImuNoise | None):
    """Steps compose to poses, stamps ascend, rotations are rotations, covariances are sound."""
    got = estimates(imu)
    assert_allclose(got[0].T_previous_body, np.eye(4), atol=1e-9)
    for before, now in pairwise(got):
        assert now.stamp_ns > before.stamp_ns
        assert np.linalg.eigvalsh(now.covariance).min() > 0.0
        assert np.linalg.eigvalsh(now.relative_covariance).min() > 0.0
        assert np.linalg.eigvalsh(now.twist_covariance).min() > 0.0
        R = now.T_world_body[:3, :3]
        assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert now.nis is not None
        assert now.kalman_gain is not None
        assert now.timing_s.keys() == {"predict", "preprocess", "register", "correct", "map"}
    assert (got[-1].gyroscope_bias is None) == (imu is None)


@WITH_IMU
def test_stamps_are_the_mean_times_of_the_points(imu: ImuNoise | None):
    """An estimate is for the mean time of its scan's points."""
    stamps = {scan.mean_ns for scan in drive().scans()}
    assert {one.stamp_ns for one in estimates(imu)} <= stamps


def test_drift_is_added_where_the_body_is():
    """What a scan adds to the drift is in the body tangent of that scan, not moved on by a step."""
    odometry = Odometry(dataclasses.replace(DEFAULT, drift=DriftConfig(held_back=0.0)))
    before = feed(odometry, measured(drive())[:-200])
    recorder = RecordedDrift(DriftConfig())
    drift = odometry.surroundings.drift.covariance
    vars(recorder).update(vars(odometry.surroundings.drift))
    odometry.surroundings.drift = recorder
    estimate = odometry.process(drive().scan(len(before)))
    assert estimate is not None
    A = se3_adjoint(se3_inverse(estimate.T_previous_body))
    expected = A @ drift @ A.T + recorder.renewed
    assert_allclose(recorder.covariance, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_errors_that_are_alike_add_up_with_the_way():
    """Without them drift grows with the root of the way, with them alone in proportion to it."""

    def spread(systematic: float, renewals: int) -> float:
        drift = MapDrift(DriftConfig(renewal=1.0, systematic=systematic))
        for _ in range(10 * renewals):
            drift.move(se3_exp(np.array([0.3, 0.0, 0.0, 0.0, 0.0, 0.0])))
            drift.renew(0.1, np.eye(6) * 1e-4, np.eye(6))
        return float(np.sqrt(drift.covariance[0, 0]))

    assert_allclose(spread(0.0, 4), 2.0 * spread(0.0, 1), rtol=1e-6)
    alike = [np.sqrt(spread(3.0, n) ** 2 - spread(0.0, n) ** 2) for n in (1, 4)]
    assert_allclose(alike[1], 4.0 * alike[0], rtol=1e-6)
    assert_allclose(alike[0], 3.0 * 0.01, rtol=0.01)


def test_scans_hold_the_body_back_along_what_they_do_not_show():
    """By a share of every step, which adds up with the way, and by nothing across."""
    drift, step = MapDrift(DriftConfig(held_back=0.003)), se3_exp(np.eye(6)[0] * 0.2)
    blind = np.diag([1.0, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8])
    held_back = np.zeros((6, 6))
    for _ in range(50):
        drift.move(step)
        held_back = drift.hold_back(step, blind)
    assert_allclose(np.sqrt(held_back[0, 0]), 0.003 * 0.2, rtol=1e-3)
    assert np.sqrt(held_back[1:, 1:].max()) < 1e-6
    assert_allclose(np.sqrt(drift.covariance[0, 0]), 0.003 * 50 * 0.2, rtol=1e-3)
    assert np.sqrt(drift.covariance[1:, 1:].max()) < 1e-4


def test_a_map_has_the_error_of_its_first_scan():
    """What a scan knows is off by that for good; what it does not know it does not decide."""
    drift = MapDrift(DriftConfig())
    drift.begin(np.diag([1e-8, 1e-8, 1.0, 1e-10, 1e-10, 1.0]))
    stds = np.sqrt(np.diag(drift.covariance))
    assert_allclose(stds[[0, 1, 3, 4]], [1e-4, 1e-4, 1e-5, 1e-5], rtol=1e-2)
    assert_allclose(stds[[2, 5]], SHOWN, rtol=1e-2)


def test_ends_are_as_sure_as_they_may_be():
    """Over fifty draws of the sensors' noise, poses since the start have an ANEES near one."""
    squared = []
    for seed in range(50):
        dataset = dataclasses.replace(drive(), seed=seed)
        got = feed(Odometry(DEFAULT, XSENS), list(dataset.measurements()))
        error = errors(dataset, got)[-1]
        squared.append(error @ np.linalg.solve(got[-1].covariance, error) / 6.0)
    assert 0.5 < np.mean(squared) < 2.0


def test_what_a_map_takes_over_is_a_covariance():
    """After a turn new errors may undo old ones; what a filter adds for them is never negative."""
    drift = MapDrift(DriftConfig(renewal=4.0, systematic=2.0))
    scan_cov = np.diag([1.0, 1e-4, 1e-4, 1e-6, 1e-6, 1e-5])
    for turn in [0.0] * 20 + [0.3] * 20:
        drift.move(se3_exp(np.array([0.4, 0.0, 0.0, 0.0, 0.0, turn])))
        taken = drift.renew(0.3, scan_cov, 0.1 * np.eye(6))
        assert np.linalg.eigvalsh(taken)[0] > -1e-12


def test_a_direction_that_is_not_seen_ends_no_run(rng: np.random.Generator):
    """A scan that knows nothing along one direction, and much across, still adds a finite drift."""
    for _ in range(50):
        turned = np.linalg.qr(rng.normal(size=(6, 6)))[0]
        scan_cov = (turned * [1e8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8]) @ turned.T
        drift = MapDrift(DriftConfig())
        drift.renew(0.2, 0.5 * (scan_cov + scan_cov.T), 0.01 * np.eye(6))
        assert np.isfinite(drift.covariance).all()
        assert np.trace(drift.covariance) < 1.0


class RecordedDrift(MapDrift):
    """Drift that keeps what the last scan added."""

    renewed: Floats

    def renew(self, share: float, scan_cov: Floats, predicted_cov: Floats) -> Floats:
        """Keep the difference."""
        before = self.covariance.copy()
        taken = super().renew(share, scan_cov, predicted_cov)
        self.renewed = self.covariance - before
        return taken


@WITH_IMU
def test_extrinsics_move_the_points_not_the_answer(imu: ImuNoise | None):
    """A LiDAR mounted elsewhere, with that known, gives the same poses of the body."""
    T_body_lidar = make_transform(so3_exp(np.array([0.3, -0.2, 1.0])), np.array([0.2, -0.1, 0.3]))
    inverse = se3_inverse(T_body_lidar)
    turned = [
        dataclasses.replace(one, points=transform_points(inverse, one.points.astype(float)))
        if isinstance(one, Scan) else one
        for one in measured(drive())[:170]
    ]  # fmt: skip
    got = feed(Odometry(DEFAULT, imu, T_body_lidar), turned)
    assert len(got) > 5
    apart = np.array([
        se3_log(se3_inverse(other.T_world_body) @ one.T_world_body)
        for one, other in zip(got, estimates(imu), strict=False)
    ])  # fmt: skip
    # Other points of a scan are kept, so that the two differ by what is left to chance.
    assert np.sqrt(np.mean(apart**2, axis=0)).max() < 1.5e-3
    assert np.abs(apart).max() < 5e-3


@needs_two_threads
@WITH_IMU
def test_thread_count_does_not_change_bits(imu: ImuNoise | None):
    """One thread and two give the same estimates, bit for bit, and so does a second run."""
    short, results = measured(drive())[:150], []
    for count in (1, 2, 2):
        with num_threads(count):
            results.append(feed(Odometry(DEFAULT, imu), short))
    for other in results[1:]:
        assert len(other) == len(results[0]) > 3
        for one, same in zip(results[0], other, strict=True):
            assert_array_equal(one.T_world_body, same.T_world_body)
            assert_array_equal(one.covariance, same.covariance)
            assert_array_equal(one.relative_covariance, same.relative_covariance)


def test_the_first_scan_with_an_imu_is_whole():
    """No point of the first scan is lost to deskewing, although the filter begins within it."""
    odometry, scans = Odometry(DEFAULT, XSENS), []
    for one in measured(drive())[:80]:
        scans.extend([one] if isinstance(one, Scan) else [])
        if feed(odometry, [one]):
            break
    reached = transform_points(odometry.motion.T_world_body, scans[-1].points.astype(float))
    near = odometry.local_map.nearest(reached, 1, 0.1)
    assert len(scans) > 1
    assert np.mean(np.isfinite(near.squared_distances[:, 0])) > 0.95


def test_run_is_feeding_by_hand():
    """``run`` uses a dataset's IMU and extrinsics unless told not to."""
    dataset = drive()
    for imu, expected in ((None, estimates(XSENS)), (False, estimates(None))):
        stream = run(dataset, DEFAULT, imu=imu)
        for one, other in zip((next(stream) for _ in range(4)), expected, strict=False):
            assert_array_equal(one.T_world_body, other.T_world_body)


@pytest.mark.parametrize("noise", ["fixed", "smoothed"])
def test_other_noises_follow_too(noise: Literal["fixed", "smoothed"]):
    """The paper's fixed noise and the smoothed one drive through the room as well."""
    config = dataclasses.replace(DEFAULT, odometry=OdometryConfig(noise=noise))
    got = feed(Odometry(config, XSENS), measured(drive()))
    assert np.abs(errors(drive(), got)[:, :3]).max() < 0.02


def test_an_imu_can_navigate_alone():
    """With noise none scans tell the start; from then on the pose is predicted, and said to be."""
    config = dataclasses.replace(
        DEFAULT,
        odometry=OdometryConfig(noise="none"),
        inertial=InertialConfig(first_map_s=1.0),
    )
    got = feed(Odometry(config, XSENS), measured(drive()))
    seconds = np.array([one.stamp_ns - got[0].stamp_ns for one in got]) * 1e-9
    unused = np.array([one.status == "unused" for one in got])
    assert not unused[seconds < 0.9].any()
    assert unused[seconds > 1.1].all()
    assert not any(one.ok for one in got if one.status == "unused")
    assert got[-1].sigmas[0] > 3.0 * estimates(XSENS)[-1].sigmas[0]
    off = errors(drive(), got)[-1]
    assert np.all(np.abs(off) < 4.0 * got[-1].sigmas)
    with pytest.raises(InputError, match="give an IMU"):
        Odometry(config)


def test_a_clock_that_is_set_does_not_begin_again():
    """How long ago the filter began is the same by the new clock."""
    odometry = Odometry(DEFAULT, XSENS)
    feed(odometry, measured(drive()))
    motion = odometry.motion
    assert isinstance(motion, InertialMotion)
    assert motion.stamp_ns is not None
    before = [motion.has_just_begun(seconds) for seconds in (1.0, 60.0)]
    motion.set_clock(motion.stamp_ns - 3600 * 10**9)
    assert [motion.has_just_begun(seconds) for seconds in (1.0, 60.0)] == before == [False, True]


def test_starting_at_speed_without_imu():
    """A body that already moves when the first scan comes is followed from there."""
    dataset = steady(0.8, 2.0, True)
    got = feed(Odometry(DEFAULT), measured(dataset))
    assert np.abs(errors(dataset, got)[:, :3]).max() < 0.02
    assert_allclose(np.linalg.norm(got[-1].twist[:3]), 0.8, atol=0.1)


def test_starting_at_speed_with_imu():
    """The same with an IMU that feels the motion: speed, gravity and biases are found."""
    dataset = steady(0.6, 4.0, True)
    got = feed(Odometry(DEFAULT, XSENS), measured(dataset))
    assert len(got) >= 18
    assert np.abs(errors(dataset, got)[:, :3]).max() < 0.03
    assert_allclose(np.linalg.norm(got[-1].twist[:3]), 0.6, atol=0.1)


def test_a_steady_ride_is_not_rest():
    """An IMU that feels nothing may still be moving: scans say so, and the filter believes them."""
    dataset = steady(0.6, 3.0, False)
    got = feed(Odometry(DEFAULT, XSENS), measured(dataset))
    assert np.abs(errors(dataset, got)[:, :3]).max() < 0.05


def test_starting_fast_with_imu():
    """Starting at 6 m/s in a street works with an IMU, which needs the whole first scan."""
    dataset = steady(6.0, 3.0, True, "street", "vlp16")
    got = feed(Odometry(DEFAULT, XSENS), measured(dataset))
    assert len(got) > 8
    assert np.abs(errors(dataset, got)[:, 0]).max() < 0.3
