# SPDX-License-Identifier: MIT
"""A voxel map without its spare memory: what is in use, as arrays for a file, and back.

Voxels keep their order and stored points their slots, because searches and plane fits depend on
both. The hash table does not matter: it is made anew by inserting the voxels in their order.
"""

from typing import Any

import numpy as np

from svnicp.config import MapConfig
from svnicp.local_map import VoxelMap

PER_VOXEL = ("keys", "counts", "cell_slots", "touched", "leaders")
PER_POINT = ("offsets", "moments", "planes")
"""Arrays with a row per voxel, and with a row per slot of a voxel, of which few are in use."""


def pack_map(local_map: VoxelMap, name: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Put a map's content into ``arrays``; returns what ``unpack_map`` needs beside them."""
    voxels, num_voxels = local_map.arrays, local_map.num_voxels
    used = _used_slots(local_map)
    for field in PER_VOXEL:
        arrays[f"{name}.{field}"] = getattr(voxels, field)[:num_voxels]
    for field in PER_POINT:
        arrays[f"{name}.{field}"] = getattr(voxels, field)[:num_voxels][used]
    return {"name": name, "epoch": local_map.epoch, "num_voxels": num_voxels}


def unpack_map(place: dict[str, Any], config: MapConfig, arrays: dict[str, Any]) -> VoxelMap:
    """The map that ``pack_map`` was given."""
    local_map, name = VoxelMap(config), place["name"]
    local_map.insert((arrays[f"{name}.keys"] + 0.5) * config.voxel_size_m)
    voxels, num_voxels = local_map.arrays, place["num_voxels"]
    for field in PER_VOXEL:
        getattr(voxels, field)[:num_voxels] = arrays[f"{name}.{field}"]
    used = _used_slots(local_map)
    for field in PER_POINT:
        getattr(voxels, field)[:num_voxels][used] = arrays[f"{name}.{field}"]
    local_map.epoch = place["epoch"]
    return local_map


def _used_slots(local_map: VoxelMap) -> Any:  # noqa: ANN401
    """Mask (voxels, slots) of the slots that hold a point."""
    counts = local_map.arrays.counts[: local_map.num_voxels]
    return np.arange(local_map.config.max_points_per_voxel)[None, :] < counts[:, None]
