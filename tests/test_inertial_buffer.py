# SPDX-License-Identifier: MIT
"""Readings between two times: none lost, none twice, gaps found, nonsense refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicHermiteSpline

from inertial_cases import buffer_of
from svnicp.errors import InputError
from svnicp.inertial import ImuBuffer

STAMPS = st.lists(st.integers(0, 10**9), min_size=1, max_size=15, unique=True).map(sorted)
SPAN = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).filter(lambda t: t[0] < t[1])


def filled(stamps: list[int]) -> ImuBuffer:
    """Buffer with a reading per stamp, each another."""
    rng = np.random.default_rng(len(stamps))
    return buffer_of(np.array(stamps), rng.normal(size=(len(stamps), 6)))


def integral(buffer: ImuBuffer, stamps: list[int], start: int, end: int, zero: int) -> np.ndarray:
    """Integral (6,) of the curve that a buffer stands for, held at both ends; SciPy's splines.

    ``zero``: the time that the buffer counts from, so that steps are even or not for both.
    """
    readings = buffer.window(min(stamps), max(stamps))
    if len(stamps) == 1:
        return readings[0] * (end - start) * 1e-9
    at = (np.array(stamps) - zero) * 1e-9
    first, last = (start - zero) * 1e-9, (end - zero) * 1e-9
    slopes, values = np.gradient(readings, at, axis=0), readings.copy()
    for n in range(1, len(at) - 1):
        before, after = at[n] - at[n - 1], at[n + 1] - at[n]
        if before + after >= 12.0 * min(before, after):
            slopes[n] = (readings[n + 1] - readings[n - 1]) / (before + after)
        if max(before, after) < 1.5 * min(before, after):
            leaving, arriving = readings[n + 1] - readings[n], readings[n] - readings[n - 1]
            values[n] -= 0.5 * (before + after) * (leaving / after - arriving / before) / 48.0
    total = CubicHermiteSpline(at, values, slopes).antiderivative()
    begin, stop = np.clip([first, last], at[0], at[-1])
    held = max(min(at[0], last) - first, 0.0) * values[0]
    held = held + max(last - max(at[-1], first), 0.0) * values[-1]
    return np.asarray(total(stop) - total(begin) + held)


@given(stamps=STAMPS, span=SPAN)
@example(stamps=[0, 700, 800, 900, 5000], span=(800, 900))
def test_intervals_hold_the_whole_integral(stamps: list[int], span: tuple[int, int]):
    """Intervals add up to the time asked for, and their means to the integral of the signal."""
    buffer = filled(stamps)
    start, end = span
    rows = buffer.intervals(start, end)
    assert np.all(rows[1:, 0] > 0.0)
    assert_allclose(rows[1:, 0].sum(), (end - start) * 1e-9, rtol=0.0, atol=1e-15)
    expected = integral(buffer, stamps, start, end, start)
    assert_allclose((rows[1:, :1] * rows[1:, 1:]).sum(axis=0), expected, rtol=0.0, atol=1e-9)


@given(stamps=STAMPS, span=SPAN, longest_ns=st.integers(10**6, 10**9))
def test_shorter_intervals_hold_the_same_integral(
    stamps: list[int], span: tuple[int, int], longest_ns: int
):
    """Intervals are cut where they would be too long, and nothing is lost by it."""
    buffer = filled(stamps)
    whole, cut = buffer.intervals(*span), buffer.intervals(*span, longest_s=longest_ns * 1e-9)
    assert np.all(cut[1:, 0] <= longest_ns * 1e-9 * (1.0 + 1e-6))
    assert_array_equal(cut[0], whole[0])
    ends, cut_ends = (np.cumsum(rows[1:, 0]) for rows in (whole, cut))
    assert np.abs(ends[:, None] - cut_ends).min(axis=1).max() < 1e-12
    integrals = ((rows[1:, :1] * rows[1:, 1:]).sum(axis=0) for rows in (whole, cut))
    assert_allclose(*integrals, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("axis", range(6))
def test_a_single_wild_reading_is_replaced_by_its_neighbours(axis: int):
    """A reading far from both neighbours is a fault; a strong turn or push that lasts is not."""
    readings = np.random.default_rng(1).normal(size=(9, 6))
    wild, lasting = readings.copy(), readings.copy()
    wild[4, axis] += 300.0
    lasting[4:6, axis] += 300.0
    buffer = buffer_of(np.arange(9) * 10**7, wild)
    expected = readings.copy()
    expected[4] = 0.5 * (readings[3] + readings[5])
    assert_allclose(buffer.window(0, 10**9), expected)
    assert buffer.num_spikes == 1
    assert_allclose(buffer_of(np.arange(9) * 10**7, lasting).window(0, 10**9), lasting)


def test_what_no_sensor_gives_is_left_out():
    """Of any number of readings of a thousand g, or of a thousand turns a second, none is kept."""
    readings = np.random.default_rng(1).normal(size=(9, 6))
    wild = readings.copy()
    wild[3:5, 0], wild[5:7, 4] = 1e4, -1e5
    buffer = buffer_of(np.arange(9) * 10**7, wild)
    assert_array_equal(buffer.window(0, 10**9), readings[[0, 1, 2, 7, 8]])
    assert buffer.num_impossible == 4


@pytest.mark.parametrize("back_ns", [3 * 10**8, 5 * 10**9])
def test_a_clock_that_was_set_back_is_followed(back_ns: int):
    """By however little: what was read before is forgotten then."""
    readings = np.random.default_rng(1).normal(size=(200, 6))
    stamps = 10**10 + np.arange(200) * 10**7
    stamps[100:] -= back_ns
    buffer = buffer_of(stamps, readings)
    assert buffer.last_ns == stamps[-1]
    assert 60 < len(buffer) < 100


def test_a_batch_that_comes_late_sets_no_clock():
    """A tenth of a second of a fast IMU, in its own order, is left out, and the rest stays."""
    readings = np.random.default_rng(1).normal(size=(600, 6))
    stamps = 10**10 + np.arange(600) * 10**6
    late = np.r_[0:300, 400:500, 300:400, 500:600]
    buffer = buffer_of(stamps[late], readings[late])
    assert len(buffer) == 500
    assert buffer.num_dropped == 100


@given(stamps=STAMPS, span=SPAN)
@example(stamps=[0, 700, 800, 900, 5000], span=(800, 900))
def test_first_row_is_what_happened_before(stamps: list[int], span: tuple[int, int]):
    """Coning sees the piece since the last reading before the start, or nothing when none was."""
    buffer = filled(stamps)
    first = buffer.intervals(*span)[0]
    earlier = [s for s in stamps if s < span[0]]
    if not earlier:
        assert_array_equal(first, 0.0)
        return
    assert_allclose(first[0], (span[0] - earlier[-1]) * 1e-9)
    expected = integral(buffer, stamps, earlier[-1], span[0], span[0])
    assert_allclose(first[0] * first[1:], expected, rtol=0.0, atol=1e-9)


@given(stamps=STAMPS, span=SPAN)
@example(stamps=[0, 700, 800, 900, 5000], span=(800, 900))
def test_forgetting_changes_nothing_later(stamps: list[int], span: tuple[int, int]):
    """What is forgotten before a time is not needed by any interval from it on."""
    buffer = filled(stamps)
    expected, gap = buffer.intervals(*span), buffer.longest_gap_s(*span)
    buffer.forget_before(span[0])
    assert_array_equal(buffer.intervals(*span), expected)
    assert buffer.longest_gap_s(*span) == gap
    assert sum(stamp <= span[0] for stamp in buffer._stamps) <= 3


@given(stamps=STAMPS, span=SPAN)
@example(stamps=[0, 700, 800, 900, 5000], span=(800, 900))
def test_longest_gap_is_that_of_the_signal_used(stamps: list[int], span: tuple[int, int]):
    """The longest time between readings that intervals interpolate over, or hold one for."""
    start, end = span
    pieces = []
    for a, b in zip([-np.inf, *stamps], [*stamps, np.inf], strict=True):
        if a < end and b > start:
            pieces.append((b if b < np.inf else end) - (a if a > -np.inf else start))
    assert_allclose(filled(stamps).longest_gap_s(start, end), max(pieces) * 1e-9, atol=1e-12)


def test_an_empty_buffer_is_one_gap():
    """Without any reading the whole time is a gap."""
    assert_allclose(ImuBuffer().longest_gap_s(5, 5 + 10**9), 1.0)


def test_late_and_repeated_readings_are_dropped():
    """A reading that is not later than the last one changes nothing but the count."""
    buffer = filled([10, 20, 30])
    expected = buffer.intervals(10, 30)
    for stamp_ns in (30, 25, 10, -5):
        buffer.add(stamp_ns, np.ones(3), np.ones(3))
    assert buffer.num_dropped == 4
    assert len(buffer) == 3
    assert (buffer.first_ns, buffer.last_ns) == (10, 30)
    assert_array_equal(buffer.intervals(10, 30), expected)


def test_window_has_both_ends():
    """A window holds the readings at its ends; outside there are none."""
    buffer = filled([10, 20, 30, 40])
    assert len(buffer.window(20, 30)) == 2
    assert buffer.window(41, 90).shape == (0, 6)


def test_readings_are_copied():
    """A caller may use its arrays again."""
    buffer, rates = ImuBuffer(), np.ones(3)
    buffer.add(0, rates, rates)
    rates[:] = 7.0
    assert_array_equal(buffer.window(0, 0), 1.0)


@pytest.mark.parametrize(
    ("stamp_ns", "rates", "forces"),
    [
        (0, [0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
        (0, [0.0, 0.0, np.nan], [0.0, 0.0, 9.8]),
        (0, [0.0, 0.0, 0.0], [0.0, np.inf, 9.8]),
        (0, np.zeros((3, 1)), np.zeros((3, 1))),
        (0, 1.0, 2.0),
        (0, ["a", "b", "c"], [0.0, 0.0, 9.8]),
        (0, None, None),
        (0.5, [0.0, 0.0, 0.0], [0.0, 0.0, 9.8]),
        ("0", [0.0, 0.0, 0.0], [0.0, 0.0, 9.8]),
        (True, [0.0, 0.0, 0.0], [0.0, 0.0, 9.8]),
        (2**70, [0.0, 0.0, 0.0], [0.0, 0.0, 9.8]),
        (0, [0.0, 0.0, 1j], [0.0, 0.0, 9.8]),
        (0, [[0.0], 0.0, 0.0], [0.0, 0.0, 9.8]),
    ],
)
def test_nonsense_is_refused_with_a_sentence(stamp_ns: Any, rates: Any, forces: Any):
    """Wrong shapes, numbers that are none, and stamps in seconds raise InputError."""
    buffer = ImuBuffer()
    with pytest.raises(InputError, match=r"IMU reading .*\.$"):
        buffer.add(stamp_ns, rates, forces)
    assert len(buffer) == 0
