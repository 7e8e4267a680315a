# SPDX-License-Identifier: MIT
"""What the map refuses, so that compiled code never reads past an array, and how it is made."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from svnicp.config import Config, MapConfig
from svnicp.errors import InputError
from svnicp.local_map import VoxelMap

CLOUD = np.random.default_rng(3).uniform(-2.0, 2.0, size=(50, 3))
MASKED = np.ma.masked_greater(CLOUD, 1.0)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (CLOUD[:, :2], r"points must be an \(n, 3\) array of points .*got shape \(50, 2\)"),
        (CLOUD.T, r"got shape \(3, 50\); transpose it"),
        (CLOUD[0], r"got shape \(3,\)"),
        ([], r"got shape \(0,\)"),
        (None, "got None"),
        (np.where(CLOUD > 1.5, np.nan, CLOUD), "NaN or infinite coordinates"),
        (np.where(CLOUD > 1.5, np.inf, CLOUD), "NaN or infinite coordinates"),
        (CLOUD + 5.2e6, r"coordinates up to 5.2e\+06 m, and the limit is 1,000,000 m; subtract"),
        (MASKED, "masked values"),
    ],
)
def test_insert_refuses_what_is_no_cloud(points: Any, message: str):
    """A wrong cloud is refused with a sentence, and the map stays as it was."""
    local_map = VoxelMap()
    local_map.insert(CLOUD)
    before = local_map.points()
    with pytest.raises(InputError, match=message):
        local_map.insert(points)
    assert_array_equal(local_map.points(), before)
    assert local_map.epoch == 1


def test_insert_takes_lists_views_and_nothing():
    """Nested lists, views of wider arrays and clouds without points are clouds."""
    wide = np.concatenate([CLOUD, np.ones((50, 1))], axis=1)
    by_view, by_list = VoxelMap(), VoxelMap()
    by_view.insert(wide[:, :3])
    by_list.insert(CLOUD.tolist())
    assert_array_equal(by_view.points(), by_list.points())
    assert by_view.insert(np.empty((0, 3))) == 0.0
    unmasked: Any = np.ma.masked_greater(CLOUD, 100.0)
    assert VoxelMap().insert(unmasked) == 1.0


def test_queries_and_centres_of_another_shape_are_refused():
    """Looking up and forgetting check their shapes too."""
    local_map = VoxelMap()
    local_map.insert(CLOUD)
    with pytest.raises(InputError, match=r"queries must be an \(n, 3\) array"):
        local_map.nearest(CLOUD[:, :2], 1, 1.0)
    for center in (np.zeros(2), np.full(3, np.nan)):
        with pytest.raises(InputError, match="center must be three finite coordinates"):
            local_map.prune(center, 1.0)
    assert len(local_map) == len(local_map.points()) > 0


def test_a_map_takes_its_own_part_of_a_configuration():
    """Nothing, the map's parameters and all parameters are understood; a word is not."""
    assert VoxelMap().config == MapConfig()
    assert VoxelMap(Config.preset("paper")).config == Config.preset("paper").map
    assert VoxelMap(MapConfig(voxel_size_m=0.7)).config.voxel_size_m == 0.7
    word: Any = "paper"
    with pytest.raises(InputError, match="VoxelMap needs a MapConfig or a Config, got a str"):
        VoxelMap(word)


def test_a_map_says_what_it_holds():
    """The representation has the number of points and voxels, and no address."""
    local_map = VoxelMap(MapConfig(voxel_size_m=1.5))
    local_map.insert(CLOUD[:1])
    assert repr(local_map).startswith("<VoxelMap: 1 point in 1 voxels of 1.5 m, ")
