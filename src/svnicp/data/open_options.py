# SPDX-License-Identifier: MIT
"""What may be said about a recording by hand: checked, by the names that the flags have, too.

`open_dataset` takes these options as keywords. An unknown one is answered with the nearest known; a
value that makes no sense is refused whether or not the recording needs it.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args

from svnicp.data.extrinsics import read_extrinsics
from svnicp.data.folders.options import FolderOptions
from svnicp.data.ros import RosBagOptions
from svnicp.data.ros.imu import ImuUnit
from svnicp.data.ros.point_times import PointTimeOptions, Reference, Unit
from svnicp.errors import ConfigError

POINT_TIME_NAMES = {
    "point_time_unit": "unit",
    "point_time_reference": "reference",
    "point_time_field": "field",
    "no_point_times": "ignore",
}
"""Short names, which are those of the flags, for the fields of ``point_times``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenOptions(RosBagOptions):
    """What may be said about a recording by hand; what is left None is detected.

    The options of bags are inherited; those that make sense for a folder hold for it, too.
    """

    kind: str | None = None
    """Format, instead of recognising it."""
    ground_truth: Path | None = None
    """File with the true trajectory of the body."""
    bin_columns: int | None = None
    """Values per point in .bin files, 3 to 6."""
    scan_rate_hz: float | None = None
    """Scans per second where nothing says when they were taken [Hz]."""

    def __post_init__(self) -> None:
        for name in ("lidar_topic", "imu_topic", "velodyne_model", "kind"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                raise ConfigError(f"{name} must be a text, not {value!r}.")
        _check_choice("imu_unit", self.imu_unit, get_args(ImuUnit))
        _check_choice("point_time_unit", self.point_times.unit, get_args(Unit))
        _check_choice("point_time_reference", self.point_times.reference, get_args(Reference))
        _ = self.folder  # which checks what is its own

    @property
    def folder(self) -> FolderOptions:
        """The part that concerns folders."""
        return FolderOptions(
            bin_columns=self.bin_columns,
            scan_rate_hz=self.scan_rate_hz,
            point_times=self.point_times,
            imu_unit=self.imu_unit,
            T_body_lidar=self.T_body_lidar,
            ground_truth=self.ground_truth,
        )

    @property
    def only_for_bags(self) -> dict[str, object]:
        """Options that are given and say nothing about a folder of clouds, by name."""
        given = {
            "lidar_topic": self.lidar_topic,
            "imu_topic": self.imu_topic,
            "velodyne_model": self.velodyne_model,
            "point_time_field": self.point_times.field,
        }
        return {name: value for name, value in given.items() if value is not None}

    @property
    def only_for_folders(self) -> dict[str, object]:
        """Options that are given and say nothing about a bag, by name."""
        given = {"bin_columns": self.bin_columns, "scan_rate_hz": self.scan_rate_hz}
        return {name: value for name, value in given.items() if value is not None}


def changed(options: OpenOptions, changes: Mapping[str, Any]) -> OpenOptions:
    """Options with single ones changed, by their names or those of the flags.

    Raises
    ------
    ConfigError
        If there is no such option, or its value makes no sense.
    """
    known = [*(field.name for field in fields(OpenOptions)), *POINT_TIME_NAMES, "extrinsics"]
    for name in changes:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise ConfigError(f"open_dataset has no option {name}; {advice}")
    changes = dict(changes)
    about_times = {
        field: changes.pop(name) for name, field in POINT_TIME_NAMES.items() if name in changes
    }
    if about_times:
        times: PointTimeOptions = changes.get("point_times", options.point_times)
        changes["point_times"] = replace(times, **about_times)
    file = changes.pop("extrinsics", None)
    if file is not None:
        changes["T_body_lidar"] = read_extrinsics(file)[0]
    return replace(options, **changes)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
