# SPDX-License-Identifier: MIT
"""A corridor of equal ribs: particles on several of them, where a Gaussian is on one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from study_cases import keep, made_up_store
from svnicp.baselines import ScanInMap, registered
from svnicp.errors import InputError
from svnicp.lie import se3_exp
from svnicp.registration.locate import locate
from svnicp.scores import (
    kernel_share,
    negative_log_likelihood,
    particle_negative_log_likelihood,
)
from svnicp.studies import comb, modes
from svnicp.studies.plan import Plan
from svnicp.studies.store import Results
from svnicp.studies.tables import value_of


def test_one_particle_is_its_kernel(rng):
    """The score of a single particle is the Gaussian one about it, in every part."""
    roots = 0.1 * rng.standard_normal((5, 6, 6))
    kernels = roots @ np.swapaxes(roots, 1, 2)
    particles, errors = rng.standard_normal((2, 5, 6))
    for part in ("pose", "translation", "rotation"):
        found = particle_negative_log_likelihood(particles[:, None], errors, kernels, part)
        expected = negative_log_likelihood(errors - particles, kernels, part)
        assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(InputError, match="an error and a kernel for each"):
        particle_negative_log_likelihood(particles[:, None], errors[:2], kernels)


def test_samples_of_a_gaussian_have_its_density(rng):
    """Samples of N(0, I) with kernels h² I have the density of N(0, (1 + h²) I) on average."""
    share = kernel_share(100)
    errors = np.tile([0.5, -0.3, 0.2, 0.0, 0.4, -0.1], (1000, 1))
    kernels = np.tile(share * np.eye(6), (1000, 1, 1))
    particles = rng.standard_normal((1000, 100, 6))
    densities = np.exp(-particle_negative_log_likelihood(particles, errors, kernels))
    wide = negative_log_likelihood(errors[:1], (1.0 + share) * np.eye(6)[None])
    chance = 4.0 * densities.std() / np.sqrt(1000.0)
    assert_allclose(densities.mean(), np.exp(-wide[0]), atol=chance)


def test_two_modes_beat_their_gaussian(rng):
    """Where the truth is at one of two places, particles at both beat the wide Gaussian."""
    sides = np.where(rng.random((200, 1)) < 0.5, -1.0, 1.0) * np.eye(6)[0]
    truth = sides + 0.02 * rng.standard_normal((200, 6))
    both = np.where(rng.random((200, 100, 1)) < 0.5, -1.0, 1.0) * np.eye(6)[0]
    both = both + 0.02 * rng.standard_normal((200, 100, 6))
    kernels = np.tile(kernel_share(100) * 0.02**2 * np.eye(6), (200, 1, 1))
    found = particle_negative_log_likelihood(both, truth, kernels).mean()
    wide = np.diag([1.0, *[0.02**2] * 5])
    gaussian = negative_log_likelihood(truth, np.tile(wide, (200, 1, 1))).mean()
    # One bit for the side instead of a whole metre's width: ln(1 m / 0.02 m) less ln 2.
    assert 2.0 < gaussian - found < 3.5


def test_a_scan_fits_at_every_rib():
    """One period further along, Gauss-Newton stays, and the residuals are as small."""
    rng = np.random.default_rng(3)
    source, local_map = comb.comb_redraw()(rng)
    config, prior, scales = comb.gaussian_config(), np.diag([1e-4] * 3 + [4e-6] * 3), []
    for number in (0, 1, -1):
        T = comb.T_TRUE.copy()
        T[0, 3] += number * comb.PERIOD_M
        result = registered(ScanInMap(source, local_map, T, T, prior, config), rng)
        assert np.linalg.norm(result.T_target_source[:3, 3] - T[:3, 3]) < 0.005
        located = locate(local_map, source, T, prior, config)
        assert located is not None
        scales.append(located.scale)
    assert max(scales) - min(scales) < 0.05 * max(scales)


def test_particles_are_on_several_ribs():
    """Of a guess between the ribs the particles make several modes, the true one among them."""
    rng = np.random.default_rng(0)
    source, local_map = comb.comb_redraw()(rng)
    guess = comb.T_TRUE @ se3_exp(np.array([0.06, 0.02, -0.01, 0.001, -0.001, 0.003]))
    scan = ScanInMap(source, local_map, guess, guess, comb.prior_covariance(), comb.comb_config())
    result = registered(scan, rng)
    along = (np.linalg.inv(comb.T_TRUE) @ result.particles)[:, 0, 3]
    shares = modes.mode_shares(along)
    assert len([share for share in shares.values() if share > 0.15]) >= 2
    assert shares[0] > 0.15
    assert sum(shares.values()) > 0.7


def test_the_table_has_what_particles_add(tmp_path):
    """Differences are paired, and positive where particles are better."""
    plan = Plan(quick=True)
    store = made_up_store(tmp_path)
    (job,) = modes.jobs(plan)
    count = 10
    result = {
        "particles_nll": [-10.0] * count, "moments_nll": [-2.0] * count,
        "laplace_nll": [50.0] * count, "particles_energy": [0.08] * count,
        "moments_energy": [0.09] * count, "laplace_energy": [0.15] * count,
        "modes": [3.0] * count, "found": [1.0] * 9 + [0.0], "laplace_found": [0.0] * count,
    }  # fmt: skip
    keep(store, job, result)
    (table,) = modes.tables(plan, Results(store))
    row = table.find(answer=modes.MOMENTS)
    assert row is not None
    assert value_of(row["NLL, particles better by"]) == 8.0
    assert value_of(row["energy score, particles better by [mm]"]) == pytest.approx(10.0)
    ours = table.find(answer=modes.PARTICLES)
    assert ours is not None
    assert (value_of(ours["modes"]), ours["truth among them [%]"]) == (3.0, 90.0)
    assert modes.tables(plan, Results(made_up_store(tmp_path / "other")))[0].rows == []
