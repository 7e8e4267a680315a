# SPDX-License-Identifier: MIT
"""How an error of the velocity that a scan was deskewed with shows in its pose.

A point taken s seconds after the reference time was moved by s times the velocity. If that was
wrong by δ, the least squares over all points put the pose off by L δ, L = H⁻¹ Σ w s A A'. A filter
that knows L learns the velocity from it; one that does not mistakes it for motion and swings.
"""

import numpy as np

from svnicp.arrays import Floats
from svnicp.kernels.candidates import match_all
from svnicp.registration.posterior import inverse_spd
from svnicp.registration.problem import Problem
from svnicp.registration.robust import robust_weights


def lag_matrix(problem: Problem, seconds: Floats) -> Floats:
    """L (6, 6) [s] of a problem whose points (N,) were taken so long after the reference time."""
    T = problem.T_reference
    chosen, normalised = match_all(T, problem.points, problem.rows, problem.max_distance_m**2)
    used = np.flatnonzero(chosen >= 0)
    rows = problem.rows[used, chosen[used]].astype(np.float64)
    points = problem.points[used].astype(np.float64)
    normals = rows[:, 3:6] @ T[:3, :3]
    weights = rows[:, 7] * robust_weights(normalised[used], problem.weight, problem.weight_width)
    bare = ~normals.any(axis=1)
    slopes = [np.concatenate([normals, np.cross(points, normals)], axis=1)]
    masses, delays = [np.where(bare, 0.0, weights)], [seconds[used]]
    for axis in np.eye(3) if bare.any() else ():  # a bare point is three planes along the axes
        along = np.broadcast_to(axis, points[bare].shape)
        slopes.append(np.concatenate([along, np.cross(points[bare], along)], axis=1))
        masses.append(weights[bare])
        delays.append(seconds[used][bare])
    A, w, s = np.concatenate(slopes), np.concatenate(masses), np.concatenate(delays)
    weighted = (A * w[:, None]).T
    return inverse_spd(weighted @ A) @ (weighted @ (A * s[:, None]))
