# SPDX-License-Identifier: MIT
"""Datasets written as bags and folders, and read back by other people's readers."""

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from recording_inputs import SmallDataset, read_messages
from svnicp.data import ImuSample, Scan
from svnicp.data.quaternions import quat_to_rotation
from svnicp.data.trajectory_files import read_kitti, read_tum
from svnicp.errors import DatasetError, InputError
from svnicp.lie import se3_inverse
from svnicp.recording import write_dataset
from svnicp.recording.kitti_folder import T_CAMERA_LIDAR, poses_at

BAGS = [("small.mcap", None), ("small.bag", None), ("small", "ros2"), ("small", "ros2-mcap")]


def stamp_of(header) -> int:
    return header.stamp.sec * 1_000_000_000 + header.stamp.nanosec


@pytest.mark.parametrize(("name", "chosen"), BAGS)
def test_every_bag_gives_back_the_same_points_and_times(tmp_path, name, chosen):
    """Points, their times, stamps and frames of a scan are the same bits after reading a bag."""
    dataset = SmallDataset()
    write_dataset(dataset, tmp_path / name, chosen)
    clouds = read_messages(tmp_path / name)["/lidar/points"]
    assert len(clouds) == len(dataset.all_scans)
    for (time_ns, cloud), scan in zip(clouds, dataset.all_scans, strict=True):
        assert time_ns == scan.end_ns
        assert stamp_of(cloud.header) == scan.stamp_ns
        assert cloud.header.frame_id == "lidar"
        assert [(field.name, field.offset, field.datatype) for field in cloud.fields] == [
            ("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("t", 12, 6)
        ]  # fmt: skip
        assert cloud.width * cloud.point_step == cloud.row_step == len(cloud.data)
        table = np.frombuffer(cloud.data.tobytes(), "<f4,<f4,<f4,<u4")
        np.testing.assert_array_equal(
            np.stack([table[f"f{column}"] for column in range(3)], axis=1), scan.points
        )
        np.testing.assert_array_equal(scan.stamp_ns + table["f3"].astype(int), scan.point_times_ns)


@pytest.mark.parametrize(("name", "chosen"), BAGS)
def test_every_bag_gives_back_the_imu_and_the_extrinsics(tmp_path, name, chosen):
    """IMU samples are the same bits, and /tf_static leads from the body to the LiDAR."""
    dataset = SmallDataset()
    write_dataset(dataset, tmp_path / name, chosen)
    found = read_messages(tmp_path / name)
    for (time_ns, message), sample in zip(found["/imu/data"], dataset.all_samples, strict=True):
        assert time_ns == stamp_of(message.header) == sample.stamp_ns
        for vector, expected in (
            (message.angular_velocity, sample.angular_velocity),
            (message.linear_acceleration, sample.linear_acceleration),
        ):
            np.testing.assert_array_equal([vector.x, vector.y, vector.z], expected)
        assert message.orientation_covariance[0] == -1.0
    ((_, static),) = found["/tf_static"]
    (transform,) = static.transforms
    body_frame = found["/imu/data"][0][1].header.frame_id
    assert (transform.header.frame_id, transform.child_frame_id) == (body_frame, "lidar")
    position, turn = transform.transform.translation, transform.transform.rotation
    np.testing.assert_array_equal([position.x, position.y, position.z], dataset.T_body_lidar[:3, 3])
    np.testing.assert_allclose(
        quat_to_rotation(np.array([turn.x, turn.y, turn.z, turn.w])),
        dataset.T_body_lidar[:3, :3],
        atol=1e-15,
    )


@pytest.mark.parametrize(("name", "chosen"), BAGS)
def test_messages_are_in_the_order_of_time(tmp_path, name, chosen):
    """Bag times never go back, so that players and unindexed readers can stream the bag."""
    write_dataset(SmallDataset(), tmp_path / name, chosen)
    with AnyReader([tmp_path / name]) as reader:
        times = [time_ns for _, time_ns, _ in reader.messages()]
    assert times == sorted(times)
    assert len(times) == 5 + 50 + 1


def test_a_scan_without_times_has_no_time_field(tmp_path):
    """What is not known is not written: the cloud has x, y, z only and 12 bytes a point."""
    write_dataset(SmallDataset(times=False, imu=False), tmp_path / "bare.mcap")
    found = read_messages(tmp_path / "bare.mcap")
    assert set(found) == {"/lidar/points", "/tf_static"}
    assert [field.name for field in found["/lidar/points"][0][1].fields] == ["x", "y", "z"]
    assert found["/lidar/points"][0][1].point_step == 12


def test_an_empty_scan_stays_a_scan(tmp_path):
    """A scan of no points is written as a cloud of no points."""
    dataset = SmallDataset(imu=False)
    none = Scan(dataset.all_scans[0].stamp_ns, np.zeros((0, 3)), np.zeros(0, dtype=np.int64))
    dataset.all_scans[0] = none
    write_dataset(dataset, tmp_path / "empty.bag")
    (_, first), *rest = read_messages(tmp_path / "empty.bag")["/lidar/points"]
    assert (first.width, len(first.data), len(rest)) == (0, 0, 4)


@pytest.mark.parametrize(
    ("name", "chosen"), [("a.mcap", None), ("a.bag", "ros1"), ("a", "ros2"), ("a.b", "kitti")]
)
def test_ground_truth_lies_beside_the_data(tmp_path, name, chosen, caplog):
    """NAME.gt.tum holds the same poses and stamps, whatever the format."""
    dataset = SmallDataset()
    written = write_dataset(dataset, tmp_path / name, chosen)
    expected = tmp_path / ("a.gt.tum" if chosen != "kitti" else "a.b.gt.tum")
    assert written == [tmp_path / name, expected]
    assert sorted(tmp_path.iterdir()) == sorted(written)
    trajectory = read_tum(expected)
    assert dataset.ground_truth is not None
    np.testing.assert_array_equal(trajectory.stamps_ns, dataset.ground_truth.stamps_ns)
    np.testing.assert_allclose(
        trajectory.T_world_body, dataset.ground_truth.T_world_body, atol=1e-14
    )
    assert ("KITTI has no place for" in caplog.text) == (chosen == "kitti")


def test_kitti_folder_holds_points_times_and_camera_poses(tmp_path, caplog):
    """Points are the same bits; poses, carried back by calib.txt, are the LiDAR's motion."""
    dataset = SmallDataset()
    write_dataset(dataset, tmp_path / "kitti", "kitti")
    assert "the IMU's samples and the times of the points" in caplog.text
    files = sorted((tmp_path / "kitti" / "velodyne").iterdir())
    assert [file.name for file in files] == [f"{index:06d}.bin" for index in range(5)]
    for file, scan in zip(files, dataset.all_scans, strict=True):
        np.testing.assert_array_equal(np.fromfile(file, "<f4").reshape(-1, 4)[:, :3], scan.points)
    times = (tmp_path / "kitti" / "times.txt").read_text().split()
    stamps_ns = np.array([int(time.replace(".", "")) for time in times])
    np.testing.assert_array_equal(stamps_ns, [scan.stamp_ns for scan in dataset.all_scans])
    calibration = dict(
        line.split(": ") for line in (tmp_path / "kitti" / "calib.txt").read_text().splitlines()
    )
    T_camera_lidar = np.eye(4)
    T_camera_lidar[:3] = np.array(calibration["Tr"].split(), dtype=float).reshape(3, 4)
    np.testing.assert_array_equal(T_camera_lidar, T_CAMERA_LIDAR)
    assert dataset.ground_truth is not None
    poses = read_kitti(tmp_path / "kitti" / "poses.txt", stamps_ns).T_world_body
    T_world_lidar = dataset.ground_truth.T_world_body[::4][:5] @ dataset.T_body_lidar
    np.testing.assert_allclose(
        se3_inverse(T_camera_lidar) @ poses @ T_camera_lidar,
        se3_inverse(T_world_lidar[0]) @ T_world_lidar,
        atol=1e-12,
    )


def test_poses_between_are_at_constant_twist():
    """Halfway between two poses of a constant twist lies the pose of half the time."""
    truth = SmallDataset().ground_truth
    assert truth is not None
    coarse = type(truth)(truth.stamps_ns[::2], truth.T_world_body[::2])
    np.testing.assert_allclose(poses_at(coarse, truth.stamps_ns), truth.T_world_body, atol=1e-12)


def test_progress_counts_scans(tmp_path):
    """Progress is told after every scan, with the number of all."""
    told = []
    write_dataset(
        SmallDataset(3),
        tmp_path / "a.mcap",
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


class BreaksOff(SmallDataset):
    """A dataset that cannot be read to its end."""

    def scans(self):
        """Yield three scans and break off."""
        yield from self.all_scans[:3]
        raise DatasetError("small: the fourth scan is cut off.")


@pytest.mark.parametrize(("name", "chosen"), [*BAGS, ("small", "kitti")])
def test_nothing_half_written_is_left(tmp_path, name, chosen):
    """When reading breaks off, there is neither a file nor a leftover of one."""
    with pytest.raises(DatasetError, match="fourth scan"):
        write_dataset(BreaksOff(), tmp_path / name, chosen)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_what_was_there(tmp_path):
    """Interrupting a rewrite keeps the old file and no other."""
    write_dataset(SmallDataset(), tmp_path / "a.bag")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}

    def interrupt(done: int, total: int | None) -> None:  # noqa: ARG001
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(SmallDataset(), tmp_path / "a.bag", progress=interrupt, overwrite=True)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(("name", "chosen"), BAGS)
def test_what_is_there_is_replaced_only_on_request(tmp_path, name, chosen):
    """A second writing is refused, or replaces the first where that is asked for."""
    write_dataset(SmallDataset(2), tmp_path / name, chosen)
    with pytest.raises(InputError, match="exists already"):
        write_dataset(SmallDataset(3), tmp_path / name, chosen)
    assert len(read_messages(tmp_path / name)["/lidar/points"]) == 2
    write_dataset(SmallDataset(3), tmp_path / name, chosen, overwrite=True)
    assert len(read_messages(tmp_path / name)["/lidar/points"]) == 3


@pytest.mark.parametrize(
    ("name", "chosen", "said"),
    [
        ("a", None, "cannot be told from this name"),
        ("a.mcap", "zip", "no format 'zip'; choose mcap, ros1"),
        ("a.bag", "mcap", "must end with .mcap"),
        ("a.mcap", "kitti", "leave the suffix off"),
        ("none/a.mcap", None, "create it first"),
    ],
)
def test_a_path_that_does_not_fit_is_refused(tmp_path, name, chosen, said):
    """One sentence says what is wrong with path or format before anything is written."""
    with pytest.raises(InputError, match=said):
        write_dataset(SmallDataset(), tmp_path / name, chosen)
    assert list(tmp_path.iterdir()) == []


def test_data_that_a_bag_cannot_hold_are_refused(tmp_path):
    """No scans, a scan of five seconds, and a stamp before 1970 each get their sentence."""
    with pytest.raises(DatasetError, match="no scans"):
        write_dataset(SmallDataset(0, truth=False), tmp_path / "a.mcap")
    dataset = SmallDataset(1, imu=False)
    stamp_ns = dataset.all_scans[0].stamp_ns
    times = np.array([stamp_ns, stamp_ns + 5_000_000_000])
    dataset.all_scans = [Scan(stamp_ns, np.zeros((2, 3)), times)]
    with pytest.raises(DatasetError, match=r"covers 5\.0 s"):
        write_dataset(dataset, tmp_path / "a.mcap")
    dataset.all_samples = [ImuSample(-1, np.zeros(3), np.zeros(3))]
    with pytest.raises(DatasetError, match="before 1970"):
        write_dataset(dataset, tmp_path / "a.mcap")
    assert list(tmp_path.iterdir()) == []
