# SPDX-License-Identifier: MIT
"""Several starts: after a gap a scan finds its place among things that look alike."""

import numpy as np
import pytest

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.lie import (
    make_transform,
    se3_exp,
    se3_inverse,
    se3_log,
    so3_exp,
    transform_points,
)
from svnicp.local_map import VoxelMap
from svnicp.odometry.search import Ending
from svnicp.odometry.several_starts import _best, well_placed_start
from svnicp.pose_gaussian import PoseGaussian
from svnicp.registration import register_in_map

CONFIG = Config.preset("default")
LEVEL_STD_M = 2.5


def box(rng: np.random.Generator, centre: list[float], size: list[float], n: int) -> Points:
    """Points (n, 3) on the sides of an upright box."""
    along, high = rng.uniform(-0.5, 0.5, n), rng.uniform(-0.5, 0.5, n)
    side = rng.integers(4, size=n)
    x = np.where(side < 2, along, np.where(side == 2, 0.5, -0.5))
    y = np.where(side < 2, np.where(side == 0, 0.5, -0.5), along)
    return np.column_stack([x, y, high]) * size + centre


def car_park(rng: np.random.Generator) -> Points:
    """A yard with cars parked every 5 m in a row, and one kiosk that tells which is which."""
    floor = np.column_stack([rng.uniform(-25.0, 25.0, (20000, 2)), np.full(20000, -1.5)])
    cars = [box(rng, [5.0 * k, 4.0, -0.8], [4.2, 1.8, 1.4], 1500) for k in range(-4, 5)]
    kiosk = box(rng, [3.0, -6.0, 0.0], [2.0, 3.0, 3.0], 2500)
    points = np.concatenate([floor, *cars, kiosk])
    return points + 0.01 * rng.normal(size=points.shape)


def prediction(off_m: list[float]) -> tuple[Points, Points]:
    """Pose and covariance of a prediction that is off by this much."""
    T = make_transform(so3_exp(np.array([0.0, 0.0, 0.02])), np.array([*off_m, 0.02]))
    covariance = np.diag([LEVEL_STD_M**2] * 2 + [0.1**2] + [0.01**2, 0.01**2, 0.05**2])
    covariance[0, 5] = covariance[5, 0] = 0.9 * LEVEL_STD_M * 0.05
    return T, covariance


def park_map(rng: np.random.Generator) -> VoxelMap:
    """Map of the yard."""
    local_map = VoxelMap(CONFIG.map)
    local_map.insert(car_park(rng))
    return local_map


@pytest.mark.parametrize("off_m", [[3.4, 0.8], [-4.0, 1.0]])
def test_a_scan_is_found_one_car_away(off_m: list[float], rng: np.random.Generator):
    """From a wide prediction the right car is found; from its middle alone it is another one."""
    local_map, scan = park_map(rng), car_park(rng)
    T_predicted, covariance = prediction(off_m)
    start = well_placed_start(scan, local_map, T_predicted, covariance, CONFIG)
    assert start is not None
    astray, found = (
        register_in_map(
            scan, local_map, T_target_source=T_predicted, prior_covariance=covariance,
            config=CONFIG, start=begin,
        )
        for begin in (None, start)
    )  # fmt: skip
    assert np.linalg.norm(astray.T_target_source[:2, 3]) > 1.0
    assert np.linalg.norm(found.T_target_source[:2, 3]) < 0.005
    assert np.all(np.abs(se3_log(found.T_target_source)) < 4.0 * found.sigmas)


def test_a_good_prediction_is_left_alone(rng: np.random.Generator):
    """Where the prediction is narrow, or right, nothing else is tried or taken."""
    local_map, scan = park_map(rng), car_park(rng)
    T_predicted, covariance = prediction([0.1, 0.0])
    narrow = covariance / 100.0
    assert well_placed_start(scan, local_map, T_predicted, narrow, CONFIG) is None
    assert well_placed_start(scan, local_map, np.eye(4), covariance, CONFIG) is None
    elsewhere = transform_points(se3_inverse(se3_exp(np.array([300.0, 0, 0, 0, 0, 0]))), scan)
    assert well_placed_start(elsewhere, local_map, T_predicted, covariance, CONFIG) is None


@pytest.mark.parametrize(("cost", "taken"), [(0.5, True), (0.9, False)])
def test_a_place_must_be_clearly_better(cost: float, taken: bool):
    """A place that is hardly better than where the prediction leads is not worth the risk."""
    here, there = (
        Ending(PoseGaussian(se3_exp(np.array([at, 0, 0, 0, 0, 0])), np.eye(6)), 1.0, 1.0, value)
        for at, value in ((0.0, 1.0), (3.0, cost))
    )
    best = _best([here, there])
    assert (best is not None) == taken
