# SPDX-License-Identifier: MIT
"""Whether the folder of a run can be gone on with, and whether it is the same run."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from svnicp.errors import InputError
from svnicp.recording import RunDescription, read_description
from svnicp.recording.run_description import FILE_NAME, FINISHED
from svnicp.recording.run_files import STATE, TRAJECTORY

FLAGS = {"map": "--map", "particles": "--keep-particles", "imu_rate": "--imu-rate"}
"""Files that a run was asked for, by their names in run.yaml; parameters have the same names."""


def can_go_on(path: Path, description: RunDescription) -> bool:
    """Whether a run in a folder has a saved state and is the one described.

    Without a run, or with one that ended before its first state was saved, the answer is no: it is
    begun again, and comes to the same poses.

    Raises
    ------
    InputError
        If there is another run, or one whose state is gone: it is not to be overwritten.
    """
    if not (path / FILE_NAME).is_file():
        return False
    there, saved = read_description(path), (path / STATE).is_file()
    trajectory = path / TRAJECTORY
    if not saved and (not trajectory.is_file() or trajectory.stat().st_size == 0):
        return False
    for name, value, other in _differences(_identity(description), _identity(there)):
        raise InputError(
            f"{path}: the run there was made with other options ({name} was "
            f"{_shown(name, other)}, now {_shown(name, value)}); "
            f"go on with: {there.command} --resume"
        )
    if not saved and there.state == FINISHED:
        raise InputError(
            f"{path}: the run has poses but no {STATE} to go on from; choose another folder, "
            "or start it again with --overwrite."
        )
    return saved


def _shown(name: str, value: object) -> str:
    """Return a value that differs for the sentence; of a flag or of many, whether it is there."""
    if isinstance(value, Mapping):
        return "given"
    if name in FLAGS.values():
        return "given" if value else "not given"
    return "none" if value is None else str(value)


def _identity(description: RunDescription) -> dict[str, Any]:
    """What must be the same for a run to go on."""
    more = {FLAGS.get(name, name): value for name, value in description.more.items()}
    return {"seed": description.seed, **more, **description.config}


def _differences(
    these: Mapping[str, Any], others: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs between nested mappings: its name and both values."""
    for key in {**these, **others}:
        this, other = these.get(key), others.get(key)
        if isinstance(this, Mapping) and isinstance(other, Mapping):
            yield from _differences(this, other, f"{prefix}{key}.")
        elif this != other:
            yield f"{prefix}{key}", this, other
