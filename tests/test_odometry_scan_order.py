# SPDX-License-Identifier: MIT
"""Scans in their turn: late ones are left out, a clock that was set is followed."""

from svnicp.odometry.scan_order import CLOCK_SCANS, LATE_SCANS, ScanOrder, Turn

PERIOD_NS = 10**8


def in_use() -> ScanOrder:
    """Order that has seen two scans, the last at 10 s."""
    order = ScanOrder(0.01)
    assert order.turn(10**10, 10**10 - PERIOD_NS) is Turn.NEXT
    return order


def test_late_and_repeated_scans_are_left_out():
    """However many of them there are, as long as they are late by less than a second."""
    order = in_use()
    for late_ns in [0, 10**6, 5 * PERIOD_NS] * 5:
        assert order.turn(10**10 - late_ns, 10**10) is Turn.LATE


def test_a_clock_that_was_set_back_is_followed():
    """After some scans in a row that are far too early, and not before."""
    order = in_use()
    turns = [order.turn(5 * 10**9 + n * PERIOD_NS, 10**10) for n in range(CLOCK_SCANS)]
    assert turns == [Turn.LATE] * (CLOCK_SCANS - 1) + [Turn.CLOCK_SET]
    assert order.before_ns == CLOCK_SCANS * PERIOD_NS


def test_a_clock_that_was_set_back_by_little_is_followed():
    """After more scans in a row, each of which is later than the one before."""
    order = in_use()
    turns = [order.turn(10**10 - 9 * PERIOD_NS + n * PERIOD_NS, 10**10) for n in range(LATE_SCANS)]
    assert turns == [Turn.LATE] * (LATE_SCANS - 1) + [Turn.CLOCK_SET]
    assert order.before_ns == LATE_SCANS * PERIOD_NS


def test_single_wrong_stamps_set_no_clock():
    """Scans far too early that come among good ones are left out."""
    order, last_ns = in_use(), 10**10
    for _ in range(3 * CLOCK_SCANS):
        assert order.turn(10**9, last_ns) is Turn.LATE
        assert order.turn(last_ns + PERIOD_NS, last_ns) is Turn.NEXT
        last_ns += PERIOD_NS


def test_a_long_pause_is_no_motion():
    """After a minute without scans time goes on as if a few scans had been left out."""
    order = in_use()
    assert order.turn(10**10 + 20 * 10**9, 10**10) is Turn.NEXT
    order = in_use()
    assert order.turn(10**10 + 60 * 10**9, 10**10) is Turn.CLOCK_SET
    assert order.before_ns == CLOCK_SCANS * PERIOD_NS


def test_a_clock_set_after_the_first_scan_leaves_time_for_motion():
    """Until two scans have come the usual period stands for what is not known."""
    order = ScanOrder(0.01)
    turns = [order.turn(10**9 + n * PERIOD_NS, 10**12) for n in range(CLOCK_SCANS)]
    assert turns[-1] is Turn.CLOCK_SET
    assert order.before_ns > 0
