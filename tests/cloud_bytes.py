# SPDX-License-Identifier: MIT
"""Cloud files as bytes, written by the tests themselves and not by the code under test.

Every writer takes (n, 3) points and returns a whole file. The points survive exactly if they fit
the type that is written.
"""

import io
import struct

import numpy as np

PLY_FORMATS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}


def ply(points: np.ndarray, encoding: str = "binary_little_endian", newline: str = "\n") -> bytes:
    """Vertices with an intensity before and a colour after the coordinates, then a face."""
    order = PLY_FORMATS[encoding]
    lines = [
        *("ply", f"format {encoding} 1.0", "comment made by a test", "obj_info 1 2 3"),
        *("element camera 2", "property short view", f"element vertex {len(points)}"),
        *("property uchar intensity", "property float x", "property double y"),
        *("property float32 z", "property ushort ring", "element face 1"),
        *("property list uchar int vertex_indices", "end_header", ""),
    ]
    header = newline.join(lines).encode()
    if encoding == "ascii":
        rows = ["7", "8", *(f"9 {x!r} {y!r} {z!r} 11" for x, y, z in points.tolist()), "3 0 0 0"]
        return header + newline.join([*rows, ""]).encode()
    rows = b"".join(struct.pack(order + "Bfdf" + "H", 9, *point, 11) for point in points.tolist())
    return header + struct.pack(order + "hh", 7, 8) + rows + struct.pack(order + "Biii", 3, 0, 0, 0)


def pcd(points: np.ndarray, encoding: str = "binary") -> bytes:
    """Points with the fields in odd order: a ring, z, a descriptor of 3 values, y, x."""
    header = (
        "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS ring z descriptor y x\n"
        "SIZE 2 8 4 4 8\nTYPE U F I F F\nCOUNT 1 1 3 1 1\n"
        f"WIDTH {len(points)}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(points)}\n"
        f"DATA {encoding}\n"
    ).encode()
    if encoding == "ascii":
        rows = "".join(f"5 {z!r} 1 2 3 {y!r} {x!r}\n" for x, y, z in points.tolist())
        return header + rows.encode()
    if encoding == "binary":
        rows = [struct.pack("<Hdiiifd", 5, z, 1, 2, 3, y, x) for x, y, z in points.tolist()]
        return header + b"".join(rows)
    count = len(points)
    blocks = [
        struct.pack("<H", 5) * count,
        points[:, 2].astype("<f8").tobytes(),
        struct.pack("<iii", 1, 2, 3) * count,
        points[:, 1].astype("<f4").tobytes(),
        points[:, 0].astype("<f8").tobytes(),
    ]
    plain = b"".join(blocks)
    packed = lzf_compress(plain)
    return header + struct.pack("<II", len(packed), len(plain)) + packed


def kitti(points: np.ndarray, columns: int = 4) -> bytes:
    """Rows of float32: the point, then 0.5 in the remaining columns."""
    rest = np.full((len(points), columns - 3), 0.5)
    return np.hstack([points, rest]).astype("<f4").tobytes()


def npy(array: np.ndarray) -> bytes:
    """Whatever array, as NumPy saves it."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    """Named arrays, as NumPy saves and compresses them."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)  # pyright: ignore[reportArgumentType]
    return stream.getvalue()


def lzf_compress(plain: bytes) -> bytes:
    """LZF stream with a reference wherever three bytes were seen before, else literals."""
    out, literals = bytearray(), bytearray()
    seen: dict[bytes, int] = {}
    position = 0
    while position < len(plain):
        key = plain[position : position + 3]
        before = seen.get(key, -1)
        seen[key] = position
        if len(key) < 3 or before < 0 or position - before > 8192:
            literals.append(plain[position])
            position += 1
            continue
        length = 3
        limit = min(264, len(plain) - position)
        while length < limit and plain[before + length] == plain[position + length]:
            length += 1
        out += _literal_runs(literals) + _reference(position - before - 1, length - 2)
        literals.clear()
        position += length
    return bytes(out + _literal_runs(literals))


def _literal_runs(literals: bytes | bytearray) -> bytes:
    """Return runs of at most 32 bytes, each after its length less one."""
    runs = [literals[start : start + 32] for start in range(0, len(literals), 32)]
    return b"".join(bytes([len(run) - 1]) + run for run in runs)


def _reference(offset: int, length: int) -> bytes:
    """Return a reference to ``length + 2`` bytes that start ``offset + 1`` back."""
    if length < 7:
        return bytes([length << 5 | offset >> 8, offset & 255])
    return bytes([7 << 5 | offset >> 8, length - 7, offset & 255])
