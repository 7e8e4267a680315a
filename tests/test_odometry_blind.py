# SPDX-License-Identifier: MIT
"""Scans too sparse to be matched make a map together, as long as an IMU knows where they are."""

import numpy as np

import svnicp
from svnicp.config import MapConfig
from svnicp.local_map import VoxelMap
from svnicp.odometry.belief import lies_in


def test_a_scan_lies_in_a_map_where_half_of_it_has_neighbours(rng: np.random.Generator):
    """At its own place it does, three reaches aside it does not."""
    points = rng.uniform(-20.0, 20.0, size=(3000, 3)) * [1.0, 1.0, 0.0]
    local_map = VoxelMap(MapConfig())
    local_map.insert(points)
    aside = np.eye(4)
    aside[2, 3] = 1.5
    assert lies_in(local_map, points, np.eye(4), 0.5)
    assert not lies_in(local_map, points, aside, 0.5)


def test_the_first_sparse_scans_are_mapped():
    """On wide water no scan has a surface at first: it is said, and the scan enters the map."""
    dataset = svnicp.simulate("waterway_long", seed=101, duration_s=4.5)
    found = list(svnicp.run(dataset))
    blind = [estimate for estimate in found if estimate.status == "blind"]
    assert blind
    assert all(estimate.ok and estimate.nis is None for estimate in blind)
    assert "no surface" in blind[0].message
