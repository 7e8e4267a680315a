# SPDX-License-Identifier: MIT
"""Files and folders that appear whole or not at all.

They are made inside a hidden folder beside their place, whose name ends in ``.unfinished``, and
moved when they are done. An error or Ctrl-C removes the hidden folder; only a killed program
leaves one behind, which says by its name what it is.
"""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svnicp.errors import InputError


@contextmanager
def appear_whole(path: Path) -> Iterator[Path]:
    """Yield where to make a file or folder; it replaces what is at ``path`` when all went well.

    The place that is yielded has the same name as the path, in an empty folder: whatever else is
    put there is thrown away.

    Raises
    ------
    InputError
        If the disk does not take it.
    """
    workshop = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.unfinished")
    try:
        workshop.mkdir()
        yield workshop / path.name
        if path.is_dir():  # a folder cannot be replaced in one step, so the old one steps aside
            path.rename(workshop / "replaced")
        (workshop / path.name).replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: it cannot be written ({reason}); check its folder.") from None
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
