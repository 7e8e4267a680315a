# SPDX-License-Identifier: MIT
"""Strapdown navigation: against a plain twin, finite differences, Monte Carlo and true motions."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from inertial_cases import (
    LOUD,
    QUIET,
    UP,
    buffer_of,
    busy_filter,
    perfect_buffer,
    random_readings,
    resting_filter,
)
from reference_inertial import (
    KNOWN,
    State,
    difference,
    fine_navigation,
    mechanize,
    numeric_jacobian,
    put,
    state_of,
)
from sim_cases import ride
from svnicp.config import InertialConfig
from svnicp.inertial import Eskf, start_at_rest
from svnicp.inertial.error_state import (
    ACCEL_BIAS,
    GRAVITY,
    GYRO_BIAS,
    POSITION,
    ROTATION,
    SIZE,
    VELOCITY,
)
from svnicp.lie import se3_exp, so3_exp, so3_log

BLOCKS = {
    "position": POSITION, "velocity": VELOCITY, "rotation": ROTATION, "gyroscope": GYRO_BIAS,
    "accelerometer": ACCEL_BIAS, "gravity": GRAVITY,
}  # fmt: skip


def assert_same_state(one: State, other: State, atol: float = 1e-12) -> None:
    """All parts of two states agree."""
    assert_allclose(difference(one, other), 0.0, atol=atol)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 12))
@settings(max_examples=30)
def test_mechanization_is_its_plain_twin(seed: int, count: int):
    """Compiled coning, sculling and gravity give what the formulas give, and the track follows."""
    rng = np.random.default_rng(seed)
    eskf, rows = busy_filter(rng), random_readings(rng, count)
    rows[0, 0] *= float(rng.integers(2))
    states = [mechanize(state_of(eskf), rows[: n + 1]) for n in range(count)]
    track = eskf.predict(rows)
    assert_same_state(state_of(eskf), states[-1])
    for row, state in zip(track, states, strict=True):
        assert_allclose(row, np.r_[state.rotation.ravel(), state.position], atol=1e-12)


def test_preview_does_not_move_the_filter(rng: np.random.Generator):
    """A look ahead gives the track of a prediction and leaves state and covariance alone."""
    eskf, rows = busy_filter(rng, LOUD), random_readings(rng)
    before, covariance = state_of(eskf), eskf.covariance.copy()
    ahead = eskf.preview(rows)
    assert_same_state(state_of(eskf), before, 1e-15)
    assert_allclose(eskf.covariance, covariance, rtol=0.0, atol=0.0)
    assert_allclose(ahead, eskf.predict(rows), rtol=0.0, atol=0.0)


@pytest.mark.parametrize("last_s", [0.01, 0.004, 0.02])
def test_coning_and_sculling_are_third_order(last_s: float, rng: np.random.Generator):
    """On signals that are lines, halving an interval leaves an eighth of the error or less."""
    slope, errors = rng.normal(size=(2, 3)).ravel() * 30.0, []
    middle = np.r_[rng.normal(size=3), UP]
    state = state_of(busy_filter(rng))
    for scale in (1.0, 0.5):
        dt, before = 0.01 * scale, last_s * scale
        signal = np.array([middle - 0.5 * dt * slope, middle + 0.5 * dt * slope])
        earlier = middle - 0.5 * (dt + before) * slope
        rows = np.array([np.r_[before, earlier], np.r_[dt, middle]])
        after = mechanize(state, rows)
        eskf = resting_filter()
        put(eskf, state)
        eskf.predict(rows)
        _, velocity, rotation = fine_navigation(state, signal, dt, 400)
        assert_allclose(after.velocity, eskf.velocity, atol=1e-14)
        errors.append(
            [
                np.linalg.norm(eskf.velocity - velocity),
                np.linalg.norm(so3_log(rotation.T @ eskf.rotation)),
            ]
        )
    # Left out are (turn × (turn × push)) / 6, at most 2e-6 here; sculling itself is 2e-5.
    assert np.all(np.array(errors[0]) < [2e-6, 3e-8])
    assert np.all(np.array(errors[1]) < np.array(errors[0]) / 6.0)


def test_transition_is_the_derivative_of_the_motion(rng: np.random.Generator):
    """Covariances follow F P F', F by finite differences, in all blocks, gravity and clone too."""
    for _ in range(10):
        eskf, rows = busy_filter(rng), random_readings(rng, 2)
        F = numeric_jacobian(state_of(eskf), rows)
        expected = F @ eskf.covariance[:KNOWN, :KNOWN] @ F.T
        eskf.predict(rows)
        scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert_allclose(eskf.covariance[:KNOWN, :KNOWN] / scale, expected / scale, atol=2e-5)


@pytest.mark.parametrize("cause", BLOCKS)
@pytest.mark.parametrize("effect", ["position", "velocity", "rotation"])
def test_one_error_becomes_another(cause: str, effect: str, rng: np.random.Generator):
    """An error of one block alone shows in another as in the real propagation of 0.1 s."""
    eskf, rows = busy_filter(rng), random_readings(rng, 15)
    F = numeric_jacobian(state_of(eskf), rows)[BLOCKS[effect], BLOCKS[cause]]
    eskf.covariance = np.zeros((SIZE, SIZE))
    eskf.covariance[BLOCKS[cause], BLOCKS[cause]] = np.eye(3)
    eskf.predict(rows)
    got = eskf.covariance[BLOCKS[effect], BLOCKS[effect]]
    assert_allclose(got, F @ F.T, atol=1e-3 * np.abs(F @ F.T).max() + 1e-15)


def test_noise_of_readings_spreads_as_in_monte_carlo(rng: np.random.Generator):
    """The covariance after 20 noisy readings is the scatter of 3000 real runs."""
    runs, count, dt = 3000, 20, 0.01
    rows = np.concatenate([np.full((count, 1), dt), random_readings(rng, count)[:, 1:]], axis=1)
    nominal = busy_filter(rng, LOUD)
    start = state_of(nominal)
    nominal.covariance = np.zeros((SIZE, SIZE))
    nominal.predict(rows)
    white = np.repeat([LOUD.gyroscope, LOUD.accelerometer], 3) / np.sqrt(dt)
    walk = np.repeat([LOUD.gyroscope_bias_walk, LOUD.accelerometer_bias_walk], 3) * np.sqrt(dt)
    errors = np.empty((runs, KNOWN))
    for run in range(runs):
        noisy, eskf = rows.copy(), resting_filter()
        steps = np.cumsum(walk * rng.normal(size=(count - 1, 6)), axis=0)
        drift = steps - 0.5 * np.diff(steps, axis=0, prepend=np.zeros((1, 6)))
        noisy[1:, 1:] -= white * rng.normal(size=(count - 1, 6)) + drift
        put(eskf, start)
        eskf.predict(noisy)
        errors[run] = difference(state_of(eskf), state_of(nominal))
        errors[run, 9:15] = steps[-1]
    scatter = errors.T @ errors / runs
    used = slice(0, 15)
    ratio = np.linalg.eigvals(np.linalg.solve(nominal.covariance[used, used], scatter[used, used]))
    # Marchenko and Pastur: (1 ± sqrt(15 / 3000))², and a little more for chance and linearisation.
    assert ratio.real.min() > 0.82
    assert ratio.real.max() < 1.2
    assert_allclose(nominal.covariance[15:, 15:], 0.0, atol=0.0)


def test_covariance_stays_sound_for_ten_thousand_readings(rng: np.random.Generator):
    """After 100 s without a correction the covariance is symmetric, positive and still grows."""
    eskf = resting_filter(LOUD)
    rows = random_readings(rng, 101)
    for _ in range(100):
        before = np.trace(eskf.covariance[POSITION, POSITION])
        eskf.predict(rows)
        assert_allclose(eskf.covariance, eskf.covariance.T, rtol=0.0, atol=0.0)
        scale = np.sqrt(np.diag(eskf.covariance))
        assert np.linalg.eigvalsh(eskf.covariance / np.outer(scale, scale)).min() > -1e-12
        assert np.trace(eskf.covariance[POSITION, POSITION]) > before
    assert_allclose(eskf.rotation @ eskf.rotation.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("imu", ["xsens_mti30", "epson_m_g365"])
def test_perfect_readings_reproduce_the_motion(imu: str):
    """Ten seconds of noise-free readings lead to the true pose, to 1 cm and 0.1 mrad."""
    motion = ride(10.5, rest_s=0.4, length_m=15.0, turn_rad=2.5)
    buffer, stamps = perfect_buffer(motion, imu), np.arange(200, 10301, 101) * 1_000_000
    seconds = stamps.astype(np.float64) * 1e-9
    truth = motion.T_world_body(seconds)
    eskf = resting_filter()
    eskf.position, eskf.rotation = truth[0, :3, 3].copy(), truth[0, :3, :3].copy()
    for begin, end in itertools.pairwise(stamps):
        eskf.predict(buffer.intervals(int(begin), int(end)))
    assert stamps[-1] == 10_300_000_000
    assert np.linalg.norm(eskf.position - truth[-1, :3, 3]) < 0.01
    assert np.linalg.norm(so3_log(truth[-1, :3, :3].T @ eskf.rotation)) < 1e-4
    assert_allclose(eskf.velocity, motion.velocity_world(seconds[-1:])[0], atol=2e-3)


@pytest.mark.parametrize("tilt", [(0.0, 0.0, 0.0), (0.3, -0.5, 0.2), (np.pi, 0.0, 0.0)])
def test_a_tilted_body_at_rest_stays(tilt: tuple[float, float, float]):
    """Levelled at rest with biases, a body keeps its velocity near zero for 60 s."""
    bias = np.array([0.01, -0.02, 0.005, 0.1, -0.05, 0.08])
    reading = np.r_[np.zeros(3), so3_exp(np.array(tilt)).T @ UP] + bias
    eskf = Eskf(start_at_rest(np.tile(reading, (50, 1)), InertialConfig()), QUIET)
    rows = np.tile(np.r_[0.01, reading], (6001, 1))
    eskf.predict(rows)
    assert np.linalg.norm(eskf.velocity) < 1e-8
    assert np.linalg.norm(eskf.position) < 1e-6


@given(share=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
@settings(max_examples=30)
def test_splitting_an_interval_changes_nothing(share: float, seed: int):
    """Stopping anywhere on the way, as scans do, ends at the same state and covariance."""
    rng = np.random.default_rng(seed)
    stamps = np.cumsum(rng.integers(4_000_000, 12_000_000, size=12))
    rates = np.cumsum(0.05 * rng.normal(size=(12, 6)), axis=0)
    buffer = buffer_of(stamps, np.r_[np.zeros(3), UP] + rates)
    begin, end = int(stamps[1]) + 1_000_000, int(stamps[-1]) - 1_000_000
    middle = begin + round(share * (end - begin))
    whole, parts = (busy_filter(np.random.default_rng(3), LOUD) for _ in range(2))
    whole.predict(buffer.intervals(begin, end))
    for first, last in ((begin, middle), (middle, end)):
        if last > first:
            parts.predict(buffer.intervals(first, last))
            buffer.forget_before(last)
    # An interval of 12 ms is integrated in one piece or in two: sculling, 0.1 rad/s × 10 m/s² × T²
    # / 12, may differ; a millisecond that is lost or repeated would make 0.01 m/s.
    assert_allclose(difference(state_of(parts), state_of(whole)), 0.0, atol=2e-5)
    scale = np.sqrt(np.diag(whole.covariance))
    close = (parts.covariance - whole.covariance) / np.outer(scale, scale)
    assert_allclose(close, 0.0, atol=2e-5)


def test_the_world_may_be_turned(rng: np.random.Generator):
    """Turning and shifting the world turns and shifts the result: gravity is a vector in it."""
    rows, turn = random_readings(rng, 10), se3_exp(rng.normal(size=6))
    eskf = busy_filter(rng, LOUD)
    other = resting_filter(LOUD)
    start, R = state_of(eskf), turn[:3, :3]
    put(
        other,
        start._replace(
            position=R @ start.position + turn[:3, 3], velocity=R @ start.velocity,
            rotation=R @ start.rotation, gravity=R @ start.gravity,
        ),
    )  # fmt: skip
    M = np.eye(SIZE)
    for block in (POSITION, VELOCITY, GRAVITY):
        M[block, block] = R
    other.covariance = M @ eskf.covariance @ M.T
    eskf.predict(rows)
    other.predict(rows)
    assert_allclose(other.T_world_body, turn @ eskf.T_world_body, atol=1e-12)
    assert_allclose(other.covariance, M @ eskf.covariance @ M.T, atol=1e-12)


def test_noise_densities_enter_by_name():
    """Each of the four densities widens its own block first, by its square times the time."""
    rows = np.tile(np.r_[0.01, np.zeros(3), UP], (2, 1))
    for name, block in (
        ("gyroscope", ROTATION), ("accelerometer", VELOCITY),
        ("gyroscope_bias_walk", GYRO_BIAS), ("accelerometer_bias_walk", ACCEL_BIAS),
    ):  # fmt: skip
        eskf = resting_filter(replace(QUIET, **{name: 0.1}))
        eskf.covariance[:] = 0.0
        eskf.predict(rows)
        assert_allclose(np.diag(eskf.covariance)[block], 0.1**2 * 0.01, rtol=1e-3)
