# SPDX-License-Identifier: MIT
"""Files of recordings as bytes, written by the tests themselves and not by the code under test."""

import struct
from pathlib import Path

import numpy as np

START_NS = 1_647_090_478_710_633_039
PERIOD_NS = 100_000_000


def clouds(rng: np.random.Generator, count: int, points: int = 400) -> list[np.ndarray]:
    """Return scans of float32 points on smooth rings, as neighbours in a file are in space."""
    turn = np.linspace(0.0, 2.0 * np.pi, points, endpoint=False)
    scans = []
    for k in range(count):
        radius = 12.0 + 2.0 * np.sin(3.0 * turn + k) + rng.normal(scale=0.01, size=points)
        height = np.sin(turn) + 0.1 * k
        scans.append(np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1))
    return [scan.astype(np.float32).astype(np.float64) for scan in scans]


def timed_pcd(points: np.ndarray, times: np.ndarray, field: str = "t") -> bytes:
    """Return a binary PCD whose points carry a time of whatever type the array has."""
    kind = {"f": "F", "u": "U", "i": "I"}[times.dtype.kind]
    header = (
        f"VERSION 0.7\nFIELDS x y z intensity {field} ring\nSIZE 4 4 4 4 {times.dtype.itemsize} 2\n"
        f"TYPE F F F F {kind} U\nCOUNT 1 1 1 1 1 1\nWIDTH {len(points)}\nHEIGHT 1\n"
        f"VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(points)}\nDATA binary\n"
    ).encode()
    layout = [("xyz", "<f4", 3), ("i", "<f4"), ("t", times.dtype.newbyteorder("<")), ("r", "<u2")]
    rows = np.zeros(len(points), dtype=layout)
    rows["xyz"], rows["t"] = points, times
    return header + rows.tobytes()


def timed_ply(points: np.ndarray, times: np.ndarray, field: str = "timestamp") -> bytes:
    """Return a binary PLY whose points carry a double as time."""
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"property double {field}\nend_header\n"
    ).encode()
    rows = np.zeros(len(points), dtype=[("xyz", "<f4", 3), ("t", "<f8")])
    rows["xyz"], rows["t"] = points, times
    return header + rows.tobytes()


def las(points: np.ndarray, times: np.ndarray | None, point_format: int, minor: int = 2) -> bytes:
    """Return an uncompressed LAS file with millimetres and an offset, and a colour if it fits."""
    sizes = {0: 20, 1: 28, 2: 26, 3: 34, 6: 30, 7: 36, 8: 38}
    header_size = 375 if minor >= 4 else 227
    header = bytearray(header_size)
    header[:4], header[24], header[25] = b"LASF", 1, minor
    count = len(points)
    struct.pack_into("<H", header, 94, header_size)
    legacy_count = 0 if minor >= 4 else count
    size = sizes[point_format] + 2  # two extra bytes, as writers may add
    struct.pack_into("<IIBHI", header, 96, header_size, 0, point_format, size, legacy_count)
    struct.pack_into("<6d", header, 131, 0.001, 0.001, 0.001, 10.0, -20.0, 0.5)
    if minor >= 4:
        struct.pack_into("<Q", header, 247, count)
    records = np.zeros((count, size), dtype=np.uint8)
    xyz = np.rint((points - [10.0, -20.0, 0.5]) / 0.001).astype("<i4")
    records[:, :12] = xyz.view(np.uint8).reshape(count, 12)
    if times is not None:
        offset = 20 if point_format < 6 else 22
        records[:, offset : offset + 8] = times.astype("<f8")[:, None].view(np.uint8)
    return bytes(header) + records.tobytes()


def write_clouds(folder: Path, scans: list[bytes], suffix: str, digits: int = 1) -> None:
    """Write files 0, 1, 2 ... to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for k, data in enumerate(scans):
        (folder / f"{k:0{digits}d}{suffix}").write_bytes(data)


def write_times(path: Path, count: int, start_ns: int = START_NS) -> np.ndarray:
    """Write exact stamps in nanoseconds, 10 Hz, and return them."""
    stamps_ns = start_ns + np.arange(count) * PERIOD_NS
    path.write_text("\n".join(str(stamp_ns) for stamp_ns in stamps_ns))
    return stamps_ns


def write_imu(
    path: Path, header: str, rows: np.ndarray, stamps_ns: np.ndarray, separator: str = ","
) -> None:
    """Write a table of stamps in nanoseconds and numbers under a header, which may be empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        separator.join([str(stamp_ns), *(repr(float(value)) for value in row)])
        for stamp_ns, row in zip(stamps_ns, rows, strict=True)
    ]
    path.write_text("\n".join([*([header] if header else []), *lines, ""]))
