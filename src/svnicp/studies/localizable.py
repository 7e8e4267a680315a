# SPDX-License-Identifier: MIT
"""The job of true localizability: how much of what a scan sees faces along the body's own axis.

Exact rays and exact surface normals, from the signed distance of the scene itself; no estimate and
no map is in it. It is what a stated sigma along a corridor ought to follow.
"""

import dataclasses
from typing import Any

import numpy as np

from svnicp.arrays import Floats, Points
from svnicp.config import Config
from svnicp.lie import transform_points
from svnicp.simulation.geometry import Scene
from svnicp.studies.job import Job
from svnicp.studies.packed import plain
from svnicp.studies.source import Source
from svnicp.studies.true_map import true_points

STEP_M = 1e-3
"""Distance over which a normal is differenced [m]."""
MAX_POINTS = 4000


def localizable_job(source: Source, every: int) -> Job:
    """Job of every so manieth scan of a source."""
    inputs = {"source": source.inputs(), "every": every}
    words = f"{source.title} {source.seed} localizability"
    return Job("svnicp.studies.localizable.localizable", inputs, words)


def localizable(source: dict[str, Any], every: int) -> dict[str, Any]:
    """True information along the body's forward axis; the function of the job."""
    where = Source(**source)
    dataset = where.simulated()
    effects = dataclasses.replace(dataset.effects, range_noise_m=0.0)
    exact = dataclasses.replace(dataset, effects=effects, movers=())
    config = Config.preset("default")
    stamps, shares = [], []
    for number in range(where.first_scan(exact), exact.num_scans, every):
        scan = exact.scan(number)
        points, T_true = true_points(exact, scan, config)
        points = points[:: max(1, len(points) // MAX_POINTS)]
        normals = scene_normals(exact.scene, transform_points(T_true, points))
        stamps.append((scan.mean_ns - exact.start_ns) * 1e-9)
        shares.append(float(np.sum((normals @ T_true[:3, 0]) ** 2) / max(len(points), 1)))
    return {"seconds": plain(stamps), "share": plain(shares)}


def scene_normals(scene: Scene, points_world: Points) -> Floats:
    """Unit normals (n, 3) of a scene at points (n, 3) on its surface."""
    gradient = np.empty_like(points_world, dtype=np.float64)
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = STEP_M
        ahead, behind = (scene.distance(points_world + sign * step) for sign in (1.0, -1.0))
        gradient[:, axis] = ahead - behind
    lengths = np.linalg.norm(gradient, axis=1, keepdims=True)
    return gradient / np.maximum(lengths, 1e-12)
