# SPDX-License-Identifier: MIT
"""A map whose poses are true: also those along a scan, between which it is deskewed."""

import numpy as np
import pytest

from svnicp import simulate
from svnicp.baselines import registered
from svnicp.config import Config
from svnicp.studies import true_map


@pytest.mark.parametrize("name", ["offroad", "laurel_caverns"])
def test_scans_are_deskewed_as_they_moved(name: str, monkeypatch: pytest.MonkeyPatch):
    """Four times as many poses move no point by a tenth of what one beam's height is known to.

    Vibration of 9 Hz between ten poses put whole scans off by more than their registration was.
    """
    dataset, config = simulate(name, seed=100, duration_s=6.0), Config.preset("default")
    scan = dataset.scan(dataset.num_scans - 5)
    usual, _ = true_map.true_points(dataset, scan, config)
    monkeypatch.setattr(true_map, "NODES", 4 * true_map.NODES)
    finer, _ = true_map.true_points(dataset, scan, config)
    assert np.linalg.norm(usual - finer, axis=1).max() < 1e-4


def test_a_search_ends_over_wide_water():
    """Where far banks are all there is, and shifts and turns go together, steps do not swing away.

    Steps by the information rather than by the response missed two of three of these.
    """
    dataset, config = simulate("waterway_long", seed=100, duration_s=6.0), Config.preset("default")
    rng = np.random.default_rng(0)
    found = [registered(place.scan, rng) for place in true_map.places(dataset, config, 0, 4, 100)]
    assert len(found) == 14
    assert all(result.status.ok for result in found)
