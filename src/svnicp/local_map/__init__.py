# SPDX-License-Identifier: MIT
"""The map that scans are registered against."""

from svnicp.local_map.voxel_map import Neighbours as Neighbours
from svnicp.local_map.voxel_map import VoxelMap as VoxelMap
