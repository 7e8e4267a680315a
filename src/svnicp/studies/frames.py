# SPDX-License-Identifier: MIT
"""The job behind KL and NNE: one scan of a corridor, its Monte-Carlo truths, and who says what.

Both truths of the literature: the same clouds from many starts (the published protocol), and clouds
whose noise is drawn anew in every run (the honest one). Classical methods start at the truth, as
published; ours start from a guess that is as wrong as its prior says.
"""

import dataclasses
from typing import Any

import numpy as np

from svnicp.arrays import Covariance, Transform
from svnicp.baselines import (
    PoseSamples,
    RayRedraw,
    ScanInMap,
    censi_point_to_plane,
    censi_point_to_point,
    cov3d,
    gicp_covariance,
    laplace,
    monte_carlo,
    rays_of,
    registered,
    spread_over_redraws,
    spread_over_starts,
)
from svnicp.config import Config
from svnicp.lie import se3_exp, se3_inverse, se3_log
from svnicp.odometry.map_scale import fitting_scale
from svnicp.simulation.simulated import SimulatedDataset
from svnicp.studies.job import Job
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.scans import MONTE_CARLO, SMALL_GICP, can_be_asked
from svnicp.studies.source import Source
from svnicp.studies.true_map import PRIOR_STD, prior_covariance, true_points

MAP_SCANS = 10
"""Scans before the one in question that make its map."""
MAP_STEP = 3
"""Scans from one of them to the next."""
ALGORITHMS = ("svgd", "svn")
FIXED_VARIANCES = (1e-4, 1e-5)
"""Of the paper's filter with fixed noise, per axis [m², rad²]."""
IMU_STD = np.array([0.02] * 3 + [0.003] * 3)
"""(6,) of a guess by an IMU over one scan [m, rad], for the rows with a Kalman filter."""


def frame_job(source: Source, config: Config, number: int, plan: dict[str, Any]) -> Job:
    """Job of one scan; ``plan`` has ``starts``, ``redraws`` and ``particles``."""
    inputs = {"source": source.inputs(), "config": config.to_dict(), "number": number, **plan}
    words = f"{source.title} {source.seed} scan {number} metric {config.match.metric}"
    return Job("svnicp.studies.frames.frame", inputs, words)


def frame(
    source: dict[str, Any], config: dict[str, Any], number: int, starts: int, redraws: int,
    particles: list[int],
) -> dict[str, Any]:  # fmt: skip
    """Truths and covariances of one scan; the function of the job."""
    where, settings = Source(**source), Config.from_dict(config)
    rng = np.random.default_rng([where.seed, number])
    redraw, T_true, settings = exact_place(where.simulated(), settings, number)
    points, local_map = redraw(rng)
    scan = ScanInMap(points, local_map, T_true, T_true, prior_covariance(), settings)
    honest = spread_over_redraws(redraw, T_true, prior_covariance(), settings, rng, runs=redraws)
    protocol = spread_over_starts(scan, T_true, rng, runs=starts)
    methods = {**_classical(scan), **_ours(scan, T_true, particles, rng)}
    return {
        "truths": {"redraws": _truth(honest), "starts": _truth(protocol)},
        "methods": methods,
    }


def exact_place(
    dataset: SimulatedDataset, config: Config, number: int
) -> tuple[RayRedraw, Transform, Config]:
    """Noise-free rays of a scan and of its map, its true pose (4, 4), and the fitted parameters."""
    effects = dataclasses.replace(dataset.effects, range_noise_m=0.0)
    exact = dataclasses.replace(dataset, effects=effects)
    numbers = [number - MAP_STEP * back for back in range(MAP_SCANS, 0, -1)]
    clouds = [true_points(exact, exact.scan(n), config) for n in numbers if n >= 0]
    source, T_true = true_points(exact, exact.scan(number), config)
    if config.odometry.auto_voxel and config.match.metric == "plane":
        config = fitting_scale(clouds[0][0], config)
    redraw = RayRedraw(
        np.array([T for _, T in clouds]), [rays_of(points) for points, _ in clouds],
        rays_of(source), config.map, range_noise_m=dataset.sensor.range_noise_m, kept_share=0.8,
    )  # fmt: skip
    return redraw, T_true, config


def with_particles(config: Config, algorithm: str, count: int) -> Config:
    """Configuration with another algorithm and number of particles; slower steps for SVGD."""
    preset = "default" if config.match.metric == "plane" else "paper"
    stein = Config.variant("svgd", preset).stein if algorithm == "svgd" else config.stein
    return dataclasses.replace(
        config, stein=dataclasses.replace(stein, algorithm=algorithm, num_particles=count)
    )


def _classical(scan: ScanInMap) -> dict[str, Any]:
    """Closed forms at the truth: their errors are those of the Monte-Carlo samples."""
    stated = {
        "Censi": censi_point_to_point(scan), "Censi, point to plane": censi_point_to_plane(scan),
        "COV-3D": cov3d(scan), "Laplace": laplace(scan),
        MONTE_CARLO: monte_carlo(scan, np.random.default_rng(0)),
    }  # fmt: skip
    if can_be_asked(SMALL_GICP):
        stated[SMALL_GICP] = gicp_covariance(scan)
    return {name: {"covariance": plain_covariances(P)[0]} for name, P in stated.items()}


def _ours(
    scan: ScanInMap, T_true: Transform, particles: list[int], rng: np.random.Generator
) -> dict[str, Any]:
    """SVGD and SVN with every number of particles, and SVN in a Kalman filter."""
    guess = T_true @ se3_exp(PRIOR_STD * rng.standard_normal(6))
    out: dict[str, Any] = {}
    for algorithm in ALGORITHMS:
        for count in particles:
            config = with_particles(scan.config, algorithm, count)
            started = dataclasses.replace(scan, T_guess=guess, config=config)
            result = registered(started, rng)
            out[f"{algorithm} {count}"] = {
                **_own(result.T_target_source, result.covariance, T_true),
                "iterations": result.iterations,
            }
    return {**out, **_filtered(scan, T_true, max(particles), rng)}


def _filtered(
    scan: ScanInMap, T_true: Transform, count: int, rng: np.random.Generator
) -> dict[str, Any]:
    """SVN in a Kalman filter whose guess is an IMU's: with fixed noise, and with its posterior."""
    near = T_true @ se3_exp(IMU_STD * rng.standard_normal(6))
    imu = np.diag(IMU_STD**2)
    config = with_particles(scan.config, "svn", count)
    started = dataclasses.replace(scan, T_guess=near, config=config)
    loose = registered(started, rng)  # odometry with fixed noise lets the scan decide alone
    fixed = np.diag(np.repeat(FIXED_VARIANCES, 3))
    with_prior = dataclasses.replace(started, prior_covariance=imu)
    result = registered(with_prior, rng)
    if config.prior.use:  # the posterior is the fusion already
        adaptive = result.T_target_source, result.covariance
    else:
        adaptive = fused(near, imu, result.T_target_source, result.likelihood_covariance)
    return {
        "svn+fixed": _own(*fused(near, imu, loose.T_target_source, fixed), T_true),
        "svn+adaptive": _own(*adaptive, T_true),
    }


def fused(
    T_guess: Transform, prior: Covariance, T_measured: Transform, noise: Covariance
) -> tuple[Transform, Covariance]:
    """Pose (4, 4) and covariance (6, 6) of a Kalman filter that takes a measured pose."""
    gain = np.linalg.solve(prior + noise, prior).T
    moved = se3_log(se3_inverse(T_guess) @ T_measured)
    covariance = (np.eye(6) - gain) @ prior
    return T_guess @ se3_exp(gain @ moved), 0.5 * (covariance + covariance.T)


def _own(T: Transform, covariance: Covariance, T_true: Transform) -> dict[str, Any]:
    """Covariance and error of an estimate of our own."""
    error = se3_log(se3_inverse(T) @ T_true)
    return {"covariance": plain_covariances(covariance)[0], "error": plain(error)}


def _truth(samples: PoseSamples) -> dict[str, Any]:
    """What is kept of a Monte Carlo."""
    return {
        "covariance": plain_covariances(samples.covariance)[0], "errors": plain(samples.errors),
    }  # fmt: skip
