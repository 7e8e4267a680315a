# SPDX-License-Identifier: MIT
"""A scan that is moved along a corridor fits as well as before, unless something is there."""

from dataclasses import replace

import numpy as np
import pytest

from svnicp import register
from svnicp.arrays import Floats, Points
from svnicp.config import Config
from svnicp.registration.slip import Slip

DEFAULT = Config.preset("default")
ASKED = replace(DEFAULT, noise=replace(DEFAULT.noise, slip_m=0.3))
PRIOR = np.diag([0.1**2] * 3 + [0.01**2] * 3)
NOISE_M = 0.005


def walls(rng: np.random.Generator, count: int) -> Points:
    """Points (n, 3) of a bare corridor along x, 2 m wide and high."""
    points = rng.uniform(-1.0, 1.0, size=(count, 3))
    faces = rng.integers(1, 3, size=count)
    points[np.arange(count), faces] = rng.choice([-1.0, 1.0], size=count)
    points[:, 0] *= 8.0
    return points + NOISE_M * rng.standard_normal((count, 3))


def sides(rng: np.random.Generator, count: int) -> Points:
    """Points (n, 3) of the sides of six cupboards, which look along x."""
    points = rng.uniform([0.0, 0.4, -1.0], [0.0, 1.0, 1.0], size=(count, 3))
    points[:, 0] = rng.choice([-5.0, -3.0, -1.0, 1.0, 3.0, 5.0], size=count)
    return points + NOISE_M * rng.standard_normal((count, 3))


def rough_pipe(rng: np.random.Generator, count: int, bumps: Floats) -> Points:
    """Points (n, 3) of a pipe along x whose radius changes by a few millimetres here and there."""
    x = rng.uniform(-8.0, 8.0, size=count)
    angles = rng.uniform(-np.pi, np.pi, size=count)
    waves = np.cos(np.outer(x, bumps[0]) + np.outer(angles, np.rint(bumps[1])) + bumps[2])
    radii = 1.0 + 0.002 * waves.sum(axis=1) + NOISE_M * rng.standard_normal(count)
    return np.column_stack([x, radii * np.cos(angles), radii * np.sin(angles)])


def along_x(source: Points, target: Points, config: Config = ASKED, at_m: float = 0.0) -> Slip:
    """What moving a scan along x has told."""
    guess = np.eye(4)
    guess[0, 3] = at_m
    result = register(source, target, T_target_source=guess, prior_covariance=PRIOR, config=config)
    found = [slip for slip in result.slips if abs(slip.axis[0]) > 0.99]
    assert len(found) == 1, [slip.axis for slip in result.slips]
    return found[0]


def test_a_bare_corridor_slips(rng: np.random.Generator):
    """Nothing fits worse a few decimetres farther on, whatever curvature says."""
    slip = along_x(walls(rng, 4000), walls(rng, 100_000))
    assert slip.worse < 0.25 * slip.expected + 2.0 * np.sqrt(slip.witnesses)
    assert abs(slip.evidence) < 1.0


def test_cupboards_hold(rng: np.random.Generator):
    """A few points that look along the corridor fit worse by as much as curvature expects."""
    source = np.concatenate([walls(rng, 4000), sides(rng, 60)])
    target = np.concatenate([walls(rng, 100_000), sides(rng, 3000)])
    config = replace(ASKED, noise=replace(ASKED.noise, slip_from_m=1e-4))
    slip = along_x(source, target, config)
    assert slip.worse > 0.75 * slip.expected > 0.0
    assert slip.witnesses > 10.0
    assert slip.evidence > 1.0


@pytest.mark.parametrize("at_m", [-0.15, 0.0, 0.15])
def test_roughness_tells_the_place(rng: np.random.Generator, at_m: float):
    """Where all faces look sideways, the place of the best fit is that of the same bumps."""
    bumps = np.array([rng.uniform(1.5, 5.0, 12), rng.uniform(-3.0, 3.0, 12), rng.uniform(0, 6, 12)])
    config = replace(ASKED, noise=replace(ASKED.noise, facing=0.3, vouching=5.0))
    source, target = rough_pipe(rng, 4000, bumps), rough_pipe(rng, 200_000, bumps)
    slip = along_x(source, target, config, at_m)
    assert slip.evidence > 1.5
    assert slip.variance > 1.0, "by curvature the place is not known"
    assert slip.axis[0] * slip.best_m == pytest.approx(-at_m, abs=0.05)
    assert np.sqrt(slip.best_variance) < 0.03


def test_scans_that_know_their_place_are_not_moved(rng: np.random.Generator):
    """In a closed room no direction is asked about, and without ``slip_m`` none anywhere."""
    ends = walls(rng, 40_000)[:, [1, 0, 2]] / [1.0, 8.0, 1.0]
    room = np.concatenate([walls(rng, 100_000), ends])
    result = register(room[::25], room, prior_covariance=PRIOR, config=ASKED)
    assert not result.slips
    corridor = walls(rng, 100_000)
    assert not register(walls(rng, 4000), corridor, prior_covariance=PRIOR, config=DEFAULT).slips
