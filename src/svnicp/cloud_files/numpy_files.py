# SPDX-License-Identifier: MIT
"""NumPy files, .npy and .npz: the bytes of a file to points.

The size that a header claims is checked against the bytes before anything is allocated, and pickled
objects are never loaded, so that a file from a stranger can do no harm.
"""

import io
import warnings
import zipfile
from math import prod

import numpy as np
from numpy.lib import format as npy_format

from svnicp.arrays import Points
from svnicp.cloud_files.table import quote, stack
from svnicp.errors import InputError

MAX_EXPANSION = 200
"""Coordinates of real clouds compress a few times; more than this is a trap."""


def parse_npy(data: bytes) -> Points:
    """First three columns of the array in a .npy file, (n, 3).

    Raises
    ------
    InputError
        If this is not an (n, 3 or more) array of numbers, or the file is cut off.
    """
    stream = io.BytesIO(data)
    shape, fortran_order, dtype = _npy_header(stream)
    if dtype.kind not in "fiu":
        raise InputError(
            f"the array holds {quote(str(dtype))} rather than numbers; save the points as floats."
        )
    if len(shape) != 2 or shape[1] < 3:
        raise InputError(
            f"the array has shape {quote(str(shape))}; save points as (n, 3), one in each row."
        )
    start, needed = stream.tell(), prod(shape) * dtype.itemsize
    if len(data) - start < needed:
        raise InputError(
            f"an array of shape {quote(str(shape))} needs {needed} bytes and {len(data) - start} "
            "are there; the file was cut off, so copy or save it again."
        )
    values = np.frombuffer(data, dtype, count=prod(shape), offset=start)
    values = values.reshape(shape, order="F" if fortran_order else "C")
    return stack([values[:, axis] for axis in range(3)])


def parse_npz(data: bytes) -> Points:
    """First three columns of the array ``points``, or of the only array, in a .npz file, (n, 3).

    Raises
    ------
    InputError
        If there is no such array, or it is not one of points.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            member = archive.getinfo(_member(archive.namelist()))
            if member.file_size > MAX_EXPANSION * len(data):
                raise InputError(
                    f"{quote(member.filename)} claims {member.file_size} bytes in a file of "
                    f"{len(data)}; save the cloud again."
                )
            array = archive.read(member)
    except InputError:
        raise
    except Exception as error:  # zipfile passes on whatever its decompressors raise
        raise InputError(
            f"this is not a .npz file, or it is damaged ({type(error).__name__}); save it again."
        ) from None
    return parse_npy(array)


def _member(names: list[str]) -> str:
    """Name of the archive's array of points."""
    arrays = [name for name in names if name.endswith(".npy")]
    if "points.npy" in arrays:
        return "points.npy"
    if len(arrays) == 1:
        return arrays[0]
    keys = quote(", ".join(name.removesuffix(".npy") for name in arrays))
    raise InputError(
        f"there are {len(arrays)} arrays ({keys}) and none is called points; "
        "save the points under that key."
    )


def _npy_header(stream: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, memory order and type of the array; leaves the stream where the data start."""
    readers = {
        (1, 0): npy_format.read_array_header_1_0,
        (2, 0): npy_format.read_array_header_2_0,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd literals in a damaged header
            shape, fortran_order, dtype = readers[npy_format.read_magic(stream)](stream)
    except Exception as error:  # the header is a Python literal: parsing it raises anything
        raise InputError(
            f"this is not a .npy array, or its header is damaged ({type(error).__name__}); "
            "save it again."
        ) from None
    if min(shape, default=0) < 0:
        raise InputError(f"the array has shape {quote(str(shape))}; save it again.")
    return shape, fortran_order, dtype
