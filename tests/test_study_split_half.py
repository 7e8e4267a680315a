# SPDX-License-Identifier: MIT
"""The split-half test: halves that share nothing, and covariances that are held against them."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from study_cases import keep, made_up_store
from svnicp.config import Config
from svnicp.data.measurements import Scan
from svnicp.lie import se3_adjoint, se3_exp, se3_inverse, se3_log
from svnicp.scores import Interval
from svnicp.studies import split_half
from svnicp.studies.halves import (
    BASELINES,
    OURS,
    WITHOUT_PARTICLES,
    between,
    compared,
    half_of,
)
from svnicp.studies.packed import plain, plain_covariances
from svnicp.studies.plan import Plan
from svnicp.studies.source import Source
from svnicp.studies.store import Results
from svnicp.studies.tables import value_of

TINY = Plan(
    presets=("default",), quick=True, num_seeds=1, sparse=16, duration_s=2.6, scenarios=("room",)
)


def test_halves_share_no_point_and_have_the_same_time(rng):
    """Every point is in one half, neighbours in time are in different ones, mean times agree."""
    times = rng.permutation(np.repeat(np.arange(500) * 200_000, 4)) + 10**18
    scan = Scan(10**18, rng.standard_normal((2000, 3)), times)
    first, second = half_of(scan, rng)
    assert sorted([*first, *second]) == list(range(2000))
    means = [Scan(10**18, scan.points[half], times[half]).mean_ns for half in (first, second)]
    assert abs(means[0] - means[1]) < 20_000  # pairs are at most one column apart
    order = np.argsort(times, kind="stable").reshape(-1, 2)
    assert all(len({*pair} & {*first.tolist()}) == 1 for pair in order.tolist())


def test_motion_between_two_poses_has_both_errors(rng):
    """Poses drawn around two others scatter in between as the covariance says."""
    T_before = se3_exp(np.array([5.0, -2.0, 1.0, 0.3, -0.2, 1.0]))
    T_now = T_before @ se3_exp(np.array([3.0, 0.4, 0.0, 0.0, 0.1, 0.4]))
    sigmas = np.array([0.01, 0.02, 0.005, 0.001, 0.002, 0.003])
    T_now_before = se3_inverse(T_now) @ T_before
    stated = between(np.diag(sigmas**2), np.diag(sigmas**2), T_now_before)
    draws = sigmas * rng.standard_normal((2, 4000, 6))
    moved = se3_inverse(T_before @ se3_exp(draws[0])) @ (T_now @ se3_exp(draws[1]))
    errors = se3_log(T_now_before @ moved)
    squares = np.einsum("ni,ij,nj->n", errors, np.linalg.inv(stated), errors)
    assert_allclose(squares.mean() / 6.0, 1.0, atol=0.05)
    assert_allclose(stated[:3, :3] - np.diag(sigmas[:3] ** 2),
                    (se3_adjoint(T_now_before) @ np.diag(sigmas**2) @
                     se3_adjoint(T_now_before).T)[:3, :3])  # fmt: skip


def test_a_room_is_judged_by_all_methods_alike(tmp_path):
    """Methods stand on the same steps and windows; ours is not over-confident about a room."""
    cheap = {name: BASELINES[name] for name in ("Laplace", "Censi, point to plane")}
    source = Source(name="room", seed=200, duration_s=4.0, sparse=32, skip_s=2.6)
    store, config = made_up_store(tmp_path), Config.variant("svn")
    (job,) = split_half.jobs(TINY)
    keep(store, job, compared(source.open(), config, 0, cheap))
    halves, seconds = split_half.tables(TINY, Results(store))
    for table, count in ((halves, 12), (seconds, 3)):
        methods = {row["method"]: row["scans"] for row in table.rows}
        expected = {"default", "default without particles", *cheap}
        assert methods == dict.fromkeys(expected, count)
    ours = halves.find(method="default")
    assert ours is not None
    assert 0.0 < (value_of(ours["ANEES trans."]) or 0.0) < 2.0  # a young map is trusted little


def test_known_differences_give_known_scores(tmp_path, rng):
    """Differences drawn from the sum score 1, and so does a constant fitted to the other half."""
    sigmas = np.array([0.01, 0.02, 0.03, 0.001, 0.002, 0.003])
    errors = sigmas * rng.standard_normal((600, 6))
    right = plain_covariances(np.tile(np.diag(sigmas**2), (600, 1, 1)))
    wide = plain_covariances(np.tile(np.diag(4.0 * sigmas**2), (600, 1, 1)))
    part = {"errors": plain(errors), "covariances": {OURS: right, "Laplace": wide}}
    store = made_up_store(tmp_path)
    (job,) = split_half.jobs(TINY)
    keep(store, job, {"num_scans": 601, "steps": part})
    halves, seconds = split_half.tables(TINY, Results(store))
    assert seconds.rows == []
    for method, expected in (("default", 1.0), ("Laplace", 0.25), (split_half.CONSTANT, 1.0)):
        row = halves.find(method=method)
        assert row is not None
        for name in ("ANEES trans.", "ANEES rot."):
            cell = row[name]
            assert isinstance(cell, Interval)
            assert_allclose(cell.value, expected, rtol=0.1)


def test_a_job_without_truth_has_only_halves(monkeypatch):
    """A recording without truth is judged by its halves alone, by everybody who was asked."""
    source = Source(name="room", seed=200, duration_s=2.3, sparse=32, skip_s=2.0)
    dataset = source.open()
    monkeypatch.setattr(dataset, "ground_truth", None)
    found = compared(dataset, Config.variant("svn"), 0, BASELINES)
    assert set(found) == {"num_scans", "steps"}
    assert len(found["steps"]["errors"]) == found["num_scans"] - 2
    assert set(found["steps"]["covariances"]) == {OURS, WITHOUT_PARTICLES, *BASELINES}


@pytest.mark.parametrize("name", ["street", "urban"])
def test_scenarios_of_the_study_exist(name):
    """The study takes its scenarios unless a quick one is asked for."""
    plan = dataclasses.replace(TINY, quick=False, scenarios=())
    assert any(job.words.startswith(name) for job in split_half.jobs(plan))
