# SPDX-License-Identifier: MIT
"""Everything that decides the future of an odometry, in one file, and back again to the last bit.

Arrays become members of an npz file, all else one JSON text beside them, and nothing is pickled.
The file appears whole or not at all.
"""

import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from svnicp.errors import DatasetError, InputError
from svnicp.odometry.odometry import Odometry
from svnicp.odometry.saved_values import PARTS, Arrays, pack, unpack

FORMAT = 11
"""Number of the layout; a file of another one is not read."""

JSON_NAME = "state_json"


def save_state(
    path: str | os.PathLike[str], odometry: Odometry, progress: Mapping[str, int]
) -> None:
    """Write the state of an odometry, and how far its input has been read.

    Parameters
    ----------
    path
        The file; what was there is replaced in one step.
    odometry
        Between two scans.
    progress
        Counters of the caller, given back by ``load_state``.

    Raises
    ------
    InputError
        If the disk does not take it.
    """
    try:
        _check_counters(progress)
    except (AttributeError, TypeError, ValueError):
        raise InputError(
            f"progress must be counters by name, such as {{'scans': 3}}, not {progress!r}."
        ) from None
    arrays: Arrays = {}
    content = {
        "format": FORMAT,
        "progress": dict(progress),
        "odometry": {name: pack(value, name, arrays) for name, value in vars(odometry).items()},
    }
    arrays[JSON_NAME] = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    _replace(Path(path), arrays)


def load_state(path: str | os.PathLike[str], odometry: Odometry) -> dict[str, int]:
    """Put an odometry into the saved state, and return the counters saved with it.

    The state holds the configuration too, so that the run goes on as it began.

    Raises
    ------
    DatasetError
        If the file cannot be read, or is of another version or another kind of odometry.
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        content = json.loads(arrays[JSON_NAME].tobytes())
        saved, progress = dict(content["odometry"]), dict(content["progress"])
        motion = saved["motion"]["part"]
    except Exception as error:  # zip, zlib, json, tokens of a header: each fails in its own way
        raise _unreadable(path, error) from None
    same_names = set(saved) == set(vars(odometry))
    if content["format"] != FORMAT or not same_names or motion != type(odometry.motion).__name__:
        raise DatasetError(
            f"{path}: the saved state is of another version of svnicp, or of a run with other "
            "sensors; start the run again (svnicp run has --overwrite)."
        )
    try:
        state = {name: unpack(value, arrays) for name, value in saved.items()}
        _check_kinds(state, vars(odometry))
        _check_counters(progress)
    except Exception as error:  # a part is missing or is of another shape or kind
        raise _unreadable(path, error) from None
    vars(odometry).update(state)
    return progress


def _unreadable(path: str | os.PathLike[str], error: Exception) -> DatasetError:
    reason = getattr(error, "strerror", None) or "it is not a saved state, or damaged"
    return DatasetError(
        f"{path}: the saved state cannot be read ({reason}); start the run again (svnicp run has "
        "--overwrite)."
    )


def _check_kinds(state: Mapping[str, Any], fresh: Mapping[str, Any]) -> None:
    """Refuse a state whose parts are of other kinds than those of a fresh odometry."""
    for name, value in fresh.items():
        if value is not None and type(state[name]) is not type(value):
            raise TypeError(name)
        if type(value).__name__ in PARTS and vars(state[name]).keys() != vars(value).keys():
            raise TypeError(name)


def _check_counters(progress: Mapping[str, Any]) -> None:
    """Refuse counters that do not count."""
    for name, value in progress.items():
        if type(value) is not int:
            raise TypeError(name)


def _replace(path: Path, arrays: Arrays) -> None:
    """Put an npz file in place of a file in one step."""
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        try:
            with unfinished.open("xb") as stream:
                np.savez(stream, **arrays)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: the state cannot be saved ({reason}); check the disk.") from None
