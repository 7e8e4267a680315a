# SPDX-License-Identifier: MIT
"""The map's arrays, empty: for so many voxels, and a pool for so many stored points."""

from typing import Any

import numpy as np
import numpy.typing as npt

from svnicp.config import MapConfig
from svnicp.kernels.bent_surface import NUM_FIELDS
from svnicp.kernels.voxel_arrays import EMPTY, STRETCH, VoxelArrays

POOL = ("offsets", "moments", "planes", "links", "spare")
"""The arrays that hold stored points, or say where there is room for them."""


def allocate(capacity: int, records: int, config: MapConfig) -> VoxelArrays:
    """Empty arrays for this many voxels and records; the hash table stays at most half full."""
    cells, blocks = config.cells_per_voxel_edge, config.blocks_per_voxel_edge
    table_size = 1 << (2 * capacity - 1).bit_length()
    return VoxelArrays(
        table=np.full(table_size, EMPTY, dtype=np.int32),
        keys=np.zeros((capacity, 3), dtype=np.int32),
        counts=np.zeros(capacity, dtype=np.int32),
        cell_slots=np.full((capacity, cells**3), EMPTY, dtype=np.int8),
        touched=np.full(capacity, -1, dtype=np.int32),
        visits=np.zeros(capacity, dtype=np.int32),
        leaders=np.full((capacity, blocks**3), EMPTY, dtype=np.int8),
        starts=np.zeros(capacity, dtype=np.int32),
        cap=config.max_points_per_voxel,
        **allocate_pool(records, config),
    )


def allocate_pool(records: int, config: MapConfig) -> dict[str, Any]:
    """The arrays of an empty pool for at least this many records.

    Their content is written before it is read: memory that is not used yet is not touched.
    """
    rounded = -(-records // STRETCH) * STRETCH
    spare = np.full(1 + longest_stretch(config) // STRETCH, EMPTY, dtype=np.int32)
    spare[0] = 0
    return {
        "offsets": np.empty((rounded, 3), dtype=np.float32),
        "moments": np.empty((rounded, 10), dtype=np.float32),
        "planes": np.empty((rounded, NUM_FIELDS), dtype=np.float32),
        "links": np.empty(rounded // STRETCH, dtype=np.int32),
        "spare": spare,
    }


def longest_stretch(config: MapConfig) -> int:
    """Records of a voxel that has as many stored points as it may."""
    return -(-config.max_points_per_voxel // STRETCH) * STRETCH


def records_in_use(counts: npt.NDArray[np.int32]) -> int:
    """Records that voxels with so many stored points (n,) need."""
    return int((-(-counts // STRETCH)).sum()) * STRETCH
