# SPDX-License-Identifier: MIT
"""GEODE: rigs told from topics, ground truth taken to our body, prisms left as positions."""

from pathlib import Path

import numpy as np
import pytest

import ros_makers
import ros_recordings
from ros_recordings import PERIOD_NS, START_NS, Stored
from svnicp.data.folders.geode import body_truth
from svnicp.data.folders.geode_rigs import RIGS, T_TRUTH_LIDAR, reference_of
from svnicp.data.open_dataset import open_dataset
from svnicp.data.ros import RosBag
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import write_tum
from svnicp.data.with_knowledge import KnownDataset
from svnicp.errors import DatasetError
from svnicp.lie import orthonormalise, se3_exp, se3_inverse

MAKERS = {"alpha": "velodyne", "beta": "ouster"}


def wandering(rng: np.random.Generator, count: int = 8) -> Trajectory:
    """Return random poses at the stamps of scans."""
    return Trajectory(START_NS + np.arange(count) * PERIOD_NS, se3_exp(rng.normal(size=(count, 6))))


def write_rig(path: Path, rig: str, rng: np.random.Generator) -> tuple[list, list]:
    """Write a bag as the rig records it, and return its scans and IMU samples."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scans, samples = ros_makers.true_scans(rng), ros_makers.true_imu(rng)
    if rig == "gamma":
        stored = [
            Stored(
                "/livox/lidar",
                "livox_ros_driver/msg/CustomMsg",
                scan.stamp_ns,
                ros_recordings.livox_message(
                    scan.stamp_ns, scan.points, scan.point_times_ns - scan.stamp_ns
                ),
            )
            for scan in scans
            if scan.point_times_ns is not None
        ]
        stored += ros_makers.stored_imu(samples, "/livox/imu", 1.0 / 9.80665)
    else:
        stored = ros_makers.stored_scans(scans, MAKERS[rig], RIGS[rig].lidar_topic)
    stored += ros_makers.stored_imu(samples)
    ros_recordings.write_bag(path, "ros1", sorted(stored, key=lambda item: item.log_ns))
    return scans, samples


@pytest.mark.parametrize("rig", RIGS)
def test_every_rig_is_opened_without_flags(tmp_path: Path, rng: np.random.Generator, rig: str):
    """Topics, extrinsics and sensors follow from the rig that the bag's topics give away."""
    path = tmp_path / "GEODE" / "stairs" / f"stair_{rig}.bag"
    scans, samples = write_rig(path, rig, rng)
    dataset = open_dataset(path)
    read = list(dataset)
    np.testing.assert_array_equal(read[1].points, scans[1].points)
    ros_makers.assert_same_imu(list(dataset.imu_samples()), samples)
    np.testing.assert_allclose(dataset.T_body_lidar, orthonormalise(RIGS[rig].T_imu_lidar))
    info = dataset.info()
    assert info.kind == f"GEODE, rig {rig}, ROS 1 bag"
    assert (info.sensor, info.imu) == (RIGS[rig].sensor, "Xsens MTi-30")
    assert dataset.ground_truth is None


def test_truth_of_another_rig_is_taken_to_the_body(tmp_path: Path, rng: np.random.Generator):
    """The published evaluation, T_est @ inv(T_dev), gives the truth for the corrected body."""
    path = tmp_path / "Off-road" / "Offroad1_alpha.bag"
    write_rig(path, "alpha", rng)
    measured = wandering(rng)
    truth_folder = tmp_path / "groundtruth" / "traj"
    truth_folder.mkdir(parents=True)
    write_tum(truth_folder / "Offroad1.txt", measured)
    dataset = open_dataset(path)
    assert dataset.ground_truth is not None
    T_world_lidar = dataset.ground_truth.T_world_body @ dataset.T_body_lidar
    evaluated = T_world_lidar @ se3_inverse(T_TRUTH_LIDAR["alpha", "gnss"])
    np.testing.assert_allclose(evaluated, measured.T_world_body, atol=1e-12)
    assert isinstance(dataset, KnownDataset)
    np.testing.assert_array_equal(dataset.T_body_truth, np.eye(4))


def test_a_prism_stays_a_position_and_its_place_is_known(tmp_path: Path, rng: np.random.Generator):
    """Without rotations nothing can be corrected, so the prism's place on the body is given."""
    path = tmp_path / "Metro_Tunnels_Tunneling" / "tunneling_gamma.bag"
    write_rig(path, "gamma", rng)
    measured = wandering(rng)
    write_tum(path.with_suffix(".txt"), measured)
    dataset = open_dataset(path)
    assert isinstance(dataset, KnownDataset)
    assert dataset.ground_truth is not None
    assert dataset.ground_truth.position_only
    np.testing.assert_array_equal(dataset.ground_truth.positions, measured.positions)
    T_lidar_truth = se3_inverse(T_TRUTH_LIDAR["gamma", "leica"])
    np.testing.assert_allclose(dataset.T_body_truth, dataset.T_body_lidar @ T_lidar_truth)
    assert any("prism at (" in finding.value for finding in dataset.info().findings)


@pytest.mark.parametrize("rig", RIGS)
@pytest.mark.parametrize("reference", ["gnss", "leica", "own"])
def test_truth_and_body_agree_for_every_rig(rng: np.random.Generator, rig: str, reference):
    """A body that follows the truth exactly is found again, whoever measured."""
    T_body_lidar = orthonormalise(RIGS[rig].T_imu_lidar)
    body = wandering(rng)
    T_lidar_truth = se3_inverse(T_TRUTH_LIDAR.get((rig, reference), np.eye(4)))
    measured = Trajectory(body.stamps_ns, body.T_world_body @ T_body_lidar @ T_lidar_truth)
    truth, T_body_truth = body_truth(measured, rig, reference, T_body_lidar)
    np.testing.assert_allclose(truth.T_world_body, body.T_world_body, atol=1e-12)
    positions = Trajectory(measured.stamps_ns, measured.T_world_body, position_only=True)
    kept, T_body_truth = body_truth(positions, rig, reference, T_body_lidar)
    np.testing.assert_allclose((body.T_world_body @ T_body_truth)[:, :3, 3], kept.positions)


def test_who_measured_is_told_from_the_path():
    """Off-road and waterways have GNSS, tunnelling a total station, the others their own scans."""
    assert reference_of("GEODE/Inland_Waterways/waterways_short") == "gnss"
    assert reference_of("GEODE/off_road/offroad3") == "gnss"
    assert reference_of("Metro_Tunnels_Tunneling/tunneling2") == "leica"
    assert reference_of("Urban_Tunnel/urban_tunnel01") == "own"
    assert reference_of("stairs/stair_bob") == "own"


def test_other_bags_are_not_taken_for_geode(tmp_path: Path, rng: np.random.Generator):
    """A bag with other topics is a plain bag, whatever its name; the kind refuses it."""
    path = tmp_path / "drive.bag"
    stored = ros_makers.stored_scans(ros_makers.true_scans(rng))
    ros_recordings.write_bag(path, "ros1", stored)
    with pytest.raises(DatasetError, match=r"/velodyne_points \(alpha\).*it has /points"):
        open_dataset(path, kind="geode")
    path = path.rename(tmp_path / "test_alpha.bag")
    assert isinstance(open_dataset(path), RosBag)
