# SPDX-License-Identifier: MIT
"""What the time of a scan grows with: particles, points, the map; and the stages it consists of.

LiDAR odometry runs with several settings side by side, every scan through all of them before the
next, so that a machine that is busy with something else slows all of them alike.
"""

import dataclasses
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.odometry import Odometry
from svnicp.simulation.sensors import SENSORS
from svnicp.simulation.simulate import simulate
from svnicp.studies.bench_peers import RIG, summed_up

PARTICLES = (1, 5, 10, 30, 50, 100)
POINTS = (5_000, 10_000, 20_000, 40_000, 65_000, 130_000)
RADII_M = (10.0, 20.0, 40.0, 80.0)
NOT_COUNTED = 10
"""Scans that only fill the map (and load what is compiled)."""
DENSE = "os0_128"
"""A LiDAR of 128 x 1024 beams."""


class Setting(NamedTuple):
    """One odometry and the points that it is given."""

    config: Config
    max_points: int | None = None
    """Every so-many-th point is taken so that about this many are left; None for all."""


class Measured(NamedTuple):
    """What one setting took."""

    stages_s: list[dict[str, float]]
    """Time of every stage of every scan that counts [s]."""
    odometry: Odometry
    num_points: float
    """Mean number of points that a scan had."""


def measure_growth(num_scans: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Tables of the time per scan against particles, points and map, by stage and by backend."""
    default = Config.preset("default")
    tell("particles and backends")
    scans = list(_scans(num_scans, None))
    by_particles = side_by_side(
        scans, {str(k): Setting(with_particles(default, k)) for k in PARTICLES}
    )
    backends = {"numba": Setting(default)}
    if importlib.util.find_spec("torch") is not None:
        torch = dataclasses.replace(default.backend, name="torch")
        backends["torch, CPU"] = Setting(dataclasses.replace(default, backend=torch))
    by_backend = side_by_side(scans, backends)
    tell("map radius")
    by_radius = side_by_side(scans, {f"{r:g}": Setting(_with_radius(default, r)) for r in RADII_M})
    tell("points")
    dense = list(_scans(num_scans, DENSE))
    by_points = side_by_side(dense, {str(n): Setting(default, n) for n in POINTS})
    return {
        "particles": [{"particles": int(k), **row(m)} for k, m in by_particles.items()],
        "backends": [{"backend": name, **row(m)} for name, m in by_backend.items()],
        "points": [{"points": round(m.num_points), **row(m)} for m in by_points.values()],
        "map": [{"radius_m": float(r), **row(m), **memory(m)} for r, m in by_radius.items()],
    }


def side_by_side(scans: Iterable[Scan], settings: Mapping[str, Setting]) -> dict[str, Measured]:
    """Odometry with every setting over the same scans, in turns."""
    running = {name: Odometry(setting.config) for name, setting in settings.items()}
    stages: dict[str, list[dict[str, float]]] = {name: [] for name in settings}
    points: dict[str, list[int]] = {name: [] for name in settings}
    for number, scan in enumerate(scans):
        for name, setting in settings.items():
            given = thinned_scan(scan, setting.max_points)
            estimate = running[name].process(given)
            points[name].append(len(given.points))
            if estimate is not None and number >= NOT_COUNTED:
                stages[name].append(estimate.timing_s)
    return {
        name: Measured(stages[name], running[name], float(np.mean(points[name])))
        for name in settings
    }


def thinned_scan(scan: Scan, max_points: int | None) -> Scan:
    """A scan with about this many of its points, evenly in their order."""
    if max_points is None or len(scan.points) <= max_points:
        return scan
    kept = np.linspace(0, len(scan.points) - 1, max_points).astype(np.int64)
    times = None if scan.point_times_ns is None else scan.point_times_ns[kept]
    return Scan(scan.stamp_ns, scan.points[kept], times)


def with_particles(config: Config, count: int) -> Config:
    """The same with another number of particles."""
    return dataclasses.replace(config, stein=dataclasses.replace(config.stein, num_particles=count))


def _with_radius(config: Config, radius_m: float) -> Config:
    odometry = dataclasses.replace(config.odometry, map_radius_m=radius_m)
    return dataclasses.replace(config, odometry=odometry)


def row(measured: Measured) -> dict[str, Any]:
    """Mean and 95th percentile of whole scans, and the mean of every stage [ms]."""
    names = measured.stages_s[0]
    whole = np.array([sum(stages.values()) for stages in measured.stages_s])
    means = {
        name: 1e3 * float(np.mean([stages.get(name, 0.0) for stages in measured.stages_s]))
        for name in names
    }
    return {**summed_up(whole), "stages_ms": means}


def memory(measured: Measured) -> dict[str, Any]:
    """What the map holds at the end, and what a cubic metre of it costs."""
    local_map = measured.odometry.local_map
    volume = local_map.num_voxels * local_map.config.voxel_size_m**3
    return {
        "stored_points": len(local_map),
        "volume_m3": volume,
        "map_mb": local_map.nbytes / 1e6,
        "bytes_per_m3": local_map.nbytes / volume,
    }


def _scans(num_scans: int, sensor: str | None) -> Iterable[Scan]:
    """Scans of a street, by the rig's LiDAR or by another."""
    count = num_scans + NOT_COUNTED
    dataset = simulate("street", duration_s=0.1 * count + 1.0, rig=RIG)
    if sensor is not None:
        dataset = dataclasses.replace(dataset, sensor=SENSORS[sensor])
    for number, scan in enumerate(dataset.scans()):
        if number == count:
            return
        yield scan
