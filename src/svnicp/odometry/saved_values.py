# SPDX-License-Identifier: MIT
"""The parts of an odometry as plain values and arrays, and back again to the last bit.

Attributes are walked through. What is of an unknown kind is an error, so that new state cannot be
forgotten silently.
"""

import dataclasses
from collections import deque
from typing import Any

import numpy as np

from svnicp import config as stages
from svnicp.data.imu_noise import ImuNoise
from svnicp.data.measurements import Scan
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

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""What NumPy's random numbers may come from."""

Arrays = dict[str, Any]


def pack(value: Any, name: str, arrays: Arrays) -> Any:  # noqa: ANN401, PLR0911
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
        return {"map": pack_map(value, name, arrays), "config": pack(value.config, name, arrays)}
    if isinstance(value, list | tuple | deque):
        return _pack_many(value, name, arrays)
    kind = type(value).__name__
    if kind in PARTS:
        state = {key: pack(inner, f"{name}.{key}", arrays) for key, inner in vars(value).items()}
        return {"part": kind, "state": state}
    if kind in RECORDS:
        fields = [field.name for field in dataclasses.fields(value)]
        state = {key: pack(getattr(value, key), f"{name}.{key}", arrays) for key in fields}
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
    items = [pack(value, f"{name}.{index}", arrays) for index, value in enumerate(values)]
    return {**content, "items": items}


def unpack(value: Any, arrays: Arrays) -> Any:  # noqa: ANN401, PLR0911
    """What ``pack`` was given."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return restored(value["array"], arrays)
    if "generator" in value:
        return _generator(value["generator"])
    if "map" in value:
        return unpack_map(value["map"], unpack(value["config"], arrays), arrays)
    if "many" in value:
        return _unpack_many(value, arrays)
    state = {key: unpack(inner, arrays) for key, inner in value["state"].items()}
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
        items = [unpack(item, arrays) for item in value["items"]]
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
