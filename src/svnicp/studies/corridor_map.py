# SPDX-License-Identifier: MIT
"""The job behind the picture of the corridor: some points of some scans where they truly were."""

from typing import Any

import numpy as np

from svnicp.config import Config
from svnicp.lie import transform_points
from svnicp.studies.job import Job
from svnicp.studies.source import Source
from svnicp.studies.true_map import true_points

MAX_POINTS = 20_000
LOWEST_M, HIGHEST_M = -0.3, 0.7
"""Points at these heights relative to the sensor are drawn: walls and doors, no floor [m]."""


def map_job(source: Source, every: int) -> Job:
    """Job of every so manieth scan of a source."""
    inputs = {"source": source.inputs(), "every": every}
    return Job("svnicp.studies.corridor_map.corridor_map", inputs, f"{source.title} picture")


def corridor_map(source: dict[str, Any], every: int) -> dict[str, Any]:
    """Points from above, relative to the first pose; the function of the job."""
    where = Source(**source)
    dataset = where.simulated()
    config = Config.preset("default")
    clouds, T_first = [], None
    for number in range(where.first_scan(dataset), dataset.num_scans, every):
        points, T_true = true_points(dataset, dataset.scan(number), config)
        T_first = T_true if T_first is None else T_first
        level = points[(points[:, 2] > LOWEST_M) & (points[:, 2] < HIGHEST_M)]
        clouds.append(transform_points(np.linalg.inv(T_first) @ T_true, level)[:, :2])
    together = np.concatenate(clouds)
    kept = np.random.default_rng(where.seed).permutation(len(together))[:MAX_POINTS]
    return {"xy": np.round(together[kept].astype(np.float64), 2).tolist()}
