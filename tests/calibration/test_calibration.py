# SPDX-License-Identifier: MIT
"""Errors against reported covariances over redraws of the noise; `make calibration` has more."""

import functools

import numpy as np
import pytest
from benchmarks.calibration import PRIOR_STD, SCENES, Trial, anees, prepare, trials

from svnicp.config import Config
from svnicp.simulation import LidarPattern

PATTERN = LidarPattern.rings(32, 512, -25.0, 15.0, max_range_m=40.0)


@functools.cache
def redraws(scene: str, count: int = 60) -> tuple[Trial, ...]:
    """Trials of the default preset on a smaller sensor than the study's."""
    site = prepare(SCENES[scene](), num_map_scans=6, pattern=PATTERN)
    configs = {"default": Config.preset("default")}
    return tuple(trial["default"] for trial in trials(site, configs, range(1000, 1000 + count)))


@pytest.mark.parametrize("scene", ["room", "closed corridor"])
def test_errors_are_as_large_as_reported(scene: str):
    """The squared error in units of the reported covariance is one per dimension on average."""
    done = redraws(scene)
    score = anees(np.array([t.error for t in done]), np.array([t.covariance for t in done]))
    assert 0.65 < score < 1.45


def test_a_bare_corridor_leaves_the_prior_along_it():
    """Noisy normals are no information: along the axis sigma is the prior's, within 20 % always."""
    sigmas = np.sqrt([trial.covariance[0, 0] for trial in redraws("bare corridor", 20)])
    assert np.all(sigmas > 0.8 * PRIOR_STD[0])
    assert np.median(sigmas) > 0.96 * PRIOR_STD[0]
    assert np.all(sigmas < 1.15 * PRIOR_STD[0])
