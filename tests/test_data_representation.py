# SPDX-License-Identifier: MIT
"""Datasets at the prompt: one line that says what they are."""

from collections.abc import Iterator

import numpy as np
import pytest

from svnicp.data.dataset import Dataset, DatasetInfo
from svnicp.data.measurements import Scan
from svnicp.data.trajectory import Trajectory
from svnicp.errors import InputError
from svnicp.simulation.simulate import simulate


class NoScans(Dataset):
    """A recording that must not be read to be shown."""

    name = "quiet"

    def info(self) -> DatasetInfo:
        """Fail, because it may take long."""
        raise AssertionError("a representation reads nothing")

    def scans(self) -> Iterator[Scan]:
        """Fail, because it may take long."""
        raise AssertionError("a representation reads nothing")


def test_a_dataset_is_shown_by_its_name():
    """The line has class and name, and the ground truth where there is one; nothing is read."""
    dataset = NoScans()
    assert repr(dataset) == "<NoScans 'quiet'; info() tells more>"
    dataset.ground_truth = Trajectory(np.arange(3), np.tile(np.eye(4), (3, 1, 1)))
    assert repr(dataset) == "<NoScans 'quiet', ground truth of 3 poses; info() tells more>"


def test_a_scan_takes_lists_and_refuses_what_is_no_scan():
    """Points may be lists; a stamp that is no whole number is refused where it is made."""
    scan = Scan(5, [[1.0, 2.0, 3.0]], [7])  # pyright: ignore[reportArgumentType]
    assert (scan.points.shape, scan.end_ns) == ((1, 3), 7)
    for stamp in (0.5, None, "5", True):
        with pytest.raises(InputError, match="whole nanoseconds"):
            Scan(stamp, np.zeros((1, 3)))  # pyright: ignore[reportArgumentType]
    for points in (None, [[1, 2], [3]], np.array([["a", "b", "c"]])):
        with pytest.raises(InputError, match="points of a scan must be numbers"):
            Scan(0, points)  # pyright: ignore[reportArgumentType]


def test_a_simulated_dataset_is_shown_in_one_line():
    """The line has name, scans, duration and sensors instead of the whole scene."""
    text = repr(simulate("room", duration_s=1.0, seed=7))
    assert text == "<SimulatedDataset 'room': 10 scans in 1 s, OS1-64, xsens_mti30 IMU>"
