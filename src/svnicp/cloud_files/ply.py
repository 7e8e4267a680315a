# SPDX-License-Identifier: MIT
"""PLY: the bytes of a file to points.

Text and both binary byte orders; the vertex element may carry any scalar properties besides x, y
and z, and may stand anywhere among other elements. Lists make rows of unknown length: they are
skipped in text, and refused in a binary file where they come before the points.
"""

import re
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Points
from svnicp.cloud_files.table import Field, Rows, quote, row_size
from svnicp.errors import InputError

BYTE_ORDERS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}
TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"float": "f4", "double": "f8", "float32": "f4", "float64": "f8"},
    **{"int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4"},
}
END_OF_HEADER = re.compile(rb"[\r\n]end_header[ \t]*(?:\r\n|\n|\r)")


class Element(NamedTuple):
    """One element of the header: so many rows of these fields."""

    name: str
    num_rows: int
    fields: list[Field]
    lists: list[str]
    """Names of the list properties, which have no fixed size."""


def parse_ply(data: bytes) -> Points:
    """Vertices of a PLY file, (n, 3).

    Raises
    ------
    InputError
        If the header is malformed, has no usable vertices, or promises more than there is.
    """
    return open_ply(data).points()


def open_ply(data: bytes) -> Rows:
    """Rows of the vertices of a PLY file, whatever their fields.

    Raises
    ------
    InputError
        If the header is malformed, or has no usable vertices.
    """
    header_end = END_OF_HEADER.search(data)
    if not re.match(rb"ply[ \t]*[\r\n]", data) or header_end is None:
        raise InputError(
            "this is not a PLY file, or its header is cut off (it must start with ply and have an "
            "end_header line); export it again."
        )
    encoding, elements = _header(data[: header_end.start()])
    names = [element.name for element in elements]
    if "vertex" not in names:
        raise InputError("the PLY header has no vertex element; export the cloud as vertices.")
    position = names.index("vertex")
    vertex, before = elements[position], elements[:position]
    if vertex.lists:
        raise InputError(
            f"the vertices have a list property ({quote(vertex.lists[0])}); export without it."
        )
    body = data[header_end.end() :]
    if encoding == "ascii":
        skip = sum(element.num_rows for element in before)
        return Rows(vertex.fields, vertex.num_rows, body, skip, "text")
    return Rows(vertex.fields, vertex.num_rows, body, _bytes_before(before))


def _bytes_before(elements: list[Element]) -> int:
    """Size of the binary elements in front of the vertices."""
    for element in elements:
        if element.lists:
            raise InputError(
                f"element {quote(element.name)} has a list property and comes before the "
                "vertices of a binary file; export it with the vertices first."
            )
    return sum(element.num_rows * row_size(element.fields) for element in elements)


def _header(header: bytes) -> tuple[str, list[Element]]:
    """Return the encoding and the elements that the header declares."""
    encoding = ""
    elements: list[Element] = []
    for line in header.splitlines()[1:]:
        words = line.decode("ascii", errors="replace").split()
        match words:
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", str(name), _] if name in BYTE_ORDERS:
                encoding = name
            case ["element", name, count] if count.isdecimal() and len(count) < 19:
                elements.append(Element(name, int(count), [], []))
            case ["property", "list", _, _, name] if elements:
                elements[-1].lists.append(name)
            case ["property", kind, name] if elements and kind in TYPES and encoding:
                dtype = np.dtype(BYTE_ORDERS[encoding] + TYPES[kind])
                elements[-1].fields.append(Field(name, dtype))
            case _:
                raise InputError(
                    f"the PLY header has a line that makes no sense ({quote(' '.join(words))}); "
                    "export the cloud again."
                )
    if not encoding:
        raise InputError(
            "the PLY header does not say its format (ascii, binary_little_endian or "
            "binary_big_endian); export the cloud again."
        )
    return encoding, elements
