# SPDX-License-Identifier: MIT
"""The constant-velocity model: transition, correction, clone, anchor, and honest covariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from inertial_cases import random_covariance
from svnicp.arrays import Floats, Transform
from svnicp.config import MotionConfig
from svnicp.data.measurements import Scan
from svnicp.lie import se3_adjoint, se3_exp, se3_inverse, se3_log
from svnicp.odometry.constant_velocity import (
    MAP,
    POSE,
    PREVIOUS,
    SIZE,
    TWIST,
    ConstantVelocity,
)
from svnicp.odometry.motion import PoseMeasurement
from svnicp.pose_gaussian import PoseGaussian

NO_LAG = np.zeros((6, 6))
TINY = MotionConfig(acceleration=1e-9, angular_acceleration=1e-9)


def scan_at(seconds: float, with_times: bool = False) -> Scan:
    """Scan of two points whose mean time is this."""
    middle = round(seconds * 1e9)
    if not with_times:
        return Scan(middle, np.zeros((2, 3)))
    return Scan(middle - 50_000_000, np.zeros((2, 3)), middle + np.array([-50_000_000, 50_000_000]))


def moving_model(rng: np.random.Generator, config: MotionConfig = TINY) -> ConstantVelocity:
    """Model in the middle of a motion, with a full covariance."""
    model = ConstantVelocity(config)
    model.ready(scan_at(0.0))
    model.T_world_body, model.T_world_previous = se3_exp(rng.normal(size=(2, 6)))
    model.twist, model.speed_known = rng.normal(size=6), True
    model.covariance = random_covariance(rng, SIZE, 0.05)
    return model


def test_prediction_follows_the_twist(rng: np.random.Generator):
    """Over real time, whatever the number of scans, the body goes on as it went."""
    model = moving_model(rng)
    start, twist = model.T_world_body.copy(), model.twist.copy()
    for seconds in (0.1, 0.35, 1.2):
        prediction = model.predict(scan_at(seconds))
        assert_allclose(prediction.T_world_body, start @ se3_exp(seconds * twist), atol=1e-12)
    assert model.stamp_ns == 1_200_000_000


def test_transition_is_the_derivative_of_the_motion(rng: np.random.Generator):
    """The covariance follows F P F', F by finite differences, the clone unmoved, the map turned."""
    model, dt, step = moving_model(rng), 0.3, 1e-6
    P, T, twist = model.covariance.copy(), model.T_world_body.copy(), model.twist.copy()
    T_after = T @ se3_exp(dt * twist)

    def after(error: Floats) -> Floats:
        pose = T @ se3_exp(error[POSE]) @ se3_exp(dt * (twist + error[TWIST]))
        carried = se3_adjoint(se3_inverse(T_after) @ T) @ error[MAP]
        return np.r_[se3_log(se3_inverse(T_after) @ pose), error[TWIST], error[PREVIOUS], carried]

    F = np.array([after(step * d) - after(-step * d) for d in np.eye(SIZE)]).T / (2.0 * step)
    model.predict(scan_at(dt))
    assert_allclose(model.covariance, F @ P @ F.T, atol=1e-8)


def test_the_twist_walks_over_real_time():
    """Ten short steps open up the pose and the twist as one long step does."""
    config = MotionConfig(acceleration=2.0, angular_acceleration=1.0)
    once, often = (moving_model(np.random.default_rng(3), config) for _ in range(2))
    for model in (once, often):
        model.twist[:] = 0.0
    once.predict(scan_at(1.0))
    for n in range(1, 11):
        often.predict(scan_at(0.1 * n))
    assert_allclose(often.covariance, once.covariance, atol=0.02)
    assert_allclose(np.diag(once.covariance)[6:12], [4.0] * 3 + [1.0] * 3, rtol=0.02)


def test_scans_that_tell_nothing_are_a_gap_like_scans_that_are_missing():
    """How motion changes was learnt from scan to scan, and does not hold for longer."""
    variances = []
    for times in (np.arange(1, 9) * 0.1, [0.8]):
        model = ConstantVelocity(MotionConfig())
        model.ready(scan_at(-4.0))
        for number in range(40):
            model.predict(scan_at(-4.0 + 0.1 * (number + 1)))
            model.correct(PoseMeasurement(np.zeros(6), np.eye(6) * 1e-6, NO_LAG, NO_LAG))
        for seconds in times:
            model.predict(scan_at(float(seconds)))
        variances.append(np.diag(model.pose_covariance))
    assert_allclose(variances[0], variances[1], rtol=0.5)
    assert np.all(variances[0] > 0.05 * 0.8**3 / 3.0 * MotionConfig().angular_acceleration ** 2)


def test_correction_is_gaussian_conditioning(rng: np.random.Generator):
    """Mean and covariance after a pose with lag are those of the information form."""
    model, R, lag = moving_model(rng), random_covariance(rng, 6, 0.02), 0.02 * np.eye(6)
    P, B = model.covariance[:18, :18].copy(), np.zeros((6, 18))
    B[:, POSE], B[:, TWIST] = np.eye(6), lag
    z = 1e-5 * rng.normal(size=6)
    T, twist = model.T_world_body.copy(), model.twist.copy()
    covariance = np.linalg.inv(np.linalg.inv(P) + B.T @ np.linalg.solve(R, B))
    mean = covariance @ B.T @ np.linalg.solve(R, z)
    map_cov = model.covariance[MAP, MAP].copy()
    correction = model.correct(PoseMeasurement(z, R, lag, R))
    assert_allclose(model.covariance[:18, :18], covariance, atol=1e-9)
    assert_allclose(model.covariance[MAP, MAP], map_cov, atol=1e-12)
    assert_allclose(se3_log(se3_inverse(T) @ model.T_world_body), mean[POSE], atol=1e-10)
    assert_allclose(model.twist - twist, mean[TWIST], atol=1e-12)
    S = B @ P @ B.T + R
    assert_allclose(correction.nis, z @ np.linalg.solve(S, z), rtol=1e-6)
    assert_allclose(correction.gain, (P @ B.T @ np.linalg.inv(S))[POSE], atol=1e-9)


def test_a_pose_trusted_fully_is_reached(rng: np.random.Generator):
    """With a perfect measurement the model ends at the measured pose, however far that is."""
    model, xi = moving_model(rng), rng.uniform(-1.0, 1.0, size=6)
    target = model.T_world_body @ se3_exp(xi)
    model.correct(PoseMeasurement(xi, np.eye(6) * 1e-14, NO_LAG, NO_LAG))
    assert_allclose(model.T_world_body, target, atol=1e-6)


def test_step_is_relative_to_the_clone(rng: np.random.Generator):
    """After a clone and a known motion the step's covariance is that of the twist's doubt."""
    model = moving_model(rng)
    doubt = model.covariance[TWIST, TWIST].copy()
    model.twist[:] = 0.0
    model.clone()
    assert_array_equal(model.T_world_previous, model.T_world_body)
    model.predict(scan_at(0.2))
    assert_allclose(model.step.T_world_body, np.eye(4), atol=1e-12)
    assert_allclose(model.step.covariance, 0.04 * doubt, atol=1e-9)


@pytest.mark.parametrize("share", [0.02, 0.4, 1.0])
def test_what_is_handed_to_the_map_stays_the_same(share: float, rng: np.random.Generator):
    """The pose in the map becomes surer, the pose since the start does not, nor does the twist."""
    model = moving_model(rng)
    pose, in_map = model.T_world_body.copy(), model.pose_covariance
    absolute, twist = model.absolute_covariance, model.covariance[TWIST, TWIST].copy()
    model.hand_over(share)
    assert_array_equal(model.T_world_body, pose)
    assert_allclose(model.pose_covariance, (1.0 - share) ** 2 * in_map, atol=1e-11)
    assert_allclose(model.absolute_covariance, absolute, atol=1e-11)
    assert_allclose(model.covariance[TWIST, TWIST], twist, atol=1e-15)
    assert np.linalg.eigvalsh(model.covariance).min() > -1e-15


def test_beginning_anew_moves_to_where_the_second_scan_was_found(rng: np.random.Generator):
    """Started again at the first scan, the model predicts the second where it was found."""
    model, twist = moving_model(rng), np.array([5.0, 0.1, 0.0, 0.0, 0.0, 0.3])
    first, second = scan_at(0.0), scan_at(0.1)
    found = PoseGaussian(se3_exp(0.1 * twist), np.eye(6) * 1e-4)
    model.begin_moving(first, second, found)
    assert model.stamp_ns == first.mean_ns
    assert model.speed_known
    assert_array_equal(model.T_world_body, np.eye(4))
    assert_allclose(model.twist, twist, atol=1e-12)
    sigma = np.sqrt(np.diag(model.covariance)[TWIST])
    assert 0.3 < sigma[0] < 5.0
    assert np.abs(model.pose_covariance).max() < 1e-11
    assert_allclose(model.predict(second).T_world_body, found.T_world_body, atol=1e-12)


def test_a_track_is_the_twist_around_the_mean_time(rng: np.random.Generator):
    """Poses during a scan are relative to its mean time; none before the speed is known."""
    model, scan = moving_model(rng), scan_at(1.0, with_times=True)
    track = model.track(scan)
    assert track is not None
    assert track.reference_ns == scan.mean_ns == 1_000_000_000
    assert (track.stamps_ns[0], track.stamps_ns[-1]) == (950_000_000, 1_050_000_000)
    for stamp, node in zip(track.stamps_ns, track.nodes, strict=True):
        pose = se3_exp((stamp - 10**9) * 1e-9 * model.twist)
        assert_allclose(node, np.r_[pose[:3, :3].ravel(), pose[:3, 3]], atol=1e-12)
    assert model.track(scan_at(1.0)) is None
    model.speed_known = False
    assert model.track(scan) is None


def accelerated_run(rng: np.random.Generator, noise: Floats) -> list[tuple[float, float, float]]:
    """NEES of pose, twist and step per scan of a body whose twist walks as the model thinks."""
    config = MotionConfig(acceleration=1.0, angular_acceleration=0.5, first_speed_m_s=3.0)
    model = ConstantVelocity(config)
    model.ready(scan_at(0.0))
    walk = np.repeat([1.0, 0.5], 3)
    twist = np.repeat([3.0, config.first_rate_rad_s], 3) * rng.normal(size=6)
    pose: Transform = np.eye(4)
    out = []
    for n in range(1, 16):
        previous = pose
        for _ in range(3):
            later = twist + walk * np.sqrt(0.1 / 3.0) * rng.normal(size=6)
            pose, twist = pose @ se3_exp(0.1 / 6.0 * (twist + later)), later
        model.predict(scan_at(0.1 * n))
        measured = pose @ se3_exp(noise * rng.normal(size=6))
        innovation = se3_log(se3_inverse(model.T_world_body) @ measured)
        model.correct(PoseMeasurement(innovation, np.diag(noise**2), NO_LAG, NO_LAG))
        errors = [
            (se3_log(se3_inverse(model.T_world_body) @ pose), model.pose_covariance),
            (twist - model.twist, model.covariance[TWIST, TWIST]),
            (
                se3_log(se3_inverse(model.step.T_world_body) @ se3_inverse(previous) @ pose),
                model.step.covariance,
            ),
        ]
        out.append(tuple(float(e @ np.linalg.solve(P, e)) / 6.0 for e, P in errors))
        model.clone()
    return out


def test_errors_are_as_large_as_the_model_says():
    """NEES of pose, twist and step lie in their chi-square bounds over 30 seeds.

    The model learns how fast the twist walks, which costs some accuracy: a fifth is allowed.
    """
    noise = np.repeat([0.02, 0.004], 3)
    runs = np.array([accelerated_run(np.random.default_rng(seed), noise) for seed in range(30)])
    mean = runs.mean(axis=0)
    low, high = chi2.ppf([1e-4, 1.0 - 1e-4], 180) / 180
    assert np.all(mean[0] > low), mean[0]
    assert np.all(mean > 0.8 * low), mean
    assert np.all(mean < 1.2 * high), mean


@pytest.mark.parametrize("std", [1.0, 30.0])
def test_a_short_step_of_a_lost_body_is_sound(std: float, rng: np.random.Generator):
    """However unsure the pose is, the step since a moment ago has a proper covariance."""
    model = moving_model(rng)
    model.covariance[POSE, POSE] += np.eye(6) * std**2
    model.clone()
    model.predict(scan_at(1e-3))
    assert np.linalg.eigvalsh(model.step.covariance).max() < 1e-6
