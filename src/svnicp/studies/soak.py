# SPDX-License-Identifier: MIT
"""Hours of driving in a loop, to see that the time of a scan and the memory do not grow.

A room is driven round and round with an IMU, and with scans of 16 x 512 beams at 10 Hz, few enough
that an hour of driving takes minutes. The scans of one lap are traced once; every lap draws the
noise of ranges and readings anew.
"""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.lie import make_transform, so3_exp
from svnicp.odometry import Odometry
from svnicp.simulation import LidarPattern, scan
from svnicp.simulation.imu import GRAVITY
from svnicp.simulation.scene import room

RADIUS_M, SPEED_MPS, HEIGHT_M, SCANS_PER_S = 1.0, 0.5, 1.2, 10
READINGS_PER_SCAN = 10
IMU = ImuNoise.model("xsens_mti30")
NOISE_M = 0.02
RINGS, COLUMNS = 16, 512
SETTLED_MINUTES = 5
"""After this time the map is full and everything is loaded; from here on nothing may grow."""


def soak(
    minutes: int,
    tell: Callable[[str], None],
    columns: int = COLUMNS,
    config: Config | None = None,
    minute_s: float = 60.0,
) -> list[dict[str, float]]:
    """Drive for so many simulated minutes, which may be shorter; one row per minute.

    Each has the mean and 95th percentile of the time per scan [ms], the resident memory of the
    process and the memory of the map at its end [MB].
    """
    odometry = Odometry(config, imu=IMU)
    laps = _drive(columns)
    rows = []
    for minute in range(minutes):
        seconds = []
        for _ in range(round(minute_s * SCANS_PER_S)):
            readings, one = next(laps)
            for reading in readings:
                odometry.add_imu(
                    reading.stamp_ns, reading.angular_velocity, reading.linear_acceleration
                )
            estimate = odometry.process(one)
            if estimate is not None:
                seconds.append(sum(estimate.timing_s.values()))
        gc.collect()
        rows.append(
            {
                "minute": minute + 1,
                "mean_ms": 1e3 * float(np.mean(seconds)),
                "p95_ms": 1e3 * float(np.percentile(seconds, 95)),
                "resident_mb": resident_bytes() / 1e6,
                "map_mb": odometry.local_map.nbytes / 1e6,
            }
        )
        tell(f"minute {minute + 1}: {rows[-1]['mean_ms']:.1f} ms, {rows[-1]['resident_mb']:.0f} MB")
    return rows


def growth(rows: list[dict[str, float]], name: str, settled: int = SETTLED_MINUTES) -> float:
    """Last fifth over first fifth of the minutes after the first ones: 1 is flat."""
    values = np.array([row[name] for row in rows if row["minute"] > settled])
    part = max(1, len(values) // 5)
    return float(np.median(values[-part:]) / np.median(values[:part]))


def resident_bytes() -> int:
    """Memory of this process that is in use now [bytes]."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * _page_bytes()


def _page_bytes() -> int:
    import resource  # noqa: PLC0415

    return resource.getpagesize()


def _drive(columns: int) -> Iterator[tuple[list[ImuSample], Scan]]:
    """Scans without end, each with the readings up to it: round and round, the noise always new."""
    rng = np.random.default_rng(0)
    lap = [_exact(share, columns) for share in np.arange(0.0, 1.0, _step())]
    number = 0
    while True:
        exact = lap[number % len(lap)]
        ranges = np.linalg.norm(exact, axis=1, keepdims=True)
        noisy = exact * (1.0 + rng.normal(0.0, NOISE_M, ranges.shape) / ranges)
        stamp_ns = number * 1_000_000_000 // SCANS_PER_S
        yield _readings(stamp_ns, rng), Scan(stamp_ns, noisy.astype(np.float32))
        number += 1


def _readings(until_ns: int, rng: np.random.Generator) -> list[ImuSample]:
    """What an IMU reads on the way to a scan: a steady turn to the left."""
    period_ns = 1_000_000_000 // (SCANS_PER_S * READINGS_PER_SCAN)
    rate = np.array([0.0, 0.0, SPEED_MPS / RADIUS_M])
    force = np.array([0.0, SPEED_MPS**2 / RADIUS_M, GRAVITY])
    white = np.array([IMU.gyroscope, IMU.accelerometer]) / np.sqrt(period_ns * 1e-9)
    return [
        ImuSample(
            until_ns - back * period_ns,
            rate + white[0] * rng.normal(size=3),
            force + white[1] * rng.normal(size=3),
        )
        for back in reversed(range(READINGS_PER_SCAN))
    ]


def _step() -> float:
    """Share of a lap between two scans, so that a lap has a whole number of them."""
    return 1.0 / round(2.0 * np.pi * RADIUS_M / SPEED_MPS * SCANS_PER_S)


def _exact(share: float, columns: int) -> Points:
    """Points (n, 3) without noise, at this share of a lap."""
    angle = 2.0 * np.pi * share
    T_world_lidar = make_transform(
        so3_exp(np.array([0.0, 0.0, angle + 0.5 * np.pi])),
        np.array([RADIUS_M * np.cos(angle), RADIUS_M * np.sin(angle), HEIGHT_M]),
    )
    pattern = LidarPattern.rings(RINGS, columns, -25.0, 25.0)
    return scan(room(), T_world_lidar, pattern, np.random.default_rng(0), range_noise_m=0.0)
