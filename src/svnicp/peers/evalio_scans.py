# SPDX-License-Identifier: MIT
"""Scans as evalio wants them: points with time, ring and column, built in one call from bytes.

The pipelines that look for edges need to know which ring of the sensor saw a point. Recordings do
not always say; the rings show themselves as steps in the elevations.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats, Integers, Points
from svnicp.data.measurements import Scan
from svnicp.extras import require
from svnicp.peers.relative_times import relative_times

POINT = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("t", "<u4"), ("row", "<u2")]
)
OFFSETS = {"x": 0, "y": 4, "z": 8, "intensity": 12, "t": 16, "row": 20}
FIELD_TYPES = {"x": "FLOAT32", "y": "FLOAT32", "z": "FLOAT32", "intensity": "FLOAT32",
               "t": "UINT32", "row": "UINT16"}  # fmt: skip
"""Fields of a point and their types in a ROS message, as evalio's converter knows them."""
GAP_DEG = 0.08
"""Elevations farther apart than this belong to two rings [deg]."""
NEAREST_M = (0.3, 3.0)
"""Points nearer than this are left out when rings are sought [m]. Lasers do not start from one
point, so near points differ from their ring in elevation; but low rings may see no others."""
MAX_RINGS = 256


@dataclass(frozen=True, eq=False)
class Rings:
    """Elevations of a sensor's rings."""

    elevations_deg: Floats
    """(r,) ascending."""
    num_columns: int
    """Most points that a ring has in one scan."""

    @property
    def num_rows(self) -> int:
        """Number of rings."""
        return len(self.elevations_deg)

    def rows(self, points: Points) -> Integers:
        """Ring (n,) of every point, the nearest in elevation."""
        edges = 0.5 * (self.elevations_deg[1:] + self.elevations_deg[:-1])
        return np.searchsorted(edges, elevations_deg(points))


def elevations_deg(points: Points) -> Floats:
    """Elevations (n,) of points (n, 3) above the sensor's plane [deg]."""
    return np.degrees(np.arctan2(points[:, 2], np.hypot(points[:, 0], points[:, 1])))


def find_rings(points: Points) -> Rings | None:
    """Rings of the sensor that saw a scan's points (n, 3); None if it has no rings."""
    distances = np.linalg.norm(points, axis=1)
    for nearest_m in NEAREST_M:
        elevations = _ring_elevations(points[distances > nearest_m])
        if elevations is not None:
            counts = np.bincount(Rings(elevations, 0).rows(points))
            return Rings(elevations, int(counts.max()))
    return None


def _ring_elevations(points: Points) -> Floats | None:
    """Elevations (r,) that many points (n, 3) share, with gaps between them; None if none do."""
    if len(points) < 100:
        return None
    angles = np.sort(elevations_deg(points))
    groups = np.split(angles, np.flatnonzero(np.diff(angles) > GAP_DEG) + 1)
    large = [group for group in groups if len(group) > 0.001 * len(points)]
    thin = all(np.ptp(group) < 5 * GAP_DEG for group in large)
    if not (4 <= len(large) <= MAX_RINGS and thin):
        return None
    return np.array([float(np.median(group)) for group in large])


def evalio_scan(scan: Scan, rings: Rings | None) -> Any:  # noqa: ANN401
    """The scan as evalio's ``LidarMeasurement``, stamped at its start.

    With rings it is a whole grid, row by row, in which missing points are zero.
    """
    helpers = require("evalio._cpp.helpers", "peers", "This peer")
    types = require("evalio.types", "peers", "This peer")
    points = _records(scan)
    if rings is not None:
        points = _in_grid(points, scan, rings)
    metadata = helpers.PointCloudMetadata(
        stamp=types.Stamp.from_nsec(scan.stamp_ns), width=len(points), height=1,
        point_step=POINT.itemsize, row_step=POINT.itemsize * len(points), is_bigendian=0,
        is_dense=1,
    )  # fmt: skip
    fields = [
        helpers.Field(name=name, datatype=getattr(helpers.DataType, kind), offset=OFFSETS[name])
        for name, kind in FIELD_TYPES.items()
    ]
    measurement = helpers.pc2_to_evalio(metadata, fields, points.tobytes())
    if rings is not None:
        helpers.fill_col_row_major(measurement)
    return measurement


def _records(scan: Scan) -> npt.NDArray[np.void]:
    """Points of a scan as they lie in a message."""
    points = np.zeros(len(scan.points), dtype=POINT)
    for axis, name in enumerate("xyz"):
        points[name] = scan.points[:, axis]
    if scan.point_times_ns is not None:
        points["t"] = np.maximum(scan.point_times_ns - scan.stamp_ns, 0)
    return points


def _in_grid(points: npt.NDArray[np.void], scan: Scan, rings: Rings) -> npt.NDArray[np.void]:
    """Points put into rows (rings) and columns (times, or azimuths where there are none)."""
    shares = relative_times(scan)
    if not len(shares):
        shares = 0.5 - np.arctan2(scan.points[:, 1], scan.points[:, 0]) / (2.0 * np.pi)
    columns = np.minimum((shares * rings.num_columns).astype(np.intp), rings.num_columns - 1)
    rows = rings.rows(scan.points.astype(np.float64))
    grid = np.zeros((rings.num_rows, rings.num_columns), dtype=POINT)
    grid["row"] = np.arange(rings.num_rows)[:, None]
    points["row"] = rows
    grid[rows, columns] = points
    return grid.ravel()
