# SPDX-License-Identifier: MIT
"""Other people's covariances of a registered scan, and the Monte-Carlo truth to judge them by.

Each baseline is a function of a ``ScanInMap`` and returns a (6, 6) covariance in the body tangent,
translation [m] before rotation [rad]. ``docs/scores.md`` says in words what each of them does.
"""

from svnicp.baselines.censi import censi_point_to_plane, censi_point_to_point
from svnicp.baselines.constant import ConstantCovariance, fit_constant
from svnicp.baselines.cov3d import START_STD, cov3d
from svnicp.baselines.gicp import gicp_covariance
from svnicp.baselines.laplace import laplace
from svnicp.baselines.localizability import (
    AxisLocalizability,
    Thresholds,
    localizability,
    localizability_covariance,
    weakest_share,
)
from svnicp.baselines.monte_carlo import (
    PoseSamples,
    monte_carlo,
    spread_over_redraws,
    spread_over_starts,
)
from svnicp.baselines.redraw import RayRedraw, rays_of
from svnicp.baselines.scan_in_map import ScanInMap, registered, registered_mode

__all__ = [
    "START_STD",
    "AxisLocalizability",
    "ConstantCovariance",
    "PoseSamples",
    "RayRedraw",
    "ScanInMap",
    "Thresholds",
    "censi_point_to_plane",
    "censi_point_to_point",
    "cov3d",
    "fit_constant",
    "gicp_covariance",
    "laplace",
    "localizability",
    "localizability_covariance",
    "monte_carlo",
    "rays_of",
    "registered",
    "registered_mode",
    "spread_over_redraws",
    "spread_over_starts",
    "weakest_share",
]
