# SPDX-License-Identifier: MIT
"""A start at speed with an IMU, disturbed: empty, swapped, repeated scans, and a clock set back."""

from collections.abc import Callable

import numpy as np
import pytest

from odometry_cases import DEFAULT, errors, feed, in_front_of, measured, steady
from svnicp.data.measurements import ImuSample, Scan
from svnicp.odometry import Odometry
from svnicp.simulation.imu import IMUS

NOISE = IMUS["xsens_mti30"].noise
Stream = list[ImuSample | Scan]


@pytest.fixture(scope="module")
def dataset():
    """A street at 6 m/s."""
    return steady(6.0, 2.4, True, "street", "vlp16")


def held_back(stream: Stream) -> list[int]:
    """Places in the stream of the first scan with an estimate, the one held back, and the next."""
    odometry, scans = Odometry(DEFAULT, NOISE), []
    for place, one in enumerate(stream):
        if isinstance(one, Scan):
            done = odometry.process(one)
            if done is not None or scans:
                scans.append(place)
            if len(scans) == 3:
                assert done is not None
                return scans
        else:
            odometry.add_imu(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
    raise AssertionError("no scan was held back")


def emptied(scan: ImuSample | Scan) -> Scan:
    """The same scan without points."""
    assert isinstance(scan, Scan)
    assert scan.point_times_ns is not None
    return Scan(scan.stamp_ns, scan.points[:0], scan.point_times_ns[:0])


def swapped(stream: Stream, first: int, second: int) -> Stream:
    """The scan at one place moved behind another."""
    out = list(stream)
    out.insert(second, out.pop(first))
    return out


CHANGES: dict[str, Callable[[Stream, list[int]], Stream]] = {
    "second empty": lambda s, at: [emptied(x) if n == at[1] else x for n, x in enumerate(s)],
    "third empty": lambda s, at: [emptied(x) if n == at[2] else x for n, x in enumerate(s)],
    "second twice": lambda s, at: [*s[: at[1] + 1], s[at[1]], *s[at[1] + 1 :]],
    "second after third": lambda s, at: swapped(s, at[1], at[2]),
    "nothing": lambda s, _: s,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_fast_start_survives_disturbed_scans(change: str, dataset):
    """The run ends where it should, whatever happens to the scans that tell the first motion."""
    stream = measured(dataset)
    got = feed(Odometry(DEFAULT, NOISE), CHANGES[change](stream, held_back(stream)))
    assert len(got) > 8
    assert np.abs(errors(dataset, got)[-1, :3]).max() < 0.05


def test_a_clock_set_back_while_a_scan_waits_is_no_crash(dataset):
    """The readings are gone then, and the next scan has to do without."""
    stream = measured(dataset)
    _, second, third = held_back(stream)
    early = [
        ImuSample(x.stamp_ns - 5 * 10**9, x.angular_velocity, x.linear_acceleration)
        for x in stream[second + 1 :]
        if isinstance(x, ImuSample)
    ][:10]
    got = feed(Odometry(DEFAULT, NOISE), [*stream[: second + 1], *early, stream[third]])
    assert all(np.isfinite(one.covariance).all() for one in got)


@pytest.mark.parametrize(
    ("change", "also"),
    [
        ("nothing", {}),
        ("second empty", {"unusable_second": 1}),
        ("third empty", {"unusable_second": 1}),
    ],
)
def test_scans_without_an_estimate_are_counted_by_the_reason(change: str, also: dict, dataset):
    """Every scan has an estimate, or is counted; the one that waited for another is told apart."""
    stream = measured(dataset)
    changed = CHANGES[change](stream, held_back(stream))
    odometry = Odometry(DEFAULT, NOISE)
    got = feed(odometry, changed)
    counts = odometry.without_estimate
    num_scans = sum(isinstance(one, Scan) for one in changed)
    assert counts == {"before_start": counts["before_start"], "held_back": 1, **also}
    assert sum(counts.values()) == num_scans - len(got)


def test_a_first_scan_deskewed_by_a_guess_leaves_its_error_in_the_map():
    """Walking from the first moment on, poses since the start are as sure as they may be."""
    squares = []
    for speed in (0.5, 0.7, 1.0):
        dataset = steady(speed, 4.0, shaken=True)
        estimates = feed(Odometry(DEFAULT, NOISE), measured(dataset))
        squares += [
            error @ np.linalg.solve(one.covariance, error) / 6.0
            for error, one in zip(errors(dataset, estimates)[1:], estimates[1:], strict=True)
        ]
    assert 0.3 < np.mean(squares) < 2.5


def test_a_map_begins_anew_where_only_its_first_scan_saw_something_else(dataset):
    """A hand before the sensor, and off at 6 m/s: the motion is that of the scans after it."""
    stream = measured(dataset)
    first = held_back(stream)[0]
    hidden = [in_front_of(x) if n == first and isinstance(x, Scan) else x
              for n, x in enumerate(stream)]  # fmt: skip
    estimates = feed(Odometry(DEFAULT, NOISE), hidden)
    statuses = [one.status for one in estimates]
    assert statuses.count("new_map") == 1
    found = estimates[statuses.index("new_map") + 2 :]
    assert len(found) > 4
    truth = dataset.truth_at(np.array([one.stamp_ns for one in found]))
    for one, velocity in zip(found, truth.velocity_world, strict=True):
        assert np.linalg.norm(one.velocity_world) == pytest.approx(
            np.linalg.norm(velocity), abs=0.1
        )
