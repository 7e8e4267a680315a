# SPDX-License-Identifier: MIT
"""The inverse Hessian of small_gicp, as near to an uncertainty as ICP packages for Python come.

Its H has no sensor noise in it and is not meant as a covariance; people invert it all the same. It
is put into our order and taken with the prior. small_gicp is an extra, imported when asked for.
"""

from typing import Literal

import numpy as np

from svnicp.arrays import Covariance, Floats
from svnicp.baselines.sandwich import covariance_of
from svnicp.baselines.scan_in_map import ScanInMap
from svnicp.extras import require

ROTATION_FIRST = np.array([3, 4, 5, 0, 1, 2])
"""small_gicp has rotation before translation, and perturbs on the right as we do."""


def gicp_covariance(
    scan: ScanInMap,
    *,
    registration_type: Literal["GICP", "PLANE_ICP", "ICP"] = "GICP",
    downsampling_m: float = 0.25,
) -> Covariance:
    """H⁻¹ (6, 6) of small_gicp, started at the estimate, with the scan's prior.

    Parameters
    ----------
    scan
        Source and map; the map's stored points are the target.
    registration_type
        Which of its costs.
    downsampling_m
        Voxel in which both clouds are thinned [m]; its default.

    Raises
    ------
    MissingExtraError
        If small_gicp is not installed.
    """
    return covariance_of(scan, gicp_hessian(scan, registration_type, downsampling_m))


def gicp_hessian(scan: ScanInMap, registration_type: str, downsampling_m: float) -> Floats:
    """H (6, 6) of small_gicp in our order: translation [m], then rotation [rad]."""
    small_gicp = require("small_gicp", extra="peers", purpose="The small_gicp baseline")
    result = small_gicp.align(
        scan.local_map.points(), scan.source, init_T_target_source=scan.T_target_source,
        registration_type=registration_type, downsampling_resolution=downsampling_m,
    )  # fmt: skip
    return np.asarray(result.H, dtype=np.float64)[np.ix_(ROTATION_FIRST, ROTATION_FIRST)]
