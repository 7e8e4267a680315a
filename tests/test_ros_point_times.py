# SPDX-License-Identifier: MIT
"""The convention of a driver's point times is found out, whatever it is, or can be given."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from svnicp.data.ros.point_time_detection import (
    TimeSample,
    detect_point_times,
    time_fields,
    unit_of_span,
)
from svnicp.data.ros.point_times import UNIT_NAMES, PointTimeOptions, PointTimes, to_ns
from svnicp.data.stamps import UNITS_NS

ANY = PointTimeOptions()
EPOCH_NS = 1_700_000_000 * 10**9
units = st.sampled_from(["s", "ms", "us", "ns"])
periods_ns = st.sampled_from([50_000_000, 100_000_000, 200_000_000])


def scans_of(
    rng: np.random.Generator, start_ns: int, period_ns: int, fills: list[float]
) -> list[tuple[int, np.ndarray]]:
    """Scans as (start, true times of points); each is filled from a random place to some share."""
    scans = []
    for index, fill in enumerate(fills):
        first = rng.uniform(0.0, 1.0 - fill)
        shares = first + fill * np.sort(rng.random(40))
        scan_start_ns = start_ns + index * period_ns
        scans.append((scan_start_ns, scan_start_ns + (shares * period_ns).astype(np.int64)))
    return scans


def raw(times_ns: np.ndarray, unit: str, dtype: str) -> np.ndarray:
    """Times in a unit and number type, as a driver would write them."""
    if np.dtype(dtype).kind == "f":
        whole, rest_ns = np.divmod(times_ns, UNITS_NS[unit])
        return (whole + rest_ns / UNITS_NS[unit]).astype(dtype)
    return (times_ns // UNITS_NS[unit]).astype(dtype)


def resolution_ns(raw_times: np.ndarray, unit: str) -> float:
    """How well the raw times hold the true ones [ns]."""
    if raw_times.dtype.kind == "f":
        return 1.0 + float(np.spacing(np.abs(raw_times).max())) * UNITS_NS[unit]
    return float(UNITS_NS[unit])


@given(units, periods_ns, st.sampled_from(["start", "end"]), st.integers(0, 2**32), st.data())
def test_relative_times_are_recognised(unit, period_ns, header_at, seed, data):
    """Unit, sign and reference are found for offsets from a header at either end."""
    rng = np.random.default_rng(seed)
    fills = data.draw(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=8))
    dtype = data.draw(st.sampled_from(["f4", "f8", "i4"] if unit in ("us", "ns") else ["f4", "f8"]))
    scans = scans_of(rng, EPOCH_NS, period_ns, [1.0, *fills])
    samples = []
    for start_ns, times_ns in scans:
        header_ns = start_ns + (period_ns if header_at == "end" else 0)
        samples.append(TimeSample(header_ns, raw(times_ns - header_ns, unit, dtype)))
    found = detect_point_times("time", samples, ANY)
    assert found is not None
    assert (found.unit, found.absolute, found.header_at) == (unit, False, header_at)
    assert not found.doubt
    for (_, times_ns), sample in zip(scans, samples, strict=True):
        start_ns, read_ns = found.apply(sample.raw_times, sample.header_ns)
        assert np.abs(read_ns - times_ns).max() <= resolution_ns(sample.raw_times, unit)
        assert start_ns == min(sample.header_ns, read_ns.min())


@given(units, periods_ns, st.sampled_from(["start", "end"]), st.integers(0, 2**32), st.data())
def test_absolute_times_are_recognised(unit, period_ns, header_at, seed, data):
    """Times of the header's clock are used as they are, whether it starts in 1970 or at zero."""
    rng = np.random.default_rng(seed)
    clock_start_ns = data.draw(st.sampled_from([0, 12_300_000_000, EPOCH_NS]))
    fills = data.draw(st.lists(st.floats(0.3, 1.0), min_size=3, max_size=8))
    scans = scans_of(rng, clock_start_ns, period_ns, [1.0, *fills])
    late_ns = period_ns if header_at == "end" else 0
    samples = [TimeSample(start + late_ns, raw(times, unit, "f8")) for start, times in scans]
    found = detect_point_times("timestamp", samples, ANY)
    assert found is not None
    assert (found.unit, found.absolute, found.header_clock) == (unit, True, True)
    for (_, times_ns), sample in zip(scans, samples, strict=True):
        _, read_ns = found.apply(sample.raw_times, sample.header_ns)
        assert np.abs(read_ns - times_ns).max() <= resolution_ns(sample.raw_times, unit)


@given(units, periods_ns, st.integers(0, 2**32), st.sampled_from([-37.0, 900.0, 1e6, -1.6e9]))
def test_times_of_another_clock_keep_their_spacing(unit, period_ns, seed, offset_s):
    """A sensor clock that is off is noticed, and each scan is put at its header."""
    rng = np.random.default_rng(seed)
    scans = scans_of(rng, EPOCH_NS, period_ns, [1.0] * 5)
    offset_ns = round(offset_s * 1e9)
    samples = [TimeSample(start, raw(times + offset_ns, unit, "f8")) for start, times in scans]
    found = detect_point_times("timestamp", samples, ANY)
    assert found is not None
    assert (found.absolute, found.header_clock, found.header_at) == (True, False, "start")
    assert "another clock" in found.finding().value
    for (_, times_ns), sample in zip(scans, samples, strict=True):
        start_ns, read_ns = found.apply(sample.raw_times, sample.header_ns)
        assert start_ns == sample.header_ns == read_ns.min()
        spacing_error = (read_ns - read_ns.min()) - (times_ns - times_ns.min())
        assert np.abs(spacing_error).max() <= 2 * resolution_ns(sample.raw_times, unit)


def test_real_conventions_of_drivers(rng):
    """Velodyne, Ouster, Hesai, Livox's second driver: unit, reference and header as documented."""
    scans = scans_of(rng, EPOCH_NS, 100_000_000, [1.0] * 5)
    conventions = {
        "Velodyne": (100_000_000, lambda t, h: raw(t - h, "s", "f4"), ("s", False, "end")),
        "Velodyne in us": (100_000_000, lambda t, h: raw(t - h, "us", "f4"), ("us", False, "end")),
        "Ouster": (0, lambda t, h: raw(t - h, "ns", "u4"), ("ns", False, "start")),
        "Hesai": (0, lambda t, _: raw(t, "s", "f8"), ("s", True, "start")),
        "RoboSense, last": (100_000_000, lambda t, _: raw(t, "s", "f8"), ("s", True, "end")),
        "Livox 2": (0, lambda t, _: raw(t, "ns", "f8"), ("ns", True, "start")),
    }
    for name, (late_ns, write, expected) in conventions.items():
        samples = [TimeSample(start + late_ns, write(t, start + late_ns)) for start, t in scans]
        found = detect_point_times("t", samples, ANY)
        assert found is not None, name
        assert (found.unit, found.absolute, found.header_at) == expected, name


@given(st.floats(0.006, 4.9), units, st.floats(0.005, 1.0))
def test_one_unit_fits_every_possible_span(share, unit, period_s):
    """From half a percent of a scan period to five of them, the unit is unique and found."""
    span = share * period_s / (UNITS_NS[unit] * 1e-9)
    assert unit_of_span(span, period_s) == unit


def test_times_without_a_span_are_none():
    """Constant times, no points and times that are to be ignored all mean: no times."""
    constant = [TimeSample(i * 10**8, np.full(9, 3.0)) for i in range(3)]
    assert detect_point_times("time", constant, ANY) is None
    assert detect_point_times("time", [TimeSample(0, np.empty(0))], ANY) is None
    assert detect_point_times("time", [], ANY) is None
    varying = [TimeSample(i * 10**8, np.linspace(0.0, 0.1, 9)) for i in range(3)]
    assert detect_point_times("time", varying, ANY) is not None
    assert detect_point_times("time", varying, PointTimeOptions(ignore=True)) is None


def test_a_scan_with_few_points_is_not_sure():
    """A span far from a scan period gives the likeliest unit and a doubt."""
    samples = [TimeSample(i * 10**8, np.linspace(0.0, 0.004, 9)) for i in range(4)]
    found = detect_point_times("time", samples, ANY)
    assert found is not None
    assert found.unit == "s"
    assert found.doubt.endswith("set --point-time-unit if that is wrong.")
    assert "4% of the scan period" in found.evidence


@pytest.mark.parametrize("given", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("written", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("start_ns", [0, EPOCH_NS])
def test_a_unit_that_cannot_be_is_told_with_the_one_that_fits(given, written, start_ns):
    """A wrong unit is doubted in a sentence that names the right one; the right one never is."""
    times_ns = [start_ns + i * 10**8 * bool(start_ns) + np.arange(100) * 10**6 for i in range(3)]
    samples = [TimeSample(EPOCH_NS + i * 10**8, raw(times_ns[i], written, "f8")) for i in range(3)]
    found = detect_point_times("t", samples, PointTimeOptions(unit=given))
    assert found is not None
    assert found.unit == given
    if given == written:
        assert not found.doubt
    else:
        fitting = f"look like {UNIT_NAMES[written]}; use --point-time-unit {written}, or leave"
        assert fitting in found.doubt


@pytest.mark.parametrize("reference", ["start", "end"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_reference_that_is_given_moves_the_scan(reference, sign):
    """Offsets of either sign span the period after or before the header, as it is told."""
    offsets = sign * np.linspace(0.0, 0.1, 11)
    samples = [TimeSample(EPOCH_NS + i * 10**8, offsets) for i in range(4)]
    found = detect_point_times("time", samples, PointTimeOptions(reference=reference))
    assert found is not None
    _, read_ns = found.apply(offsets, EPOCH_NS)
    expected = (0, 10**8) if reference == "start" else (-(10**8), 0)
    assert (read_ns.min() - EPOCH_NS, read_ns.max() - EPOCH_NS) == expected


def test_given_unit_and_reference_win():
    """What is given is not detected: another unit, and absolute times of another clock as such."""
    samples = [TimeSample(EPOCH_NS + i * 10**8, np.arange(9.0) + i) for i in range(4)]
    found = detect_point_times("t", samples, PointTimeOptions(unit="us", reference="absolute"))
    assert found is not None
    assert (found.unit, found.absolute, found.header_clock) == ("us", True, True)
    assert_array_equal(found.apply(np.array([5.0]), EPOCH_NS).times_ns, [5000])


def test_a_reference_that_is_given_anchors_absolute_times():
    """Absolute times of any clock end at the header if that is what is told."""
    times = 5.0 + np.linspace(0.0, 0.1, 11)
    samples = [TimeSample(EPOCH_NS + i * 10**8, times + 0.1 * i) for i in range(4)]
    found = detect_point_times("t", samples, PointTimeOptions(reference="end"))
    assert found is not None
    assert found.apply(times, EPOCH_NS).times_ns.max() == EPOCH_NS


def test_offsets_from_something_before_the_header_stay_relative(rng):
    """Times of 0.3 to 0.4 s in every scan, a little jittery, do not go on with the headers."""
    samples = [
        TimeSample(EPOCH_NS + i * 10**8, 0.3 + np.linspace(0.0, 0.1, 11) + rng.uniform(0.0, 0.01))
        for i in range(6)
    ]
    found = detect_point_times("t", samples, ANY)
    assert found is not None
    assert not found.absolute


def test_a_single_scan_is_enough():
    """One scan tells relative from absolute times, with the usual period of 0.1 s."""
    relative = detect_point_times("t", [TimeSample(EPOCH_NS, np.arange(0, 10**8, 1000))], ANY)
    absolute = detect_point_times("t", [TimeSample(EPOCH_NS, 1.7e9 + np.arange(0, 0.1, 1e-3))], ANY)
    assert relative is not None
    assert absolute is not None
    assert (relative.unit, relative.absolute) == ("ns", False)
    assert (absolute.unit, absolute.absolute) == ("s", True)


@given(st.integers(0, 39 * 10**8), st.integers(0, 10**9 - 1))
def test_absolute_seconds_keep_what_a_double_holds(seconds, fraction_ns):
    """Conversion adds no error to that of the double itself."""
    value = np.array([seconds + fraction_ns * 1e-9])
    assert to_ns(value, "s")[0] == round(Fraction(value[0]) * 10**9)


def test_garbage_times_do_not_overflow():
    """Times beyond all clocks give some time and no warning."""
    times = to_ns(np.array([1e30, -1e30, 0.0]), "s")
    assert times[2] == 0
    assert times[1] < 0 < times[0]


def test_time_fields_are_known_by_name():
    """Names of all drivers are found, in any case, the likeliest first."""
    assert time_fields(["x", "intensity", "Timestamp", "t"]) == ["t", "Timestamp"]
    assert time_fields(["x", "y", "z", "ring"]) == []


def test_the_finding_says_what_was_understood():
    """Words for unit, reference and header, with the evidence and the flags."""
    times = PointTimes("time", "s", False, "end", evidence="because")
    finding = times.finding()
    assert finding.value == "seconds, relative to the header, which marks the end of the scan"
    assert finding.evidence == "because"
    assert "--point-time-unit" in finding.override
    assert "absolute; the header" in replace(times, absolute=True).finding().value
