# SPDX-License-Identifier: MIT
"""What a filter may fuse: the scan's own word, silent where it knows nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from inertial_cases import random_covariance
from svnicp import simulate
from svnicp.arrays import Covariance
from svnicp.baselines import registered
from svnicp.config import Config, OdometryConfig
from svnicp.odometry.measurement import MeasurementNoise, prior_free, without_hints
from svnicp.odometry.motion import Prediction
from svnicp.studies.true_map import places

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds)
def test_fusing_the_innovation_gives_the_posterior_again(seed: int):
    """A filter with covariance S that fuses z with R ends where the posterior is."""
    rng = np.random.default_rng(seed)
    S, R = random_covariance(rng, 6, 0.1), random_covariance(rng, 6, 0.05)
    moved = rng.multivariate_normal(np.zeros(6), S)
    innovation = prior_free(moved, R, S)
    ratios = np.linalg.eigvals(np.linalg.solve(S, R)).real
    if ratios.max() < 100.0:
        assert_allclose(S @ np.linalg.solve(S + R, innovation), moved, atol=1e-8)


def test_a_scan_that_knows_nothing_says_nothing(rng: np.random.Generator):
    """A shift of a millimetre along a direction known to 300 m is no innovation of metres."""
    S = np.diag([0.1, 0.01, 0.01, 1e-3, 1e-3, 1e-3]) ** 2
    R = np.diag([300.0, 0.005, 0.005, 1e-3, 1e-3, 1e-3]) ** 2
    moved = 0.05 * np.sqrt(np.diag(S)) * rng.normal(size=6)
    innovation = prior_free(moved, R, S)
    assert innovation[0] == pytest.approx(0.0, abs=1e-12)
    assert_allclose(innovation[1:], moved[1:] * (1.0 + np.diag(R)[1:] / np.diag(S)[1:]))


def test_hints_are_not_heard():
    """What is known no better than to the limit is not known; what is known well stays so."""
    alone = np.diag([0.15**2, 0.01**2, 0.02**2] + [0.002**2] * 3)
    found = without_hints(alone, 0.1)
    assert found[0, 0] > 10.0**2
    assert_allclose(found[1:, 1:], alone[1:, 1:], rtol=0.05)


def test_hints_fade_into_knowledge():
    """Between a hint and knowledge there is no step, and nothing becomes surer."""
    sigmas = np.linspace(0.02, 0.12, 51)
    kept = [
        float(without_hints(np.diag([sigma**2] + [0.01**2] * 5), 0.1)[0, 0]) for sigma in sigmas
    ]
    assert np.all(np.diff(kept) >= 0.0)
    assert np.all(np.sqrt(kept) > sigmas)


def test_a_hint_along_any_direction_is_taken_out(rng: np.random.Generator):
    """Directions across one that is only hinted at keep what is known about them."""
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    alone = np.diag([1.0] * 3 + [0.002**2] * 3)
    alone[:3, :3] = axes @ np.diag([0.2**2, 0.01**2, 0.01**2]) @ axes.T
    found = axes.T @ without_hints(alone, 0.1)[:3, :3] @ axes
    assert found[0, 0] > 10.0**2
    assert_allclose(np.diag(found)[1:], 0.01**2, rtol=0.05)


def test_no_scan_is_surer_than_a_map_can_be(rng: np.random.Generator):
    """A scan that knows its pose to less than a millimetre is noisier where an IMU carries it."""
    dataset = simulate("room", seed=100, duration_s=2.0)
    place = list(places(dataset, Config.preset("default"), 0, 15, 100))[-1]
    result = registered(place.scan, rng)
    prediction = Prediction(
        place.T_true, np.diag([0.02] * 3 + [0.01] * 3) ** 2, None, np.eye(6) * 0
    )

    def stated(config: OdometryConfig, *, carried: bool = True) -> Covariance:
        noise = MeasurementNoise(config, prior_used=True, carried=carried)
        return noise.measure(result, prediction, 1000).covariance

    floor = np.repeat([0.002**2, 0.0005**2], 3)
    without = stated(OdometryConfig(map_floor_m=0.0, map_floor_rad=0.0))
    assert np.sqrt(np.diag(without)[:3].min()) < 0.001
    floored = OdometryConfig(map_floor_m=0.002, map_floor_rad=0.0005)
    assert_allclose(stated(floored) - without, np.diag(floor), atol=1e-12)
    unfloored = OdometryConfig(map_floor_m=0.0, map_floor_rad=0.0)
    assert_array_equal(stated(floored, carried=False), stated(unfloored, carried=False))
