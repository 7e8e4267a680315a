# SPDX-License-Identifier: MIT
"""Bad recordings: one clear sentence each, and what is good in them is kept."""

import logging
import os
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ros_makers import (
    MAKERS,
    NUM_POINTS,
    assert_same_imu,
    assert_same_scans,
    scan_message,
    stored_imu,
    stored_scans,
    true_imu,
    true_scans,
)
from ros_recordings import FORMATS, PERIOD_NS, Stored, bag_path, write_bag
from svnicp.data import Scan
from svnicp.data.ros import PointTimeOptions, RosBag, RosBagOptions
from svnicp.errors import DatasetError


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def restamped(scan: Scan, stamp_ns: int) -> Scan:
    """Scan at another time."""
    assert scan.point_times_ns is not None
    return Scan(stamp_ns, scan.points, scan.point_times_ns + stamp_ns - scan.stamp_ns)


@pytest.mark.parametrize("bag_format", FORMATS)
def test_ambiguous_topics_are_listed(bag_format, tmp_path, rng):
    """Two LiDARs give an error with the flag and a table of all topics, counts and rates."""
    scans = true_scans(rng, 5)
    stored = [
        *stored_scans(scans, topic="/front/points"),
        *stored_scans(scans[:3], topic="/rear/points"),
        *stored_imu(true_imu(rng, 0.5)),
    ]
    path = write_bag(bag_path(tmp_path, bag_format), bag_format, stored)
    with pytest.raises(DatasetError) as caught:
        RosBag(path)
    sentence, *table = str(caught.value).splitlines()
    assert sentence.startswith(f"{path} has 2 topics for the LiDAR")
    assert "--lidar-topic" in sentence
    rows = [line.split() for line in table]
    assert rows[0] == ["topic", "type", "messages", "rate"]
    assert ["/front/points", "sensor_msgs/PointCloud2", "5"] in [row[:3] for row in rows]
    assert ["/imu/data", "sensor_msgs/Imu", "100"] in [row[:3] for row in rows]
    assert len({line.rindex(" Hz") for line in table[1:]}) == 1
    front = RosBag(path, RosBagOptions(lidar_topic="/front/points"))
    assert len(list(front)) == 5


def test_a_wrong_topic_is_answered_with_the_list(tmp_path, rng):
    """A name that is not there, or is of another type, gives the table."""
    stored = [*stored_scans(true_scans(rng)), *stored_imu(true_imu(rng))]
    path = write_bag(tmp_path / "drive.bag", "ros1", stored)
    for options, problem in [
        (RosBagOptions(lidar_topic="/cloud"), "has no topic /cloud for the LiDAR"),
        (RosBagOptions(lidar_topic="/imu/data"), "has no topic /imu/data for the LiDAR"),
        (RosBagOptions(imu_topic="/imu"), "has no topic /imu for the IMU"),
    ]:
        with pytest.raises(DatasetError, match=problem) as caught:
            RosBag(path, options)
        assert "/points" in str(caught.value)


def test_two_imus_need_a_choice(tmp_path, rng):
    """The LiDAR's own IMU and a separate one are ambiguous; one can be named, or none wanted."""
    imu = true_imu(rng)
    stored = [
        *stored_scans(true_scans(rng)),
        *stored_imu(imu, "/ouster/imu"),
        *stored_imu(imu, "/imu/data"),
    ]
    path = write_bag(tmp_path / "drive.bag", "ros1", stored)
    with pytest.raises(
        DatasetError, match=r'2 topics for the IMU; choose with --imu-topic .*"none"'
    ):
        RosBag(path)
    assert_same_imu(list(RosBag(path, RosBagOptions(imu_topic="/imu/data")).imu_samples()), imu)
    without = RosBag(path, RosBagOptions(imu_topic="none"))
    assert list(without.imu_samples()) == []
    assert without.info().imu_period_s is None


def test_a_recording_without_a_lidar_lists_its_topics(tmp_path, rng):
    """An IMU alone is no LiDAR recording, and the message shows what there is."""
    path = write_bag(tmp_path / "drive.bag", "ros1", stored_imu(true_imu(rng)))
    with pytest.raises(DatasetError, match="has no topic for the LiDAR") as caught:
        RosBag(path)
    assert "/imu/data" in str(caught.value)


def long_recording(rng: np.random.Generator) -> tuple[list[Scan], list[Stored]]:
    """Return a recording of several chunks."""
    scans = true_scans(rng, 24)
    padded = [
        Scan(
            s.stamp_ns,
            np.tile(np.asarray(s.points, np.float32), (200, 1)),
            np.tile(np.asarray(s.point_times_ns), 200),
        )
        for s in scans
    ]
    return padded, stored_scans(padded)


@pytest.mark.parametrize("share", [0.3, 0.77])
@pytest.mark.parametrize("bag_format", ["ros1", "mcap"])
def test_a_cut_bag_is_read_up_to_the_cut(bag_format, share, tmp_path, rng, caplog):
    """Without its index, a bag still gives all scans before the cut, and says that it was cut."""
    scans, stored = long_recording(rng)
    path = write_bag(bag_path(tmp_path, bag_format), bag_format, stored)
    file = path if bag_format == "ros1" else path / "drive.mcap"
    os.truncate(file, int(share * file.stat().st_size))
    bag = RosBag(path)
    read = list(bag)
    # The chunk that is cut may be lost in MCAP: two of these scans make a megabyte.
    lost = 1 if bag_format == "ros1" else 3
    assert share * len(scans) - lost <= len(read) < len(scans)
    assert_same_scans(read, scans[: len(read)])
    assert any("was cut off" in text and file.name in text for text in warnings_of(caplog))
    assert bag.info().num_scans == len(read)


@pytest.mark.parametrize("bag_format", ["ros1", "mcap"])
def test_a_bag_cut_in_its_index_loses_nothing(bag_format, tmp_path, rng):
    """The last bytes of a file are its index, which can be done without."""
    scans, stored = long_recording(rng)
    path = write_bag(bag_path(tmp_path, bag_format), bag_format, stored)
    file = path if bag_format == "ros1" else path / "drive.mcap"
    os.truncate(file, file.stat().st_size - 9)
    assert_same_scans(list(RosBag(file)), scans)


@pytest.mark.parametrize("share", [0.0001, 0.5])
def test_a_cut_database_says_how_to_repair_it(share, tmp_path, rng):
    """SQLite cannot read half a file, so the sentence names its repair."""
    _, stored = long_recording(rng)
    folder = write_bag(tmp_path / "drive", "sqlite", stored)
    file = folder / "drive.db3"
    os.truncate(file, int(share * file.stat().st_size))
    with pytest.raises(DatasetError, match=r"drive.db3 is damaged .* \.recover"):
        RosBag(file)


@pytest.mark.parametrize("bag_format", ["ros1", "mcap"])
def test_a_damaged_chunk_ends_the_reading_with_a_warning(bag_format, tmp_path, rng, caplog):
    """Zeros in the middle of a file lose the rest of it at most, and are mentioned."""
    scans, stored = long_recording(rng)
    path = write_bag(bag_path(tmp_path, bag_format), bag_format, stored)
    file = path if bag_format == "ros1" else path / "drive.mcap"
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(bytes(700_000))
    read = list(RosBag(path))
    good = [scan for scan in read if len(scan.points) == len(scans[0].points)]
    assert len(good) >= len(scans) // 2 - 4
    assert_same_scans(good[:8], scans[:8])
    assert any("lost" in text or "damaged" in text for text in warnings_of(caplog))


@pytest.mark.parametrize("name", ["drive.bag", "drive.mcap", "drive.db3"])
def test_files_that_are_no_bags_are_refused(name, tmp_path):
    """Empty files, text and missing files are named in one sentence."""
    path = tmp_path / name
    with pytest.raises(DatasetError, match="does not exist"):
        RosBag(path)
    path.touch()
    with pytest.raises(DatasetError, match=f"{name} is empty"):
        RosBag(path)
    path.write_text("not a bag at all, but long enough to be looked at\n" * 50)
    with pytest.raises(DatasetError, match=name) as caught:
        RosBag(path)
    assert "\n" not in str(caught.value)


def test_an_empty_folder_is_refused(tmp_path):
    """A folder without bags says what it looks for."""
    with pytest.raises(DatasetError, match=r"has no \.bag, \.mcap or \.db3 file"):
        RosBag(tmp_path)


def test_an_unreadable_part_costs_only_itself(tmp_path, rng, caplog):
    """One empty file among split bags is left out, with a warning that names it."""
    scans = true_scans(rng)
    write_bag(tmp_path / "part_1.bag", "ros1", stored_scans(scans))
    (tmp_path / "part_2.bag").touch()
    assert_same_scans(list(RosBag(tmp_path)), scans)
    (text,) = warnings_of(caplog)
    assert "part_2.bag is empty" in text


def test_a_missing_part_of_a_ros2_bag_is_done_without(tmp_path, rng, caplog):
    """Metadata that names a file that is not there gives a warning; the other files are read."""
    scans = true_scans(rng)
    folder = write_bag(tmp_path / "drive", "mcap", stored_scans(scans))
    metadata = folder / "metadata.yaml"
    text = metadata.read_text()
    metadata.write_text(text.replace("- drive.mcap", "- drive.mcap\n  - drive_1.mcap"))
    assert_same_scans(list(RosBag(folder)), scans)
    assert any("file by file" in text for text in warnings_of(caplog))


@pytest.mark.parametrize("key", ["message_count", "name", "type"])
@pytest.mark.parametrize("bag_format", ["sqlite", "mcap"])
def test_metadata_without_a_value_are_done_without(tmp_path, rng, caplog, bag_format, key):
    """A topic of which metadata.yaml lost the name, type or count is found in the file itself."""
    scans = true_scans(rng)
    folder = write_bag(tmp_path / "drive", bag_format, stored_scans(scans))
    metadata = folder / "metadata.yaml"
    metadata.write_text(re.sub(rf"\b{key}: .*", f"{key}:", metadata.read_text()))
    assert_same_scans(list(RosBag(folder)), scans)
    assert any("file by file" in text for text in warnings_of(caplog))


def test_stamps_that_repeat_or_go_back_are_left_out(tmp_path, rng, caplog):
    """Scans and samples with such stamps are dropped, counted, and reported once."""
    scans = true_scans(rng, 6)
    bad = [
        *scans[:3],
        restamped(scans[3], scans[2].stamp_ns),
        restamped(scans[4], scans[0].stamp_ns + 7),
    ]
    stored = []
    for index, scan in enumerate([*bad, scans[5]]):
        message = scan_message(scan, MAKERS["ouster"])
        log_ns = scans[index].stamp_ns + PERIOD_NS
        stored.append(Stored("/points", "sensor_msgs/msg/PointCloud2", log_ns, message))
    imu = true_imu(rng, 0.7)
    doubled = stored_imu([*imu[:20], imu[19], *imu[20:]])
    stored += [item._replace(log_ns=imu[0].stamp_ns + i) for i, item in enumerate(doubled)]
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    caplog.clear()
    assert_same_scans(list(bag), [*scans[:3], scans[5]])
    assert_same_imu(list(bag.imu_samples()), imu)
    assert sorted(bag.dropped["scans"].values()) == [1, 1]
    assert list(bag.dropped["imu"].values()) == [1]
    texts = warnings_of(caplog)
    assert len(texts) == 3
    assert "1 of 6 scans of /points had the same stamp as the one before" in texts[0]
    assert "(first: message 4)" in texts[0]
    assert "1 of 6 scans of /points had a stamp earlier than one before" in texts[1]


def test_scans_without_valid_points_are_empty(tmp_path, rng, caplog):
    """All-NaN and zero-point scans keep their place in time, without points, and are counted."""
    scans = true_scans(rng, 6)
    scans[0] = Scan(
        scans[0].stamp_ns, np.full((NUM_POINTS, 3), np.nan, np.float32), scans[0].point_times_ns
    )
    scans[3] = Scan(scans[3].stamp_ns, np.empty((0, 3), np.float32), np.empty(0, np.int64))
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored_scans(scans)))
    read = list(bag)
    assert [len(scan.points) for scan in read] == [
        0,
        NUM_POINTS,
        NUM_POINTS,
        0,
        NUM_POINTS,
        NUM_POINTS,
    ]
    assert [scan.stamp_ns for scan in read] == [scan.stamp_ns for scan in scans]
    assert_same_scans(read[4:], scans[4:])
    said = "drive.bag: 2 of 6 scans of /points had no valid point (first: message 1)."
    assert warnings_of(caplog) == [said]


def test_a_cloud_cut_short_is_left_out(tmp_path, rng, caplog):
    """One message with too few bytes costs one scan, and its number and reason are said."""
    scans = true_scans(rng, 6)
    stored = stored_scans(scans)
    stored[2].message.fields["data"] = stored[2].message.fields["data"][:100]
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    assert_same_scans(list(bag), scans[:2] + scans[3:])
    (text,) = warnings_of(caplog)
    assert text.startswith("drive.bag: 1 of 6 scans of /points could not be read and were left out")
    assert "message 3: it promises 1 x 60 points, which take 2880 bytes, and holds 100" in text


def test_a_scan_with_impossible_times_loses_only_them(tmp_path, rng, caplog):
    """Times that span minutes in one scan are ignored there, and used in all others."""
    scans = true_scans(rng, 6)
    stored = stored_scans(scans, "hesai")
    times = np.asarray(scans[2].point_times_ns).copy()
    times[-1] += 90 * 10**9
    broken = Scan(scans[2].stamp_ns, scans[2].points, times)
    stored[2] = stored[2]._replace(message=scan_message(broken, MAKERS["hesai"]))
    read = list(RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored)))
    assert [index for index, scan in enumerate(read) if scan.point_times_ns is None] == [2]
    assert_array_equal(read[2].points, scans[2].points)
    assert "impossible point times" in warnings_of(caplog)[0]


def test_an_imu_that_ends_early_is_said(tmp_path, rng, caplog):
    """The number of scans without IMU is in a warning when the bag is opened, and in info."""
    scans = true_scans(rng, 30)
    stored = [*stored_scans(scans), *stored_imu(true_imu(rng, 1.0))]
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    (text,) = warnings_of(caplog)
    assert "ends 1.91 s before the last scan: about 19 scans have no IMU" in text
    found = {finding.what: finding.value for finding in bag.info().findings}
    assert "ends 1.91 s before the last scan" in found["IMU coverage"]
    assert len(list(bag)) == 30


def test_clocks_that_differ_are_said(tmp_path, rng, caplog):
    """Scans in the sensor's clock and an IMU in the computer's never meet, which is a warning."""
    scans = [restamped(scan, scan.stamp_ns - 10**18) for scan in true_scans(rng)]
    stored = [*stored_scans(scans), *stored_imu(true_imu(rng))]
    stored = [item._replace(log_ns=10**9 + i) for i, item in enumerate(stored)]
    RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    (text,) = warnings_of(caplog)
    assert "1e+09 s apart, as of different clocks" in text


def test_an_imu_without_gravity_is_doubted(tmp_path, rng, caplog):
    """Accelerations without gravity give a warning, not a scale."""
    imu = true_imu(rng)
    stored = [*stored_scans(true_scans(rng)), *stored_imu(imu, unit=500.0)]
    bag = RosBag(write_bag(tmp_path / "drive.bag", "ros1", stored))
    (text,) = warnings_of(caplog)
    assert "gravity" in text
    assert_array_equal(
        next(bag.imu_samples()).linear_acceleration, imu[0].linear_acceleration / 500
    )


def test_a_time_field_that_is_not_there_is_refused(tmp_path, rng):
    """The fields that there are stand in the message."""
    path = write_bag(tmp_path / "drive.bag", "ros1", stored_scans(true_scans(rng)))
    options = RosBagOptions(point_times=PointTimeOptions(field="when"))
    with pytest.raises(DatasetError, match=r"no field when; it has: x, y, z, intensity, t,"):
        RosBag(path, options)


@pytest.mark.parametrize("matrix", [2.0 * np.eye(4), np.eye(3), np.diag([1.0, 1.0, -1.0, 1.0])])
def test_extrinsics_far_from_rigid_are_refused(matrix, tmp_path, rng):
    """A scaled, flat or mirrored matrix is a mistake, not rounding."""
    path = write_bag(tmp_path / "drive.bag", "ros1", stored_scans(true_scans(rng)))
    with pytest.raises(DatasetError, match=r"given: .*extrinsics"):
        RosBag(path, RosBagOptions(T_body_lidar=matrix))
