# SPDX-License-Identifier: MIT
"""What is fuzzed: every reader, with valid files to start from and how all of a file is read.

A sample is a folder: names and bytes of its files, of which one is made wrong. Reading walks
through everything that the package would ever look at.
"""

import io
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from svnicp.cloud_files import read_cloud
from svnicp.config import Config
from svnicp.data import Dataset, DatasetInfo, ImuSample, Scan, Trajectory
from svnicp.data.extrinsics import read_extrinsics
from svnicp.data.folders.las import read_las_scan
from svnicp.data.imu_csv import ImuCsv
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.open_dataset import open_dataset
from svnicp.data.trajectory_files import read_trajectory
from svnicp.evaluation import read_run
from svnicp.lie import se3_exp
from svnicp.odometry import Odometry
from svnicp.odometry.saved_state import load_state, save_state
from svnicp.recording import (
    RunDescription,
    RunFolder,
    read_description,
    read_particles,
    write_dataset,
)

START_NS = 1_700_000_000_000_000_000
Sample = dict[str, bytes]
"""Files of a folder by name."""


@dataclass(frozen=True)
class Reader:
    """One reader."""

    name: str
    samples: Callable[[], list[Sample]]
    read: Callable[[Path], object]
    """Reads the folder of a sample; an SvnicpError is a good answer."""


class Small(Dataset):
    """Three scans, an IMU and poses, in memory."""

    name = "small"

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        stamps = START_NS + 100_000_000 * np.arange(3)
        self.all_scans = [
            Scan(
                int(t), rng.normal(0.0, 9.0, (12, 3)).astype(np.float32), t + np.arange(12) * 10**6
            )
            for t in stamps
        ]
        self.ground_truth = Trajectory(stamps, se3_exp(rng.normal(size=(3, 6))))

    def info(self) -> DatasetInfo:
        """Return what is known."""
        return DatasetInfo("small", num_scans=3, imu_period_s=0.01)

    def scans(self) -> Iterator[Scan]:
        """Yield the scans."""
        return iter(self.all_scans)

    def imu_samples(self) -> Iterator[ImuSample]:
        """Yield readings."""
        for k in range(30):
            yield ImuSample(START_NS + 10**7 * k, np.full(3, 0.01 * k), np.array([0.0, 0.1, 9.8]))


def points() -> np.ndarray:
    """A few points (20, 3)."""
    return np.random.default_rng(1).normal(0.0, 5.0, (20, 3)).round(3)


def _ply(encoding: str) -> bytes:
    header = (
        f"ply\nformat {encoding} 1.0\ncomment made to be spoilt\nelement vertex 20\n"
        "property float x\nproperty double y\nproperty float z\nproperty uchar ring\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    )
    if encoding == "ascii":
        rows = "".join(f"{x} {y} {z} 3\n" for x, y, z in points())
        return (header + rows + "3 0 1 2\n").encode()
    order = "<" if "little" in encoding else ">"
    rows = b"".join(struct.pack(f"{order}fdfB", *point, 3) for point in points())
    return header.encode() + rows + struct.pack(f"{order}Biii", 3, 0, 1, 2)


def _pcd(encoding: str) -> bytes:
    header = (
        "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z t\nSIZE 4 4 4 8\nTYPE F F F U\nCOUNT 1 1 1 1\n"
        f"WIDTH 20\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 20\nDATA {encoding}\n"
    ).encode()
    if encoding == "ascii":
        return header + "".join(f"{x} {y} {z} 7\n" for x, y, z in points()).encode()
    if encoding == "binary":
        return header + b"".join(struct.pack("<fffQ", *point, 7) for point in points())
    columns = points().astype("<f4").T.tobytes() + struct.pack("<Q", 7) * 20
    packed = b"".join(  # LZF of literal runs alone
        bytes([len(run) - 1]) + run
        for run in (columns[at : at + 32] for at in range(0, len(columns), 32))
    )
    return header + struct.pack("<II", len(packed), len(columns)) + packed


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def _las() -> bytes:
    head = bytearray(227)
    head[:4], head[24:26] = b"LASF", bytes([1, 2])
    struct.pack_into("<IIBHI", head, 96, 227, 0, 1, 28, 20)
    struct.pack_into("<6d", head, 131, *[0.001] * 3, *[0.0] * 3)
    rows = [
        struct.pack("<iii8xd", *(1000 * p).astype(int), 0.005 * k) for k, p in enumerate(points())
    ]
    return bytes(head) + b"".join(rows)


def _rows(values: np.ndarray, separator: str = " ") -> bytes:
    return "".join(separator.join(map(repr, row)) + "\n" for row in values.tolist()).encode()


def _imu_rows() -> np.ndarray:
    rng = np.random.default_rng(2)
    rows = rng.normal(0.0, 0.1, (30, 7))
    rows[:, 0], rows[:, 6] = 1.7e9 + 0.01 * np.arange(30), 9.8
    return rows.round(6)


@cache
def _folder_of(kind: str) -> Sample:
    """Files that the package itself writes."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if kind == "run":
            _write_run(place)
        elif kind == "state":
            save_state(place / "state.npz", _driven(), {"num_scans": 3})
        else:
            formats = {"a.bag": "ros1", "a.mcap": "mcap", "a": "ros2", "k": "kitti"}
            write_dataset(Small(), place / kind, formats[kind])
        return {
            str(path.relative_to(place)): path.read_bytes()
            for path in sorted(place.rglob("*")) if path.is_file()
        }  # fmt: skip


def _with_imu() -> Odometry:
    return Odometry(imu=ImuNoise.model("generic"))


def _driven() -> Odometry:
    """Odometry with an IMU that has seen three scans of a box."""
    rng = np.random.default_rng(3)
    odometry = _with_imu()
    wall = rng.uniform(-4.0, 4.0, (900, 3))
    wall[np.arange(900), rng.integers(3, size=900)] = rng.choice([-4.0, 4.0], size=900)
    for k in range(100):
        odometry.add_imu(START_NS + 10**7 * k, np.zeros(3), np.array([0.0, 0.0, 9.81]))
        if k >= 60 and k % 10 == 0:
            odometry.add_scan(wall, START_NS + 10**7 * k)
    assert odometry.num_scans >= 3
    return odometry


def _write_run(place: Path) -> None:
    odometry = Odometry()
    wall = np.random.default_rng(4).uniform(-4.0, 4.0, (900, 3))
    description = RunDescription(data="box", config=odometry.config.to_dict())
    with RunFolder.open(place, description, particles=True) as folder:
        for k in range(3):
            estimate = odometry.add_scan(wall, START_NS + 10**8 * k)
            assert estimate is not None
            folder.on_estimate(estimate)


def _only(folder: Path) -> Path:
    """The file in a folder."""
    return next(path for path in sorted(folder.iterdir()))


def _read_dataset(path: Path) -> None:
    """Everything that a recording has."""
    dataset = open_dataset(path)
    dataset.info()
    for _ in dataset.measurements():
        pass


def _read_run_folder(folder: Path) -> None:
    read_description(folder)
    record = read_run(folder)
    read_particles(folder)
    RunFolder.resume(folder, int(record.trajectory.stamps_ns[-1])).close()


def _files(*contents: bytes, suffix: str) -> Callable[[], list[Sample]]:
    return lambda: [{f"a{suffix}": content} for content in contents]


def _kitti_stamps(folder: Path) -> Trajectory:
    return read_trajectory(_only(folder), stamps_ns=np.arange(20))


POSES = np.c_[1.7e9 + 0.1 * np.arange(20), points(), np.tile([0.0, 0.0, 0.6, 0.8], (20, 1))]
KITTI_POSES = np.c_[np.tile(np.eye(3).ravel(), (20, 1)), points()][
    :, [0, 1, 2, 9, 3, 4, 5, 10, 6, 7, 8, 11]
]
CSV_HEAD = b"#timestamp [ns],p_x,p_y,p_z,q_w,q_x,q_y,q_z\n"
IMU_HEAD = b"timestamp,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z\n"
EXTRINSICS = b"T_body_lidar:\n" + b"".join(f"  - {row.tolist()}\n".encode() for row in np.eye(4))

READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("pcd", _files(*map(_pcd, ("ascii", "binary", "binary_compressed")), suffix=".pcd"),
               lambda folder: read_cloud(_only(folder))),
        Reader("ply", _files(*map(_ply, ("ascii", "binary_little_endian", "binary_big_endian")),
                             suffix=".ply"), lambda folder: read_cloud(_only(folder))),
        Reader("bin", _files(points().astype("<f4").tobytes(), suffix=".bin"),
               lambda folder: read_cloud(_only(folder), bin_columns=3)),
        Reader("npy", _files(_npy(points()), _npy(points().astype(">f4")), suffix=".npy"),
               lambda folder: read_cloud(_only(folder))),
        Reader("npz", _files(_npz(points=points()), suffix=".npz"),
               lambda folder: read_cloud(_only(folder))),
        Reader("las", _files(_las(), suffix=".las"), lambda folder: read_las_scan(_only(folder))),
        Reader("ROS 1 bag", lambda: [_folder_of("a.bag")],
               lambda folder: _read_dataset(folder / "a.bag")),
        Reader("ROS 2 db3", lambda: [_folder_of("a")], lambda folder: _read_dataset(folder / "a")),
        Reader("ROS 2 mcap", lambda: [_folder_of("a.mcap")],
               lambda folder: _read_dataset(folder / "a.mcap")),
        Reader("KITTI folder", lambda: [_folder_of("k")],
               lambda folder: _read_dataset(folder / "k")),
        Reader("YAML config", _files(*(
            Config.preset(name).to_yaml().encode() for name in ("default", "paper")
        ), suffix=".yaml"), lambda folder: Config.from_yaml(_only(folder))),
        Reader("extrinsics", _files(EXTRINSICS, suffix=".yaml"),
               lambda folder: read_extrinsics(_only(folder))),
        Reader("TUM trajectory", _files(_rows(POSES), _rows(POSES[:, :4]), suffix=".tum"),
               lambda folder: read_trajectory(_only(folder))),
        Reader("KITTI trajectory", _files(_rows(KITTI_POSES), suffix=".txt"), _kitti_stamps),
        Reader("csv trajectory", _files(CSV_HEAD + _rows(POSES, ","), suffix=".csv"),
               lambda folder: read_trajectory(_only(folder))),
        Reader("IMU csv", _files(IMU_HEAD + _rows(_imu_rows(), ","), _rows(_imu_rows()),
                                 suffix=".csv"),
               lambda folder: list(ImuCsv(_only(folder)).samples())),
        Reader("saved state", lambda: [_folder_of("state")],
               lambda folder: load_state(folder / "state.npz", _with_imu())),
        Reader("run folder", lambda: [_folder_of("run")], _read_run_folder),
    )
}  # fmt: skip
"""Every reader by name."""
