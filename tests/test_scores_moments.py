# SPDX-License-Identifier: MIT
"""Scores of covariances: known answers for Gaussian errors whose covariance is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from svnicp.errors import InputError
from svnicp.scores import (
    BLOCKS,
    Part,
    anees,
    anees_of_sampled_covariance,
    calibrated_kl,
    calibrated_nne,
    calibration_error,
    chi_square_band,
    component_coverage,
    covariance_after_cut,
    cut_mean,
    ellipsoid_coverage,
    expected_kl,
    gaussian_kl,
    kl_divergence,
    mean_kl,
    mismatch,
    nees,
    negative_log_likelihood,
    nne,
    nne_squares,
    nominal_coverage,
    reliability,
    variance_ratios,
)

SIGMAS = np.array([0.3, 0.02, 0.01, 1e-3, 2e-3, 5e-3])
HALVES: list[Part] = ["translation", "rotation"]
PARTS: list[Part] = ["pose", *HALVES]


def drawn(
    rng: np.random.Generator, count: int, roots: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Errors, and the covariances from which they are drawn."""
    if roots is None:
        roots = SIGMAS[:, None] * (np.eye(6) + 0.3 * rng.normal(size=(count, 6, 6)))
    errors = np.einsum("nij,nj->ni", roots, rng.normal(size=(count, 6)))
    return errors, roots @ np.swapaxes(roots, 1, 2)


def random_covariance(rng: np.random.Generator) -> np.ndarray:
    root = SIGMAS[:, None] * (np.eye(6) + 0.3 * rng.normal(size=(6, 6)))
    return root @ root.T


def log_density(errors: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Log density of a Gaussian, by independent components after whitening."""
    root = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(root, errors.T).T
    return stats.norm.logpdf(whitened).sum(axis=-1) - np.log(np.diag(root)).sum()


@pytest.mark.parametrize("part", PARTS)
def test_true_covariances_have_an_anees_in_the_band(rng, part):
    """Errors drawn from their covariances score 1 within the chi-square band, for every part."""
    found = anees(*drawn(rng, 3000), part)
    assert found.count == 3000
    assert found.low < found.value < found.high
    assert found.high - found.low < 0.09


def test_scaled_covariances_scale_the_nees(rng):
    """Half of the stated sigma makes four times the NEES, in every part."""
    errors, covariances = drawn(rng, 100)
    for part in PARTS:
        narrow = nees(errors, 0.25 * covariances, part)
        assert_allclose(narrow, 4.0 * nees(errors, covariances, part), rtol=1e-3)


@pytest.mark.parametrize(
    ("count", "size", "band"),
    [(100, 3, (0.846, 1.166)), (100, 6, (0.890, 1.116)), (1000, 6, (0.965, 1.036))],
)
def test_band_of_known_sizes(count, size, band):
    """The 95 % bands of published sizes come out."""
    assert_allclose(chi_square_band(count, size), band, atol=6e-4)


@pytest.mark.parametrize(
    ("count", "size", "factor"), [(30, 3, 1.16), (30, 6, 1.32), (100, 6, 1.08)]
)
def test_few_samples_look_over_confident(rng, count, size, factor):
    """The covariance of K exact samples has the ANEES (K - 1) / (K - d - 2), not 1."""
    assert_allclose(anees_of_sampled_covariance(count, size), factor, atol=0.005)
    samples = rng.normal(size=(4000, count, size))
    deviations = samples - samples.mean(axis=1, keepdims=True)
    covariances = np.swapaxes(deviations, 1, 2) @ deviations / (count - 1)
    errors = rng.normal(size=(4000, size))
    squares = np.einsum("ni,nij,nj->n", errors, np.linalg.inv(covariances), errors)
    assert_allclose(squares.mean() / size, factor, rtol=0.03)
    with pytest.raises(InputError, match="no finite mean"):
        anees_of_sampled_covariance(size + 2, size)


def test_nominal_coverage_of_ellipsoids():
    """1, 2 and 3 sigma hold the known shares in one, three and six dimensions."""
    assert_allclose(nominal_coverage(1), [0.683, 0.954, 0.997], atol=6e-4)
    assert_allclose(nominal_coverage(3), [0.199, 0.739, 0.971], atol=6e-4)
    assert_allclose(nominal_coverage(6), [0.014, 0.323, 0.826], atol=6e-4)


def test_coverage_of_true_and_of_narrow_covariances(rng):
    """True covariances cover what they should; half the sigma covers what half the radius holds."""
    errors, covariances = drawn(rng, 8000)
    for part in PARTS:
        found = ellipsoid_coverage(errors, covariances, part)
        assert_allclose(found.differences, 0.0, atol=0.02)
    narrow = ellipsoid_coverage(errors, 0.25 * covariances, "translation")
    assert_allclose(narrow.shares[1], stats.chi2.cdf(1.0, 3), atol=0.02)
    assert narrow.differences[1] < -0.5
    single = component_coverage(errors, 0.25 * covariances, "rotation")
    assert_allclose(single.shares[1], 0.6827, atol=0.02)


def test_reliability_curve(rng):
    """The curve is the diagonal for true covariances, and far from it for narrow ones."""
    errors, covariances = drawn(rng, 8000)
    levels = np.array([0.1, 0.5, 0.9])
    assert_allclose(reliability(errors, covariances, "pose", levels), levels, atol=0.02)
    assert calibration_error(errors, covariances) < 0.02
    assert 0.4 < calibration_error(errors, 0.05 * covariances) <= 0.5


def test_log_score_is_the_density(rng):
    """The score is minus the log density of a Gaussian, in every part."""
    errors, covariances = drawn(rng, 20)
    covariances[:, :3, 3:] = covariances[:, 3:, :3] = 0.0
    total = np.zeros(20)
    for part in HALVES:
        block = BLOCKS[part]
        expected = [
            -log_density(error[block], P[block, block])
            for error, P in zip(errors, covariances, strict=True)
        ]
        found = negative_log_likelihood(errors, covariances, part)
        assert_allclose(found, expected, rtol=1e-3)
        total += found
    assert_allclose(negative_log_likelihood(errors, covariances), total, rtol=1e-9)


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_log_score_prefers_the_true_covariance(rng, factor):
    """Covariances r times the true ones cost ½ d (1/r - 1 + ln r) more on average."""
    errors, covariances = drawn(rng, 20_000)
    cost = negative_log_likelihood(errors, factor * covariances).mean()
    cost -= negative_log_likelihood(errors, covariances).mean()
    assert_allclose(cost, 3.0 * (1.0 / factor - 1.0 + np.log(factor)), rtol=0.03)


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.001, 1488), (0.01, 142), (0.03, 43), (0.1, 10), (1, 0), (10, 2.1), (100, 5.4), (400, 7.5)],
)
def test_divergence_of_scaled_covariances(rng, ratio, expected):
    """An isotropic variance ratio gives the known divergence in three dimensions."""
    truth = random_covariance(rng)
    for part in HALVES:
        assert_allclose(kl_divergence(ratio * truth, truth, part), expected, rtol=0.02, atol=1e-6)


def test_divergence_is_the_mean_log_ratio_of_densities(rng):
    """KL is what samples of the truth say of the log ratio of both densities."""
    stated, truth = random_covariance(rng)[:3, :3], random_covariance(rng)[:3, :3]
    samples = rng.multivariate_normal(np.zeros(3), truth, size=200_000)
    log_ratio = log_density(samples, truth)
    log_ratio -= log_density(samples, stated)
    assert_allclose(gaussian_kl(stated, truth), log_ratio.mean(), rtol=0.02)


@pytest.mark.parametrize(
    ("count", "size", "expected"),
    [(10, 3, 0.81), (30, 3, 0.13), (100, 3, 0.03), (10, 6, 8.98), (30, 6, 0.56), (100, 6, 0.12)],
)
def test_divergence_that_few_samples_cost(count, size, expected):
    """Exact samples still diverge by a known amount, because they are few."""
    assert_allclose(expected_kl(size, stated_from=count), expected, rtol=0.02, atol=0.005)


def test_divergence_from_a_sampled_truth(rng):
    """A Monte-Carlo truth of n samples is itself known to d (d + 1) / 4n; simulation agrees."""
    assert_allclose(expected_kl(3, truth_from=1000), 12 / 4000, rtol=0.01)
    samples = rng.normal(size=(3000, 20, 3))
    truths = np.array([np.cov(cloud, rowvar=False) for cloud in samples])
    found = gaussian_kl(np.eye(3), truths).mean()
    assert_allclose(found, expected_kl(3, truth_from=20), rtol=0.03)
    for stated_from, truth_from in ((5, None), (None, 3)):
        with pytest.raises(InputError, match="no finite mean divergence"):
            expected_kl(3, stated_from, truth_from)


def test_singular_covariances_are_infinitely_far():
    """A stated or true covariance without volume gives infinity, and no warning."""
    flat = np.diag([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    assert kl_divergence(flat, np.eye(6), "translation") == np.inf
    assert kl_divergence(np.eye(6), flat, "translation") == np.inf
    assert kl_divergence(flat, flat, "rotation") == 0.0


def test_norm_error_is_root_mean_square_over_trace(rng):
    """NNE is 1 for true covariances, s times that for errors s times as large, blind to shape."""
    errors, covariances = drawn(rng, 20_000, np.tile(np.diag(SIGMAS), (20_000, 1, 1)))
    for part in HALVES:
        assert_allclose(nne(errors, covariances, part), 1.0, atol=0.02)
        assert_allclose(nne(3.0 * errors, covariances, part), 3.0, atol=0.06)
    turned = covariances[:, [1, 2, 0, 4, 5, 3]][:, :, [1, 2, 0, 4, 5, 3]]
    assert nne(errors, turned, "translation") == nne(errors, covariances, "translation")
    with pytest.raises(InputError, match="no common length"):
        nne(errors, covariances, "pose")


@pytest.mark.parametrize(
    ("sigmas", "cut", "expected"),
    [
        ([1, 1, 1], "two_sided", 0.940),
        ([1, 1, 1], "upper", 0.893),
        ([1, 1e-4, 1e-4], "two_sided", 0.837),
        ([1, 1e-4, 1e-4], "upper", 0.789),
        ([1, 2, 3], "none", 1.0),
    ],
)
def test_norm_error_of_a_perfect_answer_after_the_cut(rng, sigmas, cut, expected):
    """The calibrated values for round and for long ellipsoids are known, and samples agree."""
    covariance = np.diag(np.array([*sigmas, 1, 1, 1], dtype=float)) ** 2
    assert_allclose(calibrated_nne(covariance, "translation", cut), expected, atol=1e-3)
    samples = rng.normal(size=(1, 60_000, 6)) * np.sqrt(np.diag(covariance))
    assert_allclose(nne(samples, covariance[None], "translation", cut), expected, atol=0.01)


def test_cut_of_samples_and_cut_of_scans(rng):
    """Samples of a scan are cut scan by scan; single errors are cut over all scans."""
    covariances = np.array([np.diag([1.0] * 6), np.diag([1.0, 1.0, 1.0, 1.0, 1e-6, 1e-6])])
    roots = np.sqrt(covariances)
    samples = np.einsum("nij,nmj->nmi", roots, rng.normal(size=(2, 20_000, 6)))
    by_scan = nne(samples, covariances, "rotation", "upper")
    expected = calibrated_nne(covariances, "rotation", "upper", samples_of_scans=True)
    assert_allclose(by_scan, expected, atol=0.01)
    single = [calibrated_nne(covariance, "rotation", "upper") for covariance in covariances]
    assert_allclose(expected, np.sqrt(np.mean(np.square(single))), atol=1e-3)
    assert calibrated_nne(covariances, "rotation", "upper") < expected - 0.002
    one_each, of_each = samples.reshape(-1, 6), np.repeat(covariances, 20_000, axis=0)
    over_all = nne(one_each, of_each, "rotation", "upper")
    assert_allclose(over_all, calibrated_nne(covariances, "rotation", "upper"), atol=0.01)
    assert_allclose(nne_squares(samples, covariances, "rotation").mean(), 1.0, atol=0.02)


def test_divergence_after_the_cut(rng):
    """Cutting scans leaves a perfect answer its 0; cutting samples narrows the truth."""
    truth = np.array([random_covariance(rng) for _ in range(10)])
    stated = truth * np.where(np.arange(10) == 4, 0.01, 1.0)[:, None, None]
    assert_allclose(mean_kl(stated, truth, "rotation"), 14.16, rtol=0.01)
    assert_allclose(mean_kl(stated, truth, "rotation", "upper"), 0.0, atol=1e-9)
    samples = rng.normal(size=(100_000, 6))
    narrowed = covariance_after_cut(samples, "translation", "upper")
    assert_allclose(narrowed, 0.797 * np.eye(3), atol=0.01)
    assert_allclose(gaussian_kl(np.eye(3), narrowed), 0.0358, atol=0.003)
    assert_allclose(calibrated_kl(np.eye(6), "translation", "upper"), 0.0358, atol=1e-3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=10, max_size=50))
def test_cut_keeps_the_middle(values):
    """The cut mean is that of the sorted values between the ranks, in any order."""
    array = np.array(values)
    count = len(values)
    tenth, rest = count // 10, int(round(0.9 * count, 9))
    expected = np.sort(array)[tenth:rest].mean()
    assert_allclose(cut_mean(array[::-1], "two_sided"), expected, rtol=1e-9, atol=1e-6)
    assert_allclose(cut_mean(array, "upper"), np.sort(array)[:rest].mean(), rtol=1e-9, atol=1e-6)
    assert_allclose(cut_mean(array), array.mean(), rtol=1e-9, atol=1e-6)


def test_variance_ratios_show_both_errors_at_once(rng):
    """A covariance too narrow one way and too wide another is both, in whatever axes."""
    truth = random_covariance(rng)
    root = np.linalg.cholesky(truth)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    ratios = np.array([0.01, 0.5, 1.0, 1.0, 2.0, 9.0])
    stated = root @ turn @ np.diag(ratios) @ turn.T @ root.T
    assert_allclose(variance_ratios(stated, truth), ratios, rtol=1e-6)
    found = mismatch(stated, truth)
    assert_allclose([found.smallest, found.largest], [0.01, 9.0], rtol=1e-6)


def test_angle_between_longest_axes():
    """Ellipsoids whose long axes are 30 degrees apart say so, whatever the sign of the axes."""
    long = np.diag([1.0, 0.01, 0.01, 1.0, 1.0, 1.0])
    turn = np.eye(6)
    turn[:2, :2] = [[np.cos(0.5236), -np.sin(0.5236)], [np.sin(0.5236), np.cos(0.5236)]]
    assert_allclose(mismatch(turn @ long @ turn.T, long, "translation").angle_rad, 0.5236)
    with pytest.raises(InputError, match="singular"):
        variance_ratios(np.eye(6), np.diag([1.0, 0, 0, 1, 1, 1]), "translation")


def test_errors_without_their_covariances_are_refused(rng):
    """A score of arrays that do not fit is one sentence."""
    errors, covariances = drawn(rng, 5)
    for score in (nees, negative_log_likelihood, component_coverage):
        with pytest.raises(InputError, match="need as many covariances"):
            score(errors[:4], covariances)
    with pytest.raises(InputError, match="leaves nothing"):
        cut_mean(np.zeros(1), "upper")
