# SPDX-License-Identifier: MIT
"""What happens to beams: noise, fading, fog, dust and movers have the statistics asked for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest

from svnicp.errors import ConfigError, InputError
from svnicp.kernels.moving_shapes import meet_movers
from svnicp.simulation.effects import DustCloud, Effects, measured_ranges, return_probability
from svnicp.simulation.movers import car, person, rows_and_velocities

NUM = 50_000


def measure(effects, ranges, rng, cosines=None):
    """Return what is measured of beams along x with a sensor of 100 m and 2 cm."""
    ranges = np.broadcast_to(np.asarray(ranges, dtype=np.float64), NUM)
    cosines = np.ones(NUM) if cosines is None else np.broadcast_to(cosines, NUM)
    directions = np.tile([1.0, 0.0, 0.0], (NUM, 1))
    return measured_ranges(
        effects, np.zeros((NUM, 3)), directions, ranges, cosines, 100.0, 0.02, rng
    )


def assert_share(seen, expected):
    """A share of NUM independent events is within four standard errors."""
    tolerance = 4.0 * np.sqrt(max(expected * (1.0 - expected), 1e-5) / NUM)
    assert abs(np.mean(seen) - expected) < tolerance


def test_nothing_happens_when_all_is_off(rng):
    """Without effects the measured ranges are the exact ones, lost beams stay lost."""
    ranges = np.where(np.arange(NUM) % 3 == 0, np.inf, np.linspace(1.0, 99.0, NUM))
    assert_array_equal(measure(Effects.none(), ranges, rng, 0.01), ranges)


def test_range_noise_is_the_sensors_or_as_asked(rng):
    """Ranges scatter by the sensor's noise, or by what the effects say instead."""
    for effects, expected in ((Effects(), 0.02), (Effects(range_noise_m=0.1), 0.1)):
        errors = measure(effects, 5.0, rng) - 5.0
        errors = errors[np.isfinite(errors)]
        assert_allclose(errors.std(), expected, rtol=4.0 / np.sqrt(2.0 * NUM))
        assert abs(errors.mean()) < 4.0 * expected / np.sqrt(NUM)


def test_returns_fade_with_range_and_incidence(rng):
    """Half of the beams return from the maximal range at right angles, fewer at grazing angles."""
    clear = np.zeros(4)
    chance = return_probability(
        np.array([10.0, 100.0, 100.0, 50.0]), np.array([1.0, 1.0, 0.5, 0.25]), clear, 100.0
    )
    assert chance[0] > 0.999
    assert_allclose(chance[1:], [0.5, 1.0 / 9.0, 0.5], rtol=1e-12)
    assert return_probability(np.array([np.inf]), np.zeros(1), np.zeros(1), 100.0)[0] == 0.0
    assert_share(np.isfinite(measure(Effects(), 100.0, rng, 0.5)), 1.0 / 9.0)


def test_dropouts_take_their_share(rng):
    """A dropout fraction loses that share of the beams and leaves the others alone."""
    measured = measure(Effects(range_noise_m=0.0, fading=False, dropout_fraction=0.3), 7.0, rng)
    assert_share(np.isinf(measured), 0.3)
    assert_array_equal(np.unique(measured), [7.0, np.inf])


def test_fog_sends_back_exponential_early_returns(rng):
    """Early returns come from an exponential free path of a third of the visibility."""
    fog = Effects(range_noise_m=0.0, fading=False, fog_visibility_m=30.0, early_return_share=0.4)
    measured = measure(fog, 25.0, rng)
    early = measured[measured < 25.0]
    assert_share(measured < 25.0, 0.4 * (1.0 - np.exp(-2.5)))
    truncated = (1.0 - np.exp(-early / 10.0)) / (1.0 - np.exp(-2.5))
    assert kstest(truncated, "uniform").pvalue > 1e-3


def test_fog_reduces_the_range(rng):
    """In fog a wall that is clear otherwise gets lost, by the loss on the way there and back."""
    effects = Effects(range_noise_m=0.0, fog_visibility_m=30.0, early_return_share=0.0)
    echo = (100.0 / 25.0) ** 2 * np.exp(-2.0 * 25.0 * 3.0 / 30.0)
    assert_share(np.isfinite(measure(effects, 25.0, rng)), echo**3 / (1.0 + echo**3))


def test_dust_acts_only_inside_its_cloud(rng):
    """Early returns of a dust cloud lie in it, as many as its chord explains, none beside it."""
    cloud = DustCloud((10.0, 1.5, 0.0), radius_m=2.5, visibility_m=6.0)
    effects = Effects(range_noise_m=0.0, fading=False, dust=(cloud,), early_return_share=1.0)
    measured = measure(effects, 20.0, rng)
    assert_share(measured < 20.0, 1.0 - np.exp(-4.0 * 3.0 / 6.0))
    early = measured[measured < 20.0]
    assert early.min() > 8.0
    assert early.max() < 12.0
    beside = DustCloud((10.0, 3.0, 0.0), radius_m=2.5, visibility_m=6.0)
    missed = Effects(range_noise_m=0.0, fading=False, dust=(beside,), early_return_share=1.0)
    assert_array_equal(measure(missed, 20.0, rng), 20.0)
    assert_array_equal(measure(effects, 7.0, rng), 7.0)


def test_people_walk_to_and_fro():
    """A walker is where speed and phase say, turns round at the ends, and keeps its height."""
    walker = person((0.0, 0.0, 0.5), (6.0, 8.0, 0.5), speed_mps=2.0, phase_s=1.0)
    places = [walker.position(time) for time in (0.0, 2.0, 4.0, 5.0, 9.0)]
    expected = [[1.2, 1.6], [3.6, 4.8], [6.0, 8.0], [4.8, 6.4], [0.0, 0.0]]
    assert_allclose(np.array(places)[:, :2], expected, atol=1e-12)
    assert_allclose(np.array(places)[:, 2], 0.5)


def test_beams_meet_movers_where_they_are_at_that_time():
    """A car that comes nearer shortens the range of later beams; a wall in front hides it."""
    approaching = car((30.0, 0.0, 0.0), (10.0, 0.0, 0.0), speed_mps=20.0)
    rows, velocities = rows_and_velocities((approaching,), start_s=0.2, duration_s=0.1)
    times = np.array([0.0, 0.05, 0.1, 0.1])
    origins = np.tile([0.0, 0.0, 1.0], (4, 1))
    directions = np.tile([1.0, 0.0, 0.0], (4, 1))
    ranges, cosines = np.array([50.0, np.inf, 50.0, 5.0]), np.full(4, 0.3)
    meet_movers(origins, directions, times, rows, velocities, ranges, cosines)
    assert_allclose(ranges, [23.8, 22.8, 21.8, 5.0], atol=1e-9)
    assert_allclose(cosines, [1.0, 1.0, 1.0, 0.3], atol=1e-9)


def test_movers_have_their_sizes():
    """A person is half a metre wide and 1.75 m tall; a car points along its way."""
    movers = (
        person((5.0, 0.0, 0.0), (6.0, 0.0, 0.0)),
        car((0.0, 9.0, 0.0), (10.0, 19.0, 0.0)),
    )
    rows, velocities = rows_and_velocities(movers, start_s=0.0, duration_s=0.1)
    heights = np.array([0.1, 1.7, 1.8])
    origins = np.column_stack([np.zeros(3), np.zeros(3), heights])
    ranges, cosines = np.full(3, np.inf), np.zeros(3)
    directions = np.tile([1.0, 0.0, 0.0], (3, 1))
    meet_movers(origins, directions, np.zeros(3), rows, velocities, ranges, cosines)
    assert_allclose(ranges, [4.75, 4.75, np.inf])
    # Along its heading the car reaches 2.2 m, across it 0.9 m.
    diagonal = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    across = np.array([1.0, -1.0, 0.0]) / np.sqrt(2.0)
    centre = np.array([0.0, 9.0, 0.7])
    for way, half in ((diagonal, 2.2), (across, 0.9)):
        reach, cosine = np.array([np.inf]), np.zeros(1)
        start, direction = (centre - 5.0 * way)[None], way[None]
        meet_movers(start, direction, np.zeros(1), rows, velocities, reach, cosine)
        assert_allclose(reach, 5.0 - half)


def test_mistakes_are_reported():
    """Shares beyond one, visibilities of zero and movers without a way are refused."""
    with pytest.raises(ConfigError, match="between 0 and 1"):
        Effects(dropout_fraction=1.5)
    with pytest.raises(ConfigError, match="visibility"):
        Effects(dust=(DustCloud((0.0, 0.0, 0.0), 1.0, 0.0),))
    with pytest.raises(ConfigError, match="range_noise_m"):
        Effects(range_noise_m=-0.1)
    with pytest.raises(InputError, match="two places"):
        person((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
