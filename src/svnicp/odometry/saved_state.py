# SPDX-License-Identifier: MIT
"""Everything that decides the future of an odometry, in one file, and back again to the last bit.

The attributes of ``Odometry`` and of its parts are walked through: arrays become members of an npz
file, all else one JSON text beside them, and nothing is pickled. What is of an unknown kind is an
error, so that new state cannot be forgotten silently. The file appears whole or not at all.
"""

import dataclasses
import json
import os
import uuid
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from svnicp import config as stages
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
from svnicp.errors import DatasetError, InputError
from svnicp.inertial import Eskf, ImuBuffer
from svnicp.inertial.repeats import Repeats
from svnicp.local_map import VoxelMap
from svnicp.odometry.beginning import Beginning
from svnicp.odometry.carrying import Carrying
from svnicp.odometry.constant_velocity import ConstantVelocity
from svnicp.odometry.drift import MapDrift
from svnicp.odometry.first_scans import FirstScans
from svnicp.odometry.hovering import Hovering
from svnicp.odometry.inertial_motion import InertialMotion
from svnicp.odometry.last_believed import LastBelieved
from svnicp.odometry.map_views import MapViews
from svnicp.odometry.measurement import MeasurementNoise
from svnicp.odometry.odometry import Odometry
from svnicp.odometry.persistence import Persistence
from svnicp.odometry.readings import Readings
from svnicp.odometry.saved_arrays import restored, stored
from svnicp.odometry.saved_map import pack_map, unpack_map
from svnicp.odometry.scan_order import ScanOrder
from svnicp.odometry.slipping import Slipping
from svnicp.odometry.surprises import Surprises
from svnicp.odometry.surroundings import Surroundings
from svnicp.odometry.twist_walk import TwistWalk
from svnicp.odometry.wait import Wait

FORMAT = 10
"""Number of the layout; a file of another one is not read."""

PARTS = {
    kind.__name__: kind
    for kind in (
        ConstantVelocity, TwistWalk, InertialMotion, Eskf, ImuBuffer, LastBelieved,
        MeasurementNoise, MapDrift, ScanOrder, MapViews, Persistence, Readings, Repeats, Wait,
        FirstScans, Beginning, Hovering, Slipping, Surprises, Surroundings, Carrying,
    )
}  # fmt: skip
"""Classes whose attributes are walked through."""

RECORDS = {
    kind.__name__: kind
    for kind in (Scan, ImuNoise, *(getattr(stages, name) for name in stages.__all__))
    if dataclasses.is_dataclass(kind)
}
"""Frozen dataclasses that are made anew from their fields."""

JSON_NAME = "state_json"
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""What NumPy's random numbers may come from."""

Arrays = dict[str, Any]


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
        "odometry": {name: _pack(value, name, arrays) for name, value in vars(odometry).items()},
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
        state = {name: _unpack(value, arrays) for name, value in saved.items()}
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


def _pack(value: Any, name: str, arrays: Arrays) -> Any:  # noqa: ANN401, PLR0911
    """Plain values for JSON; arrays go to ``arrays`` under a name of their own."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return {"array": stored(value, name, arrays)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    if isinstance(value, VoxelMap):
        return {"map": pack_map(value, name, arrays), "config": _pack(value.config, name, arrays)}
    if isinstance(value, list | tuple | deque):
        return _pack_many(value, name, arrays)
    kind = type(value).__name__
    if kind in PARTS:
        state = {key: _pack(inner, f"{name}.{key}", arrays) for key, inner in vars(value).items()}
        return {"part": kind, "state": state}
    if kind in RECORDS:
        fields = [field.name for field in dataclasses.fields(value)]
        state = {key: _pack(getattr(value, key), f"{name}.{key}", arrays) for key in fields}
        return {"record": kind, "state": state}
    raise TypeError(f"{name} is a {kind}, which saved_state does not know how to save")


def _pack_many(values: Any, name: str, arrays: Arrays) -> Any:  # noqa: ANN401
    """A list, tuple or deque; equal arrays go into one."""
    rows = {(row.shape, row.dtype) if isinstance(row, np.ndarray) else None for row in values}
    content: dict[str, Any] = {"many": type(values).__name__}
    if isinstance(values, deque):
        content["maxlen"] = values.maxlen
    if len(rows) == 1 and None not in rows:
        arrays[name] = np.array(values)
        return {**content, "rows": name}
    items = [_pack(value, f"{name}.{index}", arrays) for index, value in enumerate(values)]
    return {**content, "items": items}


def _unpack(value: Any, arrays: Arrays) -> Any:  # noqa: ANN401, PLR0911
    """What ``_pack`` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return restored(value["array"], arrays)
    if "generator" in value:
        return _generator(value["generator"])
    if "map" in value:
        return unpack_map(value["map"], _unpack(value["config"], arrays), arrays)
    if "many" in value:
        return _unpack_many(value, arrays)
    state = {key: _unpack(inner, arrays) for key, inner in value["state"].items()}
    if "record" in value:
        return RECORDS[value["record"]](**state)
    part = PARTS[value["part"]].__new__(PARTS[value["part"]])
    vars(part).update(state)
    return part


def _unpack_many(value: dict[str, Any], arrays: Arrays) -> Any:  # noqa: ANN401
    """A list, tuple or deque."""
    if "rows" in value:
        items = [row.copy() for row in arrays[value["rows"]]]
    else:
        items = [_unpack(item, arrays) for item in value["items"]]
    if value["many"] == "deque":
        return deque(items, maxlen=value["maxlen"])
    return tuple(items) if value["many"] == "tuple" else items


def _generator(state: dict[str, Any]) -> np.random.Generator:
    """Random numbers that go on where they stopped."""
    if state["bit_generator"] not in BIT_GENERATORS:
        raise ValueError(state["bit_generator"])
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)


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
