# SPDX-License-Identifier: MIT
"""What all recordings in folders share: timed cloud files, and perhaps an IMU, become a Dataset.

A scan is read when the iteration reaches it. A file that cannot be read is left out and counted; it
is an error only if there is no other. Empty scans are handed out, too, and counted.
"""

import logging
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from svnicp.arrays import Transform
from svnicp.cloud_files.scan_cloud import ScanCloud, read_scan_cloud
from svnicp.data.dataset import Dataset, DatasetInfo, Finding
from svnicp.data.folders.scan_times import TimedFiles
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.ros.point_time_detection import (
    POSSIBLE_SPAN,
    TIME_FIELDS,
    TimeSample,
    detect_point_times,
)
from svnicp.data.ros.point_times import PointTimeOptions, PointTimes, to_ns
from svnicp.data.ros.survey import coverage, survey_stamps
from svnicp.data.stamps import SCAN_PERIOD_S, median_period_s
from svnicp.data.trajectory import Trajectory
from svnicp.data.warn_once import WarnOnce
from svnicp.errors import DatasetError, InputError

LOOKED_AT = 3
"""Scans that are read to find out about the times of points."""

ReadScan = Callable[[Path], ScanCloud]

log = logging.getLogger(__name__)


class ImuSource(Protocol):
    """Samples of an IMU, and what is known about them."""

    findings: tuple[Finding, ...]
    period_s: float | None
    span_ns: tuple[int, int]
    """First and last stamp [ns]."""

    def samples(self) -> Iterator[ImuSample]:
        """Yield the samples in the order of time."""
        ...


def read_table_scan(path: Path) -> ScanCloud:
    """Scan of a .pcd, .ply or .npy file, with the times of its points where it has them."""
    try:
        return read_scan_cloud(path, time_fields=TIME_FIELDS)
    except InputError as error:
        raise DatasetError(str(error)) from None


@dataclass(frozen=True, kw_only=True, eq=False)
class FolderParts:
    """What a recording in a folder consists of."""

    name: str
    kind: str
    files: TimedFiles
    read: ReadScan
    """Reads one file; raises a `DatasetError` that names it."""
    T_body_lidar: Transform
    imu: ImuSource | None = None
    ground_truth: Trajectory | None = None
    point_times: PointTimeOptions = field(default_factory=PointTimeOptions)
    findings: tuple[Finding, ...] = ()
    sensor: str = ""
    imu_name: str = ""


@dataclass
class _Faults:
    """What was met on one walk through the scans."""

    unreadable: list[DatasetError] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Names of files without a usable point."""
    odd_times: list[str] = field(default_factory=list)
    """Names of files whose points cannot have been measured in one scan."""
    dropped_points: int = 0


class ScanFolder(Dataset):
    """A recording with one file per scan."""

    def __init__(self, parts: FolderParts) -> None:
        self.name = parts.name
        self.T_body_lidar = parts.T_body_lidar
        self.ground_truth = parts.ground_truth
        self._parts = parts
        self._warn = WarnOnce(log)
        self._period_s = median_period_s(parts.files.stamps_ns) or SCAN_PERIOD_S
        if not parts.files.assumed:
            self.span_ns = int(parts.files.stamps_ns[0]), int(parts.files.stamps_ns[-1])
        self._times = self._detected_times()
        if self._times is not None and self._times.doubt:
            self._warn("%s: %s", self.name, self._times.doubt)
        self._coverage = self._imu_coverage()

    def info(self) -> DatasetInfo:
        """Return what is known without reading the scans."""
        parts, stamps_ns = self._parts, self._parts.files.stamps_ns
        return DatasetInfo(
            kind=parts.kind,
            num_scans=len(stamps_ns),
            duration_s=float(stamps_ns[-1] - stamps_ns[0]) * 1e-9,
            scan_period_s=median_period_s(stamps_ns),
            imu_period_s=parts.imu.period_s if parts.imu else None,
            sensor=parts.sensor,
            imu=parts.imu_name,
            findings=(
                *parts.findings,
                *parts.files.findings,
                self._time_finding(),
                *(parts.imu.findings if parts.imu else ()),
                *((self._imu_survey,) if self._imu_survey else ()),
                *((self._coverage,) if self._coverage else ()),
            ),
        )

    def scans(self) -> Iterator[Scan]:
        """Yield the scans in the order of time, reading each when it is asked for."""
        files, faults = self._parts.files, _Faults()
        for path, stamp_ns in zip(files.paths, files.stamps_ns, strict=True):
            try:
                cloud = self._parts.read(path)
            except DatasetError as error:
                faults.unreadable.append(error)
                continue
            faults.dropped_points += cloud.dropped
            if len(cloud.points) == 0:
                faults.empty.append(path.name)
            scan = self._scan(cloud, int(stamp_ns))
            if _span_s(scan) > POSSIBLE_SPAN[1] * self._period_s:
                faults.odd_times.append(path.name)
                scan = Scan(scan.stamp_ns if files.assumed else int(stamp_ns), cloud.points)
            yield scan
        if len(faults.unreadable) == len(files.paths):
            raise faults.unreadable[0]
        self._say(faults)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the IMU samples in the order of time; none without an IMU."""
        return self._parts.imu.samples() if self._parts.imu else iter(())

    def _scan(self, cloud: ScanCloud, stamp_ns: int) -> Scan:
        if self._times is None or cloud.times is None or len(cloud.points) == 0:
            return Scan(stamp_ns, cloud.points)
        if self._stamped_by_points(self._times):
            times_ns = to_ns(cloud.times, self._times.unit)
            return Scan(int(times_ns.min()), cloud.points, times_ns)
        start_ns, times_ns = self._times.apply(cloud.times, stamp_ns)
        return Scan(start_ns, cloud.points, times_ns)

    def _stamped_by_points(self, times: PointTimes) -> bool:
        """Whether the points know better than an assumed rate when a scan was taken."""
        return self._parts.files.assumed and times.absolute

    def _detected_times(self) -> PointTimes | None:
        files = self._parts.files
        samples, time_field = [], ""
        for path, stamp_ns in zip(files.paths[:LOOKED_AT], files.stamps_ns, strict=False):
            try:
                cloud = self._parts.read(path)
            except DatasetError:
                continue  # the iteration says so
            if cloud.times is not None and len(cloud.times):
                samples.append(TimeSample(int(stamp_ns), np.asarray(cloud.times)))
                time_field = cloud.time_field
        return detect_point_times(time_field, samples, self._parts.point_times) if samples else None

    @cached_property
    def _imu_survey(self) -> Finding | None:
        """Number and gaps of the IMU's samples, from a walk through all of them."""
        if self._parts.imu is None:
            return None
        stamps = array("q")
        try:
            stamps.extend(sample.stamp_ns for sample in self._parts.imu.samples())
        except DatasetError as error:
            log.warning("%s", error)
        return survey_stamps(np.array(stamps, dtype=np.int64)).finding("IMU samples")

    def _imu_coverage(self) -> Finding | None:
        """What is wrong with the time that the IMU covers; warns of it."""
        stamps_ns, imu = self._parts.files.stamps_ns, self._parts.imu
        if imu is None or self._parts.files.assumed:
            return None
        scans_ns = int(stamps_ns[0]), int(stamps_ns[-1])
        found = coverage(scans_ns, imu.span_ns, self._period_s)
        if found is not None:
            log.warning("%s: the IMU covers the scans badly: %s.", self.name, found.value)
        return found

    def _time_finding(self) -> Finding:
        if self._times is None:
            return Finding(
                "point time", "none: all points of a scan are taken as simultaneous", "", ""
            )
        if self._stamped_by_points(self._times):
            words = f"absolute, in {self._times.unit}; they also say when a scan starts"
            return Finding("point time", words, self._times.evidence, "--point-time-unit")
        return self._times.finding()

    def _say(self, faults: _Faults) -> None:
        if faults.unreadable:
            self._warn(
                "%s: %d of %d scans cannot be read and are left out; the first: %s",
                *(self.name, len(faults.unreadable), len(self._parts.files.paths)),
                faults.unreadable[0],
            )
        if faults.dropped_points:
            self._warn(
                "%s: dropped %d points that are not finite.", self.name, faults.dropped_points
            )
        if faults.empty:
            self._warn(
                "%s: %d scans have no usable points (the first is %s).",
                *(self.name, len(faults.empty), faults.empty[0]),
            )
        if faults.odd_times:
            self._warn(
                "%s: %d scans had impossible point times, which were ignored (the first is %s).",
                *(self.name, len(faults.odd_times), faults.odd_times[0]),
            )


def _span_s(scan: Scan) -> float:
    """Time between the first and the last point of a scan [s]."""
    times_ns = scan.point_times_ns
    return 0.0 if times_ns is None or len(times_ns) == 0 else float(np.ptp(times_ns)) * 1e-9
