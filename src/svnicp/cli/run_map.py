# SPDX-License-Identifier: MIT
"""The map of a whole run, of which odometry itself keeps only what is near.

The local map is looked at every few scans; points in cells that are new go to ``map.part``, which
only grows, so that a killed run can go on with it. At the end it becomes ``map.ply``.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from svnicp.cloud_files import read_cloud, write_ply
from svnicp.config import MapConfig
from svnicp.local_map import VoxelMap
from svnicp.recording.growing_file import GrowingFile
from svnicp.recording.run_files import MAP, MAP_PART

LOOK_EVERY = 10
"""Scans between two looks at the local map."""

_POINT = np.dtype("<f4")
_POINT_BYTES = 3 * _POINT.itemsize
_CELLS = 1 << 20  # cells on either side of the origin: 21 bits for each axis


class WholeMap:
    """One point per cell of everything that the local map has held."""

    def __init__(self, file: GrowingFile, config: MapConfig) -> None:
        self._file = file
        self._cell_m = config.voxel_size_m / max(config.cells_per_voxel_edge, 1)
        self._keys = np.empty(0, dtype=np.int64)

    @classmethod
    def create(cls, folder: Path, config: MapConfig) -> "WholeMap":
        """Start with nothing."""
        return cls(GrowingFile.create(folder / MAP_PART), config)

    @classmethod
    def resume(cls, folder: Path, config: MapConfig, num_points: int) -> "WholeMap":
        """Go on behind this many points."""
        path = folder / MAP_PART
        if not path.exists():  # the run had ended: take its points back
            points = read_cloud(folder / MAP).astype(_POINT)
            GrowingFile.create(path, points.tobytes()).close()
        whole = cls(GrowingFile.reopen(path, num_points * _POINT_BYTES), config)
        whole._keys = np.unique(whole._keys_of(whole.points()))
        return whole

    @property
    def num_points(self) -> int:
        """Points so far."""
        return self._file.end // _POINT_BYTES

    def look(self, local_map: VoxelMap) -> None:
        """Add what is in the local map now and was not there before."""
        points = local_map.points().astype(_POINT)
        keys, first = np.unique(self._keys_of(points), return_index=True)
        new = ~np.isin(keys, self._keys, assume_unique=True)
        self._file.append(points[first[new]].tobytes())
        self._keys = np.union1d(self._keys, keys[new])

    def points(self) -> npt.NDArray[np.float32]:
        """All points (n, 3) in the world [m]."""
        content = self._file.path.read_bytes()[: self._file.end]
        return np.frombuffer(content, _POINT).reshape(-1, 3)

    def close(self) -> None:
        """Turn the growing file into map.ply, if there is a point."""
        if self.num_points:
            write_ply(self._file.path.with_name(MAP), self.points())
        self._file.close()
        self._file.path.unlink()

    def _keys_of(self, points: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Number of the cell of each point (n,)."""
        cells = np.floor(points.astype(np.float64) / self._cell_m).astype(np.int64) + _CELLS
        x, y, z = np.clip(cells, 0, 2 * _CELLS - 1).T
        return (x << 42) | (y << 21) | z
