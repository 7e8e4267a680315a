# SPDX-License-Identifier: MIT
"""Ground truth at the stamps of an estimate: interpolated on SE(3), and only where it is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from evaluation_cases import START_NS, curve, positions_of, truth
from svnicp.data.trajectory import Trajectory
from svnicp.errors import InputError
from svnicp.evaluation import associate


@given(st.lists(st.integers(0, 5_000_000_000), min_size=1, max_size=20, unique=True))
def test_constant_twist_is_interpolated_exactly(offsets_ns):
    """Between sparse true poses the body is where constant twist takes it."""
    stamps_ns = START_NS + np.sort(np.array(offsets_ns, dtype=np.int64))
    found = associate(stamps_ns, truth(5.0, rate_hz=2.0))
    assert_array_equal(found.indices, np.arange(len(stamps_ns)))
    expected = curve((stamps_ns - START_NS) * 1e-9)
    assert_allclose(found.T_true_body, expected, atol=1e-9)


def test_stamps_of_the_truth_give_its_own_poses():
    """At a true stamp, the first and the last included, nothing is interpolated."""
    known = truth(2.0, rate_hz=10.0)
    found = associate(known.stamps_ns, known)
    assert_allclose(found.T_true_body, known.T_world_body, atol=1e-15)


def test_estimates_outside_the_truth_are_left_out():
    """Nothing is said about what lies before the first or after the last true pose."""
    stamps_ns = START_NS + 500_000_000 * np.arange(-2, 10)
    found = associate(stamps_ns, truth(2.0, rate_hz=10.0))
    assert_array_equal(found.indices, [2, 3, 4, 5, 6])


def test_gaps_in_the_truth_are_not_bridged():
    """Where true poses are too far apart, only their own stamps count."""
    known = truth(6.0, rate_hz=10.0)
    kept = (known.stamps_ns <= START_NS + 2_000_000_000) | (
        known.stamps_ns >= START_NS + 4_000_000_000
    )
    gappy = Trajectory(known.stamps_ns[kept], known.T_world_body[kept])
    stamps_ns = START_NS + 500_000_000 * np.arange(13)
    assert_array_equal(associate(stamps_ns, gappy).indices, [0, 1, 2, 3, 4, 8, 9, 10, 11, 12])
    assert len(associate(stamps_ns, gappy, max_gap_s=2.0)) == 13


def test_positions_alone_are_interpolated_as_such():
    """Without rotations positions are interpolated, and the result says what is missing."""
    known = positions_of(truth(2.0, rate_hz=100.0))
    found = associate(START_NS + np.array([15_000_000]), known)
    assert found.position_only
    assert_allclose(found.T_true_body[0, :3, 3], known.positions[1:3].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("stamps_ns", [[], [1, 2], [START_NS + 10**12]])
def test_no_overlap_is_one_sentence(stamps_ns):
    """An estimate by another clock, or without poses, cannot be compared."""
    with pytest.raises(InputError, match=r"covers no pose|nothing to compare") as caught:
        associate(np.array(stamps_ns, dtype=np.int64), truth())
    assert "\n" not in str(caught.value)
