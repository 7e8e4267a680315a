# SPDX-License-Identifier: MIT
"""The job behind the picture of convergence: where the particles of one scan went, step by step."""

import dataclasses
from typing import Any

import numpy as np

from svnicp.baselines import ScanInMap, registered
from svnicp.config import Config
from svnicp.lie import se3_exp, se3_inverse, se3_log
from svnicp.studies.frames import ALGORITHMS, exact_place, with_particles
from svnicp.studies.job import Job
from svnicp.studies.packed import plain
from svnicp.studies.source import Source
from svnicp.studies.true_map import PRIOR_STD, prior_covariance

ITERATIONS = 100
"""As many as the paper allows, without its early stop."""
SETTLED_NORM = 1e-4
"""Mean step below which the paper calls particles settled; metres and radians mixed."""


def paths_job(source: Source, config: Config, number: int) -> Job:
    """Job of one scan of a source."""
    inputs = {"source": source.inputs(), "config": config.to_dict(), "number": number}
    words = f"{source.title} {source.seed} particles {config.match.metric}"
    return Job("svnicp.studies.particle_paths.paths", inputs, words)


def paths(source: dict[str, Any], config: dict[str, Any], number: int) -> dict[str, Any]:
    """Particles of SVGD and SVN after every iteration; the function of the job."""
    where, settings = Source(**source), Config.from_dict(config)
    rng = np.random.default_rng([where.seed, number])
    redraw, T_true, settings = exact_place(where.simulated(), settings, number)
    points, local_map = redraw(rng)
    guess = T_true @ se3_exp(PRIOR_STD * rng.standard_normal(6))
    out: dict[str, Any] = {}
    for algorithm in ALGORITHMS:
        config_ = with_particles(settings, algorithm, settings.stein.num_particles)
        stein = dataclasses.replace(
            config_.stein, record=True, max_iterations=ITERATIONS, tolerance=0.0
        )
        scan = ScanInMap(
            points, local_map, guess, guess, prior_covariance(),
            dataclasses.replace(config_, stein=stein),
        )  # fmt: skip
        history = registered(scan, np.random.default_rng(where.seed)).history
        poses = np.array([step.particles for step in history if step.particles is not None])
        tangents = se3_log(se3_inverse(T_true) @ poses)
        norms = np.array([step.step_norm for step in history])
        settled = np.flatnonzero(norms < SETTLED_NORM)
        out[algorithm] = {
            "xy": plain(tangents[:, :, :2]), "norms": plain(norms),
            "settled": int(settled[0]) + 1 if len(settled) else None,
        }  # fmt: skip
    return out
