# SPDX-License-Identifier: MIT
"""Two published scan pairs, written by PCL and by CloudCompare, read as they are."""

from pathlib import Path

import numpy as np
import pytest

from svnicp.cloud_files import read_cloud

CLOUDS = {
    "fast_gicp/251370668.pcd": 69088,
    "fast_gicp/251371071.pcd": 69792,
    "small_gicp/target.ply": 69088,
    "small_gicp/source.ply": 69792,
}


@pytest.fixture
def pairs(real_data: Path) -> Path:
    """Return the folder with the two scan pairs."""
    folder = real_data / "pairs"
    if not folder.is_dir():
        pytest.skip(f"no scan pairs in {folder}")
    return folder


@pytest.mark.parametrize("name", CLOUDS)
def test_every_point_of_a_real_cloud_is_read(pairs: Path, name: str):
    """All points of the header arrive, finite, and within the reach of the sensor."""
    points = read_cloud(pairs / name)
    assert points.shape == (CLOUDS[name], 3)
    assert points.dtype == np.float64
    assert 1.0 < np.linalg.norm(points, axis=1).max() < 250.0


@pytest.mark.parametrize(
    ("pcd", "ply"),
    [
        ("fast_gicp/251370668.pcd", "small_gicp/target.ply"),
        ("fast_gicp/251371071.pcd", "small_gicp/source.ply"),
    ],
)
def test_both_formats_hold_the_same_scan(pairs: Path, pcd: str, ply: str):
    """The same two scans were published as PCD and as PLY: the readers agree bit for bit."""
    np.testing.assert_array_equal(read_cloud(pairs / pcd), read_cloud(pairs / ply))
