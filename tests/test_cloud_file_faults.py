# SPDX-License-Identifier: MIT
"""Cloud files that are wrong: each gets one sentence, and no file gets anything worse.

Every sentence that a user can be shown is pinned here. Garbage that nobody thought of is in
``test_cloud_file_fuzz.py``.
"""

import re
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import cloud_bytes
from cloud_bytes import npy, npz
from svnicp.cloud_files import lzf, read_cloud
from svnicp.errors import InputError

POINTS = np.random.default_rng(7).normal(0.0, 20.0, (12, 3)).astype(np.float32).astype(np.float64)


def trap_npz() -> bytes:
    """Zeros that expand a thousand times."""
    return npz(points=np.zeros((1_000_000, 3)))


PLY = cloud_bytes.ply(POINTS)
PLY_TEXT = cloud_bytes.ply(POINTS, "ascii")
PCD = cloud_bytes.pcd(POINTS)
PCD_TEXT = cloud_bytes.pcd(POINTS, "ascii")
PCD_LZF = cloud_bytes.pcd(POINTS, "binary_compressed")
NPY = npy(POINTS)
LIST = b"property list uchar int neighbours\n"
SIZES_AT = PCD_LZF.index(b"DATA binary_compressed\n") + len(b"DATA binary_compressed\n")
WRONG_SIZE = PCD_LZF[: SIZES_AT + 4] + struct.pack("<I", 9) + PCD_LZF[SIZES_AT + 8 :]
BAD_STREAM = PCD_LZF[: SIZES_AT + 8] + b"\xff" * (len(PCD_LZF) - SIZES_AT - 8)

FAULTS = {
    "not a ply": ("a.ply", b"solid cube", "this is not a PLY file, or its header is cut off"),
    "ply header cut": ("a.ply", PLY[:60], "this is not a PLY file, or its header is cut off"),
    "ply format": ("a.ply", PLY.replace(b"binary_little", b"middle"), "makes no sense (format"),
    "ply no format": (
        *("a.ply", b"ply\nelement vertex 1\nend_header\n"),
        "the PLY header does not say its format",
    ),
    "ply property": ("a.ply", PLY.replace(b"double y", b"flaot y"), "(property flaot y)"),
    "ply count": ("a.ply", PLY.replace(b"vertex 12", b"vertex -2"), "(element vertex -2)"),
    "ply digits": ("a.ply", PLY.replace(b"vertex 12", b"vertex " + b"9" * 5000), "no sense (elem"),
    "ply no vertex": ("a.ply", PLY.replace(b"vertex", b"vortex"), "has no vertex element"),
    "ply no z": (
        *("a.ply", PLY.replace(b"float32 z", b"float32 w")),
        "the header has no field z (it has: intensity x y w ring)",
    ),
    "ply vertex list": (
        *("a.ply", PLY.replace(b"property ushort ring\n", LIST)),
        "the vertices have a list property (neighbours)",
    ),
    "ply list before": (
        *("a.ply", PLY.replace(b"property short view\n", LIST)),
        "element camera has a list property and comes before the vertices",
    ),
    "ply cut": ("a.ply", PLY[:-50], "promises 12 points and the file holds 10; it was cut off"),
    "ply text cut": ("a.ply", PLY_TEXT[:-200], "it was cut off, so copy or export it again."),
    "ply text": ("a.ply", PLY_TEXT.replace(b"9 ", b"9 x"), "a line of points is not numbers"),
    "ply empty": ("a.ply", cloud_bytes.ply(POINTS[:0]), "the cloud has no points"),
    "ply text empty": ("a.ply", cloud_bytes.ply(POINTS[:0], "ascii"), "the cloud has no points"),
    "not a pcd": ("a.pcd", b"nothing", "this is not a PCD file, or its header is cut off"),
    "pcd encoding": ("a.pcd", PCD.replace(b"DATA binary", b"DATA zip"), "encoding zip is unknown"),
    "pcd no fields": ("a.pcd", PCD.replace(b"FIELDS", b"FELDS"), "has no FIELDS line"),
    "pcd lengths": (
        *("a.pcd", PCD.replace(b"SIZE 2 8 4 4 8", b"SIZE 2 8")),
        "5 FIELDS, 2 SIZE, 5 TYPE and 5 COUNT entries, which must be equally many",
    ),
    "pcd type": ("a.pcd", PCD.replace(b"U F I F F", b"U F I F X"), "x has TYPE X and SIZE 8"),
    "pcd size": ("a.pcd", PCD.replace(b"2 8 4 4 8", b"2 8 4 2 8"), "y has TYPE F and SIZE 2"),
    "pcd count": ("a.pcd", PCD.replace(b"1 1 3", b"1 1 0"), "COUNT has 0, which is not a count"),
    "pcd two xs": ("a.pcd", PCD.replace(b"1 1 3 1 1", b"1 1 3 1 2"), "must be one value each"),
    "pcd no x": (
        "a.pcd",
        PCD.replace(b"y x", b"y u"),
        "no field x (it has: ring z desc",
    ),
    "pcd no points": (
        *("a.pcd", PCD.replace(b"POINTS", b"PONTS").replace(b"WIDTH", b"WDTH")),
        "the PCD header has no POINTS line",
    ),
    "pcd points": ("a.pcd", PCD.replace(b"POINTS 12", b"POINTS"), "must have 1 entry, not 0"),
    "pcd mismatch": (
        *("a.pcd", PCD.replace(b"WIDTH 12", b"WIDTH 13")),
        "says 12 POINTS, but WIDTH times HEIGHT is 13",
    ),
    "pcd cut": ("a.pcd", PCD[:-1], "the header promises 12 points and the file holds 11"),
    "pcd text cut": ("a.pcd", PCD_TEXT[:-200], "it was cut off, so copy or export it again."),
    "pcd text": ("a.pcd", PCD_TEXT.replace(b"1 2 3", b"1 2"), "a line of points is not numbers"),
    "pcd empty": ("a.pcd", cloud_bytes.pcd(POINTS[:0], "binary_compressed"), "has no points"),
    "pcd lzf cut": ("a.pcd", PCD_LZF[:-9], "bytes of compressed data are announced and"),
    "pcd lzf sizes cut": ("a.pcd", PCD_LZF[: SIZES_AT + 5], "promises 12 points and the file"),
    "pcd lzf size": (
        "a.pcd",
        WRONG_SIZE,
        "12 points need 408 bytes and the comp",
    ),
    "pcd lzf corrupt": ("a.pcd", BAD_STREAM, "the compressed data are corrupt or cut off"),
    "bin size": (
        *("a.bin", bytes(60)),
        "60 bytes are not a whole number of points of 4 float32 values; try bin_columns=3 or 5",
    ),
    "bin cut": ("a.bin", bytes(47), "47 bytes are not a whole number of points"),
    "bin doubles": ("a.bin", (POINTS / 3).tobytes(), "so these are not points of 4 float32 values"),
    "bin integers": ("a.bin", np.arange(400, dtype="<i4").tobytes(), "check bin_columns, or save"),
    "bin empty": ("a.bin", b"", "the cloud has no points"),
    "not an npy": ("a.npy", b"nothing", "this is not a .npy array, or its header is damaged"),
    "npy objects": (
        "a.npy",
        npy(np.array([{}])),
        "the array holds object rather than numbers",
    ),
    "npy complex": (
        "a.npy",
        npy(POINTS + 1j),
        "the array holds complex128 rather than numbers",
    ),
    "npy shape": (
        "a.npy",
        npy(POINTS[:, :2]),
        "array has shape (12, 2); save points as (n, 3)",
    ),
    "npy flat": (
        "a.npy",
        npy(POINTS[0]),
        "the array has shape (3,); save points as (n, 3)",
    ),
    "npy negative": ("a.npy", NPY.replace(b"(12, 3)", b"(-2, 3)"), "shape (-2, 3); save it again"),
    "npy cut": ("a.npy", NPY[:-8], "needs 288 bytes and 280 are there; the file was cut off"),
    "npy empty": ("a.npy", npy(POINTS[:0]), "the cloud has no points"),
    "npy nan": (
        "a.npy",
        npy(POINTS * np.nan),
        "all 12 points have non-finite coordinates",
    ),
    "not an npz": (
        "a.npz",
        b"PK nothing",
        "not a .npz file, or it is damaged (BadZipFile)",
    ),
    "npz keys": (
        *("a.npz", npz(a=POINTS, b=POINTS)),
        "there are 2 arrays (a, b) and none is called points",
    ),
    "npz none": ("a.npz", npz(), "there are 0 arrays () and none is called points"),
    "npz trap": ("a.npz", trap_npz(), "points.npy claims 24000128 bytes in a file of"),
    "extension": ("a.las", b"LASF", "'.las' files are not supported; convert it to one of .bin,"),
    "no extension": ("cloud", b"", "a file without an extension is not supported"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_file_gets_one_sentence_with_its_name(tmp_path: Path, fault: str):
    """The error names the file, says what is wrong, and is one line that ends with a full stop."""
    name, data, sentence = FAULTS[fault]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=re.escape(sentence)) as caught:
        read_cloud(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.endswith(".")
    assert "\n" not in message


def test_a_missing_file_a_folder_and_a_wrong_argument_are_named(tmp_path: Path):
    """What is no readable file, and a number of columns that no file has."""
    with pytest.raises(InputError, match=r"a\.ply: there is no such file; check the path\."):
        read_cloud(tmp_path / "a.ply")
    with pytest.raises(InputError, match=r"this is a folder; name one cloud file in it\."):
        read_cloud(tmp_path)
    with pytest.raises(InputError, match=r"the file cannot be read \(File name too long\)"):
        read_cloud(tmp_path / ("a" * 300 + ".ply"))
    (tmp_path / "a.bin").write_bytes(bytes(16))
    with pytest.raises(InputError, match=r"bin_columns must be 3, 4, 5 or 6, not 2\."):
        read_cloud(tmp_path / "a.bin", bin_columns=2)


HUGE = {
    "huge.ply": PLY.replace(b"vertex 12", b"vertex 1000000000000"),
    "text.ply": PLY_TEXT.replace(b"vertex 12", b"vertex 1000000000000"),
    "before.ply": PLY.replace(b"camera 2", b"camera 1000000000000"),
    "huge.pcd": PCD.replace(b" 12\n", b" 1000000000000\n"),
    "count.pcd": PCD.replace(b"1 1 3", b"1 1 1000000000000"),
    "text.pcd": PCD_TEXT.replace(b" 12\n", b" 1000000000000\n"),
    "lzf.pcd": PCD_LZF.replace(b" 12\n", b" 1000000000000\n"),
    "huge.npy": NPY.replace(b"(12, 3), }      ", b"(123456789012, 3), }"),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_header_that_claims_a_trillion_points_is_refused_at_no_cost(tmp_path: Path, name: str):
    """The claim is checked against the size of the file before memory is taken."""
    path = tmp_path / name
    path.write_bytes(HUGE[name])
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read_cloud(path)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("stream", "size"),
    [
        pytest.param(b"\x02abc", 4, id="fewer bytes than announced"),
        pytest.param(b"\x02abc", 2, id="more bytes than announced"),
        pytest.param(b"\x02abc\x00d", 3, id="bytes after the end"),
        pytest.param(b"\x05abc", 3, id="a run that is cut off"),
        pytest.param(b"\x02abc\x20", 6, id="a reference that is cut off"),
        pytest.param(b"\x00a\x20\x01", 3, id="a reference to before the beginning"),
        pytest.param(b"\x00a" + b"\xe0\xff\x00" * 10, 10**9, id="a gigabyte out of 32 bytes"),
    ],
)
def test_corrupt_lzf_is_refused(stream: bytes, size: int):
    """A stream gives exactly what was announced, out of itself, or nothing."""
    with pytest.raises(InputError, match="the compressed data are corrupt or cut off"):
        lzf.decompress(stream, size)
