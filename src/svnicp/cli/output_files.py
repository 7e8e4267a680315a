# SPDX-License-Identifier: MIT
"""Text files that appear whole or not at all.

A file is written under another name beside its place and renamed, so that an interrupted run leaves
what was there before. Behind a link, the file that it leads to is written; pipes and devices are
written to. Whether it can be written at all is asked before the work starts, not after.
"""

import os
import uuid
from pathlib import Path

from svnicp.errors import InputError


def check_writable(path: Path) -> None:
    """Raise an InputError if a file could not be put here."""
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file in it.")
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise InputError(f"{path}: it is not writable; name another file.")
        return
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}; create it first.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: its folder is not writable; choose another.")


def make_folder(path: Path) -> None:
    """Create a folder and those above it, or raise an InputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path}: the folder cannot be created ({reason}); choose another."
        ) from None


def write_text(path: Path, text: str) -> None:
    """Put text in place of a file in one step; a pipe or device just gets it."""
    try:
        if _is_special(path):
            path.write_text(text, encoding="utf-8")
        else:
            _replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{path}: the file cannot be written ({reason}); check its folder."
        ) from None


def _replace(path: Path, text: str) -> None:
    """Write a file beside its place and move it there."""
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether something is there that is no file of a disk: a pipe, a terminal, a device."""
    return path.exists() and not path.is_file()
