# SPDX-License-Identifier: MIT
"""Faults themselves: each does what it says within its window, and leaves everything else alone."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from recording_inputs import PERIOD_NS, START_NS, SmallDataset
from svnicp.data.measurements import ImuSample, Scan
from svnicp.studies.faults import clock_faults, point_faults, stream_faults
from svnicp.studies.faults.arrivals import Arrival, FaultyDataset, Inject
from svnicp.studies.faults.catalogue import FAULTS, NONE

TEN = SmallDataset(10)
"""A second: ten scans of about 20 points, a hundred readings."""

RARE = {NONE.name, "5 % of the scans dropped", "spikes", "readings not finite"}
"""Faults that may leave 0.3 s alone."""


def arrivals(inject: Inject, begin_s: float = 0.25, duration_s: float = 0.4) -> list[Arrival]:
    """What arrives of the ten scans with a fault."""
    fault = dataclasses.replace(NONE, inject=inject, begin_s=begin_s, duration_s=duration_s)
    return list(FaultyDataset(TEN, fault, START_NS, seed=3).arrivals())


def scans(found: list[Arrival]) -> Iterator[Scan]:
    """Scans among arrivals."""
    return (one.measurement for one in found if isinstance(one.measurement, Scan))


def numbers(found: list[Arrival]) -> list[int]:
    """Numbers of the scans that arrive, in their order."""
    return [(scan.stamp_ns - START_NS) // PERIOD_NS for scan in scans(found)]


@pytest.mark.parametrize("name", [name for name in FAULTS if name != "2 million points"])
def test_faults_stay_in_their_window(name: str):
    """Before the window everything arrives as it was; the same seed gives the same fault again."""
    fault = dataclasses.replace(FAULTS[name], begin_s=0.5, duration_s=0.3)
    first = FaultyDataset(TEN, fault, START_NS, seed=1)
    found, again = list(first.arrivals()), list(first.arrivals())
    before = [one for one in TEN.measurements() if Arrival(one).true_ns < first.window.begin_ns]
    assert [one.measurement for one in found[: len(before)]] == before
    assert not any(one.faulty or one.shift_ns for one in found[: len(before)])
    assert sum(one.faulty for one in found) == sum(one.faulty for one in again)
    for one, other in zip(scans(found), scans(again), strict=True):
        np.testing.assert_array_equal(one.points, other.points)
    if name not in RARE:
        assert any(one.faulty for one in found)


@pytest.mark.parametrize("name", FAULTS)
def test_the_true_time_is_known(name: str):
    """Whatever happens to stamps, the shift gives back the time at which a scan was taken."""
    if name == "2 million points":
        return
    true = {scan.end_ns for scan in TEN.scans()}
    taken = {one.points.tobytes(): one.end_ns for one in TEN.scans()}
    fault = dataclasses.replace(FAULTS[name], begin_s=0.5, duration_s=0.3)
    for one in FaultyDataset(TEN, fault, START_NS).arrivals():
        if isinstance(one.measurement, Scan) and one.measurement.points.tobytes() in taken:
            assert one.true_ns in true
            assert one.true_ns == taken[one.measurement.points.tobytes()]


def test_scans_are_lost_late_doubled_and_swapped():
    """Each fault of the stream by its numbers; what is lost is counted as touched."""
    gone = arrivals(stream_faults.lost(Scan))
    assert numbers(gone) == [0, 1, 6, 7, 8, 9]
    assert sum(one.faulty for one in gone) == 4
    half = arrivals(stream_faults.lost(ImuSample, 0.5), 0.0, 10.0)
    assert 30 < sum(isinstance(one.measurement, ImuSample) for one in half) < 70
    assert numbers(arrivals(stream_faults.doubled())) == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9]
    assert numbers(arrivals(stream_faults.swapped())) == [0, 1, 3, 2, 5, 4, 6, 7, 8, 9]


def test_late_scans_arrive_behind_readings_and_in_order():
    """Every scan of the window comes behind readings taken 0.15 s after it, and none overtakes."""
    found = arrivals(stream_faults.late(0.15))
    assert numbers(found) == list(range(10))
    newest_ns = 0
    for one in found:
        if isinstance(one.measurement, ImuSample):
            newest_ns = one.measurement.stamp_ns
        elif one.faulty:
            assert newest_ns - one.true_ns > 130_000_000


def test_clocks_that_are_set_move_points_along():
    """Stamps of scans, points and readings all jump, and stay so."""
    found = arrivals(clock_faults.set_clock(-5.0))
    moved = [one for one in found if one.faulty]
    assert all(one.shift_ns == 5_000_000_000 for one in moved)
    assert len(moved) == sum(
        Arrival(one).true_ns >= START_NS + 250_000_000 for one in TEN.measurements()
    )
    for scan in scans(moved):
        assert scan.point_times_ns is not None
        assert np.all(scan.point_times_ns < START_NS)


def test_a_body_that_is_carried_off_loses_the_time_between():
    """What was in the window is not there, and what follows comes at once."""
    found = arrivals(clock_faults.carried_off(), 0.25, 0.4)
    stamps = [one.stamp_ns for one in scans(found)]
    assert len(stamps) == 6
    assert np.diff(stamps).max() < 1.5 * PERIOD_NS
    assert sum(one.faulty for one in found) == 1


def test_points_by_the_number(rng):
    """Two million, ten, all equal, half: clouds have the points that the fault promises."""
    scan = next(TEN.scans())
    assert point_faults.many(2_000_000)(scan, rng).points.shape == (2_000_000, 3)
    assert len(point_faults.few(10)(scan, rng).points) == 10
    assert np.ptp(point_faults.all_equal()(scan, rng).points, axis=0).max() == 0.0
    assert np.all(point_faults.half_blocked()(scan, rng).points[:, 1] < 0.0)
    assert np.isnan(point_faults.not_finite(2.0, np.nan)(scan, rng).points).all()


def test_every_fault_is_explained():
    """The page about reliability has a sentence for each fault."""
    for fault in FAULTS.values():
        assert fault.happens.endswith(".")
        assert len(fault.happens) > 10
