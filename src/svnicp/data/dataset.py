# SPDX-License-Identifier: MIT
"""What every source of measurements offers: a bag, a folder of clouds, a simulated scenario.

Reading is lazy: each call of ``scans`` or ``imu_samples`` starts again from the beginning and
holds one measurement at a time, so memory does not grow with the recording.
"""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from svnicp.arrays import Transform
from svnicp.data.measurements import ImuSample, Scan
from svnicp.data.trajectory import Trajectory


@dataclass(frozen=True)
class Finding:
    """One thing that was understood about a dataset, for ``svnicp info``."""

    what: str
    """Subject, such as "point time" or "IMU unit"."""
    value: str
    """What was found, in words: "seconds, relative to the header, which marks the end"."""
    evidence: str = ""
    """What it was told from: a field name, a measured span."""
    override: str = ""
    """The flag that would set it by hand, such as "--point-time-unit"."""


@dataclass(frozen=True)
class DatasetInfo:
    """What a dataset says about itself, as far as it is known without reading all of it."""

    kind: str
    """Format in a few words: "ROS 1 bag", "KITTI odometry", "simulated scenario"."""
    num_scans: int | None = None
    """Number of scans, None when only reading would tell."""
    duration_s: float | None = None
    """Time covered [s]."""
    scan_period_s: float | None = None
    """Typical time between two scans [s]."""
    imu_period_s: float | None = None
    """Typical time between two IMU samples [s], None without an IMU."""
    sensor: str = ""
    """The LiDAR as far as it is known: "VLP-16"."""
    imu: str = ""
    """The IMU as far as it is known: "xsens_mti30"."""
    findings: tuple[Finding, ...] = field(default_factory=tuple)
    """Everything that was detected rather than given."""


class Dataset(ABC):
    """Scans, IMU samples and what is known about them. Iterating yields the scans."""

    name: str
    """What the dataset is called in tables and file names."""
    T_body_lidar: Transform = np.eye(4)
    """(4, 4) extrinsics: maps LiDAR coordinates into the body, which is the IMU if there is one."""
    span_ns: tuple[int, int] | None = None
    """First and last stamp of the scans [ns], None if that is not known before reading."""
    ground_truth: Trajectory | None = None
    """Poses of the body, where they are known."""

    def __repr__(self) -> str:
        truth = f", ground truth of {len(self.ground_truth)} poses" if self.ground_truth else ""
        return f"<{type(self).__name__} {self.name!r}{truth}; info() tells more>"

    @abstractmethod
    def info(self) -> DatasetInfo:
        """Return what is known about the dataset."""

    @abstractmethod
    def scans(self) -> Iterator[Scan]:
        """Yield the scans in the order of time, from the beginning."""

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield the IMU samples in the order of time, from the beginning; none without an IMU."""
        return iter(())

    def __iter__(self) -> Iterator[Scan]:
        return self.scans()

    def measurements(self) -> Iterator[Scan | ImuSample]:
        """Yield everything in the order in which it is complete: a scan at its last point."""
        return heapq.merge(
            self.imu_samples(),
            self.scans(),
            key=lambda m: m.end_ns if isinstance(m, Scan) else m.stamp_ns,
        )
