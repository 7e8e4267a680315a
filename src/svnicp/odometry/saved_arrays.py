# SPDX-License-Identifier: MIT
"""Arrays that come back not only with their values but with their layout in memory.

Compiled code is made for a layout: an array that was a slice of a larger one and comes back
contiguous would run through other machine code, and could differ in the last bit.
"""

from typing import Any

import numpy as np
import numpy.typing as npt


def stored(array: npt.NDArray[Any], name: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Put an array into ``arrays`` under a name; returns what ``restored`` needs."""
    arrays[name] = array
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    return {
        "name": name,
        "strides": None if contiguous else list(array.strides),
        "writeable": array.flags.writeable,
    }


MAX_SPREAD = 64
"""Times that an array may take up more memory than its values: it is a part of a larger one."""


def _reach(array: npt.NDArray[Any], strides: list[int]) -> int:
    """Bytes from the first to the last value of an array with these strides, which may be wrong."""
    steps = zip(array.shape, strides, strict=True)
    reach = sum((n - 1) * step for n, step in steps)
    fits = all(step > 0 and step % array.itemsize == 0 for step in strides)
    if not fits or array.size == 0 or reach > MAX_SPREAD * max(array.nbytes, 4096):
        raise ValueError(f"strides {strides}")
    return reach


def restored(place: dict[str, Any], arrays: dict[str, Any]) -> npt.NDArray[Any]:
    """The array that ``stored`` was given."""
    array, strides = arrays[place["name"]], place["strides"]
    if strides is not None:
        reach = _reach(array, strides)
        room = np.zeros(reach // array.itemsize + 1, dtype=array.dtype)
        spread = np.lib.stride_tricks.as_strided(room, array.shape, strides)
        spread[...] = array
        array = spread
    if not place["writeable"]:
        array.setflags(write=False)
    return array
