# SPDX-License-Identifier: MIT
"""One registration out of many: where a search with few points ends that begins somewhere else.

``first_motion`` begins at many velocities, ``several_starts`` all over a wide prediction; endings
are compared by how well and how much of the scan they explain.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from svnicp.arrays import Covariance, Points, Transform
from svnicp.config import Config
from svnicp.kernels.candidates import match_all
from svnicp.local_map import VoxelMap
from svnicp.pose_gaussian import PoseGaussian
from svnicp.registration.candidates import spread_source
from svnicp.registration.locate import Located, locate
from svnicp.registration.posterior import inverse_spd
from svnicp.registration.status import is_fit

SEARCH_POINTS = 400
"""Points of the scan that are matched in the search."""


class Ending(NamedTuple):
    """Where the search from one start ended."""

    pose: PoseGaussian
    misfit: float
    """Scale of the residuals over the overlap: less is better."""
    overlap: float = 0.0
    """Share of the scan that is in the map."""
    cost: float = 0.0
    """Mean robust cost of a point, rare directions as much as common ones; less is better."""
    fits: bool = True
    """Whether the scan may be there at all, and is not merely nearest to it there."""


class Search:
    """Searches for one scan (n, 3), in the body frame, in one map."""

    def __init__(self, points: Points, local_map: VoxelMap, config: Config) -> None:
        source = dataclasses.replace(config.source, max_points=SEARCH_POINTS)
        noise = dataclasses.replace(config.noise, facing=0.0)  # to come near, every hint counts
        self._config = dataclasses.replace(config, source=source, noise=noise)
        self._sample = points[spread_source(points, source)]
        self._local_map = local_map

    def begin_at(self, T_world_body: Transform, covariance: Covariance) -> Ending | None:
        """Where a registration ends that begins here, with this (6, 6) as its prior."""
        located = locate(self._local_map, self._sample, T_world_body, covariance, self._config)
        if located is None or located.overlap <= 0.0:
            return None
        posterior = inverse_spd(located.information + located.problem.prior.hessian)
        pose = PoseGaussian(located.T_target_source, posterior)
        misfit = located.scale / located.overlap
        cost, fits = _mean_cost(located, self._config), is_fit(located.overlap, located.scale)
        return Ending(pose, misfit, located.overlap, cost, fits)


def _mean_cost(located: Located, config: Config) -> float:
    """Mean robust cost of the points of a scan; a point without a match costs as much as can be."""
    problem, width = located.problem, config.noise.weight_width
    chosen, normalised = match_all(
        problem.T_reference, problem.points, problem.rows, problem.max_distance_m**2
    )
    squares = np.square(normalised * located.scale)
    costs = np.where(chosen >= 0, squares * width**2 / (width**2 + squares), width**2)
    return float(located.overlap * costs.mean() + (1.0 - located.overlap) * width**2)
