# SPDX-License-Identifier: MIT
"""A saved odometry goes on as if nothing had happened, to the last bit."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from svnicp.config import Config
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import ImuSample, Scan
from svnicp.errors import DatasetError, InputError
from svnicp.estimate import Estimate
from svnicp.odometry import Odometry
from svnicp.odometry.saved_arrays import restored, stored
from svnicp.odometry.saved_state import load_state, save_state
from svnicp.simulation.simulate import simulate

IMU = ImuNoise.model("xsens_mti30")


@pytest.fixture(scope="module")
def measurements() -> list[Scan | ImuSample]:
    """Return a second and a half of a body that starts to move; few points, to be fast."""
    dataset = simulate("street", 4, 6.0)
    begin_ns = dataset.start_ns + 4_000_000_000
    return [
        Scan(one.stamp_ns, one.points[::6], one.point_times_ns[::6])
        if isinstance(one, Scan) and one.point_times_ns is not None
        else one
        for one in _from(dataset, begin_ns)
    ]


def _from(dataset, begin_ns: int) -> list[Scan | ImuSample]:
    """Scans of 1.5 seconds, and IMU samples that begin long enough before for a filter to start."""
    numbers = range(40, 55)
    scans = [dataset.scan(number) for number in numbers]
    samples = [
        sample
        for sample in dataset.imu_samples()
        if begin_ns - 1_700_000_000 <= sample.stamp_ns <= scans[-1].end_ns
    ]
    return sorted([*samples, *scans], key=lambda m: m.end_ns if isinstance(m, Scan) else m.stamp_ns)


def feed(odometry: Odometry, measurements: Sequence[Scan | ImuSample]) -> list[Estimate]:
    """Estimates of all scans."""
    found = []
    for one in measurements:
        if isinstance(one, Scan):
            found.append(odometry.process(one))
        else:
            odometry.add_imu(one.stamp_ns, one.angular_velocity, one.linear_acceleration)
    return [estimate for estimate in found if estimate is not None]


def assert_same(ours: list[Estimate], theirs: list[Estimate]) -> None:
    assert [one.stamp_ns for one in ours] == [one.stamp_ns for one in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.status == other.status
        for name in ("T_world_body", "covariance", "relative_covariance", "twist_covariance"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize(
    ("imu", "noise", "after_scan"),
    [(None, "adaptive", 1), (None, "adaptive", 8), (IMU, "smoothed", 9), (IMU, "fixed", 5)],
)
def test_going_on_gives_the_same_bits(measurements, tmp_path, imu, noise, after_scan):
    """With and without an IMU, before and after the start is known, the future is the same."""
    config = Config()
    config = replace(config, odometry=replace(config.odometry, noise=noise))
    scans = [index for index, one in enumerate(measurements) if isinstance(one, Scan)]
    cut = scans[after_scan - 1] + 1
    whole = Odometry(config, imu, rng=np.random.default_rng(7))
    begun = feed(whole, measurements[:cut])
    save_state(tmp_path / "state.npz", whole, {"cut": cut})
    expected = feed(whole, measurements[cut:])
    assert expected
    later = Odometry(config, imu, rng=np.random.default_rng(99))
    assert load_state(tmp_path / "state.npz", later) == {"cut": cut}
    assert_same(feed(later, measurements[cut:]), expected)
    assert len(begun) + len(expected) >= 10
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]


def test_nothing_but_plain_arrays_is_in_the_file(measurements, tmp_path):
    """The file opens without pickle, and holds the map without its spare memory."""
    odometry = Odometry()
    feed(odometry, [one for one in measurements if isinstance(one, Scan)][:2])
    save_state(tmp_path / "state.npz", odometry, {})
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fiu" for name in file.files)
        assert len(file["surroundings.local_map.offsets"]) == len(odometry.local_map) > 1000
    assert (tmp_path / "state.npz").stat().st_size < odometry.local_map.nbytes / 2


def test_new_state_cannot_be_forgotten(tmp_path):
    """An attribute of a kind that nobody has taught to save is an error, not a silent loss."""
    odometry = Odometry()
    odometry.surprise = {1, 2}  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(TypeError, match="surprise is a set"):
        save_state(tmp_path / "state.npz", odometry, {})


def test_arrays_come_back_with_their_layout(rng):
    """Slices, columns-first and read-only arrays keep strides and flags: code is made for them."""
    block = rng.normal(size=(4, 6))
    readonly = block.copy()
    readonly.setflags(write=False)
    for array in (block, block[:3, :3], block.T, block[::2, 1::2], readonly):
        arrays: dict = {}
        place = stored(array, "x", arrays)
        arrays["x"] = arrays["x"].copy(order="K")
        found = restored(place, arrays)
        np.testing.assert_array_equal(found, array)
        assert found.strides == array.strides
        assert found.flags.writeable == array.flags.writeable


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", None])
def test_a_broken_file_is_one_sentence(tmp_path, content):
    """A file that is missing, empty or cut off is refused with what to do."""
    path = tmp_path / "state.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"cannot be read .*start the run again"):
        load_state(path, Odometry())


def test_the_state_of_another_kind_is_refused(tmp_path):
    """LiDAR alone does not go on from the state of a filter with an IMU."""
    save_state(tmp_path / "state.npz", Odometry(imu=IMU), {})
    with pytest.raises(DatasetError, match="other sensors"):
        load_state(tmp_path / "state.npz", Odometry())


def test_a_folder_that_is_gone_is_one_sentence(tmp_path):
    """Where the state cannot be written, the message says so."""
    with pytest.raises(InputError, match="cannot be saved"):
        save_state(tmp_path / "gone" / "state.npz", Odometry(), {})


@pytest.mark.parametrize("progress", [None, 3, {"scans": 1.5}, {"scans": "3"}])
def test_counters_that_do_not_count_are_refused(tmp_path, progress):
    """Before anything is written, and not when the state is wanted back."""
    with pytest.raises(InputError, match=r"^progress must be counters[^\n]*\.$"):
        save_state(tmp_path / "state.npz", Odometry(), progress)
    assert not (tmp_path / "state.npz").exists()
