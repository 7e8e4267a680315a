# SPDX-License-Identifier: MIT
"""``particles.npz``: the poses of all particles of all scans of a run.

An npz file cannot grow, so particles go to ``particles.part``, whole after every scan, and become
the npz file at the end. ``read_particles`` reads whichever there is: a killed run loses nothing.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Integers, Transform
from svnicp.errors import DatasetError
from svnicp.recording.appear_whole import appear_whole
from svnicp.recording.growing_file import GrowingFile

NPZ_NAME = "particles.npz"
PART_NAME = "particles.part"

_HEAD = struct.Struct("<qq")  # stamp [ns], number of particles
_POSE_BYTES = 16 * 8


class Particles(NamedTuple):
    """Particles of a run: those of scan i are ``T_world_body[first[i]:first[i + 1]]``."""

    stamps_ns: Integers
    """(n,) stamps of the scans that have particles [ns]."""
    first: Integers
    """(n + 1,) where the particles of each scan begin."""
    T_world_body: Transform
    """(m, 4, 4) poses of all particles."""


class ParticleFile:
    """The particles of a run that is going on."""

    def __init__(self, file: GrowingFile) -> None:
        self._file = file

    @classmethod
    def create(cls, folder: Path) -> "ParticleFile":
        """Start with none."""
        return cls(GrowingFile.create(folder / PART_NAME))

    @classmethod
    def reopen(cls, folder: Path, last_stamp_ns: int) -> "ParticleFile":
        """Go on behind the last scan that is not later than a stamp."""
        part = folder / PART_NAME
        if not part.exists():  # the run had ended: take its particles apart again
            ended = read_particles(folder)
            with appear_whole(part) as place:
                place.write_bytes(b"".join(_records(ended)))
        (folder / NPZ_NAME).unlink(missing_ok=True)
        content = part.read_bytes()
        ends = [scan.end for scan in _scans(content) if scan.stamp_ns <= last_stamp_ns]
        return cls(GrowingFile.reopen(part, ends[-1] if ends else 0))

    def write(self, stamp_ns: int, T_world_body: Transform) -> None:
        """Add the particles (K, 4, 4) of one scan."""
        self._file.append(_record(stamp_ns, T_world_body))

    def close(self) -> None:
        """Turn the growing file into the npz file."""
        self._file.close()
        folder = self._file.path.parent
        with appear_whole(folder / NPZ_NAME) as place:
            np.savez(place, **_read_part(self._file.path)._asdict())
        self._file.path.unlink()


def has_particles(folder: Path) -> bool:
    """Whether a run kept its particles."""
    return (folder / NPZ_NAME).exists() or (folder / PART_NAME).exists()


def read_particles(folder: Path) -> Particles:
    """Read the particles of a run, finished or not.

    Raises
    ------
    DatasetError
        If the run kept none, or the file is broken.
    """
    if (folder / PART_NAME).exists():
        return _read_part(folder / PART_NAME)
    try:
        path = folder / NPZ_NAME
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return _checked(Particles(*(arrays[name] for name in Particles._fields)))
    except FileNotFoundError:
        raise DatasetError(
            f"{folder}: this run kept no particles; run it again and ask for them."
        ) from None
    except Exception as error:  # zip, zlib, tokens of a header: each fails in its own way
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DatasetError(f"{folder / NPZ_NAME}: it cannot be read ({reason}).") from None


def _checked(particles: Particles) -> Particles:
    """Particles whose arrays fit each other."""
    stamps_ns, first, poses = particles
    kinds = stamps_ns.dtype.kind + first.dtype.kind + poses.dtype.kind
    shapes = first.shape == (len(stamps_ns) + 1,) and poses.shape[1:] == (4, 4)
    if kinds != "iif" or stamps_ns.ndim != 1 or not shapes:
        raise ValueError("its arrays are not those of particles")
    if first[0] != 0 or first[-1] != len(poses) or np.any(np.diff(first) < 0):
        raise ValueError("it does not say which particles belong to which scan")
    return particles


class _ScanPlace(NamedTuple):
    """Where the particles of a scan are in the growing file."""

    stamp_ns: int
    start: int
    end: int


def _record(stamp_ns: int, T_world_body: Transform) -> bytes:
    """Return what the growing file has of one scan."""
    poses = np.ascontiguousarray(T_world_body, dtype="<f8")
    return _HEAD.pack(stamp_ns, len(poses)) + poses.tobytes()


def _records(particles: Particles) -> Iterator[bytes]:
    """Yield what the growing file had of each scan."""
    for index, stamp_ns in enumerate(particles.stamps_ns):
        scan = slice(particles.first[index], particles.first[index + 1])
        yield _record(int(stamp_ns), particles.T_world_body[scan])


def _scans(content: bytes) -> Iterator[_ScanPlace]:
    """Yield the scans of a growing file, but not one that is cut off."""
    place = 0
    while place + _HEAD.size <= len(content):
        stamp_ns, count = _HEAD.unpack_from(content, place)
        start = place + _HEAD.size
        if count < 0:
            return
        place = start + count * _POSE_BYTES
        if place <= len(content):
            yield _ScanPlace(stamp_ns, start, place)


def _read_part(path: Path) -> Particles:
    """Read the growing file."""
    content = path.read_bytes()
    scans = list(_scans(content))
    poses = b"".join(content[scan.start : scan.end] for scan in scans)
    counts = [0, *((scan.end - scan.start) // _POSE_BYTES for scan in scans)]
    return Particles(
        np.array([scan.stamp_ns for scan in scans], dtype=np.int64),
        np.cumsum(counts, dtype=np.int64),
        np.frombuffer(poses, "<f8").reshape(-1, 4, 4),
    )
