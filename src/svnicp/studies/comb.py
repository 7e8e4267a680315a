# SPDX-License-Identifier: MIT
"""A corridor of equal ribs: a place whose posterior really has several modes.

The ribs are nearer to each other than the guess is good: one period further along, a scan fits the
map just as well. Out: the scene, scans of it that can be redrawn, and the configuration in which
particles find several of the modes.
"""

import dataclasses
from functools import cache

import numpy as np

from svnicp.arrays import Covariance, Transform
from svnicp.baselines import RayRedraw
from svnicp.config import Config
from svnicp.lie import make_transform, so3_exp
from svnicp.simulation import LidarPattern, cast
from svnicp.simulation.geometry import Scene

PERIOD_M = 0.15
"""From one rib to the next [m]."""
PRIOR_STD = np.array([0.16, 0.1, 0.05, 0.002, 0.002, 0.006])
"""(6,) of the guess [m, rad]: along the corridor more than a period; about half of the box in which
particles start (``stein.start="box"``)."""
RANGE_NOISE_M = 0.005
HALF_WIDTH_M, HEIGHT_M, SENSOR_HEIGHT_M = 1.0, 2.0, 1.0
RIB_WIDTH, RIB_DEPTH = 0.4, 0.8
"""Size of a rib as shares of the period."""
REACH_M = 3.0
"""Range of the sensor; the map reaches farther, so that no end of the ribs gives the place away."""
T_TRUE = make_transform(so3_exp(np.array([0.0, 0.0, 0.02])), np.array([0.03, 0.02, 1.0]))


def comb_scene() -> Scene:
    """Return a corridor along x, 2 m wide and high, with ribs on both walls."""
    last = int((2.0 * REACH_M + 2.0) / PERIOD_M)
    half, inner = 0.5 * RIB_WIDTH * PERIOD_M, HALF_WIDTH_M - RIB_DEPTH * PERIOD_M
    ribs = [
        [k * PERIOD_M - half, low, 0.0, k * PERIOD_M + half, high, HEIGHT_M]
        for k in range(-last, last + 1)
        for low, high in ((-HALF_WIDTH_M, -inner), (inner, HALF_WIDTH_M))
    ]
    walls = [[-60.0, -HALF_WIDTH_M, 0.0, 60.0, HALF_WIDTH_M, HEIGHT_M]]
    return Scene("comb", np.array(walls), np.array(ribs))


def comb_config() -> Config:
    """Return the default preset in which particles may end at any rib.

    They start in a box around the guess and walk as far as they like, among as many candidates as
    there may be; the scale of residuals and the reliability of normals are not taken at the guess,
    which lies between two modes. The map is as fine as the ribs ask for.
    """
    base = Config.preset("default")
    replace = dataclasses.replace
    return replace(
        base,
        map=replace(
            base.map, voxel_size_m=0.16, cells_per_voxel_edge=5, max_points_per_voxel=127,
            plane_radius_m=0.06, max_residual_std_m=0.015, min_width_m=0.012, min_cells=8,
            blocks_per_voxel_edge=0,
        ),
        source=replace(base.source, max_points=600, spread_leaf_m=0.1, sparse_points=5.0),
        match=replace(
            base.match, num_candidates=200, max_distance_m=0.45, max_first_distance_m=0.45
        ),
        noise=replace(
            base.noise, range_noise_m=RANGE_NOISE_M, scale="fixed", debias_normals=False
        ),
        stein=replace(
            base.stein, start="box", num_particles=100, max_iterations=40, max_step_sigma=0.0,
            tolerance=1e-3,
        ),
    )  # fmt: skip


def gaussian_config() -> Config:
    """Return the same likelihood with one particle: Gauss-Newton and the curvature at its end."""
    config, base = comb_config(), Config.preset("default")
    stein = dataclasses.replace(
        base.stein, algorithm="gauss_newton", num_particles=1, start="laplace"
    )
    match = dataclasses.replace(config.match, num_candidates=base.match.num_candidates)
    return dataclasses.replace(config, stein=stein, match=match)


def prior_covariance() -> Covariance:
    """Covariance (6, 6) of the guess."""
    return np.diag(PRIOR_STD**2)


@cache
def comb_redraw(num_rings: int = 32, num_columns: int = 1024) -> RayRedraw:
    """Return scans along the corridor that make a map, and one in it, to be redrawn."""
    scene = comb_scene()
    pattern = LidarPattern.rings(num_rings, num_columns, -40.0, 40.0, max_range_m=REACH_M)
    places = np.array([_pose_along(x) for x in np.linspace(-1.2, 1.2, 9)])
    return RayRedraw(
        places, [cast(scene, T, pattern) for T in places], cast(scene, T_TRUE, pattern),
        comb_config().map, range_noise_m=RANGE_NOISE_M,
    )  # fmt: skip


def _pose_along(x: float) -> Transform:
    """A pose (4, 4) of a walk that is not quite straight."""
    turn = so3_exp(np.array([0.0, 0.0, 0.03 * x]))
    return make_transform(turn, np.array([x, 0.05 * np.sin(5.0 * x), SENSOR_HEIGHT_M]))
