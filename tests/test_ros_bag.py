# SPDX-License-Identifier: MIT
"""Whole recordings of every format and maker are read back to the same measurements."""

import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ros_makers import (
    MAKERS,
    NUM_SCANS,
    Maker,
    assert_same_imu,
    assert_same_scans,
    fields_of,
    packed,
    scan_message,
    stored_imu,
    stored_scans,
    true_imu,
    true_scans,
)
from ros_recordings import (
    FORMATS,
    PERIOD_NS,
    START_NS,
    Stored,
    bag_path,
    cloud_message,
    livox_message,
    packet_bytes,
    struct_points,
    tf_message,
    velodyne_message,
    write_bag,
)
from svnicp.data import Scan
from svnicp.data.ros import PointTimeOptions, RosBag, RosBagOptions, is_ros_recording
from svnicp.data.ros.imu import STANDARD_GRAVITY
from svnicp.lie import make_transform, so3_exp


@pytest.mark.parametrize("bag_format", FORMATS)
@pytest.mark.parametrize("made_by", list(MAKERS))
def test_clouds_of_every_maker_come_back(bag_format, made_by, tmp_path, rng, caplog):
    """Points, times and IMU samples survive a bag, with the times of each maker's driver."""
    scans, imu = true_scans(rng), true_imu(rng)
    stored = sorted([*stored_scans(scans, made_by), *stored_imu(imu)], key=lambda s: s.log_ns)
    bag = RosBag(write_bag(bag_path(tmp_path, bag_format), bag_format, stored))
    assert_same_scans(list(bag), scans, MAKERS[made_by].tolerance_ns)
    assert_same_imu(list(bag.imu_samples()), imu)
    assert not caplog.records
    info = bag.info()
    assert info.num_scans == NUM_SCANS
    assert info.scan_period_s == pytest.approx(0.1)
    assert info.imu_period_s == pytest.approx(0.005)
    assert info.duration_s == pytest.approx(0.1 * (NUM_SCANS - 1))


@pytest.mark.parametrize("bag_format", FORMATS)
def test_livox_custom_messages_come_back(bag_format, tmp_path, rng):
    """Livox's own messages, and an IMU in g, are read to SI units."""
    scans, imu = true_scans(rng), true_imu(rng)
    stored = [
        Stored("/livox/lidar", "livox_ros_driver/msg/CustomMsg", scan.stamp_ns + PERIOD_NS,
               livox_message(scan.stamp_ns, np.asarray(scan.points),
                             np.asarray(scan.point_times_ns) - scan.stamp_ns))
        for scan in scans
    ]  # fmt: skip
    stored += stored_imu(imu, "/livox/imu", unit=STANDARD_GRAVITY)
    bag = RosBag(write_bag(bag_path(tmp_path, bag_format), bag_format, stored))
    assert_same_scans(list(bag), scans)
    assert_same_imu(list(bag.imu_samples()), imu)
    assert any(f.value == "g, multiplied by 9.80665" for f in bag.info().findings)


@pytest.mark.parametrize("bag_format", FORMATS)
def test_velodyne_packets_come_back(bag_format, tmp_path):
    """Packets of revolutions become scans that start one revolution before their header."""
    pytest.importorskip("velodyne_decoder")
    packet_ns, num_packets = 1_327_000, 75
    stored = []
    for index in range(3):
        stamps_ns = [START_NS + index * PERIOD_NS + packet_ns * i for i in range(num_packets)]
        packets = [
            packet_bytes(480 * i, np.full((12, 32), 5.0 + index), 1327 * i + 100_000 * index)
            for i in range(num_packets)
        ]
        message = velodyne_message(stamps_ns, packets)
        stored.append(
            Stored("/velodyne_packets", "velodyne_msgs/msg/VelodyneScan", stamps_ns[-1], message)
        )
    bag = RosBag(write_bag(bag_path(tmp_path, bag_format), bag_format, stored))
    for index, scan in enumerate(bag):
        assert scan.points.shape == (num_packets * 12 * 32, 3)
        assert_allclose(np.linalg.norm(scan.points, axis=1), 5.0 + index, atol=0.05)
        assert abs(scan.stamp_ns - (START_NS + index * PERIOD_NS)) < 100
        last_ns = START_NS + index * PERIOD_NS + packet_ns * num_packets
        assert abs(scan.end_ns - last_ns) < 60_000
    assert bag.info().sensor == "Velodyne VLP16"


def test_split_bags_are_one_recording(tmp_path, rng):
    """Parts in a folder are merged by time, whatever their names; so is a list of files."""
    scans = true_scans(rng, 6)
    stored = stored_scans(scans)
    write_bag(tmp_path / "b.bag", "ros1", stored[:3])
    write_bag(tmp_path / "a.bag", "ros1", stored[3:])
    assert_same_scans(list(RosBag(tmp_path)), scans)
    assert_same_scans(list(RosBag([tmp_path / "a.bag", tmp_path / "b.bag"])), scans)
    assert RosBag(tmp_path).info().kind == "ROS 1 bag, 2 files"


@pytest.mark.parametrize(("bag_format", "suffix"), [("mcap", "mcap"), ("sqlite", "db3")])
def test_bare_files_and_folders_without_metadata(bag_format, suffix, tmp_path, rng):
    """The file of a ROS 2 bag is enough, and so is its folder after the recorder was killed."""
    scans = true_scans(rng)
    folder = write_bag(tmp_path / "drive", bag_format, stored_scans(scans))
    file = folder / f"drive.{suffix}"
    assert_same_scans(list(RosBag(file)), scans)
    (folder / "metadata.yaml").unlink()
    assert_same_scans(list(RosBag(folder)), scans)
    assert is_ros_recording(folder)
    assert is_ros_recording(file)
    assert not is_ros_recording(tmp_path)


def test_every_walk_starts_at_the_beginning(tmp_path, rng):
    """Two walks at the same time do not disturb each other, nor one that was left early."""
    scans = true_scans(rng)
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored_scans(scans)))
    next(iter(bag))
    pairs = list(zip(bag, bag, strict=True))
    assert_same_scans([one for one, _ in pairs], scans)
    assert_same_scans([other for _, other in pairs], scans)


def test_measurements_come_in_the_order_of_time(tmp_path, rng):
    """A scan comes after the IMU samples of its time and before those after its last point."""
    scans, imu = true_scans(rng), true_imu(rng)
    bag = RosBag(
        write_bag(tmp_path / "drive.bag", "ros1", [*stored_scans(scans), *stored_imu(imu)])
    )
    ends = [m.end_ns if isinstance(m, Scan) else m.stamp_ns for m in bag.measurements()]
    assert len(ends) == len(scans) + len(imu)
    assert ends == sorted(ends)


def test_extrinsics_come_from_the_tf_tree(tmp_path, rng):
    """The way from the LiDAR's frame over the base to the IMU's is composed in the right order."""
    stored = [*stored_scans(true_scans(rng)), *stored_imu(true_imu(rng))]
    angle = 0.3
    turned = [0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)]
    message = tf_message(
        [
            ("base", "imu", [1.0, 0.0, 0.0], turned),
            ("/base", "mast", [0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]),
            ("mast", "lidar", [0.0, 3.0, 0.0], turned),
        ]
    )
    stored.append(Stored("/tf_static", "tf2_msgs/msg/TFMessage", START_NS, message))
    bag = RosBag(write_bag(tmp_path / "drive", "mcap", stored))
    rotation = so3_exp(np.array([0.0, 0.0, angle]))
    T_base_imu = make_transform(rotation, np.array([1.0, 0.0, 0.0]))
    T_base_lidar = make_transform(rotation, np.array([0.0, 3.0, 2.0]))
    assert_allclose(T_base_imu @ bag.T_body_lidar, T_base_lidar, atol=1e-12)
    found = {finding.what: finding for finding in bag.info().findings}
    assert found["extrinsics"].evidence == '/tf_static, from "lidar" to "imu"'


def test_extrinsics_without_a_tree_are_assumed_or_given(tmp_path, rng, caplog):
    """Identity, said to be assumed; a given matrix is projected with a warning."""
    stored = [*stored_scans(true_scans(rng)), *stored_imu(true_imu(rng))]
    path = write_bag(tmp_path / "drive.bag", "ros1", stored)
    bag = RosBag(path)
    assert_array_equal(bag.T_body_lidar, np.eye(4))
    found = {finding.what: finding for finding in bag.info().findings}
    assert found["extrinsics"].evidence.startswith("assumed")
    rounded = make_transform(np.round(so3_exp(np.array([0.1, 0.2, 0.3])), 3), np.ones(3))
    T_body_lidar = RosBag(path, RosBagOptions(T_body_lidar=rounded)).T_body_lidar
    assert_allclose(T_body_lidar[:3, :3] @ T_body_lidar[:3, :3].T, np.eye(3), atol=1e-12)
    assert "the nearest one is used" in caplog.text


def test_info_tells_what_was_understood(tmp_path, rng):
    """Fields, rings, unit and reference of times, units and topics are in the findings."""
    stored = [*stored_scans(true_scans(rng), "velodyne"), *stored_imu(true_imu(rng))]
    info = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored)).info()
    found = {finding.what: finding.value for finding in info.findings}
    assert info.kind == "ROS 1 bag"
    assert info.sensor == "Velodyne, 16 rings"
    assert found["LiDAR topic"] == "/points (sensor_msgs/PointCloud2)"
    assert found["point fields"] == "x, y, z, intensity, ring, time"
    assert found["point time"] == (
        "seconds, relative to the header, which marks the end of the scan"
    )
    assert found["IMU acceleration unit"] == "m/s^2"
    assert found["scans"] == "4 messages at 10.0 Hz, no gaps"


def test_gaps_are_counted(tmp_path, rng):
    """Missing scans and samples show as gaps with their length."""
    scans = true_scans(rng, 12)
    imu = true_imu(rng, 1.2)
    stored = [*stored_scans(scans[:3] + scans[8:]), *stored_imu(imu[:50] + imu[100:])]
    info = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored)).info()
    found = {finding.what: finding.value for finding in info.findings}
    assert found["scans"] == "7 messages at 10.0 Hz, 1 gaps, the longest 0.60 s"
    assert "1 gaps, the longest 0.26 s" in found["IMU samples"]


def test_points_without_times_are_said_once(tmp_path, rng, caplog):
    """A cloud of x, y, z gives scans without times, and one warning."""
    layout = packed(("x", "f4"), ("y", "f4"), ("z", "f4"))
    plain = Maker(layout, fields_of(layout), "x", lambda t, _: np.ones(len(t)), 0, 0)
    stored = [
        Stored("/points", "sensor_msgs/msg/PointCloud2", s.stamp_ns, scan_message(s, plain))
        for s in true_scans(rng)
    ]
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    assert all(scan.point_times_ns is None for scan in bag)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "points have no times" in caplog.text
    assert "none: all points" in {f.what: f.value for f in bag.info().findings}["point time"]


def test_a_time_field_without_times_is_passed_over(tmp_path, rng):
    """Of two fields for times, the one that is filled in is used."""
    layout = packed(("x", "f4"), ("y", "f4"), ("z", "f4"), ("time", "f4"), ("timestamp", "f8"))
    hesai = MAKERS["hesai"]
    both = hesai._replace(layout=layout, fields=fields_of(layout))
    scans = true_scans(rng)
    stored = []
    for scan in scans:
        rows = struct_points(
            layout,
            np.asarray(scan.points),
            time=np.zeros(len(scan.points)),
            timestamp=both.encode(np.asarray(scan.point_times_ns), 0),
        )
        message = cloud_message(scan.stamp_ns, rows, both.fields)
        stored.append(Stored("/points", "sensor_msgs/msg/PointCloud2", scan.end_ns, message))
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    assert_same_scans(list(bag), scans, hesai.tolerance_ns)


def test_options_overrule_what_would_be_found(tmp_path, rng):
    """Topic, time field, reference and unit of the IMU are taken as given."""
    scans, imu = true_scans(rng), true_imu(rng)
    stored = [
        *stored_scans(scans, "ouster", "/left"),
        *stored_scans(scans, "velodyne", "/right"),
        *stored_imu(imu),
    ]
    path = write_bag(tmp_path / "drive.bag", "ros1", stored)
    options = RosBagOptions(
        lidar_topic="right",
        imu_topic="/imu/data",
        imu_unit="g",
        point_times=PointTimeOptions(reference="start"),
    )
    bag = RosBag(path, options)
    scan = next(iter(bag))
    # The driver put the header at the end; the user says that it is the start.
    assert scan.stamp_ns == START_NS + PERIOD_NS
    assert scan.point_times_ns is not None
    assert abs(scan.point_times_ns.min() - scan.stamp_ns) <= 5
    first = next(bag.imu_samples())
    assert_allclose(first.linear_acceleration, imu[0].linear_acceleration * STANDARD_GRAVITY)
    ignoring = RosBagOptions(lidar_topic="/left", point_times=PointTimeOptions(ignore=True))
    assert next(iter(RosBag(path, ignoring))).point_times_ns is None


@pytest.mark.parametrize(("delay_ns", "warned"), [(PERIOD_NS // 5, True), (PERIOD_NS, False)])
def test_scans_recorded_before_they_end_are_doubted(delay_ns, warned, tmp_path, rng, caplog):
    """Points measured after their message was recorded hint at a header that marks the end."""
    scans = true_scans(rng)
    stored = [
        item._replace(log_ns=scan.stamp_ns + delay_ns)
        for scan, item in zip(scans, stored_scans(scans), strict=True)
    ]
    path = write_bag(tmp_path / "drive.bag", "ros1", stored)
    assert_same_scans(list(RosBag(path)), scans)
    assert ("--point-time-reference end" in caplog.text) == warned
    caplog.clear()
    RosBag(path, RosBagOptions(point_times=PointTimeOptions(reference="start")))
    assert not caplog.records
