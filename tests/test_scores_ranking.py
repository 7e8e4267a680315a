# SPDX-License-Identifier: MIT
"""Energy score, rankings and bootstrap intervals: known answers, and that they cannot be fooled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from svnicp.errors import InputError
from svnicp.lie import se3_exp
from svnicp.scores import (
    block_bootstrap,
    block_length,
    calibrated_spearman,
    degeneracy_auc,
    energy_score,
    gaussian_energy_score,
    particle_tangents,
    spearman,
)


def test_energy_score_of_one_axis_is_the_known_crps():
    """Along one axis the energy score of a Gaussian is its CRPS, which has a closed form."""
    errors = np.zeros((3, 6))
    errors[:, 0] = [0.0, 0.5, -3.0]
    covariances = np.zeros((3, 6, 6))
    covariances[:, 0, 0] = 4.0
    z = errors[:, 0] / 2.0
    expected = 2.0 * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - np.pi**-0.5)
    assert_allclose(gaussian_energy_score(errors, covariances), expected, rtol=1e-12)


def test_energy_score_of_many_particles_is_that_of_their_gaussian(rng):
    """Fair scores of few particles average to the exact one: their number brings no gain."""
    root = np.array([0.3, 0.02, 0.01, 1e-3, 2e-3, 5e-3])[:, None] * rng.normal(size=(6, 6))
    error = root @ rng.normal(size=6)
    exact = gaussian_energy_score(error[None], (root @ root.T)[None])[0]
    for count in (3, 30):
        particles = rng.normal(size=(20_000 // count, count, 6)) @ root.T
        scores = energy_score(particles, np.broadcast_to(error, (len(particles), 6)))
        assert_allclose(scores.mean(), exact, atol=4.0 * scores.std() / len(scores) ** 0.5)


def test_energy_score_counts_radians_by_the_lever():
    """A point mass is scored by its distance; a radian counts ten metres, or what is asked for."""
    particles = np.zeros((1, 5, 6))
    error = np.array([[3.0, 0.0, 0.0, 0.0, 0.4, 0.0]])
    assert_allclose(energy_score(particles, error), 5.0)
    assert_allclose(energy_score(particles, error, "translation"), 3.0)
    assert_allclose(energy_score(particles, error, "rotation", lever_m=1.0), 0.4)
    with pytest.raises(InputError, match="at least two particles"):
        energy_score(particles[:, :1], error)


def test_energy_score_prefers_two_modes_where_there_are_two(rng):
    """Particles on both modes beat the Gaussian with the same mean and covariance."""
    modes = np.where(rng.random((400, 1)) < 0.5, -1.0, 1.0) * np.eye(6)[0]
    truth = modes + 0.05 * rng.normal(size=(400, 6))
    particles = np.where(rng.random((400, 30, 1)) < 0.5, -1.0, 1.0) * np.eye(6)[0]
    particles = particles + 0.05 * rng.normal(size=(400, 30, 6))
    covariance = np.diag([1.0 + 0.05**2] + [0.05**2] * 5)
    gaussian = gaussian_energy_score(truth, np.broadcast_to(covariance, (400, 6, 6)), "translation")
    assert energy_score(particles, truth, "translation").mean() < gaussian.mean() - 0.02


@pytest.mark.parametrize("factor", [0.04, 25.0])
def test_energy_score_prefers_the_true_covariance(rng, factor):
    """Too narrow and too wide both lose on average."""
    truth = np.diag([0.3, 0.02, 0.01, 1e-3, 2e-3, 5e-3]) ** 2
    errors = rng.normal(size=(3000, 6)) * np.sqrt(np.diag(truth))
    right = gaussian_energy_score(errors, np.broadcast_to(truth, (3000, 6, 6)))
    wrong = gaussian_energy_score(errors, np.broadcast_to(factor * truth, (3000, 6, 6)))
    assert wrong.mean() > 1.05 * right.mean()


def test_particles_in_the_tangent_of_a_pose(rng):
    """Poses around a reference come back as the tangents they were made of."""
    T = se3_exp(np.array([[5.0, -2.0, 1.0, 0.3, 1.0, -0.4], [0.0, 1.0, 0.0, 0.0, 0.0, 2.0]]))
    tangents = 0.1 * rng.normal(size=(2, 7, 6))
    assert_allclose(particle_tangents(T, T[:, None] @ se3_exp(tangents)), tangents, atol=1e-12)


def test_spearman_is_scipys(rng):
    """Rank correlation with ties is SciPy's; the sign of an error does not matter."""
    sigmas = rng.integers(1, 6, size=200).astype(float)
    errors = sigmas * rng.normal(size=200)
    expected = float(np.asarray(stats.spearmanr(sigmas, np.abs(errors)))[0])
    assert_allclose(spearman(sigmas, errors), expected, rtol=1e-12)
    assert spearman(sigmas, sigmas**3) == pytest.approx(1.0)
    assert spearman(np.ones(200), errors) == 0.0
    with pytest.raises(InputError, match="an error each"):
        spearman(sigmas, errors[:5])


def test_even_a_perfect_sigma_does_not_rank_perfectly(rng):
    """What a calibrated sigma gets is between 0 and 1, and what drawn errors get."""
    sigmas = np.exp(rng.normal(size=3000))
    best = calibrated_spearman(sigmas, rng)
    assert 0.4 < best < 0.8
    assert_allclose(spearman(sigmas, sigmas * rng.normal(size=3000)), best, atol=0.05)


def test_detector_is_judged_by_pairs(rng):
    """The area under the curve is the share of pairs in the right order, ties as halves."""
    sigmas = rng.integers(0, 5, size=60).astype(float)
    degenerate = rng.random(60) < 0.3
    pairs = sigmas[degenerate][:, None] - sigmas[~degenerate][None]
    assert_allclose(
        degeneracy_auc(sigmas, degenerate), np.mean((pairs > 0) + 0.5 * (pairs == 0)), rtol=1e-12
    )
    assert degeneracy_auc(degenerate.astype(float), degenerate) == 1.0
    assert degeneracy_auc(np.ones(60), degenerate) == 0.5
    with pytest.raises(InputError, match="not degenerate"):
        degeneracy_auc(sigmas, np.zeros(60, dtype=bool))


def autoregressive(rng, count: int, correlation: float) -> np.ndarray:
    """Return correlated numbers of unit variance."""
    series = rng.normal(size=count)
    for i in range(1, count):
        fresh = np.sqrt(1.0 - correlation**2) * series[i]
        series[i] = correlation * series[i - 1] + fresh
    return series


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_intervals_of_correlated_scans_hold_the_truth(correlation):
    """95 % intervals of a mean hold it in about 19 of 20 series, correlated or not."""
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        series = autoregressive(rng, 400, correlation)
        found = block_bootstrap(lambda x: float(x.mean()), series, rng=rng, resamples=150)
        held += found.low < 0.0 < found.high
        assert found.value == series.mean()
    # 100 trials scatter by 2; blocks of a finite series lose a few points of coverage.
    assert 85 <= held <= 100


def test_single_scans_instead_of_blocks_would_be_too_sure():
    """Drawn one by one, correlated scans make an interval less than half as wide."""
    rng = np.random.default_rng(3)
    series = autoregressive(rng, 2000, 0.9)
    wide = block_bootstrap(np.mean, series, rng=rng, resamples=300)
    narrow = block_bootstrap(np.mean, series, rng=rng, block=1, resamples=300)
    assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)


def test_block_length_grows_with_correlation(rng):
    """Independent values need no blocks, correlated ones do; a constant has none."""
    lengths = [block_length(autoregressive(rng, 1000, c)) for c in (0.0, 0.5, 0.9)]
    assert lengths[0] == 1
    assert 1 < lengths[1] < lengths[2] <= 250
    assert block_length(np.ones(100)) == 1


def test_blocks_stay_within_runs_and_rows_stay_together(rng):
    """Every run is drawn as often as it is long, and rows of all arrays are drawn together."""
    runs = np.repeat([0, 1, 7], [10, 30, 5])
    values = np.arange(45.0)

    def check(numbers: np.ndarray, labels: np.ndarray) -> float:
        assert np.array_equal(labels, np.repeat([0, 1, 7], [10, 30, 5]))
        assert np.array_equal(runs[numbers.astype(int)], labels)
        return float(numbers.mean())

    found = block_bootstrap(check, values, runs, rng=rng, block=4, runs=runs, resamples=50)
    assert found.low < found.value < found.high
    with pytest.raises(InputError, match="the same length"):
        block_bootstrap(check, values, runs[:3], rng=rng)
