# SPDX-License-Identifier: MIT
"""Point clouds from files, and back.

``read_cloud`` turns a .ply, .pcd, .bin, .npy or .npz file into an (n, 3) array, or raises an
``InputError`` whose sentence says what is wrong and what to do; ``write_ply`` writes one. There is
one module per format; each parses bytes and knows nothing of paths.
"""

from svnicp.cloud_files.read import read_cloud
from svnicp.cloud_files.write import write_ply

__all__ = ["read_cloud", "write_ply"]
