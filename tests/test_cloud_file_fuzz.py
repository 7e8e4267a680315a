# SPDX-License-Identifier: MIT
"""Garbage, cut files and altered bytes: the readers return points or raise ``InputError``.

Nothing else may come out of them, whatever the file holds: no other exception, no warning, and no
point that is not finite.
"""

import io
import logging
import re
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cloud_bytes
from svnicp.cloud_files import read_cloud
from svnicp.errors import InputError

POINTS = np.random.default_rng(7).normal(0.0, 20.0, (12, 3)).astype(np.float32).astype(np.float64)
VALID = {
    "little.ply": cloud_bytes.ply(POINTS),
    "big.ply": cloud_bytes.ply(POINTS, "binary_big_endian"),
    "text.ply": cloud_bytes.ply(POINTS, "ascii"),
    "binary.pcd": cloud_bytes.pcd(POINTS),
    "text.pcd": cloud_bytes.pcd(POINTS, "ascii"),
    "lzf.pcd": cloud_bytes.pcd(POINTS, "binary_compressed"),
    "a.bin": cloud_bytes.kitti(POINTS),
    "a.npy": cloud_bytes.npy(POINTS),
    "a.npz": cloud_bytes.npz(points=POINTS),
}
FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def _quiet():
    """Keep the warnings about dropped points of thousands of examples out of the log."""
    logging.getLogger("svnicp.cloud_files").setLevel(logging.ERROR)
    yield
    logging.getLogger("svnicp.cloud_files").setLevel(logging.NOTSET)


def gives_points_or_says_why(path: Path, data: bytes) -> bool:
    """Whether the bytes, read as a cloud, give sound points or an InputError in one sentence."""
    path.write_bytes(data)
    try:
        points = read_cloud(path)
    except InputError as error:
        sentence = str(error)
    else:
        sound = points.ndim == 2 and points.shape[1] == 3 and points.dtype == np.float64
        return bool(sound and len(points) > 0 and np.isfinite(points).all())
    return sentence.endswith(".") and sentence.isprintable()


@FUZZ
@given(data=st.binary(max_size=400))
@pytest.mark.parametrize("extension", ["ply", "pcd", "bin", "npy", "npz"])
def test_random_bytes_never_crash(tmp_path: Path, extension: str, data: bytes):
    """Any bytes under any extension."""
    assert gives_points_or_says_why(tmp_path / f"a.{extension}", data)


@FUZZ
@given(cut=st.integers(0, 10_000))
@pytest.mark.parametrize("name", VALID)
def test_cut_files_never_crash(tmp_path: Path, name: str, cut: int):
    """A valid file that ends anywhere."""
    data = VALID[name]
    assert gives_points_or_says_why(tmp_path / name, data[: cut % len(data)])


@FUZZ
@given(edits=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=8))
@pytest.mark.parametrize("name", VALID)
def test_altered_files_never_crash(tmp_path: Path, name: str, edits: list[tuple[int, int]]):
    """A valid file with a few bytes changed, half of them in its first 300 bytes."""
    data = bytearray(VALID[name])
    for position, value in edits:
        data[position % (len(data) if position % 2 else min(300, len(data)))] = value
    assert gives_points_or_says_why(tmp_path / name, bytes(data))


WORDS = re.compile(rb"[^\s]+")
ODD_WORDS = [b"", b"0", b"-1", b"x", b"1e3", b"9" * 30, b"nan", b"list", b"\xff\xfe", b"\x1c", b"#"]


@FUZZ
@given(data=st.data())
@pytest.mark.parametrize("name", [name for name in VALID if name.endswith(("ply", "pcd", "npy"))])
def test_altered_headers_never_crash(tmp_path: Path, name: str, data: st.DataObject):
    """A valid file in which one word of the header became another word, or an odd one."""
    content = VALID[name]
    words = list(WORDS.finditer(content[:300]))
    word = data.draw(st.sampled_from(words))
    others = [other.group() for other in words]
    new = data.draw(st.sampled_from(ODD_WORDS + others))
    assert gives_points_or_says_why(
        tmp_path / name, content[: word.start()] + new + content[word.end() :]
    )


@FUZZ
@given(header=st.text("{}()[]'\",: descrfotanhp<>=fiu0123456789TrueFalse\\-*L", max_size=120))
def test_odd_npy_headers_never_crash(tmp_path: Path, header: str):
    """A .npy header is a Python literal; no literal gets through."""
    text = header.encode()
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(100)
    assert gives_points_or_says_why(tmp_path / "a.npy", data)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("points.npy", data)
    assert gives_points_or_says_why(tmp_path / "a.npz", archive.getvalue())
