# SPDX-License-Identifier: MIT
"""Lines of numbers: csv or white space, with or without a header, one row at a time.

Every row keeps its line number, so that a complaint can say where. Values stay text until somebody
knows what they are: times become integers, the rest floats. Reading is lazy.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, nan
from pathlib import Path

import numpy as np

from svnicp.arrays import Floats
from svnicp.data.stamps import parse_number, to_ns
from svnicp.errors import DatasetError, InputError

COMMENT = ("#", "%")

LONGEST_WORD = 40
"""Characters of a word that a complaint repeats: a file that is no text has very long ones."""

TAIL_BYTES = 4096
"""Bytes at the end of a file in which its last row is."""


@dataclass(frozen=True)
class Row:
    """One line of numbers."""

    path: Path
    line: int
    """Number of the line in the file, from 1."""
    words: list[str]
    commas: bool = False
    """Whether the words were separated by commas rather than white space."""
    finished: bool = True
    """Whether the line has its end; the last one of a killed writer may lack it."""

    def error(self, what: str) -> DatasetError:
        """Error that says where: file and line."""
        return DatasetError(f"{self.path}, line {self.line}: {what}")

    def number(self, column: int) -> float:
        """Finite value of one column, or an error that names it."""
        try:
            value = float(self.words[column])
        except ValueError:
            value = nan
        if not isfinite(value):
            self._check_text(column)
            raise self.error(
                f"column {column + 1} has {_shown(self.words[column])}, which is not a finite "
                "number; correct or remove the line."
            )
        return value

    def numbers(self, columns: list[int]) -> Floats:
        """(n,) finite values of some columns."""
        return np.array([self.number(column) for column in columns])

    def time(self, column: int) -> Decimal:
        """Exact value of a column of times, in the unit of the file."""
        self.expect(column + 1)
        value = parse_number(self.words[column])
        if value is None:
            self._check_text(column)
            word = _shown(self.words[column])
            raise self.error(f"the time {word} is not a number; correct or remove the line.")
        return value

    def stamp_ns(self, column: int, unit_ns: int) -> int:
        """Time in a column, in a unit of so many nanoseconds [ns]."""
        value = self.time(column)
        try:
            return to_ns(value, unit_ns)
        except InputError as error:
            raise self.error(str(error)) from None

    def _check_text(self, column: int) -> None:
        """Refuse a word of bytes, as a recording has them that was named instead of a table."""
        if set(self.words[column]) & {"\0", "\ufffd"}:
            raise self.error("this is not a text file of numbers; check the path.")

    def expect(self, at_least: int) -> None:
        """Refuse a row that is too short, as the last one of a file that was cut off is."""
        if len(self.words) < at_least:
            raise self.error(
                f"{at_least} numbers are expected and {len(self.words)} are there; "
                "the file may be cut off, so correct or remove the line."
            )


@dataclass(frozen=True)
class TextTable:
    """A file of rows, of which only the header has been read."""

    path: Path
    header: list[str]
    """Names of the columns; empty if the file has none."""
    header_line: int
    """Number of the header's line, 0 if there is none or it is a comment."""

    def rows(self) -> Iterator[Row]:
        """Yield the rows after the header, without comments."""
        for row in read_lines(self.path):
            if row.line != self.header_line and not row.words[0].startswith(COMMENT):
                yield row


def _shown(word: str) -> str:
    """Return a word for a complaint: without what cannot be shown, not all of it if it is long."""
    seen = "".join(one if one.isprintable() and one != "\ufffd" else "?" for one in word)
    return repr(seen if len(seen) <= LONGEST_WORD else f"{seen[:LONGEST_WORD]}...")


def open_table(path: str | os.PathLike[str]) -> TextTable:
    """Look at the first lines of a table of numbers.

    Raises
    ------
    DatasetError
        If there is no such file, or it has no rows.
    """
    path = Path(path)
    header: list[str] = []
    header_line = 0
    for row in read_lines(path):
        comment = row.words[0].startswith(COMMENT)
        if header_line or (not comment and parse_number(row.words[0]) is not None):
            return TextTable(path, header, header_line)
        words = [row.words[0].lstrip("#% "), *row.words[1:]]
        header = words if words[0] else words[1:]
        header_line = 0 if comment else row.line
    raise DatasetError(f"{path}: there are no rows of numbers; copy or record the file again.")


def last_row(table: TextTable) -> Row:
    """Last complete row of a table, found without reading all of it; the first if it is broken."""
    first = next(table.rows())
    with table.path.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(stream.tell() - TAIL_BYTES, 0))
        lines = stream.read().decode("utf-8", errors="replace").splitlines()
    for line in reversed(lines):
        words = [word.strip() for word in (line.split(",") if first.commas else line.split())]
        if len(words) >= len(first.words) and parse_number(words[0]) is not None:
            return Row(table.path, first.line, words, first.commas)
    return first


def read_lines(path: Path) -> Iterator[Row]:
    """Yield every line that is not blank, split at commas, or else at white space.

    Raises
    ------
    DatasetError
        If the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as stream:
            for number, line in enumerate(stream, start=1):
                text = line.strip()
                commas = "," in text
                words = text.rstrip(",").split(",") if commas else text.split()
                if words:
                    words = [word.strip() for word in words]
                    yield Row(path, number, words, commas, line.endswith("\n"))
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetError(f"{path}: the file cannot be read ({reason}); check it.") from None
