# SPDX-License-Identifier: MIT
"""Real scan pairs with a known relative transform are registered from a bad guess."""

from pathlib import Path

import numpy as np
import pytest

from svnicp.cloud_files import read_cloud
from svnicp.lie import se3_exp, se3_inverse, se3_log
from svnicp.registration import register

PAIRS = {
    "small_gicp": ("source.ply", "target.ply", "T_target_source.txt"),
    "fast_gicp": ("251371071.pcd", "251370668.pcd", "relative.txt"),
}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", PAIRS)
def test_the_given_transform_is_recovered(name: str, seed: int, real_data: Path):
    """From half a metre and five degrees off, the pose comes within 5 cm and 0.5 degrees."""
    source, target, transform = (real_data / "pairs" / name / part for part in PAIRS[name])
    truth = np.loadtxt(transform)
    rng = np.random.default_rng(seed)
    away, turn = rng.normal(size=(2, 3))
    offset = np.concatenate(
        [0.5 * away / np.linalg.norm(away), np.deg2rad(5.0) * turn / np.linalg.norm(turn)]
    )
    result = register(
        read_cloud(source), read_cloud(target), T_target_source=truth @ se3_exp(offset)
    )
    assert result.status.ok
    error = se3_log(se3_inverse(truth) @ result.T_target_source)
    assert np.linalg.norm(error[:3]) < 0.05
    assert np.rad2deg(np.linalg.norm(error[3:])) < 0.5
