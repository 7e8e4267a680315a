# SPDX-License-Identifier: MIT
"""Points of a moving scan brought to one time: against a plain twin and against true motions."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sim_cases import ride
from svnicp.arrays import Floats, Points, Transform
from svnicp.config import PreprocessConfig
from svnicp.data.measurements import Scan
from svnicp.kernels import deskew as compiled
from svnicp.kernels.deskew import CHUNK
from svnicp.lie import make_transform, se3_exp, se3_inverse, so3_exp, so3_log, transform_points
from svnicp.preprocess import PoseTrack, body_points, thinned, track_from
from svnicp.simulation.effects import Effects
from svnicp.simulation.scene import SCENES
from svnicp.simulation.sensors import SENSORS
from svnicp.simulation.simulated import SimulatedDataset
from threads import needs_two_threads, num_threads

T_BODY_LIDAR = make_transform(so3_exp(np.array([0.1, -0.2, 2.0])), np.array([0.3, 0.05, 0.2]))


def deskew(
    points: npt.NDArray[np.floating], seconds: Floats, times: Floats, nodes: Floats, T: Transform
) -> Points:
    """All points deskewed, as the compiled code does it with every one of them kept."""
    moved, when = compiled.deskew(points, seconds, np.arange(len(points)), times, nodes, T)
    assert_array_equal(when, seconds)
    return moved


def rows_of(poses: Transform) -> Floats:
    """Poses (m, 4, 4) as rows (m, 12) of a track."""
    return np.concatenate([poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]], axis=1)


def plain_deskew(
    points: Points, seconds: Floats, node_seconds: Floats, poses: Transform, T_body_lidar: Transform
) -> Points:
    """Point by point: turn and move in proportion to the time within the interval."""
    out = []
    for point, when in zip(points.astype(np.float64), seconds, strict=True):
        place = int(np.searchsorted(node_seconds, when, side="right")) - 1
        place = min(max(place, 0), len(node_seconds) - 2)
        share = (when - node_seconds[place]) / (node_seconds[place + 1] - node_seconds[place])
        a, b = poses[place], poses[place + 1]
        turn = a[:3, :3] @ so3_exp(share * so3_log(a[:3, :3].T @ b[:3, :3]))
        there = a[:3, 3] + share * (b[:3, 3] - a[:3, 3])
        out.append(turn @ transform_points(T_body_lidar, point) + there)
    return np.array(out).reshape(-1, 3)


def track(rng: np.random.Generator, count: int = 6) -> tuple[Floats, Transform]:
    """Times and poses of a body that turns and moves at random."""
    times = np.cumsum(rng.uniform(0.005, 0.02, size=count)) - 0.05
    steps = se3_exp(rng.normal(size=(count, 6)) * [0.2, 0.2, 0.2, 0.04, 0.04, 0.04])
    poses = np.empty((count, 4, 4))
    pose = np.eye(4)
    for n in range(count):
        pose = pose @ steps[n]
        poses[n] = pose
    return times, poses


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 8), size=st.integers(0, 40))
@settings(max_examples=25)
def test_deskewing_is_its_plain_twin(dtype: type, seed: int, count: int, size: int):
    """Points at any time, before the first pose and after the last too, in any order."""
    rng = np.random.default_rng(seed)
    times, poses = track(rng, count)
    points = (10.0 * rng.normal(size=(size, 3))).astype(dtype)
    seconds = rng.uniform(times[0] - 0.02, times[-1] + 0.02, size=size)
    got = deskew(points, seconds, times, rows_of(poses), T_BODY_LIDAR)
    assert got.dtype == np.float64
    expected = plain_deskew(points, seconds, times, poses, T_BODY_LIDAR)
    assert_allclose(got, expected, rtol=0.0, atol=2e-4)
    inside = (seconds >= times[0]) & (seconds <= times[-1])
    assert_allclose(got[inside], expected[inside], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("count", [0, 7, 20000])
def test_moved_points_are_their_numpy_twin(rng: np.random.Generator, count: int):
    """One pose moves all points as ``transform_points`` does, and none when there is none."""
    points = 50.0 * rng.normal(size=(count, 3))
    expected = transform_points(T_BODY_LIDAR, points)
    assert_allclose(compiled.moved(T_BODY_LIDAR, points), expected, rtol=0.0, atol=1e-12)


def test_points_at_the_nodes_take_their_poses(rng: np.random.Generator):
    """At the time of a pose that very pose is applied, first and last included."""
    times, poses = track(rng)
    points = 10.0 * rng.normal(size=(len(times), 3))
    got = deskew(points, times, times, rows_of(poses), np.eye(4))
    expected = [transform_points(pose, point) for pose, point in zip(poses, points, strict=True)]
    assert_allclose(got, expected, atol=1e-9)


def test_a_constant_twist_is_followed(rng: np.random.Generator):
    """Eleven poses of a fast turn leave less than half a millimetre against the exact motion."""
    twist = np.array([15.0, 1.0, 0.5, 0.2, -0.3, 1.0])
    times, seconds = np.linspace(-0.05, 0.05, 11), rng.uniform(-0.05, 0.05, size=200)
    points = 20.0 * rng.normal(size=(200, 3))
    got = deskew(points, seconds, times, rows_of(se3_exp(times[:, None] * twist)), np.eye(4))
    exact = [
        transform_points(pose, point)
        for pose, point in zip(se3_exp(seconds[:, None] * twist), points, strict=True)
    ]
    assert np.linalg.norm(got - np.array(exact), axis=1).max() < 5e-4


def test_range_limits_are_those_of_the_lidar(rng: np.random.Generator):
    """Points are dropped by their distance from the LiDAR, limits included, and no others."""
    directions = rng.normal(size=(400, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    ranges = rng.uniform(0.0, 10.0, size=400)
    points = directions * ranges[:, None]
    points[:3] = [[2.0, 0.0, 0.0], [0.0, 0.0, 7.0], [np.nan, 1.0, 1.0]]
    ranges[:2] = [2.0, 7.0]
    config = PreprocessConfig(min_range_m=2.0, max_range_m=7.0)
    got = body_points(Scan(0, points), None, T_BODY_LIDAR, config).points
    kept = (ranges >= 2.0) & (ranges <= 7.0)
    kept[2] = False
    assert_allclose(got, transform_points(T_BODY_LIDAR, points[kept]), atol=1e-12)


@pytest.mark.parametrize("times", [True, False])
def test_empty_scans_stay_empty(times: bool):
    """No points in, no points out."""
    scan = Scan(0, np.empty((0, 3), np.float32), np.empty(0, np.int64) if times else None)
    node = np.r_[np.eye(3).ravel(), 0.0, 0.0, 0.0]
    track = PoseTrack(0, np.array([-5, 5]), np.tile(node, (2, 1)))
    got = body_points(scan, track, np.eye(4), PreprocessConfig())
    assert got.points.shape == (0, 3)
    assert (got.seconds is not None) == times


def test_without_times_or_when_off_nothing_moves(rng: np.random.Generator):
    """Points keep their place without times, without a track, or with deskewing off."""
    times, poses = track(rng)
    motion = PoseTrack(0, (times * 1e9).astype(np.int64), rows_of(poses))
    points, stamps = 5.0 + rng.random(size=(9, 3)), np.arange(9) * 1_000_000
    expected = transform_points(T_BODY_LIDAR, points)
    on, off = PreprocessConfig(), PreprocessConfig(deskew=False)
    for scan, seen, config in (
        (Scan(0, points), motion, on),
        (Scan(0, points, stamps), None, on),
        (Scan(0, points, stamps), motion, off),
    ):
        got = body_points(scan, seen, T_BODY_LIDAR, config)
        assert_allclose(got.points, expected, atol=1e-12)
        assert got.seconds is None
    moving = body_points(Scan(0, points, stamps), motion, T_BODY_LIDAR, on)
    assert np.abs(moving.points - expected).max() > 1e-2


def test_seconds_belong_to_the_points_kept(rng: np.random.Generator):
    """Each point that is left has its own time, relative to the reference."""
    points = rng.uniform(-20.0, 20.0, size=(300, 3))
    start = 1_700_000_000_000_000_000
    stamps = start + rng.integers(0, 10**8, size=300)
    motion = PoseTrack(
        start + 50_000_000, np.array([start, start + 10**8]),
        rows_of(np.stack([np.eye(4), np.eye(4)])),
    )  # fmt: skip
    config = PreprocessConfig(min_range_m=8.0, max_range_m=25.0)
    got = body_points(Scan(start, points, stamps), motion, np.eye(4), config)
    ranges = np.linalg.norm(points, axis=1)
    kept = (ranges >= 8.0) & (ranges <= 25.0)
    assert 0 < len(got.points) < 300
    assert_allclose(got.points, points[kept], atol=1e-12)
    assert got.seconds is not None
    assert_allclose(got.seconds, (stamps[kept] - start) * 1e-9 - 0.05, atol=1e-9)


@pytest.mark.parametrize("reference", [0, 2, 5])
def test_a_track_is_seen_from_its_reference(reference: int, rng: np.random.Generator):
    """At the reference the pose is the identity; elsewhere it is relative to it."""
    times, poses = track(rng)
    stamps = (times * 1e9).astype(np.int64)
    seen = track_from(stamps, rows_of(poses), reference)
    assert seen.reference_ns == stamps[reference]
    assert_allclose(seen.nodes, rows_of(se3_inverse(poses[reference]) @ poses), atol=1e-12)


@pytest.mark.parametrize("again", [0, 3, 5])
def test_a_repeated_stamp_loses_no_point(again: int, rng: np.random.Generator):
    """A pose that is in a track twice changes nothing, wherever the points lie."""
    times, poses = track(rng)
    stamps = (times * 1e9).astype(np.int64)
    twice = np.sort(np.r_[np.arange(6), again])
    once = track_from(stamps, rows_of(poses), again)
    other = track_from(stamps[twice], rows_of(poses)[twice], again)
    points = 5.0 + rng.random(size=(50, 3))
    when = rng.integers(stamps[0] - 10**7, stamps[-1] + 10**7, size=50)
    got = [
        body_points(Scan(0, points, when), seen, np.eye(4), PreprocessConfig()).points
        for seen in (once, other)
    ]
    assert len(got[0]) == 50
    assert_array_equal(got[0], got[1])


def test_a_track_of_one_moment_stands_still(rng: np.random.Generator):
    """A single pose, once or twice, leaves the points where they are."""
    pose = rows_of(se3_exp(rng.normal(size=(1, 6))))
    points, when = 5.0 + rng.random(size=(9, 3)), np.arange(9) * 10**6
    for count in (1, 2):
        seen = track_from(np.full(count, 77), np.tile(pose, (count, 1)), count - 1)
        got = body_points(Scan(0, points, when), seen, np.eye(4), PreprocessConfig()).points
        assert_allclose(got, points, atol=1e-12)


@needs_two_threads
def test_thread_count_does_not_change_bits(rng: np.random.Generator):
    """One thread and two move the points to the same bits."""
    times, poses = track(rng)
    points = rng.normal(size=(3 * CHUNK + 17, 3)).astype(np.float32)
    seconds = rng.uniform(times[0], times[-1], size=len(points))
    got = []
    for count in (1, 2):
        with num_threads(count):
            got.append(deskew(points, seconds, times, rows_of(poses), T_BODY_LIDAR))
    assert_array_equal(got[0], got[1])


def test_a_simulated_scan_becomes_undistorted():
    """By the true poses a moving scan meets the surface to 2 mm, without them it does not."""
    dataset = SimulatedDataset(
        "ride", SCENES["room"](), ride(length_m=4.0, turn_rad=2.0), SENSORS["vlp16"],
        T_body_lidar=T_BODY_LIDAR, effects=Effects.none(),
    )  # fmt: skip
    scan = dataset.scan(70)
    stamps = np.arange(scan.stamp_ns, scan.end_ns + 1, 5_000_000)
    truth = dataset.truth_at(stamps).T_world_body
    for motion, worst in ((track_from(stamps, rows_of(truth), 10), 2e-3), (None, None)):
        got = body_points(scan, motion, T_BODY_LIDAR, PreprocessConfig())
        world = transform_points(truth[10], got.points)
        distance = np.abs(dataset.scene.distance(world)).max()
        assert distance < worst if worst is not None else distance > 0.02


@given(total=st.integers(0, 5000), count=st.integers(1, 3000))
def test_thinning_keeps_about_the_count(total: int, count: int):
    """Never more than asked for, at least half of it, and all when there are few."""
    points = np.arange(3.0 * total).reshape(-1, 3)
    left = thinned(points, count)
    assert len(left) <= count
    assert len(left) >= min(total, count / 2)
    assert set(left[:, 0]) <= set(points[:, 0])
