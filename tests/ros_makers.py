# SPDX-License-Identifier: MIT
"""Scans as the drivers of all makers write them, and recordings of them with an IMU."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from ros_recordings import (
    PERIOD_NS,
    START_NS,
    Encodable,
    Stored,
    cloud_message,
    imu_message,
    struct_points,
)
from svnicp.data import ImuSample, Scan

NUM_SCANS = 4
NUM_POINTS = 60


class Maker(NamedTuple):
    """How one maker's driver writes a scan."""

    layout: np.dtype
    fields: list[tuple[str, int, int]]
    time_field: str
    encode: Callable[[np.ndarray, int], np.ndarray]
    """Times of points and start of the scan, both in ns, to what is written."""
    header_late_ns: int
    tolerance_ns: int
    """How well times survive in the driver's own number type."""


def packed(*fields: tuple[str, str]) -> np.dtype:
    return np.dtype(list(fields))


def spaced(itemsize: int, **fields: tuple[str, int]) -> np.dtype:
    """Layout with gaps: each field as (type, offset)."""
    formats, offsets = zip(*fields.values(), strict=True)
    return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets,
                     "itemsize": itemsize})  # fmt: skip


CODES = {"f4": 7, "f8": 8, "u1": 2, "u2": 4, "u4": 6}


def fields_of(layout: np.dtype) -> list[tuple[str, int, int]]:
    """Return the PointFields of a layout."""
    assert layout.fields is not None
    return [(n, f[1], CODES[f[0].str[1:]]) for n, f in layout.fields.items()]


def maker(layout: np.dtype, field: str, encode: Callable, late_ns: int, tolerance: int) -> Maker:
    return Maker(layout, fields_of(layout), field, encode, late_ns, tolerance)


def absolute_seconds(times_ns: np.ndarray, _start_ns: int) -> np.ndarray:
    return times_ns // 10**9 + (times_ns % 10**9) / 1e9


MAKERS = {
    "velodyne": maker(
        spaced(32, x=("f4", 0), y=("f4", 4), z=("f4", 8), intensity=("f4", 16), ring=("u2", 20),
               time=("f4", 24)),
        "time", lambda t, start: ((t - start - PERIOD_NS) / 1e9).astype("f4"), PERIOD_NS, 5,
    ),
    "ouster": maker(
        spaced(48, x=("f4", 0), y=("f4", 4), z=("f4", 8), intensity=("f4", 16), t=("u4", 20),
               reflectivity=("u2", 24), ring=("u1", 26), ambient=("u2", 28), range=("u4", 32)),
        "t", lambda t, start: t - start, 0, 0,
    ),
    "hesai": maker(
        spaced(48, x=("f4", 0), y=("f4", 4), z=("f4", 8), intensity=("f4", 16),
               timestamp=("f8", 24), ring=("u2", 32)),
        "timestamp", absolute_seconds, 0, 120,
    ),
    "robosense": maker(
        packed(("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4"), ("ring", "u2"),
               ("timestamp", "f8")),
        "timestamp", absolute_seconds, PERIOD_NS, 120,
    ),
    "livox": maker(
        packed(("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4"), ("tag", "u1"),
               ("line", "u1"), ("timestamp", "f8")),
        "timestamp", lambda t, _start: t.astype("f8"), 0, 130,
    ),
}  # fmt: skip


def true_scans(rng: np.random.Generator, num_scans: int = NUM_SCANS) -> list[Scan]:
    """Scans of points whose times span 99 percent of the period."""
    shares = np.linspace(0.0, 0.99, NUM_POINTS)
    return [
        Scan(
            START_NS + index * PERIOD_NS,
            rng.uniform(-50.0, 50.0, (NUM_POINTS, 3)).astype(np.float32),
            START_NS + index * PERIOD_NS + (shares * PERIOD_NS).astype(np.int64),
        )
        for index in range(num_scans)
    ]


def scan_message(scan: Scan, made_by: Maker) -> Encodable:
    """Message that the driver of a maker would write for a scan."""
    assert scan.point_times_ns is not None
    times = made_by.encode(scan.point_times_ns, scan.stamp_ns)
    points = np.asarray(scan.points)
    rows = struct_points(made_by.layout, points, **{made_by.time_field: times})
    if "ring" in (rows.dtype.names or ()):
        rows["ring"] = np.arange(len(points)) % 16
    return cloud_message(scan.stamp_ns + made_by.header_late_ns, rows, made_by.fields)


def true_imu(rng: np.random.Generator, end_s: float = 0.1 * NUM_SCANS) -> list[ImuSample]:
    """IMU samples at 200 Hz, about at rest."""
    return [
        ImuSample(
            START_NS + index * 5_000_000,
            rng.normal(0.0, 0.1, 3),
            np.array([0.0, 0.0, 9.8]) + rng.normal(0.0, 0.05, 3),
        )
        for index in range(round(end_s / 0.005))
    ]


def stored_imu(
    samples: list[ImuSample], topic: str = "/imu/data", unit: float = 1.0
) -> list[Stored]:
    return [
        Stored(
            topic,
            "sensor_msgs/msg/Imu",
            sample.stamp_ns,
            imu_message(
                sample.stamp_ns, sample.angular_velocity, sample.linear_acceleration / unit
            ),
        )
        for sample in samples
    ]


def stored_scans(
    scans: list[Scan], made_by: str = "ouster", topic: str = "/points"
) -> list[Stored]:
    return [
        Stored(
            topic,
            "sensor_msgs/msg/PointCloud2",
            scan.stamp_ns + PERIOD_NS,
            scan_message(scan, MAKERS[made_by]),
        )
        for scan in scans
    ]


def assert_same_scans(read: list[Scan], scans: list[Scan], tolerance_ns: int = 0) -> None:
    assert len(read) == len(scans)
    for one, other in zip(read, scans, strict=True):
        assert_array_equal(one.points, other.points)
        assert one.point_times_ns is not None
        assert other.point_times_ns is not None
        assert np.abs(one.point_times_ns - other.point_times_ns).max() <= tolerance_ns
        assert abs(one.stamp_ns - other.stamp_ns) <= tolerance_ns


def assert_same_imu(read: list[ImuSample], samples: list[ImuSample]) -> None:
    assert [sample.stamp_ns for sample in read] == [sample.stamp_ns for sample in samples]
    for one, other in zip(read, samples, strict=True):
        assert_array_equal(one.angular_velocity, other.angular_velocity)
        assert_allclose(one.linear_acceleration, other.linear_acceleration, rtol=1e-15)
