# SPDX-License-Identifier: MIT
"""Files that grow with a run and are whole after every step of it.

Each append is one write to the operating system, so a killed program leaves what it had appended.
If a write fails, the file goes back to what it was, and one sentence says why.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from svnicp.errors import InputError


class GrowingFile:
    """A file that is only appended to, behind which a tail may stand that moves along.

    The tail is what a format wants at its end (an index, a closing mark): each append writes over
    the old one.
    """

    def __init__(self, path: Path, stream: BinaryIO, end: int) -> None:
        self.path = path
        self.end = end
        """Where the next append begins [byte]; the tail is behind it."""
        self._stream = stream
        self._tail = b""

    @classmethod
    def create(cls, path: Path, content: bytes = b"", tail: bytes = b"") -> "GrowingFile":
        """Start a new file; one that is there already is an error."""
        try:
            stream = path.open("xb", buffering=0)
        except OSError as error:
            raise _cannot_write(path, error) from None
        file = cls(path, stream, end=0)
        file.append(content, tail)
        return file

    @classmethod
    def reopen(cls, path: Path, end: int, tail: bytes = b"") -> "GrowingFile":
        """Go on with a file after cutting it off at a byte."""
        try:
            stream = path.open("r+b", buffering=0)
            stream.truncate(end)
        except OSError as error:
            raise _cannot_write(path, error) from None
        file = cls(path, stream, end)
        file.append(b"", tail)
        return file

    def append(self, content: bytes, tail: bytes = b"") -> None:
        """Add content behind what is there, and a tail behind that.

        Raises
        ------
        InputError
            If the disk does not take it; the file is then as it was before.
        """
        try:
            self._write(content + tail)
        except OSError as error:
            self._stream.truncate(self.end)
            with contextlib.suppress(OSError):  # the first error is the one to tell
                self._write(self._tail)
            raise _cannot_write(self.path, error) from None
        self.end += len(content)
        self._tail = tail

    def close(self) -> None:
        """Make sure that the content is on the disk, and close."""
        if not self._stream.closed:
            os.fsync(self._stream.fileno())
            self._stream.close()

    def _write(self, content: bytes) -> None:
        """Write all of it at the end of the content."""
        self._stream.seek(self.end)
        rest = memoryview(content)
        while rest:
            rest = rest[self._stream.write(rest) :]


def end_of_lines(path: Path, keep: Callable[[bytes], bool]) -> int:
    """Return the byte at which the first line begins that is not kept or not finished."""
    end = 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n") or not keep(line):
                break
            end += len(line)
    return end


def _cannot_write(path: Path, error: OSError) -> InputError:
    reason = error.strerror or type(error).__name__
    return InputError(
        f"{path}: the file cannot be written ({reason}); what was written before is kept."
    )
