# SPDX-License-Identifier: MIT
"""Times of points as packages for LiDAR alone want them: from 0 at the start to 1 at the end."""

import numpy as np

from svnicp.arrays import Floats
from svnicp.data.measurements import Scan


def relative_times(scan: Scan) -> Floats:
    """Share (n,) of the scan that has passed at every point; empty when all are of one instant."""
    times_ns = scan.point_times_ns
    if times_ns is None or len(times_ns) == 0:
        return np.empty(0)
    first_ns, last_ns = int(times_ns.min()), int(times_ns.max())
    if first_ns == last_ns:
        return np.empty(0)
    return (times_ns - first_ns) / (last_ns - first_ns)
