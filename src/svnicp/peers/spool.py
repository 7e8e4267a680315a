# SPDX-License-Identifier: MIT
"""A dataset on disk in the plainest form, so that every peer gets the same bits at the same price.

It is written once: a file per scan, one for the IMU, one that says what it is. A worker reads one
scan at a time, so its memory is that of the odometry and not of the recording.
"""

import heapq
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from svnicp.arrays import Floats, Integers, Transform
from svnicp.data.dataset import Dataset
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan

ABOUT = "about.json"
IMU = "imu.npz"
HANDED_OUT = "handed_out"
"""Grows by a byte with every scan that a worker was given."""


class About(NamedTuple):
    """What a worker has to know beside the measurements."""

    name: str
    scene: str
    """Kind of surroundings, for packages that have a configuration for it; empty if not known."""
    num_scans: int
    scan_period_s: float
    imu_period_s: float | None
    """None without an IMU."""
    imu_noise: dict[str, float] | None
    T_body_lidar: list[list[float]]
    point_times: bool
    """Whether the points have times of their own."""
    shortest_m: float
    longest_m: float
    """Ranges that occur [m]."""
    seed: int = 0
    """Of our particles."""
    config: dict[str, Any] | None = None
    """Our parameters, as ``Config.to_dict`` gives them; None for the default preset."""


@dataclass(frozen=True)
class SpoolOptions:
    """What goes into a spool beside the measurements of a dataset."""

    scene: str = ""
    imu_noise: ImuNoise | None = None
    """None leaves the IMU out."""
    max_scans: int | None = None
    seed: int = 0
    config: dict[str, Any] | None = None


def write_spool(
    dataset: Dataset, folder: Path, options: SpoolOptions, on_scan: Callable[[], None]
) -> About:
    """Write a dataset to an empty folder and return what it is.

    Parameters
    ----------
    dataset
        Where the measurements come from.
    folder
        An empty folder.
    options
        What else a worker has to know.
    on_scan
        Called after every scan that is written.
    """
    point_times, num_scans, last_ns = False, 0, 0
    ranges: list[tuple[float, float]] = []
    for scan in islice(dataset.scans(), options.max_scans):
        arrays = {"stamp_ns": np.int64(scan.stamp_ns), "points": scan.points}
        if scan.point_times_ns is not None:
            arrays["offsets_ns"] = (scan.point_times_ns - scan.stamp_ns).astype(np.int64)
            point_times = point_times or scan.end_ns > scan.stamp_ns
        np.savez(folder / f"{num_scans:06d}.npz", allow_pickle=False, **arrays)
        if len(scan.points):
            distances = np.linalg.norm(scan.points, axis=1)
            ranges.append((float(distances.min()), float(distances.max())))
        num_scans, last_ns = num_scans + 1, scan.end_ns
        on_scan()
    info = dataset.info()
    with_imu = options.imu_noise is not None and info.imu_period_s is not None
    if with_imu:
        _write_imu(dataset, folder, last_ns)
    about = About(
        name=dataset.name, scene=options.scene, num_scans=num_scans,
        scan_period_s=info.scan_period_s or 0.1,
        imu_period_s=info.imu_period_s if with_imu else None,
        imu_noise=asdict(options.imu_noise) if with_imu and options.imu_noise else None,
        T_body_lidar=dataset.T_body_lidar.tolist(), point_times=point_times,
        shortest_m=min((low for low, _ in ranges), default=0.0),
        longest_m=max((high for _, high in ranges), default=0.0),
        seed=options.seed, config=options.config,
    )  # fmt: skip
    (folder / ABOUT).write_text(json.dumps(about._asdict()), encoding="utf-8")
    return about


def _write_imu(dataset: Dataset, folder: Path, last_ns: int) -> None:
    """Write the IMU readings up to half a second after the last scan."""
    stamps, readings = [], []
    for sample in dataset.imu_samples():
        if sample.stamp_ns > last_ns + 500_000_000:
            break
        stamps.append(sample.stamp_ns)
        readings.append(np.r_[sample.angular_velocity, sample.linear_acceleration])
    np.savez(
        folder / IMU, allow_pickle=False, stamps_ns=np.array(stamps, dtype=np.int64),
        readings=np.array(readings, dtype=np.float64).reshape(-1, 6),
    )  # fmt: skip


class Spool:
    """A spooled dataset as a worker reads it.

    Parameters
    ----------
    folder
        Where ``write_spool`` put it.
    counter
        File that grows by a byte with every scan that is handed out; None for none.
    """

    def __init__(self, folder: Path, counter: Path | None = None) -> None:
        self.about = About(**json.loads((folder / ABOUT).read_text(encoding="utf-8")))
        self.T_body_lidar: Transform = np.array(self.about.T_body_lidar)
        self.folder = folder
        self._counter = counter

    @property
    def imu_noise(self) -> ImuNoise | None:
        """Noise of the IMU; None without one."""
        return None if self.about.imu_noise is None else ImuNoise(**self.about.imu_noise)

    def scans(self) -> Iterator[Scan]:
        """Yield the scans, each read when it is asked for."""
        for number in range(self.about.num_scans):
            with np.load(self.folder / f"{number:06d}.npz", allow_pickle=False) as arrays:
                stamp_ns, points = int(arrays["stamp_ns"]), arrays["points"]
                offsets = arrays.get("offsets_ns")
            if self._counter is not None:
                with self._counter.open("ab") as stream:
                    stream.write(b".")
            yield Scan(stamp_ns, points, None if offsets is None else stamp_ns + offsets)

    def imu_arrays(self) -> tuple[Integers, Floats]:
        """Stamps (n,) [ns] and readings (n, 6) [rad/s, m/s^2] of the IMU; none without one."""
        if self.about.imu_noise is None:
            return np.empty(0, dtype=np.int64), np.empty((0, 6))
        with np.load(self.folder / IMU, allow_pickle=False) as arrays:
            return arrays["stamps_ns"], arrays["readings"]

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the IMU readings in the order of time."""
        for stamp_ns, reading in zip(*self.imu_arrays(), strict=True):
            yield ImuSample(int(stamp_ns), reading[:3], reading[3:])

    def measurements(self) -> Iterator[Scan | ImuSample]:
        """Yield everything in the order in which it is complete: a scan at its last point."""
        return heapq.merge(
            self.imu_samples(),
            self.scans(),
            key=lambda one: one.end_ns if isinstance(one, Scan) else one.stamp_ns,
        )
