# SPDX-License-Identifier: MIT
"""The flags that say how a recording is to be read, for every command that reads one.

A command's dataclass inherits them. Each overrides something that is otherwise detected; ``svnicp
info`` shows what was detected and names the flag.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from svnicp.cli.arguments import UsageError, option

if TYPE_CHECKING:
    from svnicp.data.dataset import Dataset


@dataclass(frozen=True, kw_only=True)
class DataFlags:
    """How a recording is read, where it is not detected."""

    data: Annotated[tuple[Path, ...], tyro.conf.Positional, option("DATA")]
    """A bag, a folder, or several bags that belong together."""
    kind: Annotated[str | None, option("KIND")] = None
    """Format: geode, subt_mrs, ros, kitti_raw, kitti or clouds."""
    lidar_topic: Annotated[str | None, option("TOPIC")] = None
    """Topic of the scans in a bag."""
    imu_topic: Annotated[str | None, option("TOPIC")] = None
    """Topic of the IMU in a bag; none to do without."""
    point_time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, option("UNIT")] = None
    """Unit of the times of points: s, ms, us or ns."""
    point_time_reference: Annotated[Literal["absolute", "start", "end"] | None, option("WHAT")] = (
        None
    )
    """What they count from: absolute, or a header at the start or end of the scan."""
    point_time_field: Annotated[str | None, option("NAME")] = None
    """Field of the cloud that holds them."""
    no_point_times: Annotated[bool, option()] = False
    """Take all points of a scan as simultaneous."""
    imu_unit: Annotated[Literal["m/s^2", "g"] | None, option("UNIT")] = None
    """Unit of the accelerations: m/s^2 or g."""
    velodyne_model: Annotated[str | None, option("MODEL")] = None
    """Model that sent Velodyne packets, such as VLP16."""
    extrinsics: Annotated[Path | None, option("FILE")] = None
    """YAML file with T_body_lidar, which maps LiDAR coordinates into the IMU."""
    ground_truth: Annotated[Path | None, option("FILE")] = None
    """True trajectory of the body: TUM, KITTI or csv."""
    bin_columns: Annotated[int | None, option("N")] = None
    """Values per point in .bin files, 3 to 6."""
    scan_rate_hz: Annotated[float | None, option("HZ")] = None
    """Scans per second where nothing says when they were taken."""

    def open(self) -> "Dataset":
        """Open the recording.

        Raises
        ------
        SvnicpError
            If it cannot be read, or the flags do not fit it.
        """
        if not self.data:
            raise UsageError("name a recording: a bag or a folder.")
        from svnicp.data.open_dataset import open_dataset  # noqa: PLC0415

        given = {field.name: getattr(self, field.name) for field in fields(DataFlags)}
        return open_dataset(given.pop("data"), **given)
