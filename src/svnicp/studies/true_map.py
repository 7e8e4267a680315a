# SPDX-License-Identifier: MIT
"""Scans in a map whose poses are true: the error of a registration, and nothing else.

In odometry the map drifts along with the estimate, and nobody knows by how much a scan is wrong in
it. Here every scan enters the map where it truly was, deskewed by its true motion, and only the
points are noisy. The guess of a scan is drawn from its prior; so the posterior has to be right.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Points, Transform
from svnicp.baselines import ScanInMap
from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.lie import se3_exp, transform_points
from svnicp.local_map import VoxelMap
from svnicp.odometry.map_scale import fitting_scale
from svnicp.preprocess import PoseTrack, body_points, thinned
from svnicp.preprocess.body_points import track_from
from svnicp.simulation.simulated import SimulatedDataset

PRIOR_STD = np.array([0.1] * 3 + [0.01] * 3)
"""(6,) of the guess [m, rad]: about what constant velocity leaves open at walking pace."""
NODES = 101
"""Poses along a scan between which the body is taken to move evenly: one in a millisecond, since
with one in ten a vehicle's vibration leaves errors larger than those of a registration."""
PRUNE_EVERY = 10


class Place(NamedTuple):
    """A scan that is about to be registered."""

    number: int
    scan: ScanInMap
    T_true: Transform
    """(4, 4) where it was taken."""


def prior_covariance() -> Covariance:
    """Covariance (6, 6) of the guesses."""
    return np.diag(PRIOR_STD**2)


def places(
    dataset: SimulatedDataset, config: Config, first: int, every: int, seed: int
) -> Iterator[Place]:
    """Yield every so manieth scan in the map of all before it.

    Parameters
    ----------
    dataset
        Has the truth.
    config
        Its map's voxels are fitted to the first scan, as in odometry.
    first
        Number of the scan that begins the map.
    every
        Scans from one that is yielded to the next.
    seed
        Decides the guesses: the same scan gets the same guess whatever the configuration is.
    """
    local_map: VoxelMap | None = None
    for number in range(first, dataset.num_scans):
        points, T_true = true_points(dataset, dataset.scan(number), config)
        if local_map is None:
            if config.odometry.auto_voxel and config.match.metric == "plane":
                config = fitting_scale(points, config)
            local_map = VoxelMap(config.map)
        elif (number - first) % every == 0 and len(points) >= config.match.min_matches:
            draw = np.random.default_rng([seed, number]).standard_normal(6)
            guess = T_true @ se3_exp(PRIOR_STD * draw)
            scan = ScanInMap(points, local_map, guess, guess, prior_covariance(), config)
            yield Place(number, scan, T_true)
        kept = thinned(points, config.preprocess.max_map_points)
        local_map.insert(transform_points(T_true, kept))
        if (number - first) % PRUNE_EVERY == 0:
            local_map.prune(T_true[:3, 3], config.odometry.map_radius_m)


def true_points(dataset: SimulatedDataset, scan: Scan, config: Config) -> tuple[Points, Transform]:
    """Points (n, 3) of a scan in the body at its mean time, and the body's true pose (4, 4)."""
    track, T_true = _true_track(dataset, scan)
    found = body_points(scan, track, dataset.T_body_lidar, config.preprocess)
    return found.points, T_true


def _true_track(dataset: SimulatedDataset, scan: Scan) -> tuple[PoseTrack | None, Transform]:
    """Poses during a scan, and the one at its mean time."""
    T_mean = dataset.truth_at(np.array([scan.mean_ns])).T_world_body[0]
    if scan.point_times_ns is None or scan.end_ns <= scan.stamp_ns:
        return None, T_mean
    even = np.linspace(scan.stamp_ns, scan.end_ns, NODES).astype(np.int64)
    stamps_ns = np.unique(np.append(even, scan.mean_ns))
    poses = dataset.truth_at(stamps_ns).T_world_body
    nodes = np.concatenate([poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]], axis=1)
    reference = int(np.searchsorted(stamps_ns, scan.mean_ns))
    return track_from(stamps_ns, nodes, reference), T_mean
