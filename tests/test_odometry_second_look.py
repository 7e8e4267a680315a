# SPDX-License-Identifier: MIT
"""The second look of LiDAR alone: deskewed by the motion that a scan shows, or by none at all."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from inertial_cases import random_covariance
from odometry_cases import DEFAULT, drive, errors, feed, measured
from svnicp.config import MotionConfig
from svnicp.data.measurements import Scan
from svnicp.odometry import Odometry
from svnicp.odometry.motion import PoseMeasurement
from svnicp.simulation.simulate import simulate
from svnicp.simulation.simulated import SimulatedDataset
from test_odometry_constant_velocity import moving_model, scan_at

ONE_LOOK = replace(DEFAULT, odometry=replace(DEFAULT.odometry, second_look=False))


@cache
def swung(seed: int) -> SimulatedDataset:
    """A cave, seen in sixteen rings by a LiDAR that is swung about."""
    return simulate("laurel_caverns", seed, 6.0)


def scans_of(dataset: SimulatedDataset) -> list[Scan]:
    """Its scans, without the readings."""
    return [one for one in measured(dataset) if isinstance(one, Scan)]


def test_shaking_costs_less_with_a_second_look():
    """The predicted twist distorts a scan; the one that it shows itself does so far less."""
    squares = dict.fromkeys([True, False], 0.0)
    for seed in (100, 102):
        for config in (DEFAULT, ONE_LOOK):
            odometry = Odometry(config, T_body_lidar=swung(seed).T_body_lidar)
            off = errors(swung(seed), feed(odometry, scans_of(swung(seed))))[:, :3]
            squares[config.odometry.second_look] += float(np.mean(off**2))
    assert squares[True] < 0.5 * squares[False]


def test_the_shown_twist_is_the_corrected_one(rng: np.random.Generator):
    """A scan is deskewed again by the twist that the filter would have after it."""
    model, scan = moving_model(rng), scan_at(0.1, with_times=True)
    prediction = model.predict(scan)
    innovation, lag = rng.normal(scale=0.5, size=6), rng.normal(scale=0.02, size=(6, 6))
    measurement = PoseMeasurement(innovation, random_covariance(rng, 6, 0.01), lag, np.eye(6))
    before = model.twist.copy()
    again = model.predict_again(scan, prediction, measurement)
    assert again is not None
    assert_allclose(model.twist, before)
    model.correct(measurement)
    assert_allclose(again.twist_change, model.twist - before, atol=1e-12)
    shown, corrected = again.track, model.track(scan)
    assert shown is not None
    assert corrected is not None
    assert_allclose(shown.nodes, corrected.nodes, atol=1e-12)


def test_a_motion_as_predicted_needs_no_second_look(rng: np.random.Generator):
    """Neither does a scan whose points have no times."""
    model, scan = moving_model(rng), scan_at(0.1, with_times=True)
    small = PoseMeasurement(np.full(6, 1e-6), np.eye(6) * 1e-4, np.zeros((6, 6)), np.eye(6))
    large = small._replace(innovation=np.full(6, 0.3))
    prediction = model.predict(scan)
    assert model.predict_again(scan, prediction, small) is None
    assert model.predict_again(scan, prediction, large) is not None
    assert model.predict_again(scan, prediction._replace(track=None), large) is None


@pytest.mark.parametrize("second_look", [True, False])
def test_a_scan_that_does_not_fit_is_asked_whether_the_motion_has_ended(second_look: bool):
    """A twist that was learnt wrongly leads out of the map; the body is still where it was."""
    odometry, scans = Odometry(DEFAULT if second_look else ONE_LOOK), scans_of(drive())[:8]
    feed(odometry, scans[:-1])
    odometry.motion.twist = np.array([6.0, 0.0, 0.0, 0.0, 0.0, 8.0])  # pyright: ignore[reportAttributeAccessIssue]
    (estimate,) = feed(odometry, scans[-1:])
    assert estimate.ok is second_look


def test_what_never_moved_cannot_stop(rng: np.random.Generator):
    """Before the speed is known there is no motion to end; later the doubt is all there may be."""
    model, scan = moving_model(rng, MotionConfig()), scan_at(0.1, with_times=True)
    at_rest = PoseMeasurement(np.zeros(6), np.eye(6) * 1e-4, np.zeros((6, 6)), np.eye(6))
    model.correct(at_rest)
    T_seen = model.T_world_body
    prediction = model.predict(scan)
    stopped = model.predict_stop(scan, prediction)
    assert stopped is not None
    assert stopped.start is not None
    assert_allclose(stopped.twist_change, -model.twist)
    assert_allclose(stopped.start, T_seen)
    assert np.all(np.linalg.eigvalsh(stopped.covariance - prediction.covariance) > 0.0)
    model.speed_known = False
    assert model.predict_stop(scan, prediction) is None
