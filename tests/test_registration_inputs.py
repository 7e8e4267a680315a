# SPDX-License-Identifier: MIT
"""Sentences about inputs that cannot be used: what is wrong, and what to do about that."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svnicp.config import Config
from svnicp.errors import InputError
from svnicp.lie import make_transform
from svnicp.local_map import VoxelMap
from svnicp.local_map.cloud_check import MAX_COORDINATE_M, check_cloud
from svnicp.registration import Status, register, register_in_map
from test_register import COARSE, MOTION, error, scans

CONVENTIONS = Path(__file__).parents[1] / "docs" / "conventions.md"
CLOUD = np.random.default_rng(3).uniform(-2.0, 2.0, size=(50, 3))


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (None, r"^source must be an \(n, 3\) array, got None$"),
        (CLOUD.ravel(), r"got shape \(150,\)$"),
        (CLOUD.T, r"got shape \(3, 50\); transpose it, cloud.T"),
        (np.zeros((4, 50)), r"got shape \(4, 50\); transpose it, cloud.T"),
        (CLOUD[:, :2], r"got shape \(50, 2\)$"),
        (np.zeros((50, 5)), r"got shape \(50, 5\); drop extra columns"),
        (CLOUD[:1], "^source has 1 point; at least 30 are needed$"),
        (CLOUD[:3], "^source has 3 points; at least 30 are needed, one in each row$"),
        (np.ma.masked_greater(CLOUD, 1.0), r"source has \d+ masked values; remove their rows"),
        (
            CLOUD + np.array([4e5, 5.2e6, 0.0]),
            "the limit is 1,000,000 m; subtract an origin near the sensor",
        ),
    ],
)
def test_a_wrong_cloud_is_told_what_it_needs(cloud: Any, message: str):
    """Advice is given only where it fits what was handed in."""
    with pytest.raises(InputError, match=message):
        check_cloud("source", cloud, 30)


def test_the_whole_range_of_coordinates_is_supported():
    """Nearly a thousand kilometres from the origin the answer is as good as near it."""
    far = make_transform(np.eye(3), np.array([9e5, -9e5, 100.0]))
    source, target = scans("room", 0, COARSE)
    result = register(source, target + far[:3, 3], T_target_source=far)
    assert result.status is Status.CONVERGED
    assert np.all(np.abs(error(result, far @ MOTION)) < 4.0 * result.sigmas)
    assert f"at most {MAX_COORDINATE_M:,.0f} m" in CONVENTIONS.read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_not_told_its_shape(value: float):
    """A prior or guess of the right shape with NaN or infinity is told so."""
    prior, guess = np.diag([1.0] * 5 + [value]), np.eye(4)
    guess[0, 3] = value
    with pytest.raises(InputError, match="has NaN or infinity; where nothing is known, give a la"):
        register(CLOUD, CLOUD, prior_covariance=prior)
    with pytest.raises(InputError, match=r"^T_target_source .* has NaN or infinity$"):
        register(CLOUD, CLOUD, T_target_source=guess)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rng": 3}, r"rng must be a numpy.random.Generator, got 3; a seed becomes one"),
        ({"config": "paper"}, r"config must be a svnicp.Config, got 'paper'; use Config.preset"),
        ({"config": Config().map}, "got a MapConfig; use Config.preset"),
        ({"prior_covariance": np.ma.masked_equal(np.eye(6), 1.0)}, "6 masked values"),
    ],
)
def test_arguments_of_another_kind_are_refused(arguments: dict[str, Any], message: str):
    """A seed, a preset's name or a part of a configuration is answered with how to say it."""
    with pytest.raises(InputError, match=message):
        register(CLOUD, CLOUD, **arguments)


def test_a_cloud_is_no_map():
    """Points where the map belongs are answered with what to do with them."""
    points: Any = CLOUD
    with pytest.raises(InputError, match=r"local_map must be a svnicp.VoxelMap, got a nda"):
        register_in_map(CLOUD, points)


@pytest.mark.parametrize("seconds", [np.zeros(49), np.zeros((50, 1)), np.full(50, np.nan)])
def test_times_belong_to_points(seconds: Any):
    """There is one finite time for each source point."""
    local_map = VoxelMap()
    local_map.insert(CLOUD)
    with pytest.raises(InputError, match="point_seconds must be 50 finite numbers"):
        register_in_map(CLOUD, local_map, point_seconds=seconds)
