# SPDX-License-Identifier: MIT
"""The verb ``write_ply``: points to a file that every viewer opens.

The file appears whole or not at all: it is written under another name beside its place, and then
renamed, so that a reader never sees half of it and an interrupted run destroys nothing.
"""

import os
import uuid
from pathlib import Path

import numpy as np
import numpy.typing as npt

from svnicp.errors import InputError

HEADER = """\
ply
format binary_little_endian 1.0
element vertex {count}
property {kind} x
property {kind} y
property {kind} z
end_header
"""


def write_ply(path: str | os.PathLike[str], points: npt.ArrayLike) -> None:
    """Write points as a binary PLY file, replacing what was there.

    Parameters
    ----------
    path
        The file to write; its folder must exist.
    points
        (n, 3) positions. A float32 array is stored as float32, anything else as float64.

    Raises
    ------
    InputError
        If the points have another shape or type, or the file cannot be written.
    """
    path = Path(path)
    array = np.asarray(points)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "fiu":
        raise InputError(
            f"points to write to {path} must be an (n, 3) array of numbers, "
            f"not {array.dtype} of shape {array.shape}."
        )
    kind, dtype = ("float", "<f4") if array.dtype == np.float32 else ("double", "<f8")
    header = HEADER.format(count=len(array), kind=kind).encode("ascii")
    _replace(path, header + array.astype(dtype).tobytes())


def _replace(path: Path, content: bytes) -> None:
    """Put content in place of a file in one step."""
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        try:
            with unfinished.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path}: the file cannot be written ({reason}); check its folder."
        ) from None
