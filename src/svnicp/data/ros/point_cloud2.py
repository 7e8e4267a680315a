# SPDX-License-Identifier: MIT
"""sensor_msgs/PointCloud2: the fields of any cloud as arrays, without a loop over its points.

Fields may come in any order, type and byte order, with padding between points and rows. What comes
out is what the sensor measured: points that are not finite, and those exactly at the origin, which
is how Ouster and Livox write "no return", are dropped together with their times.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.data.ros.wire import Header, MessageReader
from svnicp.errors import InputError

TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}
"""NumPy's names for the numbers that PointField uses for its types."""


class RawCloud(NamedTuple):
    """Points of one message, their times as the message holds them."""

    header: Header
    points: npt.NDArray[np.float32]
    """(n, 3) finite positions in the LiDAR frame [m]."""
    raw_times: np.ndarray | None = None
    """(n,) times in the unit and reference of the driver, of any number type."""


class PointField(NamedTuple):
    """One field of the points."""

    name: str
    offset: int
    """Byte at which it starts in a point."""
    datatype: int
    """Its type, a key of ``TYPES``."""
    num_values: int = 1
    """Values per point."""


@dataclass(frozen=True, eq=False)
class PointCloud2:
    """A cloud with its layout; the data are not copied."""

    header: Header
    height: int
    width: int
    fields: tuple[PointField, ...]
    is_bigendian: bool
    point_step: int
    """Bytes from one point to the next."""
    row_step: int
    """Bytes from one row to the next."""
    data: memoryview

    @property
    def names(self) -> list[str]:
        """Names of the fields."""
        return [field.name for field in self.fields]

    def field(self, name: str) -> PointField:
        """Return the field of a name."""
        found = next((field for field in self.fields if field.name == name), None)
        if found is None:
            raise InputError(f"the cloud has no field {name}; it has: {', '.join(self.names)}.")
        return found

    def values(self, name: str) -> np.ndarray:
        """Values of one field, (height, width), as a view of the data."""
        return self._view(self.field(name), 1)[:, :, 0]

    def xyz(self) -> npt.NDArray[np.float32]:
        """Positions of all points, (height * width, 3) [m]."""
        x, y, z = (self.field(axis) for axis in "xyz")
        size = field_type(x, self.is_bigendian).itemsize
        if y == x._replace(name="y", offset=x.offset + size) and z == y._replace(
            name="z", offset=y.offset + size
        ):
            positions = self._view(x, 3)
        else:
            positions = np.stack([self.values(axis) for axis in "xyz"], axis=2)
        with np.errstate(all="ignore"):  # what overflows becomes infinite and is dropped
            return positions.astype(np.float32).reshape(-1, 3)

    def _view(self, field: PointField, number: int) -> np.ndarray:
        """One field of all points and as many alike after it, (height, width, number)."""
        dtype = field_type(field, self.is_bigendian)
        end = field.offset + number * dtype.itemsize
        if end > self.point_step:
            raise InputError(
                f"field {field.name} ends at byte {end} of a point of {self.point_step} bytes; "
                "its driver described the cloud wrongly."
            )
        shape = (self.height, self.width, number)
        if 0 in shape:
            return np.empty(shape, dtype)
        strides = (self.row_step, self.point_step, dtype.itemsize)
        return np.ndarray(shape, dtype, self.data, field.offset, strides)


def field_type(field: PointField, is_bigendian: bool) -> np.dtype:
    """NumPy type of a field that holds one number per point."""
    if field.datatype not in TYPES:
        raise InputError(f"field {field.name} has type {field.datatype}, which PointCloud2 lacks.")
    if field.num_values > 1:  # some drivers write 0 for one value
        raise InputError(f"field {field.name} has {field.num_values} values per point, not one.")
    return np.dtype((">" if is_bigendian else "<") + TYPES[field.datatype])


def parse_point_cloud2(message: MessageReader) -> PointCloud2:
    """Read a cloud from its message, and check that its bytes are all there.

    Raises
    ------
    InputError
        If the message is cut off or contradicts itself.
    """
    header = message.header()
    height, width = message.number("I"), message.number("I")
    fields = tuple(
        PointField(message.text(), message.number("I"), message.number("B"), message.number("I"))
        for _ in range(message.number("I"))
    )
    is_bigendian = bool(message.number("B"))
    point_step, row_step = message.number("I"), message.number("I")
    data = message.blob()
    if height <= 1 or row_step == 0:
        row_step = width * point_step
    if row_step < width * point_step:
        raise InputError(
            f"its rows of {width} points of {point_step} bytes do not fit into {row_step} bytes."
        )
    needed = (height - 1) * row_step + width * point_step if height * width else 0
    if len(data) < needed:
        raise InputError(
            f"it promises {height} x {width} points, which take {needed} bytes, "
            f"and holds {len(data)}."
        )
    return PointCloud2(header, height, width, fields, is_bigendian, point_step, row_step, data)


def raw_cloud(cloud: PointCloud2, time_field: str | None) -> RawCloud:
    """Points that were measured, with their raw times if there is a field for them."""
    times = None if time_field is None else cloud.values(time_field).ravel()
    return measured(cloud.header, cloud.xyz(), times)


def measured(
    header: Header, points: npt.NDArray[np.float32], raw_times: np.ndarray | None
) -> RawCloud:
    """Cloud without points that are not finite, at the origin, or without a finite time."""
    x, y, z = points.T  # column by column: NumPy is slow along short rows
    keep = np.isfinite(x) & np.isfinite(y) & np.isfinite(z) & ((x != 0) | (y != 0) | (z != 0))
    if raw_times is not None:
        keep &= np.isfinite(raw_times)
        raw_times = np.compress(keep, raw_times).astype(raw_times.dtype.newbyteorder("="))
    return RawCloud(header, np.compress(keep, points, axis=0), raw_times)
