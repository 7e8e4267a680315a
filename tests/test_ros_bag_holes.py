# SPDX-License-Identifier: MIT
"""Holes in the middle of bags: what is behind them is read, and what is lost is counted once."""

import logging
from pathlib import Path

import pytest

from ros_makers import stored_imu, stored_scans, true_imu, true_scans
from ros_recordings import bag_path, write_bag
from svnicp.data import Scan
from svnicp.data.ros import RosBag

NUM_SCANS = 60


def recording(rng, tmp_path: Path, bag_format: str) -> tuple[list[Scan], Path, Path]:
    """Return large scans, the bag with them and an IMU in many chunks, and its data file."""
    scans = []
    for scan in true_scans(rng, NUM_SCANS):
        assert scan.point_times_ns is not None
        points, times = scan.points.repeat(200, axis=0), scan.point_times_ns.repeat(200)
        scans.append(Scan(scan.stamp_ns, points, times))
    stored = [*stored_scans(scans), *stored_imu(true_imu(rng, 0.1 * NUM_SCANS))]
    stored.sort(key=lambda item: item.log_ns)
    path = write_bag(bag_path(tmp_path, bag_format), bag_format, stored)
    return scans, path, path if bag_format == "ros1" else path / "drive.mcap"


def punch(file: Path, share: float) -> None:
    """Overwrite a little more than a scan with zeros, so that the start of some record is hit."""
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(int(share * size))
        stream.write(bytes(int(1.2 * size / NUM_SCANS)))


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("share", [0.2, 0.37, 0.6])
@pytest.mark.parametrize("bag_format", ["ros1", "mcap"])
def test_what_is_behind_a_hole_is_read(bag_format, share, indexed, tmp_path, rng, caplog):
    """Of sixty scans at most the few of the touched chunks are lost, with an index or without."""
    scans, path, file = recording(rng, tmp_path, bag_format)
    num_imu = len(list(RosBag(path).imu_samples()))
    punch(file, share)
    if not indexed:
        with file.open("r+b") as stream:
            stream.truncate(file.stat().st_size - 9)
    caplog.clear()
    bag = RosBag(path if indexed else file)
    read = [scan.stamp_ns for scan in bag]
    assert set(read) <= {scan.stamp_ns for scan in scans}
    assert NUM_SCANS - 9 <= len(read) < NUM_SCANS
    assert len(list(bag.imu_samples())) >= 0.85 * num_imu
    assert bag.info().num_scans == len(read)
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert said
    assert len(said) == len(set(said))
    assert not any("ssize_t" in text for text in said)


def test_a_bad_metadata_file_is_one_line(tmp_path, rng, caplog):
    """The complaint about metadata.yaml does not show the parser's own report."""
    _, path, _ = recording(rng, tmp_path, "mcap")
    (path / "metadata.yaml").write_text("a: [1, 2\nb: }\n")
    assert len(list(RosBag(path))) == NUM_SCANS
    (said,) = [record.getMessage() for record in caplog.records]
    assert "read file by file" in said
    assert "\n" not in said
