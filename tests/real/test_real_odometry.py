# SPDX-License-Identifier: MIT
"""LiDAR odometry on real recordings: as accurate as the best known peer, at rest and at speed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sequences import Sequence

from svnicp import Odometry
from svnicp.arrays import Floats, Points
from svnicp.estimate import Estimate

GPS_LEADS_S = 65.8


@pytest.fixture(scope="module")
def load(real_data: Path) -> Callable[[str], Sequence]:
    """Opens a recording by name."""
    return lambda name: Sequence(real_data / "sequences" / f"{name}.npz")


def estimates(sequence: Sequence) -> list[Estimate]:
    """One estimate for every scan."""
    odometry = Odometry()
    found = [odometry.process(scan) for scan in sequence.scans()]
    return [estimate for estimate in found if estimate is not None]


def positions(found: list[Estimate]) -> Points:
    """(n, 3)."""
    return np.array([estimate.T_world_body[:3, 3] for estimate in found])


def path_length(places: Points) -> float:
    """Sum of the steps [m]."""
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def aligned_rms(places: Points, truth: Points) -> float:
    """Root mean square distance after the best rigid alignment [m]."""
    a, b = places - places.mean(axis=0), truth - truth.mean(axis=0)
    U, _, Vt = np.linalg.svd(b.T @ a)
    R = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    return float(np.sqrt(np.mean(np.sum((a @ R.T - b) ** 2, axis=1))))


def test_a_city_street_as_well_as_kiss_icp(load: Callable[[str], Sequence]):
    """Started at 10 m/s, the path is right within 0.5 %, the error at most that of kiss-icp."""
    kiss_icp = pytest.importorskip("kiss_icp.kiss_icp", reason="kiss-icp is not installed")
    load_config = pytest.importorskip("kiss_icp.config").load_config
    sequence = load("nuscenes0006_lite10hz")
    truth = sequence.T_first_lidar[:, :3, 3]
    peer = kiss_icp.KissICP(load_config(None))
    peer_places = []
    for scan in sequence.scans():
        peer.register_frame(scan.points.astype(np.float64), np.array([]))
        peer_places.append(peer.last_pose[:3, 3].copy())
    ours = positions(estimates(sequence))
    assert len(ours) == len(truth)
    assert aligned_rms(ours, truth) <= aligned_rms(np.array(peer_places), truth)
    assert abs(path_length(ours) / path_length(truth) - 1.0) < 0.005


def test_a_parked_car_stays(load: Callable[[str], Sequence]):
    """Among moving traffic, the pose of a parked car scatters by at most 5 mm."""
    places = positions(estimates(load("lisat_static_lite")))
    assert np.sqrt(np.mean(np.sum((places - places.mean(axis=0)) ** 2, axis=1))) < 0.005


def speed_error(found: list[Estimate], gps: Floats, first_s: float) -> float:
    """Mean difference of the speed from that of the GPS [m/s]."""
    times = first_s + GPS_LEADS_S + (np.array([e.stamp_ns for e in found]) - 10**18) * 1e-9
    gps_speed = np.linalg.norm(gps[:, -3:-1], axis=1)
    places = positions(found)
    speed = np.linalg.norm(np.diff(places, axis=0), axis=1) / np.diff(times)
    middle = 0.5 * (times[1:] + times[:-1])
    return float(np.mean(np.abs(speed - np.interp(middle, gps[:, 0], gps_speed))))


def test_dense_fog_at_speed(load: Callable[[str], Sequence]):
    """Through fog, started at 12 m/s, every scan is matched, and the GPS agrees on the speed."""
    sequence = load("radiate_fog_full")
    found = estimates(sequence)
    assert all(estimate.ok for estimate in found)
    assert speed_error(found, sequence.extra("imu"), float(sequence.stamps_s[0])) < 0.3


def test_a_road_without_stamps(load: Callable[[str], Sequence]):
    """Every fourth point of a 64-beam LiDAR at 8 m/s: the car drives on, straight and level."""
    places = positions(estimates(load("kitti_udacity1_lite")))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.all((steps > 0.6) & (steps < 1.0))
    assert np.abs(places[-1, 1:]).max() < 0.5
