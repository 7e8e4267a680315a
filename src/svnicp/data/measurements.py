# SPDX-License-Identifier: MIT
"""What sensors deliver: one scan of a LiDAR, one sample of an IMU.

Readers and the simulator make them, odometry consumes them. Units are SI, stamps are integer
nanoseconds, points are in the LiDAR frame and finite.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats, Integers
from svnicp.errors import InputError


@dataclass(frozen=True, eq=False)
class Scan:
    """Points of one LiDAR revolution or frame."""

    stamp_ns: int
    """Time at which the scan starts [ns]."""
    points: npt.NDArray[np.float32] | Floats
    """(n, 3) finite positions in the LiDAR frame [m]; n may be 0."""
    point_times_ns: Integers | None = None
    """(n,) absolute time of every point [ns], in any order; None when all are of ``stamp_ns``."""

    def __post_init__(self) -> None:
        if not isinstance(self.stamp_ns, int | np.integer) or isinstance(self.stamp_ns, bool):
            raise InputError(
                f"The stamp of a scan must be whole nanoseconds, not {self.stamp_ns!r}."
            )
        object.__setattr__(self, "points", _numbers(self.points, "points"))
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InputError(
                f"The points of a scan must have shape (n, 3), not {self.points.shape}."
            )
        if self.point_times_ns is not None:
            object.__setattr__(self, "point_times_ns", _numbers(self.point_times_ns, "times"))
        times = self.point_times_ns
        if times is not None and times.shape != (len(self.points),):
            raise InputError(
                f"A scan has {len(self.points)} points and times of shape {times.shape}; "
                "give one time per point, or none at all."
            )

    @cached_property
    def mean_ns(self) -> int:
        """Mean time of the points [ns]."""
        if self.point_times_ns is None or len(self.point_times_ns) == 0:
            return self.stamp_ns
        return self.stamp_ns + round(float(np.mean(self.point_times_ns - self.stamp_ns)))

    @cached_property
    def end_ns(self) -> int:
        """Time of the last point [ns]."""
        if self.point_times_ns is None or len(self.point_times_ns) == 0:
            return self.stamp_ns
        return int(self.point_times_ns.max())


def _numbers(values: npt.ArrayLike, what: str) -> npt.NDArray[np.generic]:
    """Array of what may be a list; an array stays the same."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of several lengths
        array = np.array(None)
    if array.dtype.kind not in "fiu":
        raise InputError(f"The {what} of a scan must be numbers, not {array.dtype}.")
    return array


@dataclass(frozen=True, eq=False)
class ImuSample:
    """One reading of an IMU, in its own axes."""

    stamp_ns: int
    """Time of the reading [ns]."""
    angular_velocity: Floats
    """(3,) [rad/s]."""
    linear_acceleration: Floats
    """(3,) specific force: at rest it points up and has the length of gravity [m/s^2]."""
