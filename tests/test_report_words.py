# SPDX-License-Identifier: MIT
"""The report's sentences: derived from constructed series, in which it is known what they say."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report_cases import SIGMAS, MadeRun
from svnicp.data.trajectory import Trajectory
from svnicp.evaluation import read_run
from svnicp.registration.posterior import WeakDirection
from svnicp.report.numbers import angle, length, moment, share, three_digits
from svnicp.report.run_series import read_series
from svnicp.report.spells import Spell, spells, weak_axes
from svnicp.report.summary import (
    calibration_in_words,
    constraint_in_words,
    sigmas_along_across,
    summary,
    travel_direction,
    when_in_words,
)
from svnicp.report.truth_errors import truth_errors

SECONDS = np.linspace(0.0, 59.9, 600)


def verdict(*weak: tuple[int, float, float], unused: slice = slice(0)) -> str:
    """Sentence about a minute in which axes were weak from one time to another [s]."""
    mask, used = np.zeros((600, 6), dtype=bool), np.ones(600, dtype=bool)
    for axis, start_s, end_s in weak:
        mask[round(10 * start_s) : round(10 * end_s) + 1, axis] = True
    used[unused] = False
    return constraint_in_words(mask, used, SECONDS)[0]


def test_the_verdict_names_the_axis_and_the_time():
    """One weak spell gives the sentence that a reader wants."""
    words = verdict((0, 12.0, 31.0))
    assert words == "Well constrained except along x between 12 s and 31 s."


def test_axes_with_the_same_time_share_a_phrase_and_the_longest_comes_first():
    """Axes are grouped by when they were weak, and only two groups are told with their times."""
    words = verdict((5, 3.0, 5.0), (0, 20.0, 50.0), (1, 20.0, 50.0), (2, 40.0, 41.0))
    assert words == (
        "Well constrained except along x and y between 20 s and 50 s; about z between 3.0 s and "
        "5.0 s; and at shorter times along z."
    )


@pytest.mark.parametrize(
    ("weak", "words"),
    [
        ([], "Well constrained in all six axes."),
        ([(3, 5.0, 5.1)], "Well constrained in all six axes, but for a few single scans."),
        ([(1, 0.0, 60.0)], "Well constrained except along y throughout."),
        (
            [(0, 0.0, 60.0), (1, 0.0, 60.0), (5, 0.0, 60.0), (2, 3.0, 9.0)],
            "Hardly constrained along x and y and about z throughout; and along z between 3.0 s "
            "and 9.0 s.",
        ),
        (
            [(axis, 30.0, 40.0) for axis in range(6)],
            "Hardly constrained in any direction between 30 s and 40 s.",
        ),
    ],
)
def test_the_verdict_fits_the_extremes(weak: list[tuple[int, float, float]], words: str):
    """Never weak, hardly ever, always, and in all directions have sentences of their own."""
    assert verdict(*weak) == words


def test_a_run_whose_scans_were_mostly_not_used_is_lost():
    """More than half of the scans unused outweighs everything else."""
    assert verdict((0, 12.0, 31.0), unused=slice(0, 400)).startswith("Lost")


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.floats(0.05, 3.0))
def test_spells_hold_every_scan_once_and_are_apart(mask: list[bool], bridge_s: float):
    """Gaps between spells are longer than what is bridged, and those inside are not."""
    held, seconds = np.array(mask), np.arange(float(len(mask))) / 10.0
    found = spells(held, seconds, bridge_s)
    assert sum(spell.num_scans for spell in found) == held.sum()
    for before, after in itertools.pairwise(found):
        assert after.start_s - before.end_s > bridge_s
    marked = seconds[held]
    for spell in found:
        inside = marked[(marked >= spell.start_s) & (marked <= spell.end_s)]
        assert len(inside) == spell.num_scans
        assert np.all(np.diff(inside) <= bridge_s)


def test_many_spells_are_counted_instead_of_told():
    """Only the longest spells are told, in the order of time."""
    found = [Spell(1.0, 2.0, 10), Spell(20.0, 28.0, 80), Spell(40.0, 41.5, 15), Spell(50, 50.5, 5)]
    assert when_in_words(found, SECONDS) == (
        "between 20 s and 28 s, between 40 s and 42 s and 2 shorter times"
    )


def test_weak_directions_mark_the_axes_that_they_are_near():
    """What scans.csv says becomes axes; a direction between two axes concerns both."""
    oblique = WeakDirection("rotation", np.array([0.0, 0.71, -0.70]), 0.1, 0.1)
    along = WeakDirection("translation", np.array([0.98, 0.2, 0.0]), 0.4, 0.5)
    said = ["", str(along), f"{along}; {oblique}", "nonsense along (a, b, c)"]
    expected = np.zeros((4, 6), dtype=bool)
    expected[1, 0] = expected[2, 0] = expected[2, 4] = expected[2, 5] = True
    assert np.array_equal(weak_axes(said, None), expected)


def test_an_uncertain_step_is_weak_even_if_nothing_was_said():
    """A step known to no better than some centimetres does not count as constrained."""
    covariances = np.stack([np.diag([1e-6] * 6), np.diag([1e-6, 0.05**2, 1e-6, 1e-8, 1e-8, 1e-4])])
    expected = [[False] * 6, [False, True, False, False, False, True]]
    assert weak_axes(["", ""], covariances).tolist() == expected


def test_along_and_across_split_the_covariance_by_the_way(tmp_path: Path):
    """On a way along world y, the sigma along is that of y, whatever the body's heading."""
    series = read_series(MadeRun(num_scans=8).write(tmp_path / "run"))
    positions = np.array([[0.0, 0.2 * index, 0.0] for index in range(8)])
    poses = np.tile(np.eye(4), (8, 1, 1))
    poses[:, :3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # body x is world y
    poses[:, :3, 3] = positions
    covariances = np.tile(np.diag([0.3, 0.1, 0.2, 1.0, 1.0, 1.0]) ** 2, (8, 1, 1))
    scans = series.scans
    turned = type(scans)(**{**scans.__dict__, "T_world_body": poses, "covariances": covariances})
    assert sigmas_along_across(turned) == pytest.approx((0.3, 0.2))
    assert travel_direction(positions[:3]) is None


def test_errors_are_those_that_the_run_was_made_with(tmp_path: Path):
    """Errors against the truth come out in the tangent in which they were put in."""
    made = MadeRun(num_scans=30)
    scans = read_series(made.write(tmp_path / "run")).scans
    assert scans.errors is not None
    np.testing.assert_allclose(scans.errors, made.errors, atol=1e-9)


def test_shares_within_stated_intervals_follow_the_scale_of_the_errors(tmp_path: Path):
    """Errors drawn from the stated sigmas lie on the diagonal; three times as large, far below."""
    nominal = np.array([0.5, 0.9])
    observed = {}
    for scale in (1.0, 3.0):
        made = MadeRun(num_scans=400, error_scale=scale, with_map=False)
        truth = read_series(made.write(tmp_path / f"{scale}")).truth
        assert truth is not None
        assert truth.absolute is not None
        observed[scale] = np.array(truth.absolute.within(nominal))
    np.testing.assert_allclose(observed[1.0], np.tile(nominal, (2, 1)), atol=0.05)
    assert np.all(observed[3.0] < nominal - 0.2)


@pytest.mark.parametrize(
    ("scale", "word"), [(1.0, "as large as"), (3.0, "over-confident"), (0.3, "cautious")]
)
def test_the_summary_says_whether_sigmas_hold(tmp_path: Path, scale: float, word: str):
    """Errors of the stated size, larger and smaller ones are told apart."""
    series = read_series(MadeRun(error_scale=scale).write(tmp_path / "run"))
    assert series.truth is not None
    assert word in calibration_in_words(series.truth)


def test_the_summary_tells_what_was_weak_and_what_was_not_used(tmp_path: Path):
    """A run with a weak spell and refused scans says both, with times and reasons."""
    made = MadeRun(weak=range(20, 50), refused=range(30, 34))
    said = summary(read_series(made.write(tmp_path / "run")))
    assert said.verdict == "Well constrained except along x between 2.0 s and 4.9 s."
    assert said.level == "weak"
    assert said.sentences[0].startswith("4 of 60 scans were not used: 4 because the match is too")
    assert "between 3.0 s and 3.3 s" in said.sentences[0]


def test_many_unused_scans_belong_to_the_verdict(tmp_path: Path):
    """A run that passed over a fifth of its scans does not open with praise alone."""
    said = summary(read_series(MadeRun(refused=range(30, 42)).write(tmp_path / "run")))
    assert said.verdict == "Well constrained in all six axes, and 20 % of the scans not used."
    assert said.level == "weak"


def test_the_error_at_the_end_is_held_against_its_sigma(tmp_path: Path):
    """Errors of ten sigma are said to be outside, and those of a tenth inside."""
    for scale, words in ((20.0, "outside 3 sigma along"), (0.1, "inside 3 sigma in all axes")):
        folder = MadeRun(error_scale=scale).write(tmp_path / words.split()[0])
        assert any(words in sentence for sentence in summary(read_series(folder)).sentences)


def test_truth_without_rotations_has_errors_of_positions_only(tmp_path: Path):
    """Positions alone are aligned by a fit, and only three errors are known."""
    made = MadeRun(num_scans=40)
    folder = made.write(tmp_path / "run")
    positions = made.T_true_body.copy()
    positions[:, :3, :3] = np.eye(3)
    found = truth_errors(read_run(folder), Trajectory(made.stamps_ns, positions, True))
    assert found.errors.shape == (40, 3)
    assert found.steps is None
    assert np.abs(found.errors).max() < 5.0 * SIGMAS.max()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (length(0.0296), "29.6 mm"),
        (length(1.204), "1.20 m"),
        (length(0.9999), "1.00 m"),
        (angle(math.radians(0.0216)), "0.0216°"),
        (moment(12.34), "12 s"),
        (moment(0.44), "0.4 s"),
        (share(0.9987), "99.9 %"),
        (share(1.0), "100 %"),
        (three_digits(123.4), "123"),
        (three_digits(float("nan")), "nan"),
    ],
)
def test_numbers_have_three_digits_and_their_unit(text: str, words: str):
    """Numbers are written as people write them."""
    assert text == words
