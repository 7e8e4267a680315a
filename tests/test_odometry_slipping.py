# SPDX-License-Identifier: MIT
"""Information along a direction counts as far as moving the last scans along it has cost fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from svnicp.lie import make_transform, so3_exp
from svnicp.odometry.slipping import NUM_SCANS, Slipping
from svnicp.registration.slip import Slip

HERE = np.eye(4)
ALONE = np.diag([0.05**2, 0.003**2, 0.003**2, 1e-6, 1e-6, 1e-6])
MOVED = np.array([0.02, 0.0, 0.0, 0.0, 0.0, 0.0])
X = np.eye(6)[0]


def slip(share: float, evidence: float = 0.0, best_m: float = 0.0, best_sigma_m: float = np.inf):
    """What moving along x has told, of 30 points that should cost 200 nats."""
    return Slip(X, X[:3], 0.05**2, 200.0 * share, 200.0, 30.0, evidence, best_m, best_sigma_m**2)


def corrected(slipping: Slipping, one: Slip):
    """Innovation and covariance of a scan at the origin with one weak direction."""
    return slipping.corrected(MOVED, ALONE, MOVED, [one], HERE)


def test_what_is_real_stays():
    """Points that cost what they should when moved are taken at their word."""
    innovation, covariance = corrected(Slipping(), slip(share=1.0))
    assert_allclose(innovation, MOVED)
    assert_allclose(covariance, ALONE, atol=1e-12)


def test_what_slips_is_not_known():
    """Along the direction nothing is left; across it nothing changes."""
    _, covariance = corrected(Slipping(), slip(share=0.05))
    assert covariance[0, 0] > 20.0 * ALONE[0, 0]
    assert_allclose(covariance[1:, 1:], ALONE[1:, 1:], atol=1e-12)


def test_scans_are_asked_together():
    """One scan that seems to hold does not outweigh those that slipped, while they count."""
    slipping = Slipping()
    for _ in range(NUM_SCANS):
        corrected(slipping, slip(share=0.0))
    _, once = corrected(slipping, slip(share=1.0))
    assert once[0, 0] > 20.0 * ALONE[0, 0]
    at_last = [corrected(slipping, slip(share=1.0))[1] for _ in range(NUM_SCANS)][-1]
    assert at_last[0, 0] == pytest.approx(ALONE[0, 0])


def test_axes_are_those_of_the_world():
    """A body that has turned by 90 degrees asks nobody who slipped along another axis."""
    slipping = Slipping()
    for _ in range(NUM_SCANS):
        corrected(slipping, slip(share=0.0))
    turned = make_transform(so3_exp(np.array([0.0, 0.0, 0.5 * np.pi])), np.zeros(3))
    _, covariance = slipping.corrected(MOVED, ALONE, MOVED, [slip(share=1.0)], turned)
    assert covariance[0, 0] == pytest.approx(ALONE[0, 0])


def test_roughness_replaces_what_slips():
    """Where all points together fit best, from where the scan was found, is what counts."""
    rough = slip(share=0.1, evidence=2.5, best_m=0.08, best_sigma_m=0.01)
    innovation, covariance = corrected(Slipping(), rough)
    assert innovation[0] == pytest.approx(0.10, abs=1e-3)
    assert np.sqrt(covariance[0, 0]) == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("evidence", [0.0, 1.0])
def test_a_place_without_evidence_is_chance(evidence: float):
    """Some place always fits best; if moving farther costs nothing, it tells nothing."""
    chance = slip(share=0.1, evidence=evidence, best_m=0.08, best_sigma_m=0.01)
    innovation, covariance = corrected(Slipping(), chance)
    assert_allclose(innovation, MOVED)
    assert covariance[0, 0] > 20.0 * ALONE[0, 0]


@pytest.mark.parametrize("sigma_m", [0.2, 1e3, 1e5])
def test_the_best_place_counts_however_little_else_is_known(
    rng: np.random.Generator, sigma_m: float
):
    """Also along axes that turn with others: what is left is a covariance, of that place."""
    for _ in range(50):
        along = rng.normal(size=6) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]
        axis = along[:3] / np.linalg.norm(along[:3])
        alone = ALONE + sigma_m**2 * np.outer(along, along)
        one = Slip(along, axis, 0.05**2, 0.0, 200.0, 30.0, 5.0, 0.1, 0.0003**2)
        _, covariance = Slipping().corrected(MOVED, alone, MOVED, [one], HERE)
        np.linalg.cholesky(covariance)
        assert np.sqrt(axis @ covariance[:3, :3] @ axis) == pytest.approx(0.0003, rel=0.05)
