# SPDX-License-Identifier: MIT
"""The voxel size by the first scan: small where that shows enough, larger for few rings."""

from dataclasses import replace

import numpy as np
import pytest

from odometry_cases import DEFAULT, steady
from svnicp.arrays import Points
from svnicp.odometry import Odometry
from svnicp.odometry.map_scale import (
    AS_GOOD,
    FACTORS,
    at_scale,
    finest_scale,
    fitting_scale,
    planar_share,
    pose_doubt,
)
from svnicp.odometry.surroundings import scaled_to


def first_scan(scene: str, sensor: str) -> Points:
    """Points (n, 3) of the first scan of a body at rest."""
    return steady(0.0, 0.2, False, scene, sensor).scan(0).points.astype(np.float64)


@pytest.mark.parametrize("scene", ["room", "street"])
def test_a_dense_scan_allows_the_smallest_voxels(scene: str):
    """Where every size tells enough, nothing speaks for large ones."""
    config = fitting_scale(first_scan(scene, "os1_64"), DEFAULT)
    assert config.map.voxel_size_m == DEFAULT.map.voxel_size_m


def test_sixteen_rings_in_a_corridor_need_larger_voxels():
    """Floor and ceiling are two rings apart there: small patches leave the height open."""
    points = first_scan("closed_corridor", "vlp16")
    config = fitting_scale(points, DEFAULT)
    assert config.map.voxel_size_m > DEFAULT.map.voxel_size_m
    assert pose_doubt(points, config) < pose_doubt(points, DEFAULT) - AS_GOOD


def test_with_an_imu_surfaces_are_enough():
    """The IMU holds the height that sixteen rings in a corridor leave open: voxels stay small."""
    points = first_scan("closed_corridor", "vlp16")
    carried = scaled_to(points, DEFAULT, carried=True)
    alone = scaled_to(points, DEFAULT, carried=False)
    assert planar_share(points, carried) >= 0.3
    assert carried.map.voxel_size_m < alone.map.voxel_size_m


def test_with_an_imu_as_well_it_is_the_largest_where_there_are_no_surfaces(
    rng: np.random.Generator,
):
    """Points all over the place have none in voxels of any size."""
    points = rng.uniform(-50.0, 50.0, (500, 3))
    assert planar_share(points, DEFAULT) == 0.0 == planar_share(points[:0], DEFAULT)
    config = finest_scale(points, DEFAULT)
    assert config.map.voxel_size_m == FACTORS[-1] * DEFAULT.map.voxel_size_m


def test_lengths_that_go_together_are_scaled_together():
    """Patches, reach and neighbourhoods keep their size in voxels."""
    doubled = at_scale(DEFAULT, 2.0)
    for one, other in (
        (doubled.map.voxel_size_m, DEFAULT.map.voxel_size_m),
        (doubled.map.plane_radius_m, DEFAULT.map.plane_radius_m),
        (doubled.source.spread_leaf_m, DEFAULT.source.spread_leaf_m),
        (doubled.match.max_distance_m, DEFAULT.match.max_distance_m),
    ):
        assert one == 2.0 * other


@pytest.mark.parametrize("count", [0, 10, 200])
def test_where_no_size_shows_a_surface_it_is_the_largest(count: int, rng: np.random.Generator):
    """Later scans may find one in it."""
    points = rng.uniform(-50.0, 50.0, (count, 3))
    assert pose_doubt(points, DEFAULT) == np.inf
    config = fitting_scale(points, DEFAULT)
    assert config.map.voxel_size_m == FACTORS[-1] * DEFAULT.map.voxel_size_m


def test_a_wall_alone_leaves_more_doubt_than_a_room():
    """Doubt is about the whole pose, and what is known very well does not make up for the rest."""
    room = first_scan("room", "os1_64")
    wall = room[np.abs(room[:, 0] - room[:, 0].max()) < 0.1]
    assert len(wall) > 1000
    assert pose_doubt(wall, DEFAULT) > pose_doubt(room, DEFAULT) + 10.0 > 10.0


def test_a_map_that_begins_anew_has_a_size_of_its_own(rng: np.random.Generator):
    """The size is chosen from the one that was asked for, not from the one chosen before."""
    forgetful = replace(DEFAULT, odometry=replace(DEFAULT.odometry, map_radius_m=1.0))
    odometry, sizes = Odometry(forgetful), []
    for number in range(25):
        few = rng.uniform(-50.0, 50.0, (60, 3))
        odometry.add_scan(few[np.linalg.norm(few, axis=1) > 5.0], number * 100_000_000)
        sizes.append(odometry.config.map.voxel_size_m)
    assert sizes[-1] == FACTORS[-1] * DEFAULT.map.voxel_size_m
