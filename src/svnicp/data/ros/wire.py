# SPDX-License-Identifier: MIT
"""The bytes of one ROS message, read value by value.

ROS 1 packs its values; ROS 2 (CDR) puts a head of four bytes before them and aligns each one to its
size. One reader walks through both, so that a message type is described once and needs no
definitions from the bag. It knows nothing of topics and files: who calls it adds where.
"""

import struct
from typing import Literal, NamedTuple

import numpy as np

from svnicp.errors import InputError

Encoding = Literal["ros1", "cdr"]

CDR_HEAD_BYTES = 4


class Header(NamedTuple):
    """The header that every sensor message starts with."""

    stamp_ns: int
    """Time of the measurement [ns]."""
    frame_id: str
    """Coordinate frame of the measurement, without a leading slash."""


class MessageReader:
    """Walks through the bytes of one message, from its first value to its last.

    Parameters
    ----------
    data
        The message as the bag holds it.
    encoding
        "ros1", or "cdr" for ROS 2.
    """

    def __init__(self, data: bytes, encoding: Encoding) -> None:
        self._data = memoryview(data)
        self._aligned = encoding == "cdr"
        self._position = CDR_HEAD_BYTES if self._aligned else 0
        self.byte_order: Literal["<", ">"] = "<"
        if self._aligned:
            if len(data) < CDR_HEAD_BYTES or data[0] != 0 or data[1] > 1:
                raise InputError("it does not start like a ROS 2 message (CDR).")
            self.byte_order = "<" if data[1] else ">"

    def number(self, code: str) -> int:
        """Next integer or flag, by its ``struct`` code: "B", "?", "i", "I" or "Q"."""
        size = struct.calcsize(code)
        return struct.unpack_from(self.byte_order + code, self._data, self._take(size, size))[0]

    def numbers(self, code: str, count: int) -> np.ndarray:
        """Next ``count`` numbers of one type, (count,), by its NumPy code: "f8"."""
        return self.rows(np.dtype(self.byte_order + code), count)

    def rows(self, layout: np.dtype, count: int, align: int | None = None) -> np.ndarray:
        """Next ``count`` structures of a given layout, (count,), without copying them.

        Parameters
        ----------
        layout
            Fields of one structure, packed.
        align
            Size of its largest field, to which CDR aligns every structure; its own size otherwise.
        """
        size = layout.itemsize
        align = align or size
        gap = -size % align if self._aligned else 0
        start = self._take(max(count * (size + gap) - gap, 0), align)
        return np.ndarray((count,), layout, self._data, start, (size + gap,))

    def text(self) -> str:
        """Next string."""
        return bytes(self.blob()).rstrip(b"\0").decode("utf-8", errors="replace")

    def blob(self) -> memoryview:
        """Next sequence of bytes, which says its length itself."""
        length = self.number("I")
        start = self._take(length, 1)
        return self._data[start : start + length]

    def stamp_ns(self) -> int:
        """Next time [ns]."""
        seconds = self.number("i" if self._aligned else "I")
        return seconds * 1_000_000_000 + self.number("I")

    def header(self) -> Header:
        """Next header."""
        if not self._aligned:
            self.number("I")  # ROS 1 counts its messages here
        return Header(self.stamp_ns(), self.text().lstrip("/"))

    def _take(self, size: int, align: int) -> int:
        """Offset of the next ``size`` bytes, which are used up by this."""
        if self._aligned:
            self._position += -(self._position - CDR_HEAD_BYTES) % align
        start = self._position
        if start + size > len(self._data):
            raise InputError(
                f"it ends after {len(self._data)} bytes, and {start + size} are needed; "
                "it was cut off."
            )
        self._position += size
        return start
