# SPDX-License-Identifier: MIT
"""IMU samples from a text table: csv or white space, with or without a header.

The header's names say which column is which; without one, the triple of numbers as long as gravity
is the acceleration. Units of time and acceleration are told from the first rows. The file is
streamed: only those first rows are kept.
"""

import logging
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from svnicp.data.column_names import imu_role
from svnicp.data.dataset import Finding
from svnicp.data.measurements import ImuSample
from svnicp.data.ros.imu import STANDARD_GRAVITY, ImuUnit, acceleration_unit
from svnicp.data.stamps import IMU_PERIOD_S, median_period_s, time_unit
from svnicp.data.text_rows import Row, TextTable, last_row, open_table
from svnicp.data.warn_once import WarnOnce
from svnicp.errors import DatasetError

FIRST_ROWS = 400
ROLES = ("time", "gx", "gy", "gz", "ax", "ay", "az")
SWAPPED = ("time", "ax", "ay", "az", "gx", "gy", "gz")

log = logging.getLogger(__name__)


class ImuCsv:
    """One table of IMU samples.

    Parameters
    ----------
    path
        The file.
    imu_unit
        Unit of its accelerations; None to detect it.

    Raises
    ------
    DatasetError
        If the columns cannot be told, or one of the first rows is not numbers.
    """

    def __init__(self, path: str | os.PathLike[str], imu_unit: ImuUnit | None = None) -> None:
        self._table = open_table(path)
        self._warn = WarnOnce(log)
        first = list(islice(self._table.rows(), FIRST_ROWS))
        self._columns, order = _columns(self._table, first)
        time = self._columns[0]
        named = self._table.header[time] if self._table.header else ""
        unit = time_unit([row.time(time) for row in first], IMU_PERIOD_S, named)
        self._unit_ns = unit.ns
        readings = [self._reading(row) for row in first]
        self._acceleration = acceleration_unit(readings, imu_unit)
        self.period_s = median_period_s(np.array([reading.stamp_ns for reading in readings]))
        last = last_row(self._table)
        self.span_ns = readings[0].stamp_ns, last.stamp_ns(time, unit.ns)
        self.findings = (
            Finding("IMU", f"{self.path.name}: {order}", str(self.path)),
            Finding("IMU time unit", unit.name, unit.evidence),
            self._acceleration.finding(),
        )

    @property
    def path(self) -> Path:
        """The file."""
        return self._table.path

    def samples(self) -> Iterator[ImuSample]:
        """Yield the samples in SI units; those that do not go forward in time are dropped."""
        latest_ns: int | None = None
        dropped = 0
        for row in self._table.rows():
            sample = self._acceleration.sample(self._reading(row))
            if latest_ns is not None and sample.stamp_ns <= latest_ns:
                dropped += 1
                continue
            latest_ns = sample.stamp_ns
            yield sample
        if dropped:
            self._warn(
                "%s: dropped %d IMU samples whose time is not after the one before.",
                *(self.path, dropped),
            )

    def _reading(self, row: Row) -> ImuSample:
        """Sample of one row, in the file's unit of acceleration."""
        row.expect(1 + max(self._columns))
        stamp_ns = row.stamp_ns(self._columns[0], self._unit_ns)
        return ImuSample(stamp_ns, row.numbers(self._columns[1:4]), row.numbers(self._columns[4:7]))


def _columns(table: TextTable, first: list[Row]) -> tuple[list[int], str]:
    """Places of time, gyroscope and acceleration, and how they were told."""
    if table.header:
        places = {imu_role(name): place for place, name in reversed([*enumerate(table.header)])}
        missing = [role for role in ROLES if role not in places]
        if missing:
            raise DatasetError(
                f"{table.path}: the header has no column for {', '.join(missing)} (it has: "
                f"{', '.join(table.header)}); name them timestamp, gyro_x, gyro_y, gyro_z, "
                "accel_x, accel_y, accel_z."
            )
        return [places[role] for role in ROLES], "columns as its header names them"
    for row in first:
        row.expect(len(ROLES))
    values = np.array([row.numbers([1, 2, 3, 4, 5, 6]) for row in first]).reshape(-1, 2, 3)
    with np.errstate(over="ignore"):  # an absurd length is infinite
        lengths = np.median(np.linalg.norm(values, axis=2), axis=0)
    near_gravity = [_is_like_gravity(float(length)) for length in lengths]
    if len(first[0].words) != len(ROLES) or near_gravity[0] == near_gravity[1]:
        raise DatasetError(
            f"{table.path}: there is no header and the columns cannot be told from the numbers; "
            "put a first line: timestamp,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z."
        )
    order = SWAPPED if near_gravity[0] else ROLES
    evidence = "acceleration first" if near_gravity[0] else "angular velocity first"
    return [order.index(role) for role in ROLES], f"{evidence}, told from the length of gravity"


def _is_like_gravity(length: float) -> bool:
    """Whether a typical acceleration has the length of gravity, in either unit."""
    return any(0.7 <= length / unit <= 1.4 for unit in (1.0, STANDARD_GRAVITY))
