# SPDX-License-Identifier: MIT
"""Simulated recordings: real motion distortion, exact truth, the same bits at every reading."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim_cases import ride
from svnicp.data import Scan
from svnicp.errors import InputError
from svnicp.lie import make_transform, so3_exp
from svnicp.simulation.effects import Effects
from svnicp.simulation.imu import IMUS
from svnicp.simulation.motion import Motion
from svnicp.simulation.movers import person
from svnicp.simulation.scene import SCENES
from svnicp.simulation.sensors import SENSORS
from svnicp.simulation.simulated import SimulatedDataset
from threads import needs_two_threads, num_threads

T_BODY_LIDAR = make_transform(so3_exp(np.array([0.1, -0.2, 0.3])), np.array([0.1, 0.05, 0.2]))


def recording(scene="room", sensor="vlp16", motion=None, **options):
    """Return a recording; noise-free unless asked otherwise."""
    options = {"T_body_lidar": T_BODY_LIDAR, "effects": Effects.none(), **options}
    motion = ride(length_m=1.0) if motion is None else motion
    return SimulatedDataset(
        scene, SCENES[scene](), motion, SENSORS[sensor], IMUS["xsens_mti30"], **options
    )


def undistorted(dataset, scan):
    """Return the points of a scan in the world, each moved by the true pose at its own time."""
    T_world_body = dataset.truth_at(scan.point_times_ns).T_world_body
    T_world_lidar = T_world_body @ dataset.T_body_lidar
    points = np.einsum("nij,nj->ni", T_world_lidar[:, :3, :3], scan.points.astype(np.float64))
    return points + T_world_lidar[:, :3, 3]


def distorted(dataset, scan):
    """Return the points of a scan in the world as if all were taken at its start."""
    pose = dataset.truth_at(np.array([scan.stamp_ns])).T_world_body[0] @ dataset.T_body_lidar
    return scan.points @ pose[:3, :3].T + pose[:3, 3]


@pytest.mark.parametrize("sensor", sorted(SENSORS))
@pytest.mark.parametrize("scene", ["room", "street"])
def test_noise_free_points_lie_on_the_surface(scene, sensor):
    """Moved by the true pose at its time, every point is on the scene's surface to 1 mm."""
    dataset = recording(scene, sensor)
    scan = dataset.scan(80)
    assert len(scan.points) > 1000
    assert np.abs(dataset.scene.distance(undistorted(dataset, scan))).max() < 1e-3
    assert np.abs(dataset.scene.distance(distorted(dataset, scan))).max() > 1e-2


def on_face(points, axis, value):
    """Return the points of one face of the closed corridor, away from its edges."""
    limits = np.array([[-10.0, 10.0], [-1.5, 1.5], [0.0, 2.7]])
    gaps = np.abs(points[:, :, None] - limits).min(axis=2)
    gaps[:, axis] = 1.0
    return points[(np.abs(points[:, axis] - value) < 0.05) & (gaps.min(axis=1) > 0.2)]


def test_two_undistorted_scans_agree():
    """Planes fitted to the walls of one scan are met by the next scan's points to 1 mm."""
    dataset = recording("closed_corridor", "os1_64", ride(length_m=5.0))
    first, second = (undistorted(dataset, dataset.scan(number)) for number in (70, 84))
    faces = [(0, -10.0), (0, 10.0), (1, -1.5), (1, 1.5), (2, 0.0), (2, 2.7)]
    for axis, value in faces:
        wall, same = on_face(first, axis, value), on_face(second, axis, value)
        assert min(len(wall), len(same)) > 30
        centre = wall.mean(axis=0)
        normal = np.linalg.svd(wall - centre, full_matrices=False)[2][2]
        assert np.abs((same - centre) @ normal).max() < 1e-3
    bent = distorted(dataset, dataset.scan(84))
    assert np.abs(dataset.scene.distance(bent)).max() > 0.03


def test_reading_again_gives_the_same_bits():
    """Scans and readings are the same at every reading, and one scan alone is as in the row."""
    options = {"effects": Effects(fog_visibility_m=50.0), "seed": 4}
    dataset = recording(motion=ride(1.0, 0.2, 0.5), **options)
    again = recording(motion=ride(1.0, 0.2, 0.5), **options)
    first, second, third = list(dataset.scans()), list(dataset), list(again)
    assert len(first) == 10
    for scan, other, another in zip(first, second, third, strict=True):
        assert_array_equal(scan.points, other.points)
        assert_array_equal(scan.points, another.points)
        assert_array_equal(scan.point_times_ns, other.point_times_ns)
    assert_array_equal(dataset.scan(6).points, first[6].points)
    for sample, other in zip(dataset.imu_samples(), again.imu_samples(), strict=True):
        assert sample.stamp_ns == other.stamp_ns
        assert_array_equal(sample.angular_velocity, other.angular_velocity)
        assert_array_equal(sample.linear_acceleration, other.linear_acceleration)


def test_seeds_change_noise_and_biases_only():
    """Another seed gives other noise, biases and losses in the same world on the same way."""
    one, two = (recording("street", effects=Effects(), seed=seed) for seed in (1, 2))
    assert one.scan(3).points.shape != two.scan(3).points.shape
    stamps = one.ground_truth.stamps_ns[:5]
    assert_array_equal(one.truth_at(stamps).T_world_body, two.truth_at(stamps).T_world_body)
    assert not np.allclose(one.truth_at(stamps).gyroscope_bias, two.truth_at(stamps).gyroscope_bias)


def test_scans_have_independent_noise():
    """While the body rests, two scans differ by noise of root two times the sensor's."""
    dataset = recording(effects=Effects(fading=False))
    one, two = (np.linalg.norm(dataset.scan(number).points, axis=1) for number in (2, 9))
    difference = one.astype(np.float64) - two
    expected = np.sqrt(2.0) * dataset.sensor.range_noise_m
    assert_allclose(difference.std(), expected, rtol=4.0 / np.sqrt(2.0 * len(difference)))


@needs_two_threads
def test_thread_count_does_not_change_bits():
    """One thread and two make the same scan, bit for bit, people included."""
    walker = person((1.5, 0.5, 0.0), (-1.0, 1.5, 0.0))
    dataset = recording(effects=Effects(), movers=(walker,))
    with num_threads(1):
        one = dataset.scan(70).points
    with num_threads(2):
        two = dataset.scan(70).points
    assert_array_equal(one, two)


def test_people_are_in_the_scan_and_move_during_it():
    """Points off the static surface are those of the walker at the time of each point."""
    walker = person((2.0, -0.5, 0.0), (2.0, 1.5, 0.0), speed_mps=1.5)
    dataset = recording(sensor="os1_64", movers=(walker,))
    scan = dataset.scan(7)
    world = undistorted(dataset, scan)
    assert scan.point_times_ns is not None
    off = dataset.scene.distance(world) > 1e-3
    assert off.sum() > 100
    times = (scan.point_times_ns[off] - dataset.start_ns) * 1e-9
    centres = np.array([walker.position(time) for time in times])
    radial = np.hypot(*(world[off] - centres)[:, :2].T)
    assert_allclose(radial, 0.25, atol=1e-3)


def test_scans_without_point_times_are_of_one_instant():
    """A scan without point times has no distortion: at its start's pose all points fit."""
    dataset = recording(point_times=False)
    scan = dataset.scan(80)
    assert scan.point_times_ns is None
    assert np.abs(dataset.scene.distance(distorted(dataset, scan))).max() < 1e-3


def test_stamps_and_rates():
    """Scans start every period, points lie within, and measurements come in order of time."""
    dataset = recording(motion=ride(1.0, 0.2, 0.5))
    scans = list(dataset)
    assert [scan.stamp_ns - dataset.start_ns for scan in scans[:3]] == [0, 10**8, 2 * 10**8]
    assert len(scans) == dataset.num_scans == 10
    for scan in scans:
        assert scan.point_times_ns is not None
        assert scan.point_times_ns.min() - scan.stamp_ns >= 0
        assert scan.point_times_ns.max() - scan.stamp_ns < 10**8
    stamps = np.array([sample.stamp_ns for sample in dataset.imu_samples()])
    assert len(stamps) == 100
    assert_array_equal(np.diff(stamps), 10**7)
    arrivals = [m.end_ns if isinstance(m, Scan) else m.stamp_ns for m in dataset.measurements()]
    assert arrivals == sorted(arrivals)
    info = dataset.info()
    assert (info.num_scans, info.duration_s, info.sensor) == (10, 1.0, "VLP-16")
    assert (info.scan_period_s, info.imu_period_s, info.imu) == (0.1, 0.01, "xsens_mti30")


def test_truth_agrees_with_itself():
    """Ground truth is the motion; velocity is its derivative; biases are those of the readings."""
    dataset = recording()
    poses = dataset.ground_truth
    assert len(poses) == 1201
    truth = dataset.truth_at(poses.stamps_ns)
    assert_allclose(truth.T_world_body, poses.T_world_body, atol=1e-9)
    slope = np.gradient(poses.positions, 0.01, axis=0)
    assert_allclose(truth.velocity_world[5:-5], slope[5:-5], atol=1e-3)
    quiet = replace(IMUS["xsens_mti30"].noise, gyroscope=0.0, accelerometer=0.0)
    imu = replace(IMUS["xsens_mti30"], noise=quiet)
    biased, perfect = (replace(dataset, imu=model) for model in (imu, imu.perfect()))
    samples = list(zip(biased.imu_samples(), perfect.imu_samples(), strict=True))
    truth = biased.truth_at(np.array([sample.stamp_ns for sample, _ in samples]))
    for i in (0, 500, 1199):
        sample, ideal = samples[i]
        gyroscope = sample.angular_velocity - ideal.angular_velocity
        accelerometer = sample.linear_acceleration - ideal.linear_acceleration
        assert_allclose(gyroscope, truth.gyroscope_bias[i], atol=1e-12)
        assert_allclose(accelerometer, truth.accelerometer_bias[i], atol=1e-12)


def test_a_recording_without_an_imu_has_no_readings():
    """Without an IMU there are no readings, and its biases are zero."""
    dataset = replace(recording(), imu=None)
    assert list(dataset.imu_samples()) == []
    assert_array_equal(dataset.truth_at(dataset.ground_truth.stamps_ns[:2]).gyroscope_bias, 0.0)
    assert dataset.info().imu_period_s is None


def test_mistakes_are_reported():
    """A motion into a wall and a scan that does not exist are refused."""
    times = np.linspace(0.0, 1.98, 100)
    positions = np.column_stack([10.0 * times, np.zeros(100), np.full(100, 1.5)])
    dataset = recording(motion=Motion(times, positions, np.zeros((100, 3))))
    with pytest.raises(InputError, match=r"At 0\.\d+ s the sensor is inside a solid"):
        list(dataset)
    with pytest.raises(InputError, match="has scans 0 to 18, not 19"):
        dataset.scan(19)
