# SPDX-License-Identifier: MIT
"""Cloud files: what was written is what is read, in every format and encoding."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cloud_bytes
from svnicp.cloud_files import lzf, read_cloud, write_ply
from svnicp.errors import InputError

POINTS = np.random.default_rng(7).normal(0.0, 20.0, (40, 3)).astype(np.float32).astype(np.float64)

Save = Callable[[str, bytes], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return a function that writes bytes to a file of a name."""

    def write(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("encoding", cloud_bytes.PLY_FORMATS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_ply_gives_the_points_written(save: Save, encoding: str, newline: str):
    """Other properties and other elements around the coordinates change nothing."""
    path = save("cloud.ply", cloud_bytes.ply(POINTS, encoding, newline))
    np.testing.assert_array_equal(read_cloud(path), POINTS)


@pytest.mark.parametrize("encoding", ["ascii", "binary", "binary_compressed"])
def test_pcd_gives_the_points_written(save: Save, encoding: str):
    """Fields of any order, type, size and count around the coordinates change nothing."""
    path = save("cloud.pcd", cloud_bytes.pcd(POINTS, encoding))
    np.testing.assert_array_equal(read_cloud(path), POINTS)


@pytest.mark.parametrize("columns", [3, 4, 5, 6])
def test_bin_gives_the_points_written(save: Save, columns: int):
    """The first three of the stated number of columns are the points."""
    path = save("000000.bin", cloud_bytes.kitti(POINTS, columns))
    np.testing.assert_array_equal(read_cloud(path, bin_columns=columns), POINTS)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", ">f8", "f2", "i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_gives_the_points_written(save: Save, dtype: str, order: str):
    """Any number type and memory order, with or without further columns."""
    array = np.asarray(np.hstack([POINTS, POINTS]), dtype=dtype, order=order)  # pyright: ignore
    path = save("cloud.npy", cloud_bytes.npy(array))
    np.testing.assert_array_equal(read_cloud(path), array[:, :3].astype(np.float64))


def test_npy_of_python_2_is_read_without_a_warning(save: Save):
    """Old files write shapes as (40L, 3L)."""
    data = cloud_bytes.npy(POINTS).replace(b"(40, 3), }  ", b"(40L, 3L), }")
    np.testing.assert_array_equal(read_cloud(save("old.npy", data)), POINTS)


@pytest.mark.parametrize("arrays", [{"anything": POINTS}, {"other": np.eye(2), "points": POINTS}])
def test_npz_gives_the_only_array_or_the_one_called_points(save: Save, arrays: dict):
    """A single array needs no name; among several it is the one called points."""
    np.testing.assert_array_equal(read_cloud(save("cloud.npz", cloud_bytes.npz(**arrays))), POINTS)


def test_a_cloud_is_float64_and_contiguous_whatever_the_case_of_the_extension(save: Save):
    """Compiled code gets the layout it wants; .PLY is .ply; a path may be a string."""
    points = read_cloud(str(save("CLOUD.PLY", cloud_bytes.ply(POINTS))))
    assert points.dtype == np.float64
    assert points.flags.c_contiguous


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ply", cloud_bytes.ply),
        ("b.ply", lambda p: cloud_bytes.ply(p, "ascii")),
        ("c.pcd", lambda p: cloud_bytes.pcd(p, "ascii")),
        ("d.pcd", lambda p: cloud_bytes.pcd(p, "binary_compressed")),
        ("e.bin", cloud_bytes.kitti),
        ("f.npy", cloud_bytes.npy),
    ],
)
def test_non_finite_points_are_dropped_and_counted_in_the_log(
    save: Save, caplog: pytest.LogCaptureFixture, name: str, data: Callable
):
    """Finite points keep their order; the log names the file and how many were dropped."""
    bad = POINTS.copy()
    bad[3, 0], bad[17, 2] = np.nan, -np.inf
    path = save(name, data(bad))
    with caplog.at_level(logging.WARNING, logger="svnicp"):
        points = read_cloud(path)
    np.testing.assert_array_equal(points, np.delete(POINTS, [3, 17], axis=0))
    assert caplog.messages == [f"{path}: dropped 2 of 40 points with non-finite coordinates."]


def test_a_clean_cloud_logs_nothing(save: Save, caplog: pytest.LogCaptureFixture):
    """No warning where nothing was dropped."""
    read_cloud(save("cloud.ply", cloud_bytes.ply(POINTS)))
    assert caplog.messages == []


@pytest.mark.parametrize(("written", "claimed"), [(5, 4), (4, 3), (3, 4), (4, 5)])
def test_a_wrong_number_of_columns_is_warned_about(
    save: Save, caplog: pytest.LogCaptureFixture, written: int, claimed: int
):
    """A sweep read with the wrong number of columns is noticed, and the right one named."""
    angle = np.linspace(0.0, 6.0, 600)
    sweep = np.stack([20.0 * np.cos(angle), 20.0 * np.sin(angle), np.sin(9.0 * angle)], axis=1)
    path = save("sweep.bin", cloud_bytes.kitti(sweep, written))
    read_cloud(path, bin_columns=claimed)
    assert [f"pass bin_columns={written}." in message for message in caplog.messages] == [True]
    caplog.clear()
    read_cloud(path, bin_columns=written)
    assert caplog.messages == []


def test_a_signalling_nan_is_dropped_like_any_other(save: Save):
    """The kind of NaN that warns when it is cast does so neither on its way in nor later."""
    values = np.tile(POINTS, (5, 1)).astype("<f4")
    values[7] = np.array([0x7FA00000] * 3, "<u4").view("<f4")
    points = read_cloud(save("a.bin", values.tobytes()), bin_columns=3)
    np.testing.assert_array_equal(points, np.delete(np.tile(POINTS, (5, 1)), 7, axis=0))


@given(plain=st.one_of(st.binary(max_size=2000), st.text("ab", max_size=2000).map(str.encode)))
def test_lzf_gives_back_what_was_compressed(plain: bytes):
    """Literals, long and overlapping references, and their ends."""
    assert lzf.decompress(cloud_bytes.lzf_compress(plain), len(plain)) == plain


def test_lzf_reaches_as_far_back_as_the_format_allows(rng: np.random.Generator):
    """A reference of 8192 bytes and a length of 264 are both decoded."""
    block = rng.bytes(8192)
    plain = block + block[:264] + bytes(1000)
    packed = cloud_bytes.lzf_compress(plain)
    assert len(packed) < len(block) * 34 // 32
    assert lzf.decompress(packed, len(plain)) == plain


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_write_ply_round_trips_exactly(tmp_path: Path, dtype: type):
    """Single precision stays single, double stays double, and every bit survives."""
    points = (POINTS / 3.0).astype(dtype)
    write_ply(tmp_path / "out.ply", points)
    np.testing.assert_array_equal(read_cloud(tmp_path / "out.ply"), points.astype(np.float64))
    assert (tmp_path / "out.ply").stat().st_size < 200 + points.nbytes


def test_write_ply_replaces_a_file_and_leaves_nothing_beside_it(tmp_path: Path):
    """The old file is replaced, and no unfinished file is left in the folder."""
    path = tmp_path / "out.ply"
    path.write_text("old")
    write_ply(path, POINTS)
    assert os.listdir(tmp_path) == ["out.ply"]  # noqa: PTH208
    assert len(read_cloud(path)) == len(POINTS)


def test_an_interrupted_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """When the disk is full, the old file is still whole and the error is a sentence."""
    path = tmp_path / "out.ply"
    write_ply(path, POINTS)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        write_ply(path, POINTS[:1])
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.ply"]
    assert len(read_cloud(path)) == len(POINTS)


@pytest.mark.parametrize("points", [np.zeros(3), np.zeros((2, 4)), [["a", "b", "c"]]])
def test_write_ply_refuses_what_is_not_points(tmp_path: Path, points: object):
    """Wrong shapes and types are named, and no file appears."""
    with pytest.raises(InputError, match=r"must be an \(n, 3\) array of numbers"):
        write_ply(tmp_path / "out.ply", points)  # pyright: ignore[reportArgumentType]
    assert list(tmp_path.iterdir()) == []


def test_write_ply_to_a_missing_folder_says_so(tmp_path: Path):
    """A folder that is not there is an input error with the path."""
    with pytest.raises(InputError, match=r"out\.ply: the file cannot be written"):
        write_ply(tmp_path / "no" / "out.ply", POINTS)
