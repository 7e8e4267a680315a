# SPDX-License-Identifier: MIT
"""Odometry when things go wrong: bad scans, gaps, jumps, a silent IMU, nonsense as input."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from odometry_cases import DEFAULT, FIXED_SIZE, drive, errors, feed, measured, steady
from svnicp.config import MapConfig
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.errors import InputError
from svnicp.lie import make_transform, so3_exp
from svnicp.local_map import VoxelMap
from svnicp.odometry import Odometry
from svnicp.simulation import SCENES, LidarPattern, scan

XSENS = ImuNoise.model("xsens_mti30")
WITH_IMU = pytest.mark.parametrize("imu", [None, XSENS], ids=["lidar", "inertial"])
EMPTY = np.empty((0, 3), np.float32)


def started(imu: ImuNoise | None, count: int = 90) -> Odometry:
    """Odometry that has seen the beginning of the drive."""
    odometry = Odometry(DEFAULT, imu)
    assert feed(odometry, measured(drive())[:count])
    return odometry


def next_stamp(odometry: Odometry, seconds: float = 0.1) -> int:
    """Stamp of a scan this long after the last."""
    assert odometry.motion.stamp_ns is not None
    return odometry.motion.stamp_ns + round(seconds * 1e9)


def map_bytes(local_map: VoxelMap) -> list[bytes]:
    """Everything that a map holds but the fits of planes, which asking may bring up to date."""
    used, arrays = local_map.num_voxels, local_map.arrays
    records = local_map.records(local_map.stored_indices())
    stored = [part[records].tobytes() for part in (arrays.offsets, arrays.moments)]
    return [arrays.keys[:used].tobytes(), arrays.counts[:used].tobytes(), *stored]


@pytest.mark.parametrize("back_ns", [0, 50_000_000, 3_000_000_000])
@WITH_IMU
def test_scans_out_of_order_are_left_out(imu: ImuNoise | None, back_ns: int):
    """A scan that is not later than the last gives no estimate and changes nothing."""
    odometry = started(imu)
    stamp, pose = odometry.motion.stamp_ns, odometry.motion.T_world_body.copy()
    covariance, before = odometry.motion.pose_covariance.copy(), map_bytes(odometry.local_map)
    points = drive().scan(9).points
    assert odometry.add_scan(points, next_stamp(odometry, 0.0) - back_ns) is None
    assert odometry.motion.stamp_ns == stamp
    assert_array_equal(odometry.motion.T_world_body, pose)
    assert_array_equal(odometry.motion.pose_covariance, covariance)
    assert map_bytes(odometry.local_map) == before


@pytest.mark.parametrize(
    "points", [EMPTY, *(np.full((500, 3), value) for value in (np.nan, 1e4, 3.0))]
)
@WITH_IMU
def test_scans_without_points_are_predicted(imu: ImuNoise | None, points: np.ndarray):
    """Empty scans, NaN, points out of range or all at one place are predicted and not mapped."""
    odometry = started(imu)
    before = map_bytes(odometry.local_map)
    sigma = np.linalg.det(odometry.motion.pose_covariance)
    estimate = odometry.add_scan(points, next_stamp(odometry))
    assert estimate is not None
    assert not estimate.ok
    assert estimate.status == "empty"
    assert estimate.nis is None
    assert np.linalg.det(odometry.motion.pose_covariance) > sigma
    assert map_bytes(odometry.local_map) == before


def test_single_bad_points_do_no_harm():
    """NaN and infinite points within a scan change nothing about its pose."""
    clean, dirty = started(None), started(None)
    assert clean.motion.stamp_ns is not None
    one = next(s for s in drive().scans() if s.mean_ns > clean.motion.stamp_ns)
    assert one.point_times_ns is not None
    bad = np.array([[np.nan] * 3, [np.inf, 0.0, 1.0]], dtype=np.float32)
    points = np.concatenate([one.points[:50], bad, one.points[50:]])
    times = np.concatenate([one.point_times_ns[:50], [0, 0], one.point_times_ns[50:]])
    expected = clean.add_scan(one.points, one.stamp_ns, one.point_times_ns)
    got = dirty.add_scan(points, one.stamp_ns, times)
    assert expected is not None
    assert got is not None
    assert_array_equal(got.T_world_body, expected.T_world_body)


def elsewhere() -> np.ndarray:
    """Scan of quite another place."""
    rng = np.random.default_rng(0)
    T = make_transform(so3_exp(np.array([0.0, 0.0, 0.7])), np.array([3.0, 1.0, 1.5]))
    return scan(SCENES["street"](), T, LidarPattern.rings(24, 300), rng)


@WITH_IMU
def test_a_scan_of_another_place_does_not_touch_the_map(imu: ImuNoise | None):
    """It is not believed, the pose is predicted, the map keeps its bytes, and the drive goes on."""
    odometry = started(imu, 120)
    before, pose = map_bytes(odometry.local_map), odometry.motion.T_world_body
    estimate = odometry.add_scan(elsewhere(), next_stamp(odometry, 0.05))
    assert estimate is not None
    assert not estimate.ok
    assert estimate.status in {"refused", "unmatched", "poor_fit"}
    assert map_bytes(odometry.local_map) == before
    assert_allclose(estimate.T_world_body, pose, atol=0.1)
    after = feed(odometry, measured(drive())[120:])
    assert all(one.ok for one in after)


@WITH_IMU
def test_a_place_that_stays_strange_becomes_a_new_map(imu: ImuNoise | None):
    """After a second of disbelief a new map begins, is said to, and scans match again."""
    odometry, rng = started(imu), np.random.default_rng(0)
    begin, seen = next_stamp(odometry), []
    for n in range(16):
        stamp = begin + n * 100_000_000
        if imu is not None:
            for k in range(10):
                noise = rng.standard_normal((2, 3)) * [[0.001], [0.01]]
                reading = noise[0], np.array([0.0, 0.0, 9.81]) + noise[1]
                odometry.add_imu(stamp - (9 - k) * 10_000_000, *reading)
        estimate = odometry.add_scan(elsewhere(), stamp)
        assert estimate is not None
        seen.append(estimate)
    statuses = [one.status for one in seen]
    assert "new_map" in statuses
    begun = statuses.index("new_map")
    assert begun >= 9
    assert not any(one.ok for one in seen[:begun])
    assert all(one.ok for one in seen[begun:])
    assert np.all(np.linalg.eigvalsh(seen[-1].covariance) > 0.0)
    assert np.trace(seen[begun].covariance) >= 0.9 * np.trace(seen[begun - 1].covariance)


def test_the_step_into_a_new_map_is_unsure():
    """The step that leads into a new map is predicted, and as unsure as the one before it."""
    odometry, steps = started(None), []
    begin = next_stamp(odometry)
    for n in range(13):
        estimate = odometry.add_scan(elsewhere(), begin + n * 100_000_000)
        assert estimate is not None
        steps.append(estimate)
        if estimate.status == "new_map":
            break
    assert steps[-1].status == "new_map"
    before, now = (np.trace(one.relative_covariance[:3, :3]) for one in steps[-2:])
    assert 0.9 * before < now < 2.0 * before


@WITH_IMU
def test_a_gap_of_scans_is_bridged(imu: ImuNoise | None):
    """Two seconds without scans, at rest: the next one matches again and the pose is right."""
    dataset = drive(duration_s=4.0, rest_s=3.0)
    begin, end = dataset.start_ns + 700_000_000, dataset.start_ns + 2_700_000_000
    kept = [
        one for one in measured(dataset)
        if not (isinstance(one, Scan) and begin < one.stamp_ns < end)
    ]  # fmt: skip
    got = feed(Odometry(DEFAULT, imu), kept)
    stamps = np.array([one.stamp_ns for one in got])
    assert np.diff(stamps).max() > 1_900_000_000
    assert got[int(np.argmax(np.diff(stamps))) + 1].status == "ok"
    assert np.abs(errors(dataset, got)[:, :3]).max() < 0.02


def test_an_imu_that_stops_is_said_and_survived():
    """Without readings the filter coasts, counts the gaps, and scans keep it right."""
    stop = drive().start_ns + 1_500_000_000
    kept = [
        one for one in measured(drive()) if not (isinstance(one, ImuSample) and one.stamp_ns > stop)
    ]
    odometry = Odometry(DEFAULT, XSENS)
    got = feed(odometry, kept)
    assert len(got) == 25
    assert odometry.motion.readings.num_gaps >= 10  # pyright: ignore[reportAttributeAccessIssue]
    assert np.abs(errors(drive(), got)[:, :3]).max() < 0.03


def test_without_readings_there_is_no_start():
    """With an IMU configured and none connected, there are no estimates, and no crash."""
    odometry = Odometry(DEFAULT, XSENS)
    assert feed(odometry, [drive().scan(n) for n in range(3)]) == []


def test_readings_long_ago_are_no_start():
    """An IMU that fell silent before the first scan gives no start, rather than NaN."""
    odometry = Odometry(DEFAULT, XSENS)
    for n in range(60):
        odometry.add_imu(n * 10_000_000, np.zeros(3), np.array([0.0, 0.0, 9.81]))
    estimate = odometry.add_scan(drive().scan(0).points, 10_000_000_000)
    assert estimate is None or np.all(np.isfinite(estimate.covariance))


def test_a_map_that_begins_late_is_where_it_is():
    """After empty scans the first map is exact by definition: no scan can make it surer."""
    odometry, points = Odometry(DEFAULT), drive().scan(0).points
    for n in range(3):
        odometry.add_scan(EMPTY, n * 100_000_000)
    estimate = odometry.add_scan(points, 400_000_000)
    assert estimate is not None
    assert estimate.status == "first"
    assert np.abs(odometry.motion.pose_covariance).max() < 1e-6


def test_rotations_stay_rotations_for_hundreds_of_scans():
    """After 200 scans the rotation is orthonormal to rounding, and the body at rest has stayed."""
    one_particle = replace(FIXED_SIZE.stein, algorithm="gauss_newton", num_particles=1)
    few_points = replace(FIXED_SIZE.source, max_points=300)
    config = replace(FIXED_SIZE, stein=one_particle, source=few_points)
    odometry, points, last = Odometry(config), drive().scan(3).points[::6], None
    for n in range(200):
        last = odometry.add_scan(points, n * 100_000_000)
    assert last is not None
    R = last.T_world_body[:3, :3]
    assert_allclose(R @ R.T, np.eye(3), atol=1e-13)
    assert np.linalg.norm(last.T_world_body[:3, 3]) < 0.005


def test_the_map_forgets_what_is_far():
    """Driving on, memory is bounded: voxels beyond the radius are gone after a while."""
    local_map, rng = VoxelMap(MapConfig()), np.random.default_rng(0)
    wall = rng.uniform([-10.0, 3.0, 0.0], [10.0, 3.02, 3.0], size=(4000, 3))
    sizes = []
    for n in range(40):
        local_map.insert(wall + np.array([2.0 * n, 0.0, 0.0]))
        local_map.prune(np.array([2.0 * n, 0.0, 0.0]), 15.0)
        sizes.append(local_map.nbytes)
    assert max(sizes[20:]) <= max(sizes[:20])
    assert np.linalg.norm(local_map.points() - [78.0, 0.0, 0.0], axis=1).max() < 16.0


def test_odometry_prunes_its_map():
    """Every tenth scan the map forgets what is farther than its radius."""
    config = FIXED_SIZE.from_dict(
        {**FIXED_SIZE.to_dict(), "odometry": {"map_radius_m": 2.5, "auto_voxel": False}}
    )
    odometry, last = Odometry(config), None
    for n in range(11):
        last = odometry.process(steady(0.8, 2.0, True).scan(n))
    assert last is not None
    distance = np.linalg.norm(odometry.local_map.points() - last.T_world_body[:3, 3], axis=1)
    assert len(distance) > 100
    assert distance.max() < 2.5 + np.sqrt(3.0) * config.map.voxel_size_m


@pytest.mark.parametrize(
    ("points", "stamp_ns", "times"),
    [
        (np.zeros((5, 4)), 0, None),
        (np.zeros(3), 0, None),
        ([[1, 2, 3], [1, 2]], 0, None),
        (np.array([["a", "b", "c"]]), 0, None),
        (np.zeros((5, 3), bool), 0, None),
        (np.zeros((5, 3)), 0.5, None),
        (np.zeros((5, 3)), 0, np.zeros(4, np.int64)),
        (np.zeros((5, 3)), 0, np.zeros(5)),
        (np.zeros((5, 3)), 0, np.zeros((5, 1), np.int64)),
    ],
)
def test_nonsense_scans_are_refused_with_a_sentence(points: Any, stamp_ns: Any, times: Any):
    """Wrong shapes, types and stamps raise InputError, one sentence that names the argument."""
    odometry = Odometry(DEFAULT)
    with pytest.raises(InputError, match=r"^(points|stamp_ns|point_times_ns)[^\n]*\.$"):
        odometry.add_scan(points, stamp_ns, times)
    assert odometry.num_scans == 0


@pytest.mark.parametrize(
    "T_body_lidar", [np.eye(3), 2.0 * np.eye(4), np.full((4, 4), np.nan), "alpha", [[1.0], []]]
)
def test_nonsense_extrinsics_are_refused(T_body_lidar):
    """Extrinsics that are no rigid transform raise an error with their name."""
    with pytest.raises(InputError, match=r"^T_body_lidar[^\n]*\.$"):
        Odometry(DEFAULT, None, T_body_lidar)


def test_nonsense_readings_are_refused():
    """A reading of the wrong shape raises InputError; without an IMU readings are ignored."""
    with pytest.raises(InputError, match="three rates"):
        Odometry(DEFAULT, XSENS).add_imu(0, [0.0, 0.0], [0.0, 0.0, 0.0, 9.81])
    Odometry(DEFAULT).add_imu(0, [0.0, 0.0, 0.0], [0.0, 0.0, 9.81])


def test_lists_and_integers_are_fine():
    """Points as lists and as integers are taken like arrays of floats."""
    grid = [[x, y, z] for x in range(-3, 4) for y in range(-3, 4) for z in (0, 2) if x or y]
    estimate = Odometry(FIXED_SIZE).add_scan(grid, 0)
    assert estimate is not None
    assert estimate.num_points == len(grid)
