# SPDX-License-Identifier: MIT
"""A voxel map without its spare memory: what is in use, as arrays for a file, and back.

Voxels keep their order and stored points their slots, because searches and plane fits depend on
both. The hash table does not matter: it is made anew by inserting the voxels in their order.
"""

from typing import Any

import numpy as np

from svnicp.config import MapConfig
from svnicp.kernels.voxel_arrays import EMPTY
from svnicp.local_map import VoxelMap

PER_VOXEL = ("keys", "counts", "cell_slots", "touched", "visits", "leaders")
PER_POINT = ("offsets", "moments", "planes")
"""Arrays with a row per voxel, and with a row per stored point."""


def pack_map(local_map: VoxelMap, name: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Put a map's content into ``arrays``; returns what ``unpack_map`` needs beside them."""
    voxels, num_voxels = local_map.arrays, local_map.num_voxels
    records = local_map.records(local_map.stored_indices())
    for field in PER_VOXEL:
        arrays[f"{name}.{field}"] = getattr(voxels, field)[:num_voxels]
    for field in PER_POINT:
        arrays[f"{name}.{field}"] = getattr(voxels, field)[records]
    return {"name": name, "epoch": local_map.epoch, "num_voxels": num_voxels}


def unpack_map(place: dict[str, Any], config: MapConfig, arrays: dict[str, Any]) -> VoxelMap:
    """The map that ``pack_map`` was given; a ValueError if it cannot have been one."""
    local_map, name = VoxelMap(config), place["name"]
    keys, num_voxels = arrays[f"{name}.keys"], place["num_voxels"]
    local_map.insert((keys + 0.5) * config.voxel_size_m)
    voxels = local_map.arrays
    if local_map.num_voxels != num_voxels or not np.array_equal(voxels.keys[:num_voxels], keys):
        raise ValueError("keys")
    for field in PER_VOXEL:
        rows = getattr(voxels, field)[:num_voxels]
        rows[...] = _fitting(arrays[f"{name}.{field}"], rows.shape, rows.dtype)
    _check_slots(local_map)
    local_map.reserve()
    records = local_map.records(local_map.stored_indices())
    for field in PER_POINT:
        rows = getattr(local_map.arrays, field)
        shape = (len(records), *rows.shape[1:])
        rows[records] = _fitting(arrays[f"{name}.{field}"], shape, rows.dtype)
    local_map.epoch = place["epoch"]
    return local_map


def _fitting(array: Any, shape: tuple[int, ...], dtype: Any) -> Any:  # noqa: ANN401
    """An array of a file, if it has the shape and type that it must have."""
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(f"{array.dtype} of shape {array.shape}")
    return array


def _check_slots(local_map: VoxelMap) -> None:
    """Refuse numbers of slots that point out of a voxel: compiled code trusts them."""
    voxels, room = local_map.arrays, local_map.config.max_points_per_voxel
    lowest = {"counts": 0, "cell_slots": EMPTY, "leaders": EMPTY}
    highest = {"counts": room, "cell_slots": room - 1, "leaders": room - 1}
    for field, low in lowest.items():
        values = getattr(voxels, field)[: local_map.num_voxels]
        if values.size and (values.min() < low or values.max() > highest[field]):
            raise ValueError(field)
