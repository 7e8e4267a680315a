# SPDX-License-Identifier: MIT
"""The first motion: found at speed, at rest when nothing says otherwise, and never from nothing."""

import numpy as np
import pytest

from svnicp.arrays import Points
from svnicp.config import Config
from svnicp.lie import se3_exp, se3_inverse, se3_log, transform_points
from svnicp.local_map import VoxelMap
from svnicp.odometry.first_motion import choose, first_motion, is_confirmed
from svnicp.odometry.search import Ending
from svnicp.pose_gaussian import PoseGaussian

CONFIG = Config.preset("default")


def hall(rng: np.random.Generator, closed: bool = True) -> Points:
    """Points on the floor and walls of a hall of 30 m by 12 m, with two pillars."""
    u, v = rng.uniform(-1.0, 1.0, size=(2, 30000))
    floor = np.column_stack([15.0 * u, 6.0 * v, np.full(len(u), -1.5)])
    sides = np.column_stack([15.0 * u, 6.0 * np.sign(v), 3.0 * np.abs(v) - 1.5])
    parts = [floor, sides]
    if closed:
        parts.append(np.column_stack([15.0 * np.sign(u), 6.0 * v, 3.0 * np.abs(u) - 1.5]))
    return np.concatenate(parts) + 0.01 * rng.normal(size=(sum(map(len, parts)), 3))


def found(rng: np.random.Generator, twist: Points, seconds: float, closed: bool = True):
    """First motion of a body with this twist (6,) in the hall."""
    local_map = VoxelMap(CONFIG.map)
    local_map.insert(hall(rng, closed))
    T_world_body = se3_exp(twist * seconds)
    second = transform_points(se3_inverse(T_world_body), hall(rng, closed))
    motions = first_motion(second, local_map, np.eye(4), seconds, CONFIG)
    return None if motions is None else motions.likeliest.pose, T_world_body


@pytest.mark.parametrize("speed", [0.0, 0.7, 6.0, 14.0, 25.0])
def test_any_speed_is_found(speed: float, rng: np.random.Generator):
    """From rest to 90 km/h, askew and turning, the second scan is found within a centimetre."""
    twist = np.array([speed, 0.2 * speed, 0.0, 0.0, 0.0, 0.2])
    pose, truth = found(rng, twist, 0.1)
    assert pose is not None
    assert np.abs(se3_log(se3_inverse(truth) @ pose.T_world_body)).max() < 0.01


def test_what_is_not_seen_is_taken_for_rest(rng: np.random.Generator):
    """Along a hall without ends the body stays about where it is, and the covariance knows."""
    pose, _ = found(rng, np.zeros(6), 0.1, closed=False)
    assert pose is not None
    assert abs(pose.T_world_body[0, 3]) < 0.3
    assert pose.covariance[0, 0] > 0.03**2
    assert pose.covariance[1, 1] < 0.01**2


def test_nothing_is_found_in_nothing(rng: np.random.Generator):
    """Too few points, or a scan of another place, give no motion."""
    local_map = VoxelMap(CONFIG.map)
    local_map.insert(hall(rng))
    assert first_motion(np.zeros((5, 3)), local_map, np.eye(4), 0.1, CONFIG) is None
    far = hall(rng) + 500.0
    assert first_motion(far, local_map, np.eye(4), 0.1, CONFIG) is None


def ending(x: float, misfit: float, cost: float = 0.0) -> Ending:
    """An ending this far along x."""
    pose = PoseGaussian(se3_exp(np.array([x, 0, 0, 0, 0, 0])), np.eye(6))
    return Ending(pose, misfit, cost=cost)


@pytest.mark.parametrize(
    ("endings", "x"),
    [
        ([(0.0, 1.0), (1.0, 0.5), (1.01, 0.5), (1.02, 0.5)], 1.0),
        ([(0.0, 1.0), (1.0, 0.5), (2.0, 0.4), (3.0, 0.3)], 0.0),
        ([(0.0, 1.0), (1.0, 0.99), (1.0, 0.99), (1.0, 0.99)], 0.0),
        ([(0.0, 1.0, 0.2), (1.0, 0.5, 0.1), (1.0, 0.5, 0.1), (1.0, 0.5, 0.1)], 1.0),
        ([(0.0, 1.0, 0.1), (1.0, 0.5, 0.2), (1.0, 0.5, 0.2), (1.0, 0.5, 0.2)], 0.0),
        ([(0.0, 1.0), (0.04, 0.7), (0.04, 0.7), (0.04, 0.7)], 0.0),
        ([(0.4, 1.0)], 0.4),
    ],
    ids=["agreed", "lonely", "tie", "cheap", "dear", "next to rest", "only"],
)
def test_the_better_place_that_several_starts_agree_on(endings: list, x: float):
    """One lucky fit is not believed, nor one that explains few points well; rest wins a tie."""
    chosen = choose([ending(*one) for one in endings], np.eye(4))
    assert chosen is not None
    assert chosen[0].T_world_body[0, 3] == pytest.approx(x, abs=1e-9)
    assert chosen[1].T_world_body[0, 3] == endings[0][0]


@pytest.mark.parametrize(("open_m", "x"), [(0.05, 1.0), (0.28, 0.0)])
def test_a_motion_must_be_shown(open_m: float, x: float):
    """Where the scan leaves the way open, a better fit somewhere along it is chance."""
    there = PoseGaussian(se3_exp(np.array([1.0, 0, 0, 0, 0, 1.0])), np.eye(6) * open_m**2)
    endings = [ending(0.0, 1.0), *[Ending(there, 0.5)] * 3]
    chosen = choose(endings, np.eye(4), shown_m=0.15)
    assert chosen is not None
    assert np.linalg.norm(chosen[0].T_world_body[:3, 3]) == pytest.approx(x, abs=0.05)


def test_no_endings_no_choice():
    """Without any ending there is no motion."""
    assert choose([], np.eye(4)) is None


@pytest.mark.parametrize(
    ("speed", "believed", "confirmed"),
    [(20.0, 20.0, True), (0.0, 20.0, False), (8.0, 20.0, False)],
    ids=["true", "at rest", "slower"],
)
def test_a_third_scan_confirms_a_motion(
    speed: float, believed: float, confirmed: bool, rng: np.random.Generator
):
    """It lies where the motion leads, and nowhere near if the first two were mistaken."""
    local_map = VoxelMap(CONFIG.map)
    local_map.insert(hall(rng))
    third = transform_points(se3_inverse(se3_exp(np.r_[0.2 * speed, np.zeros(5)])), hall(rng))
    velocity = np.array([believed, 0.0, 0.0])
    assert is_confirmed(velocity, third, local_map, np.eye(4), 0.2, CONFIG) == confirmed
