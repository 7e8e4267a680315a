# SPDX-License-Identifier: MIT
"""Each peer on a small drive: it runs, its poses are near the truth, and at the times it says.

A peer that is not installed is skipped; CI installs all of them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from odometry_cases import SMALL, drive
from svnicp.arrays import Floats
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.evaluation.compared import fit_worlds
from svnicp.evaluation.truth_file import Truth
from svnicp.lie import make_transform, so3_exp, transform_points
from svnicp.peers.evalio_scans import evalio_scan, find_rings
from svnicp.peers.peer import Peer
from svnicp.peers.process import Outcome, run_peer
from svnicp.peers.registry import OURS, PEERS
from svnicp.peers.relative_times import relative_times
from svnicp.peers.row import empty_row, judge
from svnicp.peers.small_gicp import deskewed
from svnicp.peers.spool import SpoolOptions, write_spool
from svnicp.simulation.imu import IMUS
from svnicp.simulation.motion import Motion
from svnicp.simulation.scene import SCENES
from svnicp.simulation.sensors import SENSORS
from svnicp.simulation.simulated import SimulatedDataset

NAMES = ["kiss-icp", "genz-icp", "mad-icp", "rko-lio", "small-gicp", "ct-icp", "lio-sam", "dlio"]
T_BODY_LIDAR = make_transform(so3_exp(np.array([0.02, 0.0, 0.5])), np.array([0.2, -0.1, 0.3]))


def peer(name: str) -> Peer:
    found = PEERS[name]
    if not found.installed:
        pytest.skip(f"{name} is not installed: {found.install_command}")
    return found


@cache
def swaying(duration_s: float, rest_s: float) -> SimulatedDataset:
    """Recording of a body that sways and turns in a room after a rest, with a mounted LiDAR."""
    times = np.linspace(0.0, duration_s, round(100 * duration_s) + 1)
    begun = np.clip(times - rest_s, 0.0, 1.0)
    begun = begun**2 * (3.0 - 2.0 * begun)
    rate = 2.0 * np.pi * 0.35
    positions = np.column_stack(
        [0.9 * np.sin(rate * times), 0.5 * np.sin(0.63 * rate * times), 0.05 * np.sin(times)]
    )
    angles = np.column_stack([0.25 * np.sin(0.8 * rate * times), *np.zeros((2, len(times)))])
    motion = Motion(times, begun[:, None] * positions + (0, 0, 1.5), begun[:, None] * angles)
    return SimulatedDataset(
        "sway", SCENES["room"](), motion, SMALL, IMUS["xsens_mti30"], T_body_lidar=T_BODY_LIDAR
    )


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Outcome]:
    """Return a function that runs a peer on the swaying drive, each once."""
    folder = tmp_path_factory.mktemp("spool")
    options = SpoolOptions("indoor", ImuNoise.model("xsens_mti30"))
    write_spool(swaying(6.0, 3.2), folder, options, lambda: None)
    return cache(lambda name, configuration: run_peer(peer(name), configuration, folder, 60.0))


def largest_error_m(name: str) -> float:
    """Return what a peer may be off by on the swaying drive: coarse voxels suit no small room."""
    return {"kiss-icp": 0.3, "rko-lio": 0.3, "dlio": 0.2, "lio-sam": 0.2}.get(name, 0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_peer_follows_the_body(outcome_of, name):
    """Every configuration gets through, and its body is where the truth is, lever arm included."""
    dataset = swaying(6.0, 3.2)
    truth = Truth(dataset.ground_truth, np.eye(4))
    for configuration in peer(name).configurations("", True):
        outcome = outcome_of(name, configuration)
        empty = empty_row("sway", peer(name), configuration, "")
        row: Any = judge(empty, outcome, truth, dataset.num_scans)
        assert row.status == "ok", row.note
        assert row.num_poses >= 0.4 * dataset.num_scans
        assert row.ape_m < largest_error_m(name)
        assert 0.0 < row.mean_s < 2.0
        assert 10e6 < row.peak_bytes < 1e9
        assert row.version


def fit_error_m(stamps_ns, T_world_body, dataset: SimulatedDataset) -> float:
    """Return the error of positions taken to be those of other times, best aligned."""
    start_ns = dataset.start_ns
    last_ns = start_ns + int(1e9 * dataset.motion.duration_s)
    inside = (stamps_ns >= start_ns) & (stamps_ns <= last_ns)
    positions: Floats = T_world_body[inside, :3, 3]
    true = dataset.truth_at(stamps_ns[inside]).T_world_body[:, :3, 3]
    moved = transform_points(fit_worlds(positions, true), positions)
    return float(np.sqrt(np.mean(np.sum((moved - true) ** 2, axis=1))))


@pytest.mark.parametrize("name", ["genz-icp", "small-gicp", "mad-icp", "ct-icp", "dlio"])
def test_poses_are_for_the_time_that_is_stated(outcome_of, name):
    """Said to be half a scan earlier or later, the poses of the default fit the truth worse."""
    dataset = swaying(6.0, 3.2)
    run = outcome_of(name, "default").run
    assert run is not None
    half_ns = 50_000_000
    now, before, after = (
        fit_error_m(run.stamps_ns + shift_ns, run.T_world_body, dataset)
        for shift_ns in (0, -half_ns, half_ns)
    )
    assert now < min(before, after)


@pytest.mark.parametrize("name", ["kiss-icp", "ct-icp", "small-gicp", "dlio", "rko-lio"])
def test_scans_of_one_instant_are_not_deskewed(tmp_path, name):
    """Without times of points every peer still follows, each told that there is no distortion."""
    moving = swaying(6.0, 3.2)
    dataset = replace(moving, point_times=False)
    options = SpoolOptions("", ImuNoise.model("xsens_mti30"))
    about = write_spool(dataset, tmp_path, options, lambda: None)
    assert not about.point_times
    assert peer(name).configurations("", about.point_times) == ("default",)
    outcome = run_peer(peer(name), "default", tmp_path, 60.0)
    truth = Truth(dataset.ground_truth, np.eye(4))
    row: Any = judge(empty_row("sway", peer(name), "default", ""), outcome, truth, about.num_scans)
    assert row.status == "ok", row.note
    assert row.ape_m < largest_error_m(name)


@pytest.mark.parametrize("name", ["kiss-icp", "rko-lio"])
def test_poses_after_deskewing_are_for_the_end(outcome_of, name):
    """Those that move points to the end of the scan have poses at the ends of the scans."""
    run = outcome_of(name, "default").run
    ends_ns = [scan.end_ns for scan in swaying(6.0, 3.2).scans()]
    assert np.isin(run.stamps_ns, ends_ns).all()


def test_kiss_icp_deskews_to_the_end_of_the_scan():
    """Its preprocessing leaves points of the last moment where they are, so the pose is theirs."""
    peer("kiss-icp")
    from kiss_icp.pybind import kiss_icp_pybind as kiss  # noqa: PLC0415

    step = make_transform(np.eye(3), np.array([1.0, 0.0, 0.0]))
    points = kiss._Vector3dVector(np.tile([5.0, 0.0, 0.0], (3, 1)))
    moved = kiss._Preprocessor(100.0, 0.0, True, 1)._preprocess(
        points, np.array([0.0, 0.5, 1.0]), step
    )
    np.testing.assert_allclose(np.asarray(moved)[:, 0], [4.0, 4.5, 5.0])


def test_small_gicp_is_deskewed_to_the_end_as_well():
    """At constant velocity along x, a point seen at the start is a step nearer at the end."""
    step = make_transform(np.eye(3), np.array([1.0, 0.0, 0.0]))
    moved = deskewed(np.tile([5.0, 1.0, 0.0], (3, 1)), np.array([0.0, 0.5, 1.0]), step)
    np.testing.assert_allclose(moved[:, 0], [4.0, 4.5, 5.0], atol=0.005)
    np.testing.assert_allclose(moved[:, 1], 1.0)


def test_relative_times_go_from_nought_to_one():
    """They are shares of the scan; a scan of one instant has none."""
    points = np.zeros((3, 3))
    shares = relative_times(Scan(1000, points, np.array([1500, 1100, 2100])))
    np.testing.assert_allclose(shares, [0.4, 0.0, 1.0])
    assert len(relative_times(Scan(1000, points))) == 0
    assert len(relative_times(Scan(1000, points, np.full(3, 1000)))) == 0
    assert len(relative_times(Scan(1000, points[:0], np.empty(0, dtype=np.int64)))) == 0


@pytest.mark.parametrize(("sensor", "num_rings"), [("vlp16", 16), ("os1_64", 64)])
def test_rings_are_found_by_their_elevations(sensor, num_rings):
    """The rings of a spinning LiDAR, and which one saw a point, show in a single scan."""
    motion = drive().motion
    scan = SimulatedDataset("ring", SCENES["room"](), motion, SENSORS[sensor]).scan(0)
    rings = find_rings(scan.points.astype(np.float64))
    assert rings is not None
    assert rings.num_rows == num_rings
    counts = np.bincount(rings.rows(scan.points.astype(np.float64)), minlength=num_rings)
    assert counts.min() > 0.5 * counts.max()
    assert rings.num_columns == counts.max()


def test_a_sensor_without_rings_has_none():
    """The rosette of a Livox Avia is not taken for rings."""
    dataset = SimulatedDataset("rosette", SCENES["room"](), drive().motion, SENSORS["livox_avia"])
    assert find_rings(dataset.scan(0).points.astype(np.float64)) is None


def test_evalio_gets_every_point_with_its_time_and_ring():
    """As a grid, a scan has its points row by row, each with its time; missing ones are zero."""
    pytest.importorskip("evalio", reason="pip install evalio")
    scan = drive().scan(20)
    plain = evalio_scan(scan, None)
    np.testing.assert_allclose(np.array(plain.to_vec_positions()), scan.points, atol=1e-6)
    assert scan.point_times_ns is not None
    np.testing.assert_allclose(
        np.array(plain.to_vec_stamps()), 1e-9 * (scan.point_times_ns - scan.stamp_ns), atol=1e-9
    )
    assert plain.stamp.to_nsec() == scan.stamp_ns
    rings = find_rings(scan.points.astype(np.float64))
    assert rings is not None
    grid = evalio_scan(scan, rings)
    assert len(grid.points) == rings.num_rows * rings.num_columns
    rows = np.array([point.row for point in grid.points]).reshape(rings.num_rows, -1)
    assert np.all(rows == np.arange(rings.num_rows)[:, None])
    seen = np.array(grid.to_vec_positions())
    seen = seen[np.any(seen != 0.0, axis=1)]
    assert len(seen) > 0.99 * len(scan.points)


def test_ours_are_peers_like_all_others():
    """They need no package, and one of them uses the IMU."""
    assert [(one.name, one.uses_imu) for one in OURS] == [
        ("svnicp-lo", False), ("svnicp-lio", True)
    ]  # fmt: skip
    assert all(one.installed and one.version for one in OURS)
