# SPDX-License-Identifier: MIT
"""The error-state filter's laws: measurement, gain, reset, clone, anchor, coasting, twist."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from inertial_cases import LOUD, QUIET, busy_filter, random_covariance, random_readings
from reference_inertial import (
    KNOWN,
    difference,
    information_update,
    lagged_pose_jacobian,
    moved,
    put,
    state_of,
)
from svnicp.arrays import Floats
from svnicp.config import InertialConfig
from svnicp.inertial import Eskf, start_at_rest
from svnicp.inertial.error_state import (
    ACCEL_BIAS,
    GRAVITY,
    GYRO_BIAS,
    MAP,
    POSITION,
    PREVIOUS,
    ROTATION,
    SIZE,
    VELOCITY,
)
from svnicp.lie import hat, se3_adjoint, se3_exp, se3_inverse, se3_log, so3_exp

SEEDS = st.integers(0, 2**32 - 1)


def known(eskf: Eskf) -> Floats:
    """Covariance (24, 24) of the state, without the map's error."""
    return eskf.covariance[:KNOWN, :KNOWN].copy()


def body_error(eskf: Eskf, T_world_body: Floats) -> Floats:
    """Distance (6,) of a pose from a filter's, in the body tangent."""
    return se3_log(se3_inverse(eskf.T_world_body) @ T_world_body)


@given(seed=SEEDS, lagged=st.booleans())
@settings(max_examples=25)
def test_correction_is_the_information_form(seed: int, lagged: bool):
    """Joseph's form is Gaussian conditioning, its Jacobian (lag included) by finite differences."""
    rng = np.random.default_rng(seed)
    eskf, R = busy_filter(rng), random_covariance(rng, 6, 0.02)
    lag = 0.05 * rng.normal(size=(6, 3)) if lagged else np.zeros((6, 3))
    before, z = state_of(eskf), 1e-7 * rng.normal(size=6)
    B = lagged_pose_jacobian(before, lag)
    mean, covariance = information_update(known(eskf), B, R, z)
    S = B @ known(eskf) @ B.T + R
    correction = eskf.correct(z, R, lag if lagged else None)
    assert_allclose(difference(state_of(eskf), before), mean, rtol=1e-4, atol=1e-12)
    assert_allclose(known(eskf), covariance, rtol=1e-4, atol=1e-8)
    assert_allclose(correction.nis, z @ np.linalg.solve(S, z), rtol=1e-5)
    assert_array_equal(correction.innovation, z)


def test_gain_says_whom_the_filter_trusts(rng: np.random.Generator):
    """A perfect scan has the identity as gain, a useless one zero; NIS falls from huge to zero."""
    z, results = 0.1 * rng.normal(size=6), []
    for std in (1e-7, 1e5):
        eskf = busy_filter(np.random.default_rng(1))
        results.append(eskf.correct(z, np.eye(6) * std**2))
    assert_allclose(results[0].gain, np.eye(6), atol=1e-4)
    assert_allclose(results[1].gain, 0.0, atol=1e-4)
    assert results[0].nis > 1.0
    assert results[1].nis < 1e-9


@given(seed=SEEDS, size=st.sampled_from([0.01, 0.3, 1.5]))
@settings(max_examples=25)
def test_a_pose_trusted_fully_is_reached(seed: int, size: float):
    """With a perfect measurement the filter ends at the measured pose, however far that is."""
    rng = np.random.default_rng(seed)
    eskf, xi = busy_filter(rng), size * rng.uniform(-1.0, 1.0, size=6)
    target = eskf.T_world_body @ se3_exp(xi)
    eskf.correct(body_error(eskf, target), np.eye(6) * 1e-14)
    assert_allclose(body_error(eskf, target), 0.0, atol=1e-6)
    assert_allclose(eskf.rotation.T @ eskf.rotation, np.eye(3), atol=1e-14)


def test_the_prior_is_not_fused_twice(rng: np.random.Generator):
    """Fed with the prior-free innovation of a posterior, the filter ends at that posterior."""
    eskf, xi = busy_filter(rng), 0.3 * rng.normal(size=6)
    target, S = eskf.T_world_body @ se3_exp(xi), eskf.pose_covariance
    R = random_covariance(rng, 6, 0.05)
    R[0, 0] += 100.0
    eskf.correct(xi + R @ np.linalg.solve(S, xi), R)
    assert_allclose(eskf.T_world_body, target, atol=1e-9)


@given(seed=SEEDS)
@settings(max_examples=20)
def test_reset_moves_the_covariance_to_the_new_tangent(seed: int):
    """After a large correction errors are seen from the new pose: J P J', J by differences."""
    rng = np.random.default_rng(seed)
    eskf, R = busy_filter(rng), random_covariance(rng, 6, 0.02)
    z, T_before, B = 0.4 * rng.normal(size=6), eskf.T_world_body, eskf.pose_jacobian[:, :KNOWN]
    previous = eskf.T_world_previous
    mean, covariance = information_update(known(eskf), B, R, z)
    eskf.correct(z, R)

    def error_after(error: Floats) -> Floats:
        """The same true state as an error (24,) of the filter after the correction."""
        pose = body_error(eskf, T_before @ se3_exp(B @ error))
        out = error - mean
        out[POSITION], out[ROTATION] = eskf.rotation @ pose[:3], pose[3:]
        T_previous = previous @ se3_exp(error[PREVIOUS])
        out[PREVIOUS] = se3_log(se3_inverse(eskf.T_world_previous) @ T_previous)
        return out

    step = 1e-6
    columns = [error_after(mean + step * d) - error_after(mean - step * d) for d in np.eye(KNOWN)]
    J = np.array(columns).T / (2.0 * step)
    assert_allclose(error_after(mean), 0.0, atol=1e-9)
    assert_allclose(known(eskf), J @ covariance @ J.T, atol=1e-6 * covariance.max())


def test_correction_moves_what_correlates(rng: np.random.Generator):
    """A scan teaches velocity, biases and gravity through their correlations, the clone too."""
    eskf = busy_filter(rng)
    before, P = state_of(eskf), eskf.covariance.copy()
    eskf.correct(1e-4 * rng.normal(size=6), np.eye(6) * 1e-8)
    change = difference(state_of(eskf), before)
    for block in (VELOCITY, GYRO_BIAS, ACCEL_BIAS, GRAVITY, PREVIOUS):
        assert np.abs(change[block]).min() > 1e-8
        assert np.trace(eskf.covariance[block, block]) < np.trace(P[block, block])


@pytest.mark.parametrize("std", [1.0, 1e3])
def test_a_short_step_of_a_lost_body_is_sound(std: float, rng: np.random.Generator):
    """However unsure the pose is, the step since a moment ago has a proper covariance."""
    eskf = busy_filter(rng)
    eskf.covariance *= (std / 0.05) ** 2
    eskf.clone()
    eskf.predict(np.tile(np.r_[1e-6, np.zeros(3), 0.0, 0.0, 9.81], (2, 1)))
    assert np.linalg.eigvalsh(eskf.step.covariance).min() > 0.0
    assert np.abs(eskf.step.covariance).max() < 1e-9 * std**2


def test_a_clone_is_the_pose(rng: np.random.Generator):
    """Right after cloning the step is the identity, certain, and correlations are the pose's."""
    eskf = busy_filter(rng)
    P, B = eskf.covariance.copy(), eskf.pose_jacobian
    eskf.clone()
    assert_allclose(eskf.step.T_world_body, np.eye(4), atol=1e-15)
    assert_allclose(eskf.step.covariance, 0.0, atol=1e-11)
    assert_allclose(eskf.covariance[PREVIOUS, PREVIOUS], B @ P @ B.T, atol=1e-15)
    assert_allclose(eskf.covariance[PREVIOUS, :18], B @ P[:, :18], atol=1e-15)
    assert_allclose(eskf.covariance[:18, :18], P[:18, :18], atol=1e-15)


def test_step_covariance_is_that_of_monte_carlo(rng: np.random.Generator):
    """The pose relative to the clone scatters, over 1500 real runs, as its covariance says."""
    eskf, rows, runs = busy_filter(rng), random_readings(rng, 30), 1500
    eskf.covariance *= 0.05**2
    eskf.clone()
    start, root = state_of(eskf), np.linalg.cholesky(eskf.covariance + 1e-18 * np.eye(SIZE))
    eskf.predict(rows)
    one = busy_filter(rng)
    T_inverse = se3_inverse(eskf.step.T_world_body)
    errors = np.empty((runs, 6))
    for run in range(runs):
        put(one, moved(start, root @ rng.normal(size=SIZE)))
        one.predict(rows)
        errors[run] = se3_log(T_inverse @ se3_inverse(one.T_world_previous) @ one.T_world_body)
    ratio = np.linalg.eigvals(np.linalg.solve(eskf.step.covariance, errors.T @ errors / runs)).real
    assert ratio.min() > 0.83
    assert ratio.max() < 1.18


@given(seed=SEEDS, share=st.sampled_from([0.02, 0.4, 1.0]))
@settings(max_examples=20)
def test_what_is_handed_to_the_map_stays_the_same(seed: int, share: float):
    """Pose since the start, twist and gravity in body axes are as sure as before, to the last."""
    eskf = busy_filter(np.random.default_rng(seed))
    gravity_body = np.zeros((3, SIZE))
    gravity_body[:, GRAVITY] = eskf.rotation.T
    gravity_body[:, ROTATION] = hat(eskf.rotation.T @ eskf.gravity)

    def seen_from_the_body() -> list[Floats]:
        return [
            eskf.absolute_covariance, eskf.twist(np.zeros(3), 0.0)[1],
            gravity_body @ eskf.covariance @ gravity_body.T,
        ]  # fmt: skip

    before, in_map, pose = seen_from_the_body(), eskf.pose_covariance, eskf.T_world_body
    eskf.hand_over(share)
    assert_array_equal(eskf.T_world_body, pose)
    for after, was in zip(seen_from_the_body(), before, strict=True):
        assert_allclose(after, was, atol=1e-9)
    assert_allclose(eskf.pose_covariance, (1.0 - share) ** 2 * in_map, atol=1e-11)
    assert np.linalg.eigvalsh(eskf.covariance).min() > -1e-15


def test_a_scan_does_not_move_the_map(rng: np.random.Generator):
    """It is matched with the map: of that one's own error it tells nothing."""
    eskf = busy_filter(rng)
    before, cross = eskf.covariance[MAP, MAP].copy(), eskf.covariance[:KNOWN, MAP].copy()
    P, R = known(eskf), np.eye(6) * 0.02**2
    B = eskf.pose_jacobian[:, :KNOWN]
    left = np.eye(KNOWN) - P @ B.T @ np.linalg.inv(B @ P @ B.T + R) @ B
    eskf.correct(np.zeros(6), R)
    assert_allclose(eskf.covariance[MAP, MAP], before, atol=1e-12)
    assert_allclose(eskf.covariance[:KNOWN, MAP], left @ cross, atol=1e-12)


@pytest.mark.parametrize("coasts", [False, True])
def test_the_map_is_seen_from_where_the_body_is(coasts: bool, rng: np.random.Generator):
    """A map that is turned puts the body off by as much more as it is away from where it turns."""
    eskf, T_before = busy_filter(rng), np.eye(4)
    T_before, before = eskf.T_world_body, eskf.covariance[MAP, MAP].copy()
    if coasts:
        eskf.coast(0.8, 1.0, 0.5, np.array([0.2, 0.1, -0.4]))
    else:
        eskf.predict(random_readings(rng, 40))
    A = se3_adjoint(se3_inverse(eskf.T_world_body) @ T_before)
    assert_allclose(eskf.covariance[MAP, MAP], A @ before @ A.T, atol=1e-12)


def test_coasting_keeps_the_velocity_and_its_doubt(rng: np.random.Generator):
    """Without readings the body goes on straight; doubt of the velocity becomes one of position."""
    eskf = busy_filter(rng)
    start, before = state_of(eskf), known(eskf)
    eskf.coast(0.7, 1e-9, 1e-9)
    assert_allclose(eskf.position, start.position + 0.7 * start.velocity, atol=1e-14)
    assert_array_equal(eskf.velocity, start.velocity)
    assert_array_equal(eskf.rotation, start.rotation)
    F = np.eye(KNOWN)
    F[POSITION, VELOCITY] = 0.7 * np.eye(3)
    assert_allclose(known(eskf), F @ before @ F.T, atol=1e-14)


def test_coasting_goes_on_turning(rng: np.random.Generator):
    """The rotation goes on at the given rate, its error is carried along, and its doubt grows."""
    eskf, rate = busy_filter(rng), np.array([0.3, -0.2, 0.5])
    start, before = state_of(eskf), eskf.covariance.copy()
    eskf.coast(0.4, 1e-9, 0.6, rate)
    turned = so3_exp(0.4 * rate)
    assert_allclose(eskf.rotation, start.rotation @ turned, atol=1e-12)
    expected = turned.T @ before[ROTATION, ROTATION] @ turned + np.eye(3) * 0.36 * 0.4**3 / 3.0
    assert_allclose(eskf.covariance[ROTATION, ROTATION], expected, atol=1e-14)


def test_gravity_turns_with_the_map(rng: np.random.Generator):
    """Gravity's covariance grows by how a small turn of the body's axes moves it."""
    eskf = busy_filter(rng)
    before, turn = eskf.covariance[GRAVITY, GRAVITY].copy(), 1e-6 * np.array([1.0, -2.0, 3.0])
    eskf.tilt_gravity(np.outer(turn, turn))
    moved_gravity = so3_exp(eskf.rotation @ turn) @ eskf.gravity - eskf.gravity
    grown = eskf.covariance[GRAVITY, GRAVITY] - before
    assert_allclose(grown, np.outer(moved_gravity, moved_gravity), atol=1e-15)


def test_the_step_can_be_taken_from_another_filter(rng: np.random.Generator):
    """Then it is relative to that filter's last pose, of which this one knows nothing."""
    eskf, other = busy_filter(rng), busy_filter(rng)
    eskf.step_from(other)
    assert_array_equal(eskf.T_world_previous, other.T_world_previous)
    assert_array_equal(eskf.covariance[PREVIOUS, PREVIOUS], other.covariance[PREVIOUS, PREVIOUS])
    assert_array_equal(eskf.covariance[PREVIOUS, :18], 0.0)
    before = eskf.covariance.copy()
    eskf.step_from(other)
    assert_array_equal(eskf.covariance, before)


def test_coasting_in_pieces_is_coasting_at_once():
    """Position and velocity open up by the time alone, not by the number of scans in it."""
    once, often = (busy_filter(np.random.default_rng(5), LOUD) for _ in range(2))
    once.coast(1.0, 2.0, 0.5)
    for _ in range(10):
        often.coast(0.1, 2.0, 0.5)
    moving = np.r_[0:6, 9:24]
    assert_allclose(often.position, once.position, atol=1e-12)
    assert_allclose(
        often.covariance[np.ix_(moving, moving)], once.covariance[np.ix_(moving, moving)], atol=1e-9
    )
    assert_allclose(np.diag(once.covariance)[VELOCITY] - 4.0, 0.0, atol=0.02)
    assert np.linalg.eigvalsh(once.covariance).min() > 0.0


def test_twist_and_its_covariance(rng: np.random.Generator):
    """Velocity in body axes and rate without bias; their covariance by finite differences."""
    eskf, rate, step = busy_filter(rng), rng.normal(size=3), 1e-6
    twist, covariance = eskf.twist(rate, 0.01)
    state = state_of(eskf)

    def value(error: Floats) -> Floats:
        other = moved(state, error)
        return np.r_[other.rotation.T @ other.velocity, rate - other.gyro_bias]

    assert_allclose(twist, value(np.zeros(SIZE)), atol=1e-14)
    J = np.array([value(step * d) - value(-step * d) for d in np.eye(SIZE)]).T / (2.0 * step)
    noise = np.diag([0.0] * 3 + [0.01] * 3)
    assert_allclose(covariance, J @ eskf.covariance @ J.T + noise, atol=1e-9)


@pytest.mark.parametrize("estimate_gravity", [True, False])
def test_gravity_is_a_state_only_on_request(estimate_gravity: bool, rng: np.random.Generator):
    """With 15 states gravity stays where it was; with 18 scans move it."""
    readings = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 9.81], (20, 1))
    start = start_at_rest(readings, InertialConfig())
    eskf = Eskf(start, QUIET, estimate_gravity=estimate_gravity)
    eskf.predict(np.tile(np.r_[0.01, readings[0]], (101, 1)))
    eskf.correct(0.05 * rng.normal(size=6), np.eye(6) * 1e-6)
    moved_by = np.linalg.norm(eskf.gravity - start.gravity)
    assert (moved_by > 1e-4) == estimate_gravity


def test_rest_is_assumed_unless_scans_contradict(rng: np.random.Generator):
    """A velocity that may be zero becomes zero; one that cannot be stays as it is."""
    slow, fast = busy_filter(rng), busy_filter(rng)
    slow.velocity, fast.velocity = np.array([0.05, 0.0, 0.02]), np.array([0.0, 0.6, 0.0])
    before, covariance = state_of(fast), fast.covariance.copy()
    assert slow.stop()
    assert np.linalg.norm(slow.velocity) < 5e-3
    assert np.all(np.sqrt(np.diag(slow.covariance)[VELOCITY]) < 0.0101)
    assert not fast.stop()
    assert_allclose(difference(state_of(fast), before), 0.0, atol=1e-14)
    assert_array_equal(fast.covariance, covariance)


def test_rest_is_conditioning_on_no_velocity():
    """Standing still teaches whatever correlates with the velocity, as a measurement would."""
    eskf = busy_filter(np.random.default_rng(2))
    eskf.velocity = np.full(3, 1e-6)
    B = np.zeros((3, KNOWN))
    B[:, VELOCITY] = np.eye(3)
    mean, covariance = information_update(known(eskf), B, np.eye(3) * 1e-4, -eskf.velocity)
    before = state_of(eskf)
    assert eskf.stop(0.01)
    assert_allclose(difference(state_of(eskf), before), mean, rtol=1e-3, atol=1e-12)
    assert_allclose(known(eskf), covariance, atol=1e-7)


def test_what_scans_seem_to_show_below_a_crawl_is_no_evidence_against_rest(
    rng: np.random.Generator,
):
    """However sure they are: a young map pulls by centimetres a second."""
    eskf = busy_filter(rng)
    eskf.covariance *= 1e-4
    eskf.velocity = np.array([0.0, 0.0, 0.03])
    assert eskf.stop()
    assert np.linalg.norm(eskf.velocity) < 0.03
    eskf.covariance *= 1e-2
    eskf.velocity = np.array([0.0, 0.0, 0.3])
    assert not eskf.stop()
