# SPDX-License-Identifier: MIT
"""How an error of the velocity that a scan was deskewed with shows in its pose.

A point taken s seconds after the reference time was moved by s times the velocity. If that was
wrong by δ, the least squares over all points put the pose off by L δ, L = H⁻¹ Σ w s A A'. A filter
that knows L learns the velocity from it; one that does not mistakes it for motion and swings.
"""

from svnicp.arrays import Floats
from svnicp.kernels.lag import lag_sums
from svnicp.registration.posterior import inverse_spd
from svnicp.registration.problem import Problem


def lag_matrix(problem: Problem, seconds: Floats) -> Floats:
    """L (6, 6) [s] of a problem whose points (N,) were taken so long after the reference time."""
    information, lagged = lag_sums(
        problem.T_reference, problem.points, problem.rows, seconds, problem.max_distance_m**2,
        problem.weight, problem.weight_width,
    )  # fmt: skip
    return inverse_spd(information) @ lagged
