# SPDX-License-Identifier: MIT
"""Hostile files: nothing in them is run, nothing grows without end, and one sentence says why."""

import contextlib
import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz import outcome, put, spoilt
from benchmarks.fuzz_readers import READERS

from recording_inputs import SmallDataset
from svnicp.cli.run_inputs import default_folder
from svnicp.cloud_files import read_cloud
from svnicp.config import Config
from svnicp.data.folders.npy_imu import NpyImu
from svnicp.data.imu_csv import ImuCsv
from svnicp.data.stamps import parse_date_ns
from svnicp.data.trajectory_files import read_trajectory
from svnicp.errors import ConfigError, DatasetError, InputError, SvnicpError
from svnicp.odometry.saved_arrays import restored, stored
from svnicp.recording import read_description, read_particles

SEVERAL = (
    "ROS 1 bag", "ROS 2 db3", "ROS 2 mcap", "KITTI folder", "YAML config", "extrinsics",
    "TUM trajectory", "csv trajectory", "IMU csv", "las", "saved state", "run folder",
)  # fmt: skip
"""Readers beside those of clouds, which have a test of their own."""


@pytest.mark.parametrize("name", SEVERAL)
def test_spoilt_files_are_read_or_refused(tmp_path: Path, name: str):
    """A few dozen spoilt inputs give data or an error of ours; the good one is read."""
    reader = READERS[name]
    put(tmp_path / "good", reader.samples()[0])
    reader.read(tmp_path / "good")
    seen = [outcome(reader, number, tmp_path / "input") for number in range(12)]
    assert [words for kind, words in seen if kind == "crash"] == []
    assert any(kind == "refused" for kind, _ in seen)


def test_inputs_are_made_again_from_their_number():
    """The same number spoils the same file in the same way, another number in another."""
    reader = READERS["pcd"]
    assert spoilt(reader, 7) == spoilt(reader, 7)
    assert spoilt(reader, 7) != spoilt(reader, 8)


class Bomb:
    """What leaves a file behind when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple:
        return Path.touch, (self.mark,)


def test_pickles_are_never_loaded(tmp_path: Path):
    """Arrays of objects in clouds, IMU arrays and particles are refused, and nothing is run."""
    mark = tmp_path / "was-run"
    bombs = np.array([Bomb(mark)], dtype=object)
    stream = io.BytesIO()
    np.save(stream, bombs, allow_pickle=True)
    np.savez(tmp_path / "a.npz", points=bombs)
    np.savez(tmp_path / "particles.npz", stamps_ns=bombs, first=bombs, T_world_body=bombs)
    for name in ("a.npy", "acc.npy", "gyro.npy", "imu_time.npy"):
        (tmp_path / name).write_bytes(stream.getvalue())
    for read in (
        lambda: read_cloud(tmp_path / "a.npy"),
        lambda: read_cloud(tmp_path / "a.npz"),
        lambda: read_particles(tmp_path),
        lambda: NpyImu(tmp_path),
    ):
        with pytest.raises(SvnicpError):
            read()
    assert not mark.exists()
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists(), "the bomb is no bomb"


PAIRS = tuple(zip("abcdefghi", "bcdefghij", strict=True))
BOMBS = {
    "references": "a: &a [x, x]\n"
    + "".join(f"{y}: &{y} [{', '.join([f'*{x}'] * 9)}]\n" for x, y in PAIRS),
    "merged": "a: &a {x: 1}\n"
    + "".join(f"{y}: &{y} {{<<: [{', '.join([f'*{x}'] * 9)}]}}\n" for x, y in PAIRS),
    "itself": "noise: &a [*a]\n",
    "deep": "[" * 1_000,
    "python": "noise: !!python/object/apply:os.getcwd []\n",
    "date": "noise: 2024-99-99\n",
}


@pytest.mark.parametrize("case", BOMBS)
def test_yaml_bombs_are_refused_at_once(tmp_path: Path, case: str):
    """References to references, merges of merges, deep nests and tags of Python: one sentence."""
    (tmp_path / "a.yaml").write_text(BOMBS[case])
    with pytest.raises(ConfigError) as caught:
        Config.from_yaml(tmp_path / "a.yaml")
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)
    (tmp_path / "run.yaml").write_text(BOMBS[case])
    with pytest.raises(DatasetError, match=r"run\.yaml"):
        read_description(tmp_path)


def test_members_of_a_zip_file_stay_inside(tmp_path: Path):
    """A member whose name leads out of the folder is not written anywhere."""
    stream = io.BytesIO()
    np.save(stream, np.ones((4, 3)))
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(tmp_path / "in" / "a.npz", "w") as archive:
        archive.writestr("../points.npy", stream.getvalue())
    with contextlib.suppress(InputError):
        read_cloud(tmp_path / "in" / "a.npz")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.npz", "in"]


@pytest.mark.parametrize("name", ["../../etc/x", "/etc/x", "..", ".", "a/../../b"])
def test_the_name_of_a_recording_does_not_lead_out(name: str):
    """Unless told otherwise a run goes to one folder below this one, whatever the data's name."""
    dataset = SmallDataset(1)
    dataset.name = name
    folder = default_folder(dataset)
    assert not folder.is_absolute()
    assert len(folder.parts) == 1
    assert folder.parts[0] not in {"..", "."}


def test_particles_that_count_backwards_end(tmp_path: Path):
    """A negative number of particles ends the file, instead of reading it for ever."""
    (tmp_path / "particles.part").write_bytes(np.array([5, -1, 7, -1], dtype="<i8").tobytes())
    assert len(read_particles(tmp_path).stamps_ns) == 0


@pytest.mark.parametrize("strides", [[-8], [0], [10**12], [3], [8, 8]])
def test_strides_that_leave_the_memory_are_refused(strides: list[int]):
    """A saved array comes back only with strides that it can have had."""
    arrays: dict = {}
    place = stored(np.arange(10.0)[::2], "a", arrays)
    np.testing.assert_array_equal(restored(place, arrays), [0.0, 2.0, 4.0, 6.0, 8.0])
    with pytest.raises(ValueError, match=r"strides|zip"):
        restored({**place, "strides": strides}, arrays)


def test_times_that_do_not_fit_are_refused_with_their_line(tmp_path: Path):
    """A stamp beyond 64 bits is named with its line, in trajectories and in tables of an IMU."""
    (tmp_path / "a.csv").write_text(
        "timestamp,x,y,z\n1,0,0,0\n2,0,0,0\n99999999999999999999,0,0,0\n"
    )
    with pytest.raises(DatasetError, match=r"line 4: the time .* years 1678 to 2262"):
        read_trajectory(tmp_path / "a.csv")
    head = "timestamp,gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z\n"
    rows = "".join(f"{k * 0.01},0,0,0,0,0,9.8\n" for k in range(500))
    (tmp_path / "imu.csv").write_text(f"{head}{rows}9e20,0,0,0,0,0,9.8\n1.0,0,0,0,0,0,9.8\n")
    with pytest.raises(DatasetError, match="line 502: the time"):
        list(ImuCsv(tmp_path / "imu.csv").samples())
    assert parse_date_ns("2262-01-01 00:00:00") is not None
    assert parse_date_ns("9999-01-01 00:00:00") is None
