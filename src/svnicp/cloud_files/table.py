# SPDX-License-Identifier: MIT
"""Tables of points: x, y and z picked out of rows with other fields, as text or as binary.

PLY and PCD describe their rows in a header and differ in little else. The number of rows that a
header claims is checked against the bytes that are there before anything is allocated.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Points
from svnicp.errors import InputError


class Field(NamedTuple):
    """One named field of a row."""

    name: str
    dtype: np.dtype
    """Type of one value, with its byte order."""
    num_values: int = 1
    """How many of them a row has."""

    @property
    def size(self) -> int:
        """Bytes in a row."""
        return self.dtype.itemsize * self.num_values


def row_size(fields: Sequence[Field]) -> int:
    """Bytes of one binary row."""
    return sum(field.size for field in fields)


def xyz_fields(fields: Sequence[Field]) -> list[int]:
    """Positions of x, y and z among the fields."""
    names = [field.name for field in fields]
    missing = [axis for axis in "xyz" if axis not in names]
    if missing:
        raise InputError(
            f"the header has no field {missing[0]} (it has: {quote(' '.join(names))}); "
            "export the cloud with x, y and z."
        )
    positions = [names.index(axis) for axis in "xyz"]
    if any(fields[position].num_values != 1 for position in positions):
        raise InputError("x, y and z must be one value each; export the cloud with such fields.")
    return positions


def binary_rows(body: bytes, start: int, num_rows: int, fields: Sequence[Field]) -> Points:
    """Points from rows stored one after the other, from byte ``start`` on."""
    positions = xyz_fields(fields)
    size = row_size(fields)
    available = max(len(body) - start, 0) // size
    if available < num_rows:
        raise truncated(available, num_rows)
    if num_rows == 0:
        return np.empty((0, 3))
    layout = np.dtype(
        {
            "names": list("xyz"),
            "formats": [fields[position].dtype for position in positions],
            "offsets": [row_size(fields[:position]) for position in positions],
            "itemsize": size,
        }
    )
    rows = np.frombuffer(body, layout, count=num_rows, offset=start)
    return stack([rows[axis] for axis in "xyz"])


def binary_blocks(body: bytes, num_rows: int, fields: Sequence[Field]) -> Points:
    """Points from fields stored one after the other, each for all rows."""
    positions = xyz_fields(fields)
    available = len(body) // row_size(fields)
    if available < num_rows:
        raise truncated(available, num_rows)
    return stack(
        [
            np.frombuffer(
                body,
                fields[position].dtype,
                count=num_rows,
                offset=row_size(fields[:position]) * num_rows,
            )
            for position in positions
        ]
    )


def text_rows(body: bytes, skip: int, num_rows: int, fields: Sequence[Field]) -> Points:
    """Points from lines of numbers; ``skip`` lines belong to something else."""
    positions = xyz_fields(fields)
    columns = [sum(field.num_values for field in fields[:position]) for position in positions]
    lines = (line.decode("ascii", errors="replace").strip() for line in body.splitlines())
    rows = [line for line in lines if line][skip : skip + num_rows]
    if len(rows) < num_rows:
        raise truncated(len(rows), num_rows)
    if num_rows == 0:
        return np.empty((0, 3))
    try:
        return np.loadtxt(rows, usecols=columns, comments=None, ndmin=2)
    except ValueError as error:
        raise InputError(
            f"a line of points is not numbers ({quote(str(error))}); export the cloud again."
        ) from None


def stack(columns: Sequence[np.ndarray]) -> Points:
    """(n, 3) float64 points from their three coordinates of any type."""
    with np.errstate(all="ignore"):  # what overflows or is no number is dropped by the reader
        return np.stack([column.astype(np.float64) for column in columns], axis=1)


def truncated(available: int, claimed: int) -> InputError:
    """Error for a file with fewer points than its header says."""
    return InputError(
        f"the header promises {claimed} points and the file holds {available}; "
        "it was cut off, so copy or export it again."
    )


def quote(text: str) -> str:
    """Text from a file, short and on one line, to be shown in a sentence."""
    shown = " ".join(text.split())
    shown = "".join(letter if letter.isprintable() else "?" for letter in shown)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
