# SPDX-License-Identifier: MIT
"""Points of a scan in the body's frame at one time: cropped, deskewed, finite.

The motion model chooses that time and supplies the poses during the scan. Without times of points,
or when deskewing is off, all points are taken to be of one instant.
"""

from typing import NamedTuple

import numpy as np

from svnicp.arrays import Floats, Integers, Points, Transform
from svnicp.config import PreprocessConfig
from svnicp.data.measurements import Scan
from svnicp.kernels.deskew import deskew, within


class PoseTrack(NamedTuple):
    """Poses of the body during a scan, seen from the body at the time its points are moved to."""

    reference_ns: int
    """That time [ns]."""
    stamps_ns: Integers
    """(m,) strictly ascending, at least two [ns]."""
    nodes: Floats
    """(m, 12) rotation by rows, then position."""


NODES = 11
"""Poses of a track over one scan whose motion is a formula."""


def stamps_through(scan: Scan) -> Integers:
    """Stamps (n,) from the beginning of a scan to its end, at least two [ns]."""
    later_ns = np.linspace(0, max(scan.end_ns - scan.stamp_ns, 1), NODES)
    return scan.stamp_ns + np.unique(later_ns.astype(np.int64))


def track_from(stamps_ns: Integers, nodes_world: Floats, reference: int) -> PoseTrack:
    """Track of poses (m, 12) in the world, seen from the one with this index.

    Poses at equal stamps count once: nothing can be continued from an interval without length.
    """
    rotations, positions = nodes_world[:, :9].reshape(-1, 3, 3), nodes_world[:, 9:]
    R_reference, p_reference = rotations[reference], positions[reference]
    turned = R_reference.T @ rotations
    moved = (positions - p_reference) @ R_reference
    nodes = np.concatenate([turned.reshape(-1, 9), moved], axis=1)
    reference_ns = int(stamps_ns[reference])
    distinct = np.flatnonzero(np.diff(stamps_ns, prepend=stamps_ns[0] - 1) > 0)
    if len(distinct) < 2:
        return PoseTrack(reference_ns, np.array([reference_ns - 1, reference_ns]), nodes[[0, 0]])
    return PoseTrack(reference_ns, stamps_ns[distinct], nodes[distinct])


class BodyPoints(NamedTuple):
    """A scan as points of the body at one time."""

    points: Points
    """(n, 3) in the body frame at that time, within range and finite [m]."""
    seconds: Floats | None
    """(n,) how long after that time each was taken; None when they were not moved [s]."""


def body_points(
    scan: Scan, track: PoseTrack | None, T_body_lidar: Transform, config: PreprocessConfig
) -> BodyPoints:
    """Points of a scan in the body frame at the track's reference time.

    Parameters
    ----------
    scan
        Points in the LiDAR frame.
    track
        Poses of the body during the scan; None when they are not known.
    T_body_lidar
        (4, 4) where the LiDAR sits on the body.
    config
        Ranges, and whether to deskew at all.
    """
    if track is None or scan.point_times_ns is None or not config.deskew:
        track = None
        seconds = np.zeros(len(scan.points))
        node_seconds, nodes = (
            np.array([0.0, 1.0]),
            np.tile(np.r_[np.eye(3).ravel(), 0, 0, 0], (2, 1)),
        )
    else:
        seconds = np.multiply(scan.point_times_ns - track.reference_ns, 1e-9, dtype=np.float64)
        node_seconds, nodes = (track.stamps_ns - track.reference_ns) * 1e-9, track.nodes
    limits = np.array([config.min_range_m, config.max_range_m])
    kept = within(scan.points, limits)
    points, seconds = deskew(scan.points, seconds, kept, node_seconds, nodes, T_body_lidar)
    return BodyPoints(points, None if track is None else seconds)


def thinned(points: Points, count: int) -> Points:
    """About ``count`` points, evenly in their order, when there are more."""
    if len(points) <= count:
        return points
    return np.ascontiguousarray(points[:: -(-len(points) // count)])
