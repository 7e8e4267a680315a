# SPDX-License-Identifier: MIT
"""Simulated recordings of studies keep their scans, which are the same as those made anew."""

import numpy as np

from svnicp.simulation.simulate import simulate
from svnicp.studies import kept_scans
from svnicp.studies.kept_scans import kept
from svnicp.studies.source import Source

WHERE = Source(name="room", seed=100, duration_s=0.6, sparse=4)


def same(one, other) -> bool:
    """Whether two scans are equal to the bit."""
    return (
        one.stamp_ns == other.stamp_ns
        and np.array_equal(one.points, other.points)
        and np.array_equal(one.point_times_ns, other.point_times_ns)
    )


def test_kept_scans_are_those_of_the_recording():
    """Scans, in any order and read again, and readings are those that are made while reading."""
    dataset = simulate("room", 100, 0.6)
    keeping = kept(dataset)
    for number in (3, 0, 3, 5):
        assert same(keeping.scan(number), dataset.scan(number))
    assert keeping.scan(3) is keeping.scan(3)
    assert keeping.num_scans == 6
    readings = zip(keeping.imu_samples(), dataset.imu_samples(), strict=True)
    assert all(np.array_equal(a.angular_velocity, b.angular_velocity) for a, b in readings)


def test_no_more_is_kept_than_there_is_room_for(monkeypatch):
    """Beyond the limit scans are made again, and still the same."""
    keeping = kept(simulate("room", 100, 0.6))
    monkeypatch.setattr(kept_scans, "MOST_BYTES", keeping.scan(0).points.nbytes)
    assert keeping.scan(0) is keeping.scan(0)
    assert keeping.scan(1) is not keeping.scan(1)
    assert same(keeping.scan(1), keeping.scan(1))


def test_a_source_that_is_opened_again_gives_the_same_scans():
    """The scans of the last source stay; those of another one take their place."""
    first = list(WHERE.open().scans())
    again = list(Source(**WHERE.inputs()).open().scans())
    assert all(a is b for a, b in zip(first, again, strict=True))
    other = next(iter(Source(**{**WHERE.inputs(), "seed": 101}).open().scans()))
    assert not same(other, first[0])
    anew = list(WHERE.open().scans())
    assert all(same(a, b) for a, b in zip(first, anew, strict=True))
    assert anew[0] is not first[0]
