# SPDX-License-Identifier: MIT
"""What ``write_dataset`` writes, ``open_dataset`` understands without a hint."""

import numpy as np
import pytest

from recording_inputs import SmallDataset
from svnicp.data.open_dataset import open_dataset
from svnicp.lie import se3_inverse
from svnicp.recording import write_dataset

FORMATS = [("a.mcap", None), ("a.bag", None), ("a", "ros2"), ("a", "ros2-mcap"), ("a", "kitti")]


@pytest.mark.parametrize(("name", "chosen"), FORMATS)
def test_every_format_comes_back(tmp_path, name, chosen):
    """Points and stamps, and in bags point times, IMU, extrinsics and truth, are the same."""
    written = SmallDataset(20)
    write_dataset(written, tmp_path / name, chosen)
    read = open_dataset(tmp_path / name)
    in_bag = chosen != "kitti"
    for found, scan in zip(read.scans(), written.scans(), strict=True):
        assert found.stamp_ns == scan.stamp_ns
        np.testing.assert_array_equal(found.points, scan.points)
        if in_bag:
            assert found.point_times_ns is not None
            np.testing.assert_array_equal(found.point_times_ns, scan.point_times_ns)
    samples = list(read.imu_samples())
    assert len(samples) == (len(written.all_samples) if in_bag else 0)
    for found, sample in zip(samples, written.all_samples, strict=False):
        assert found.stamp_ns == sample.stamp_ns
        np.testing.assert_array_equal(found.angular_velocity, sample.angular_velocity)
        np.testing.assert_array_equal(found.linear_acceleration, sample.linear_acceleration)
    truth, expected = read.ground_truth, written.ground_truth
    assert truth is not None
    assert expected is not None
    if in_bag:
        np.testing.assert_allclose(read.T_body_lidar, written.T_body_lidar, atol=1e-14)
        np.testing.assert_array_equal(truth.stamps_ns, expected.stamps_ns)
        np.testing.assert_allclose(truth.T_world_body, expected.T_world_body, atol=1e-14)
    else:  # poses of the LiDAR in its first frame, at the scans
        T_world_lidar = expected.T_world_body[::4][:20] @ written.T_body_lidar
        T_first_lidar = se3_inverse(T_world_lidar[0]) @ T_world_lidar
        np.testing.assert_allclose(truth.T_world_body, T_first_lidar, atol=1e-12)
