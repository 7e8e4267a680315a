# SPDX-License-Identifier: MIT
"""Tables of points: fields picked out of rows, as text or as binary.

PLY and PCD describe their rows in a header and differ in little else. The number of rows that a
header claims is checked against the bytes that are there before anything is allocated.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

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


class Rows(NamedTuple):
    """Rows of fields in the body of a file, of which nothing has been read yet."""

    fields: Sequence[Field]
    num_rows: int
    """How many the header claims."""
    body: bytes
    start: int = 0
    """What belongs to something else: bytes before binary rows, lines before text."""
    layout: Literal["text", "rows", "blocks"] = "rows"
    """Lines of numbers, binary rows, or binary fields one after the other, each for all rows."""

    @property
    def names(self) -> list[str]:
        """Names of the fields."""
        return [field.name for field in self.fields]

    def points(self) -> Points:
        """(n, 3) float64 positions, including those that are not finite."""
        return stack(self.columns("xyz"))

    def columns(self, names: Sequence[str]) -> list[np.ndarray]:
        """(n,) values of each of some fields, in the type of the file, or float64 from text.

        Raises
        ------
        InputError
            If there is no such field, or fewer rows than the header claims.
        """
        places = [self._place(name) for name in names]
        if any(self.fields[place].num_values != 1 for place in places):
            raise InputError(
                f"{quote(', '.join(names))} must be one value each; "
                "export the cloud with such fields."
            )
        match self.layout:
            case "text":
                return self._text_columns(places)
            case "rows":
                return self._row_columns(places)
        return self._block_columns(places)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InputError(
                f"the header has no field {name} (it has: {quote(' '.join(self.names))}); "
                "export the cloud with x, y and z."
            )
        return self.names.index(name)

    def _row_columns(self, places: list[int]) -> list[np.ndarray]:
        size = row_size(self.fields)
        self._expect(max(len(self.body) - self.start, 0) // size)
        layout = np.dtype(
            {
                "names": [str(place) for place in places],
                "formats": [self.fields[place].dtype for place in places],
                "offsets": [row_size(self.fields[:place]) for place in places],
                "itemsize": size,
            }
        )
        if self.num_rows == 0:
            return [np.empty(0, self.fields[place].dtype) for place in places]
        rows = np.frombuffer(self.body, layout, count=self.num_rows, offset=self.start)
        return [rows[str(place)] for place in places]

    def _block_columns(self, places: list[int]) -> list[np.ndarray]:
        self._expect(len(self.body) // row_size(self.fields))
        offsets = [row_size(self.fields[:place]) * self.num_rows for place in places]
        return [
            np.frombuffer(self.body, self.fields[place].dtype, count=self.num_rows, offset=offset)
            for place, offset in zip(places, offsets, strict=True)
        ]

    def _text_columns(self, places: list[int]) -> list[np.ndarray]:
        columns = [sum(field.num_values for field in self.fields[:place]) for place in places]
        lines = (line.decode("ascii", errors="replace").strip() for line in self.body.splitlines())
        rows = [line for line in lines if line][self.start : self.start + self.num_rows]
        self._expect(len(rows))
        if self.num_rows == 0:
            return [np.empty(0) for _ in places]
        try:
            return list(np.loadtxt(rows, usecols=columns, comments=None, ndmin=2).T)
        except ValueError as error:
            raise InputError(
                f"a line of points is not numbers ({quote(str(error))}); export the cloud again."
            ) from None

    def _expect(self, available: int) -> None:
        if available < self.num_rows:
            raise truncated(available, self.num_rows)


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
