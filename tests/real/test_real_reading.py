# SPDX-License-Identifier: MIT
"""Real scans, written to folders in every format and read back; a real IMU and its trajectory."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
import folder_files
from svnicp.data.imu_csv import ImuCsv
from svnicp.data.open_dataset import open_dataset
from svnicp.data.trajectory_files import read_trajectory, write_tum
from svnicp.errors import DatasetError

SEQUENCES = [
    "nuscenes0006_lite10hz",
    "radiate_fog_full",
    "lisat_static_lite",
    "kitti_udacity1_lite",
]
COLUMNS = {"bin of 3": 3, "bin of 4": 4, "bin of 5": 5}
NUM_SCANS = 4


def real_scans(folder: Path, name: str) -> tuple[list[np.ndarray], np.ndarray, np.ndarray | None]:
    """Return the first scans, their stamps [ns] and the sweep fractions of the first one."""
    path = folder / "sequences" / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"no sequence {path}")
    with np.load(path) as archive:
        scale = json.loads(str(archive["meta"]))["scale"]
        offsets = archive["offsets"][: NUM_SCANS + 1]
        axes = np.stack([archive[axis][: offsets[-1]] for axis in "xyz"], axis=1)
        seconds = archive["t"][:NUM_SCANS] if "t" in archive else np.arange(NUM_SCANS) * 0.1
        fractions = archive["tau"][: offsets[1]] / 65535.0 if "tau" in archive else None
    points = (axes.astype(np.float32) * np.float32(scale)).astype(np.float64)
    scans = [points[start:end] for start, end in pairwise(offsets)]
    return scans, np.rint(np.asarray(seconds) * 1e9).astype(np.int64), fractions


@pytest.mark.parametrize("layout", [*COLUMNS, "pcd", "compressed pcd", "ply", "npy"])
@pytest.mark.parametrize("name", SEQUENCES)
def test_real_scans_survive_every_format(real_data: Path, tmp_path: Path, name: str, layout: str):
    """Nothing about real points confuses a reader: columns are detected, values are the same."""
    scans, stamps_ns, _ = real_scans(real_data, name)
    if layout == "compressed pcd":
        scans, stamps_ns = scans[:1], stamps_ns[:1]  # the tests' own compressor is slow
    writers = {
        "pcd": (".pcd", cloud_bytes.pcd),
        "compressed pcd": (".pcd", lambda scan: cloud_bytes.pcd(scan, "binary_compressed")),
        "ply": (".ply", cloud_bytes.ply),
        "npy": (".npy", cloud_bytes.npy),
    }
    if layout in COLUMNS:
        suffix, files = ".bin", [cloud_bytes.kitti(scan, COLUMNS[layout]) for scan in scans]
    else:
        suffix, write = writers[layout]
        files = [write(scan) for scan in scans]
    folder_files.write_clouds(tmp_path, files, suffix)
    (tmp_path / "times.txt").write_text("\n".join(f"{ns}" for ns in stamps_ns))
    dataset = open_dataset(tmp_path)
    read = list(dataset)
    assert len(read) == len(scans)
    np.testing.assert_array_equal(np.diff([scan.stamp_ns for scan in read]), np.diff(stamps_ns))
    for scan, written in zip(read, scans, strict=True):
        np.testing.assert_array_equal(scan.points, written)


@pytest.mark.parametrize("name", SEQUENCES)
def test_real_doubles_are_recognised(real_data: Path, tmp_path: Path, name: str):
    """A .bin file of float64 values of a real scan is refused instead of read as nonsense."""
    scans, _, _ = real_scans(real_data, name)
    rows = np.hstack([scans[0], np.full((len(scans[0]), 1), 17.0)])
    folder_files.write_clouds(tmp_path, [rows.astype("<f8").tobytes()], ".bin")
    with pytest.raises(DatasetError, match="float64"):
        list(open_dataset(tmp_path))


@pytest.mark.parametrize("field", ["t", "time", "timestamp"])
def test_real_sweeps_are_timed(real_data: Path, tmp_path: Path, field: str):
    """Times of a real sweep are found in nanoseconds, seconds and as absolute times."""
    scans, _, fractions = real_scans(real_data, "radiate_fog_full")
    if fractions is None:
        pytest.skip("the sequence has no sweep fractions")
    offsets_ns = np.rint(fractions * 1e8).astype(np.int64)
    stamps_ns = 1_600_000_000_000_000_000 + np.arange(3) * 10**8
    raw = {
        "t": [offsets_ns.astype(np.uint32)] * 3,
        "time": [(offsets_ns * 1e-9).astype(np.float32)] * 3,
        "timestamp": [ns * 1e-9 + offsets_ns * 1e-9 for ns in stamps_ns],
    }[field]
    files = [folder_files.timed_pcd(scans[0], times, field) for times in raw]
    folder_files.write_clouds(tmp_path, files, ".pcd")
    (tmp_path / "times.txt").write_text("\n".join(map(str, stamps_ns)))
    for scan, stamp_ns in zip(open_dataset(tmp_path), stamps_ns, strict=True):
        assert scan.point_times_ns is not None
        tolerance_ns = 10 if field != "timestamp" else 500
        assert np.abs(scan.point_times_ns - stamp_ns - offsets_ns).max() <= tolerance_ns


def test_published_pairs_are_folders_too(real_data: Path):
    """The scan pairs of two libraries are read as recordings, the PCD names as milliseconds."""
    for name in ("fast_gicp", "small_gicp"):
        folder = real_data / "pairs" / name
        if not folder.is_dir():
            pytest.skip(f"no scan pair in {folder}")
        dataset = open_dataset(folder)
        read = list(dataset)
        assert sorted(len(scan.points) for scan in read) == [69088, 69792]
        assert read[1].stamp_ns - read[0].stamp_ns == (
            403_000_000 if name == "fast_gicp" else 10**8
        )


def test_a_real_imu_is_understood_without_header(real_data: Path):
    """Acceleration first, seconds, m/s^2, 100 Hz: all told from the numbers of a real file."""
    path = real_data / "imu" / "imu.txt"
    if not path.is_file():
        pytest.skip(f"no IMU recording {path}")
    imu = ImuCsv(path)
    samples = list(imu.samples())
    table = np.loadtxt(path, usecols=range(1, 7))
    assert "acceleration first" in imu.findings[0].value
    np.testing.assert_array_equal([s.linear_acceleration for s in samples], table[:, :3])
    np.testing.assert_array_equal([s.angular_velocity for s in samples], table[:, 3:])
    assert samples[0].stamp_ns == 1647090478710633039
    assert imu.period_s == pytest.approx(0.01, rel=1e-3)
    assert (imu.span_ns[1] - imu.span_ns[0]) * 1e-9 == pytest.approx(237.0, abs=1.0)


def test_a_real_trajectory_survives(real_data: Path, tmp_path: Path):
    """A real TUM file is read, written and read again to the same poses and stamps."""
    path = real_data / "imu" / "traj.txt"
    if not path.is_file():
        pytest.skip(f"no trajectory {path}")
    first = read_trajectory(path)
    write_tum(tmp_path / "copy.tum", first)
    again = read_trajectory(tmp_path / "copy.tum")
    assert not first.position_only
    assert first.length_m == pytest.approx(44.0, abs=1.0)
    np.testing.assert_array_equal(again.stamps_ns, first.stamps_ns)
    np.testing.assert_allclose(again.T_world_body, first.T_world_body, atol=1e-12)
