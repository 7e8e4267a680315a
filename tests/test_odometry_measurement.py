# SPDX-License-Identifier: MIT
"""What a filter may fuse: the scan's own word, silent where it knows nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from inertial_cases import random_covariance
from svnicp.odometry.measurement import prior_free

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
