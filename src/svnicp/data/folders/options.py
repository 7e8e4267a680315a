# SPDX-License-Identifier: MIT
"""What may be said about a folder by hand; everything left None is detected and reported."""

from dataclasses import dataclass, field
from pathlib import Path

from svnicp.arrays import Transform
from svnicp.cloud_files.kitti_bin import COLUMNS
from svnicp.data.ros.imu import ImuUnit
from svnicp.data.ros.point_times import PointTimeOptions
from svnicp.errors import ConfigError


@dataclass(frozen=True, kw_only=True, eq=False)
class FolderOptions:
    """How to read a folder of clouds."""

    bin_columns: int | None = None
    """Values per point in .bin files, 3 to 6."""
    scan_rate_hz: float | None = None
    """Scans per second where nothing says when they were taken [Hz]."""
    point_times: PointTimeOptions = field(default_factory=PointTimeOptions)
    """Unit and reference of the times of points."""
    imu_unit: ImuUnit | None = None
    """Unit of the accelerations."""
    T_body_lidar: Transform | None = None
    """(4, 4) extrinsics: maps LiDAR coordinates into the IMU."""
    ground_truth: Path | None = None
    """File with the true trajectory of the body."""

    def __post_init__(self) -> None:
        if self.bin_columns is not None and self.bin_columns not in COLUMNS:
            raise ConfigError(f"bin_columns must be 3, 4, 5 or 6, not {self.bin_columns}.")
        if self.scan_rate_hz is not None and not 0.01 <= self.scan_rate_hz <= 1000.0:
            raise ConfigError(
                f"scan_rate_hz must be between 0.01 and 1000, not {self.scan_rate_hz}."
            )
