# SPDX-License-Identifier: MIT
"""From how many places a map was seen: a standing body sees the same lines again and again."""

import numpy as np

from svnicp.config import Config
from svnicp.odometry.map_views import KNOWN_VIEWS, MapViews
from svnicp.odometry.matching import (
    MOST_TILT_CARRIED_RAD,
    MOST_TILT_RAD,
    alone,
    carried,
    shared_tilt,
    trusting,
)


def test_standing_still_is_one_view():
    """Scans from places less than a patch apart count once, and slow motion adds up."""
    views = MapViews()
    for _ in range(50):
        views.add(np.array([0.1, 0.0, 0.0]), 0.25)
    assert views.count == 1
    for metres in np.arange(0.1, 1.11, 0.05):
        views.add(np.array([metres, 0.0, 0.0]), 0.25)
    assert views.count == 5


def test_a_map_is_known_after_some_views():
    """Only a map that was seen from many places may stand against an IMU."""
    views = MapViews()
    for metres in range(KNOWN_VIEWS):
        assert not views.are_many
        views.add(np.array([float(metres), 0.0, 0.0]), 0.25)
    assert views.are_many


def test_an_imu_decides_what_normals_are_trusted_with():
    """With an IMU surfaces must face the way, or be vouched for; without one all are needed."""
    config = Config.preset("default")
    without, with_imu = alone(config, 20), carried(config, 20)
    assert 0.0 < without.noise.facing == config.noise.facing < with_imu.noise.facing
    assert with_imu.noise.facing == config.odometry.facing_with_imu
    assert with_imu.noise.vouching == config.odometry.vouching_with_imu > 0.0
    assert without.noise.vouching == 0.0
    assert config.match.settled_scans < without.match.settled_scans < with_imu.match.settled_scans


def test_after_a_start_at_speed_every_hint_counts():
    """Nothing is shrunk and nothing has to settle, in a map of any age."""
    begun = trusting(Config.preset("default"))
    assert begun.noise.facing == begun.noise.shared_tilt_rad == begun.match.settled_scans == 0


def test_a_map_from_one_place_may_be_tilted_most():
    """The tilt that all normals may share falls with every view, to that of an old map."""
    config = Config.preset("default").odometry
    tilts = [shared_tilt(config, count, MOST_TILT_CARRIED_RAD) for count in (1, 2, 5, 20, 1000)]
    assert tilts[0] == MOST_TILT_CARRIED_RAD
    assert shared_tilt(config, 1, MOST_TILT_RAD) == MOST_TILT_RAD < MOST_TILT_CARRIED_RAD
    assert np.all(np.diff(tilts) < 0.0)
    assert np.isclose(tilts[-1], config.map_tilt_rad, rtol=1e-3)
