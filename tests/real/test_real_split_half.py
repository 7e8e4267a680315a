# SPDX-License-Identifier: MIT
"""The split-half test on a real street: two odometries that share no point."""

from pathlib import Path

import numpy as np
from packed_dataset import PackedDataset

from svnicp.config import Config
from svnicp.scores import anees
from svnicp.studies.halves import OURS, HalfDataset, differences
from svnicp.studies.split_half import judged_methods
from svnicp.studies.watched import watched_run

SCANS, WARM_UP = 80, 15
"""Scans that are looked at, and those before which the map is young and trusted less on purpose."""


def test_halves_differ_by_about_as_much_as_they_say(real_data: Path):
    """On a city street the ANEES of the difference is between 0.5 and 2, per component."""
    dataset = PackedDataset(real_data / "sequences" / "nuscenes0006_lite10hz.npz", SCANS)
    first, second = (
        list(watched_run(HalfDataset(dataset, half, 0), Config.preset("default"), uses_imu=False))
        for half in (0, 1)
    )
    found = judged_methods(differences(first[WARM_UP:], second[WARM_UP:]))[OURS]
    assert len(found.errors) == SCANS - WARM_UP - 1
    assert 0.5 < anees(found.errors, found.covariances).value < 2.0
    assert np.isfinite(found.errors).all()
