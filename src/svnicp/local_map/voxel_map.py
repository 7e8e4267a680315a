# SPDX-License-Identifier: MIT
"""The local map: stored points with normals around the sensor, in bounded memory.

Points go in at known poses; candidates for matching come out. Memory depends on how many voxels
lie within the map radius, never on how long the drive was. The work is in ``kernels.voxel_insert``,
``kernels.voxel_map`` and ``kernels.planes``; this class owns the arrays and grows them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from svnicp.arrays import Floats, Integers, Points
from svnicp.config import Config, MapConfig
from svnicp.errors import InputError
from svnicp.kernels import planes, shared_planes, voxel_insert, voxel_map
from svnicp.kernels.voxel_arrays import EMPTY, STRETCH, VoxelArrays, rebuild_table, repack
from svnicp.local_map.cloud_check import as_numbers, as_points, check_cloud, points_in_words
from svnicp.local_map.memory import (
    POOL,
    allocate,
    allocate_pool,
    longest_stretch,
    records_in_use,
)


class Neighbours(NamedTuple):
    """Stored points near each query."""

    indices: Integers
    """(Q, M) index of a stored point, EMPTY (-1) where there is none."""
    squared_distances: Floats
    """(Q, M) ascending, infinite where there is none [m²]."""


class VoxelMap:
    """Voxel hash map of points with plane fits.

    ``config`` is a ``MapConfig``, or a ``Config`` whose ``map`` is taken; the default if left out.
    """

    def __init__(self, config: MapConfig | Config | None = None) -> None:
        self.config = _map_config(config)
        self.num_voxels = 0
        self.epoch = 0
        self._voxels = allocate(1024, 8192, self.config)

    def __repr__(self) -> str:
        return (
            f"<VoxelMap: {points_in_words(len(self))} in {self.num_voxels} voxels of "
            f"{self.config.voxel_size_m:g} m, {self.nbytes / 1e6:.1f} MB>"
        )

    def __len__(self) -> int:
        """Return the number of stored points."""
        return int(self._voxels.counts[: self.num_voxels].sum())

    @property
    def nbytes(self) -> int:
        """Memory held by the map's arrays [bytes]."""
        return sum(array.nbytes for array in self._voxels if isinstance(array, np.ndarray))

    def insert(self, points: npt.ArrayLike) -> float:
        """Add (n, 3) points in the map's frame; later arrivals in a cell only add evidence.

        Returns the share of new voxels among those that the points reached: 1 in an empty map.

        Raises
        ------
        InputError
            If they are not (n, 3) finite coordinates within the supported range; nothing is stored.

        """
        points = check_cloud("points", points, 0)
        size, cells = self.config.voxel_size_m, self.config.cells_per_voxel_edge
        left, reached = voxel_insert.add_to_known(self._voxels, points, size, cells, self.epoch)
        start, before = 0, self.num_voxels
        while True:
            self.num_voxels, start, more = voxel_insert.insert_points(
                self._voxels, self.num_voxels, points, left, start, size, cells, self.epoch
            )
            reached += more
            if start == len(points):
                break
            self._grow()
        self.epoch += 1
        return (self.num_voxels - before) / max(reached, 1)

    def prune(self, center: Floats, radius_m: float) -> None:
        """Forget voxels farther than radius_m from center (3,), and give back spare memory."""
        center = as_numbers("center", "a (3,) array", center)
        if center.shape != (3,) or not np.isfinite(center).all():
            raise InputError(f"center must be three finite coordinates, got shape {center.shape}")
        kept = voxel_map.prune_far(
            self._voxels, self.num_voxels, center, float(radius_m), self.config.voxel_size_m
        )  # fmt: skip
        self.num_voxels = int(kept)
        if len(self._voxels.keys) > 4 * self.num_voxels + 4096:
            self._resize(int(1.6 * self.num_voxels) + 1024)
        used = records_in_use(self._voxels.counts[: self.num_voxels])
        if len(self._voxels.offsets) > 4 * used + 32768:
            packed = self._voxels._replace(
                starts=self._voxels.starts.copy(),
                **allocate_pool(int(1.6 * used) + 8192, self.config),
            )
            repack(self._voxels, packed, self.num_voxels)
            self._voxels = packed

    def nearest(self, queries: npt.ArrayLike, count: int, max_distance_m: float) -> Neighbours:
        """The ``count`` nearest stored points of each query (Q, 3), exact within the distance."""
        found = voxel_map.nearest(
            self._voxels, self.config.voxel_size_m, as_points("queries", queries), count,
            float(max_distance_m),
        )  # fmt: skip
        return Neighbours(*found)

    def points(self) -> Points:
        """All stored points (n, 3), in the order of their indices."""
        return self.positions(self.stored_indices())

    def stored_indices(self) -> Integers:
        """Indices of all stored points (n,)."""
        cap = self.config.max_points_per_voxel
        counts = self._voxels.counts[: self.num_voxels]
        slots = np.arange(cap)[None, :] < counts[:, None]
        return np.flatnonzero(slots.ravel())

    def positions(self, indices: Integers) -> Points:
        """Positions (..., 3) of stored points; NaN where the index is EMPTY."""
        voxel = indices // self.config.max_points_per_voxel
        centres = (self._voxels.keys[voxel] + 0.5) * self.config.voxel_size_m
        offsets = self._voxels.offsets[self.records(indices)]
        positions: Points = np.asarray(centres + offsets, dtype=np.float64)
        positions[indices == EMPTY] = np.nan
        return positions

    def records(self, indices: Integers) -> Integers:
        """Rows (...) of stored points in the arrays ``offsets``, ``moments`` and ``planes``.

        Where the index is EMPTY, that of some other point.
        """
        voxel, slot = np.divmod(indices, self.config.max_points_per_voxel)
        return np.where(indices == EMPTY, 0, self._voxels.starts[voxel] + slot)

    def fit_planes(self, indices: Integers) -> None:
        """Bring the plane fits of these stored points up to date.

        Rows of (Q, M) are neighbours of one query, nearest first, EMPTY where there are no more.
        """
        config = self.config
        limits = np.array(
            [
                config.max_residual_std_m, config.min_width_m, config.min_aspect,
                config.min_cells, config.refit_growth, config.refit_epochs,
                config.max_normal_std_rad,
            ]
        )  # fmt: skip
        size, radius = config.voxel_size_m, config.plane_radius_m
        rows = indices if indices.ndim == 2 else indices[:, None]
        leaders, followers = shared_planes.claim_stale(
            self._voxels, size, rows, limits,
            config.blocks_per_voxel_edge, self.epoch,
        )  # fmt: skip
        planes.fit_planes(self._voxels, size, leaders, radius, limits)
        alone = shared_planes.follow(self._voxels, size, followers, radius)
        planes.fit_planes(self._voxels, size, alone, radius, limits)

    def reserve(self) -> None:
        """Give every voxel records for as many stored points as its count says, to be filled in."""
        counts = self._voxels.counts[: self.num_voxels]
        used = records_in_use(counts)
        self._voxels = self._voxels._replace(**allocate_pool(used + 8192, self.config))
        lengths = -(-counts // STRETCH) * STRETCH
        self._voxels.starts[: self.num_voxels] = np.cumsum(lengths) - lengths
        self._voxels.spare[0] = used

    @property
    def arrays(self) -> VoxelArrays:
        """The arrays themselves, for compiled code that packs candidates."""
        return self._voxels

    def _grow(self) -> None:
        """Make room for more voxels or more stored points, whichever is used up."""
        voxels = self._voxels
        if self.num_voxels == len(voxels.keys):
            self._resize(int(1.6 * self.num_voxels) + 1024)
        used = int(voxels.spare[0])
        if used + longest_stretch(self.config) > len(voxels.offsets):
            self._grow_pool(used, int(1.6 * used) + 8192)

    def _grow_pool(self, used: int, records: int) -> None:
        """Move the records in use into a larger pool, array by array: never two whole maps."""
        pool = allocate_pool(records, self.config)
        pool["spare"] = self._voxels.spare
        for name in ("offsets", "moments", "planes", "links"):
            in_use = used // STRETCH if name == "links" else used
            pool[name][:in_use] = getattr(self._voxels, name)[:in_use]
            self._voxels = self._voxels._replace(**{name: pool[name]})

    def _resize(self, capacity: int) -> None:
        """Move the voxels in use into arrays of another capacity; stored points stay."""
        resized = allocate(max(capacity, self.num_voxels), 0, self.config)
        for name in ("keys", "counts", "cell_slots", "touched", "visits", "leaders", "starts"):
            in_use = getattr(self._voxels, name)[: self.num_voxels]
            getattr(resized, name)[: self.num_voxels] = in_use
        pool = {name: getattr(self._voxels, name) for name in POOL}
        self._voxels = resized._replace(**pool)
        rebuild_table(self._voxels, self.num_voxels)


def _map_config(config: MapConfig | Config | None) -> MapConfig:
    """The map's own parameters out of what was handed in."""
    if config is None:
        return MapConfig()
    if isinstance(config, Config):
        return config.map
    if not isinstance(config, MapConfig):
        raise InputError(
            f"VoxelMap needs a MapConfig or a Config, got a {type(config).__name__}; use "
            "VoxelMap() or VoxelMap(Config.preset('paper'))"
        )
    return config
