# SPDX-License-Identifier: MIT
"""PCD, the format of the Point Cloud Library: the bytes of a file to points.

All three encodings (ascii, binary, binary_compressed), with fields of any order, type, size and
count. The viewpoint of the header is where the sensor was; the points are left in their own frame.
"""

import re
from math import prod

import numpy as np

from svnicp.arrays import Points
from svnicp.cloud_files import lzf
from svnicp.cloud_files.table import Field, Rows, quote, row_size, truncated
from svnicp.errors import InputError

END_OF_HEADER = re.compile(rb"(?:^|[\r\n])DATA[ \t]+([^\s]+)[ \t]*(?:\r\n|\n|\r|$)")
SIZES = {"I": "1248", "U": "1248", "F": "48"}

Header = dict[str, list[str]]


def parse_pcd(data: bytes) -> Points:
    """Points of a PCD file, (n, 3).

    Raises
    ------
    InputError
        If the header is malformed, has no x, y and z, or promises more than there is.
    """
    return open_pcd(data).points()


def open_pcd(data: bytes) -> Rows:
    """Rows of a PCD file, whatever their fields.

    Raises
    ------
    InputError
        If the header is malformed, or compressed data are cut off.
    """
    header_end = END_OF_HEADER.search(data)
    if header_end is None:
        raise InputError(
            "this is not a PCD file, or its header is cut off (it must have a DATA line); "
            "export it again."
        )
    header = _header(data[: header_end.start()])
    fields, num_points = _fields(header), _num_points(header)
    body = data[header_end.end() :]
    encoding = header_end.group(1).decode("ascii", errors="replace")
    match encoding:
        case "ascii":
            return Rows(fields, num_points, body, layout="text")
        case "binary":
            return Rows(fields, num_points, body)
        case "binary_compressed":
            return Rows(fields, num_points, _unpacked(body, num_points, fields), layout="blocks")
    raise InputError(
        f"the encoding {quote(encoding)} is unknown; "
        "export the cloud as ascii, binary or binary_compressed."
    )


def _unpacked(body: bytes, num_points: int, fields: list[Field]) -> bytes:
    """Whole fields of a compressed body: two sizes, then one LZF stream."""
    if num_points == 0:
        return b""
    if len(body) < 8:
        raise truncated(0, num_points)
    packed, unpacked = (int(size) for size in np.frombuffer(body, "<u4", count=2))
    stream = body[8 : 8 + packed]
    if len(stream) < packed:
        raise InputError(
            f"{packed} bytes of compressed data are announced and {len(stream)} are there; "
            "the file was cut off, so copy or export it again."
        )
    if unpacked != num_points * row_size(fields):
        raise InputError(
            f"{num_points} points need {num_points * row_size(fields)} bytes and the compressed "
            f"data hold {unpacked}; the header does not belong to the data, so export it again."
        )
    return lzf.decompress(stream, unpacked)


def _header(text: bytes) -> Header:
    """Words of each header line by its keyword."""
    lines = (line.decode("ascii", errors="replace").split() for line in text.splitlines())
    return {line[0]: line[1:] for line in lines if line and not line[0].startswith("#")}


def _fields(header: Header) -> list[Field]:
    """Fields of a row, from the lines FIELDS, SIZE, TYPE and COUNT."""
    names = _words(header, "FIELDS")
    sizes, types = _words(header, "SIZE"), _words(header, "TYPE")
    counts = _words(header, "COUNT") if "COUNT" in header else ["1"] * len(names)
    if not len(names) == len(sizes) == len(types) == len(counts):
        raise InputError(
            f"the PCD header has {len(names)} FIELDS, {len(sizes)} SIZE, {len(types)} TYPE and "
            f"{len(counts)} COUNT entries, which must be equally many; export the cloud again."
        )
    fields = []
    for name, size, kind, count in zip(names, sizes, types, counts, strict=True):
        if len(size) != 1 or size not in SIZES.get(kind, ""):
            raise InputError(
                f"field {quote(name)} has TYPE {quote(kind)} and SIZE {quote(size)}, which is no "
                "number type of PCD; export the cloud again."
            )
        dtype = np.dtype(f"<{kind.lower()}{size}")
        fields.append(Field(name, dtype, _integer("COUNT", count, at_least=1)))
    return fields


def _num_points(header: Header) -> int:
    """Return the number of points, from POINTS or else from WIDTH and HEIGHT."""
    stated = [
        prod(_integer(key, word) for key in keys for word in _words(header, key, 1))
        for keys in (["POINTS"], ["WIDTH", "HEIGHT"])
        if all(key in header for key in keys)
    ]
    if not stated:
        raise InputError("the PCD header has no POINTS line; export the cloud again.")
    if stated[0] != stated[-1]:
        raise InputError(
            f"the PCD header says {stated[0]} POINTS, but WIDTH times HEIGHT is {stated[-1]}; "
            "export the cloud again."
        )
    return stated[0]


def _words(header: Header, key: str, number: int | None = None) -> list[str]:
    """Entries of a header line, which has to be there."""
    if key not in header:
        raise InputError(f"the PCD header has no {key} line; export the cloud again.")
    if number is not None and len(header[key]) != number:
        raise InputError(
            f"the PCD header line {key} must have {number} entry, not {len(header[key])}; "
            "export the cloud again."
        )
    return header[key]


def _integer(key: str, word: str, at_least: int = 0) -> int:
    """Value of one entry that counts something."""
    if word.isascii() and word.isdecimal() and len(word) < 19 and int(word) >= at_least:
        return int(word)
    raise InputError(
        f"the PCD header line {key} has {quote(word)}, which is not a count; "
        "export the cloud again."
    )
