# SPDX-License-Identifier: MIT
"""Where ``--json`` puts what a command found: nowhere, in a file, or on standard output.

With ``--json -`` standard output has the document and nothing else, so words for people go to
standard error.
"""

import sys
from pathlib import Path
from typing import TextIO

from svnicp.cli.output_files import check_writable, write_text


class JsonTarget:
    """What was given to ``--json``; a file that cannot be written is refused at once.

    Parameters
    ----------
    name
        A file, ``-`` for standard output, or None where nothing was asked for.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name
        if name is not None and name != "-":
            check_writable(Path(name))

    @property
    def wanted(self) -> bool:
        """Whether a document was asked for."""
        return self.name is not None

    @property
    def words_to(self) -> TextIO:
        """The stream for what people read."""
        return sys.stderr if self.name == "-" else sys.stdout

    def write(self, text: str) -> None:
        """Put the document where it was asked for, if at all."""
        if self.name == "-":
            sys.stdout.write(text)
        elif self.name is not None:
            write_text(Path(self.name), text)
