# SPDX-License-Identifier: MIT
"""Files and folders that appear whole or not at all.

They are made inside a hidden folder beside their place, whose name ends in ``.unfinished``, and
moved when they are done. An error or Ctrl-C removes the hidden folder; only a killed program
leaves one behind, which says by its name what it is.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svnicp.errors import InputError

_WORKSHOPS: set[Path] = set()
"""Hidden folders that are in use; a handler of signals has no other way to know them."""


@contextmanager
def appear_whole(path: Path) -> Iterator[Path]:
    """Yield where to make a file or folder; it replaces what is at ``path`` when all went well.

    The place that is yielded has the same name as the path, in an empty folder: whatever else is
    put there is thrown away. A link stays a link: what it leads to is replaced.

    Raises
    ------
    InputError
        If the disk does not take it, or a pipe or device is there.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path}: this is a pipe or a device; name a file.")
    target = Path(os.path.realpath(path))
    workshop = target.parent / f".{target.name}.{uuid.uuid4().hex[:8]}.unfinished"
    _WORKSHOPS.add(workshop)
    try:
        workshop.mkdir()
        yield workshop / target.name
        if target.is_dir():  # a folder cannot be replaced in one step, so the old one steps aside
            target.rename(workshop / "replaced")
        (workshop / target.name).replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: it cannot be written ({reason}); check its folder.") from None
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
        _WORKSHOPS.discard(workshop)


def remove_unfinished() -> None:
    """Remove everything that is half made, for a program that ends without unwinding."""
    for workshop in tuple(_WORKSHOPS):
        shutil.rmtree(workshop, ignore_errors=True)
