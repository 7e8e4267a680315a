# SPDX-License-Identifier: MIT
"""Tables of studies on made-up jobs whose answers are known."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from study_cases import drive_result, keep, made_up_store
from svnicp.scores import Interval
from svnicp.studies import absolute, accuracy_claims, claims, kl_nne
from svnicp.studies.ape_tables import TABLE1, variant_job
from svnicp.studies.covariance_rows import Judged, average_row, covariance_row
from svnicp.studies.evidence import Evidence
from svnicp.studies.fit import Sample, fit_factor, trimmed_mean
from svnicp.studies.intervals import mean_difference, mean_of_runs
from svnicp.studies.packed import array_of, covariances_of, plain, plain_covariances
from svnicp.studies.paper_numbers import APE_M
from svnicp.studies.particle_gain import gain_table
from svnicp.studies.plan import Plan
from svnicp.studies.results_page import beside_paper, results_page
from svnicp.studies.split import HELD_OUT, PAPER_SCENARIOS, TRAINING_SCENARIOS
from svnicp.studies.store import Results
from svnicp.studies.tables import (
    Origin,
    Table,
    Value,
    cell_text,
    csv_text,
    json_text,
    markdown,
    value_of,
)

ORIGIN = Origin("svnicp study x", {"svnicp": "0"}, 2, True, 60.0, 3, {"abc": 3}, (200,))
PLAN = Plan(presets=("default",), quick=True, num_seeds=2, scenarios=("long_corridor",))


def number(cell: Value) -> float:
    """Return the number in a cell, which must have one."""
    found = value_of(cell)
    assert found is not None
    return found


def test_covariances_survive_json(rng):
    """Seven digits of the upper triangle give the covariances back; what is unknown is NaN."""
    roots = rng.standard_normal((4, 6, 6))
    covariances = roots @ roots.transpose(0, 2, 1)
    back = covariances_of(json.loads(json.dumps(plain_covariances(covariances))))
    assert_allclose(back, covariances, rtol=1e-6)
    assert np.isnan(array_of(plain([[1.0, np.inf]]), 2)[0, 1])


def test_split_is_a_partition():
    """No scenario is both fitted on and held out, and each of the paper's is one of them."""
    assert not set(TRAINING_SCENARIOS) & set(HELD_OUT)
    assert len(PAPER_SCENARIOS) == 17
    assert set(PAPER_SCENARIOS) <= {*TRAINING_SCENARIOS, *HELD_OUT}
    assert all(set(known) <= set(PAPER_SCENARIOS) for known in APE_M.values())


def test_scores_of_calibrated_errors_are_nominal(rng):
    """Errors drawn from the covariance have ANEES 1 and nominal shares, inside the intervals."""
    judged = [Judged.of_steps(drive_result(rng)) for _ in range(3)]
    row = covariance_row(judged)
    assert row is not None
    for name, nominal in (("ANEES trans.", 1.0), ("ANEES rot.", 1.0), ("inside 2σ [%]", 95.4)):
        cell = row[name]
        assert isinstance(cell, Interval)
        assert cell.low < nominal < cell.high
        assert cell.high - cell.low < 0.3 * nominal
    assert row["scans"] == 600
    wide = covariance_row([Judged.of_steps(drive_result(rng, scale=2.0))])
    assert wide is not None
    assert_allclose(number(wide["ANEES trans."]), 4.0, rtol=0.2)
    average = average_row([row, wide])
    means = [number(each["ANEES rot."]) for each in (row, wide)]
    assert_allclose(number(average["ANEES rot."]), np.mean(means), rtol=1e-9)


def test_table_of_drives_has_means_and_failures(tmp_path, rng):
    """APE is the mean over the seeds that did not fail; failed ones are counted."""
    store = made_up_store(tmp_path)
    for source, ape_m in zip(
        PLAN.sources(("long_corridor",), PLAN.seeds(3)), (0.4, 0.6), strict=True
    ):
        keep(store, variant_job(PLAN, source, "svn", "default"), drive_result(rng, ape_m=ape_m))
        broken = {**drive_result(rng), "status": "diverged", "ape_m": 1e3}
        keep(store, variant_job(PLAN, source, "svgd", "default"), broken)
    table = TABLE1.tables(PLAN, Results(store))[0]
    row = table.find(preset="default", method="SVN-ICP", dataset="long_corridor")
    assert row is not None
    cell = row["APE [m]"]
    assert isinstance(cell, Interval)
    assert_allclose([cell.value, cell.low, cell.high], [0.5, 0.4, 0.6])
    assert (row["runs"], row["failed"]) == (2, 0)
    bad = table.find(method="SVGD-ICP")
    assert bad is not None
    assert (bad["APE [m]"], bad["runs"], bad["failed"]) == (None, 2, 2)
    unknown = table.find(method="Stein ICP")
    assert unknown is not None
    assert unknown["runs"] == 0
    shown = beside_paper(table).find(method="SVN-ICP")
    assert shown is not None
    assert shown["paper: APE [m]"] == "1.321"


def test_kl_and_nne_of_a_perfect_and_of_a_narrow_answer(rng):
    """The truth itself has KL 0 and NNE 1; a hundredth of the variance has KL 142 and NNE 10."""
    sigmas = np.array([0.1, 0.01, 0.01, 0.001, 0.001, 0.001])
    frames = []
    for _ in range(20):
        errors = sigmas * rng.standard_normal((500, 6))
        truth = np.diag(sigmas**2)
        truths = {"covariance": plain_covariances(truth)[0], "errors": plain(errors)}
        methods = {
            "right": {"covariance": plain_covariances(truth)[0]},
            "narrow": {"covariance": plain_covariances(0.01 * truth)[0], "error": plain(errors[0])},
        }
        frames.append({"truths": {"redraws": truths}, "methods": methods})
    right = kl_nne.scores_of(frames, "right", "redraws", "none")
    assert_allclose(number(right["KL trans."]), 0.0, atol=1e-6)
    assert_allclose(number(right["NNE rot."]), 1.0, rtol=0.03)
    narrow = kl_nne.scores_of(frames, "narrow", "redraws", "none")
    assert_allclose(number(narrow["KL rot."]), 0.5 * (300.0 - 3.0 * np.log(100.0) - 3.0), rtol=1e-3)
    assert_allclose(number(narrow["NNE rot."]), 10.0, rtol=0.35)
    assert kl_nne.scores_of(frames, "unknown", "redraws", "none") == {}
    cut = number(kl_nne.scores_of(frames, "right", "redraws", "upper")["NNE rot."])
    assert_allclose(cut, 0.893, rtol=0.03)
    frames[3]["methods"]["right"] = frames[3]["methods"]["narrow"]
    spoiled = kl_nne.scores_of(frames, "right", "redraws", "none")
    assert number(spoiled["KL trans."]) > 5.0
    repaired = kl_nne.scores_of(frames, "right", "redraws", "upper")
    assert_allclose(number(repaired["KL trans."]), 0.0, atol=1e-6)


def test_particles_are_compared_scan_by_scan(rng):
    """A covariance four times too wide costs 1.91 nats of the NLL; equal ones cost nothing."""
    runs = [Judged.of_steps(drive_result(rng)) for _ in range(2)]
    wide = [Judged(run.errors, 4.0 * run.covariances, run.energy + 0.002) for run in runs]
    found = {"default": runs, "Laplace": wide, "default without particles": runs}
    table = gain_table({"a": found, "b": found, "empty": {"default": runs}})
    row = table.find(scenario="a")
    assert row is not None
    # ½ d (1/r - 1 + ln r) for r = 4 and d = 6.
    assert_allclose(number(row["NLL over Laplace"]), 1.91, atol=0.15)
    assert_allclose(number(row["energy score over Laplace [mm]"]), 2.0)
    assert number(row["NLL over corrected Laplace"]) == 0.0
    assert [row["scenario"] for row in table.rows] == ["a", "b", "all"]


def test_ends_of_runs_inside_their_covariance(rng):
    """Errors drawn from a growing covariance have ANEES 1, and the covariance grows."""
    cells = absolute.end_cells([drive_result(rng) for _ in range(60)])
    assert_allclose(number(cells["ANEES"]), 1.0, atol=0.25)
    assert cells["grows"] == 1.0
    assert cells["runs"] == 60


@pytest.mark.parametrize("part", ["translation", "rotation", "pose"])
def test_fit_finds_the_factor(rng, part):
    """Errors twice as large as stated ask for four times the variance, outliers or not."""
    samples = []
    for _ in range(3):
        judged = Judged.of_steps(drive_result(rng, scale=2.0))
        judged.errors[:2] *= 50.0
        samples.append(Sample(judged.errors, np.zeros((1, 6, 6)), judged.covariances))
    assert_allclose(fit_factor(samples, part), 4.0, rtol=0.15)


def test_fit_leaves_the_fixed_part_alone(rng):
    """With a known part of the variance the factor is that of the other part."""
    errors = rng.standard_normal((4000, 6)) * np.sqrt(1.0 + 3.0)
    sample = Sample(errors, np.tile(np.eye(6), (4000, 1, 1)), np.tile(np.eye(6), (4000, 1, 1)))
    assert_allclose(fit_factor([sample], "pose"), 3.0, rtol=0.06)


def test_trimmed_mean_is_right_for_gaussian_squares(rng):
    """Without outliers the trimmed mean of chi-squares is their mean."""
    squares = np.sum(rng.standard_normal((100_000, 3)) ** 2, axis=1)
    assert_allclose(trimmed_mean(squares, 3), 3.0, rtol=0.01)


def test_means_of_runs():
    """Unknown values are left out, alone or in pairs; none at all give nothing."""
    found = mean_of_runs([1.0, None, 3.0])
    assert found is not None
    assert found.value == 2.0
    assert mean_of_runs([None]) is None
    difference = mean_difference([1.0, 5.0, None], [0.5, 4.5, 1.0])
    assert difference is not None
    assert (difference.value, difference.low, difference.high) == (0.5, 0.5, 0.5)


def test_claims_are_judged_by_the_numbers(tmp_path, rng):
    """A filter that beats fixed noise makes that claim hold; without numbers claims are open."""
    store = made_up_store(tmp_path)
    apes = {"svn": 0.5, "svgd": 0.9, "svn+fixed": 2.0, "svn+adaptive": 0.4}
    for source in PLAN.sources(("long_corridor",), PLAN.seeds(3)):
        for variant, ape_m in apes.items():
            keep(
                store, variant_job(PLAN, source, variant, "default"), drive_result(rng, ape_m=ape_m)
            )
    evidence = Evidence(PLAN, Results(store), "default")
    verdicts = {claim.name: claim.judge(evidence) for claim in accuracy_claims.CLAIMS}
    assert verdicts["fixed-noise"].holds is True
    assert "2.000 m, adaptive 0.400 m" in verdicts["fixed-noise"].number
    assert verdicts["mixed"].holds is True
    assert verdicts["robust"].holds is True
    assert verdicts["long-waterway"].holds is None
    names = [claim.name for claim in claims.CLAIMS]
    assert len(set(names)) == len(names) >= 25


def test_a_table_in_all_formats():
    """Markdown is for people, CSV has all digits and intervals, JSON comes back as it was."""
    table = Table("t", "A title", ["name", "a", "b"])
    table.add({"name": "x|y", "a": Interval(1.23456, 1.0, 1.5), "b": None})
    table.add({"name": "z", "a": Interval(1234.5, 1234.5, 1234.5), "b": 2})
    text = markdown(table, ORIGIN)
    assert "| x/y | 1.235 [1.000, 1.500] | – |" in text
    assert "svnicp study x" in text
    assert "quick" in text
    rows = list(csv.reader(io.StringIO(csv_text(table))))
    assert rows[0] == ["name", "a", "a low", "a high", "b"]
    assert rows[1] == ["x|y", "1.23456", "1.0", "1.5", ""]
    document = json.loads(json_text([table], ORIGIN))
    assert Table.from_dict(document["tables"][0]).rows == table.rows
    assert document["origin"]["command"] == "svnicp study x"


def test_mixed_code_is_told():
    """A table whose jobs were made by two states of the code says so."""
    mixed = Origin("c", {}, 2, False, 1.0, 2, {"abc": 1, "def": 1})
    table = Table("t", "T", ["a"], [{"a": 1}])
    assert "the code changed while the jobs ran" in markdown(table, mixed)
    assert "the code changed" not in markdown(table, ORIGIN)


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, "–"), (float("inf"), "–"), (3, "3"), (0.12345, "0.123"), (123456.7, "1.2e+05"),
     ("word", "word"), (Interval(10.0, 9.5, 10.26), "10.00 [9.500, 10.26]")],
)  # fmt: skip
def test_cells_are_short(cell, text):
    """Three digits, no exponent where it can be avoided, a dash for what is not there."""
    assert cell_text(cell) == text


def test_a_page_says_which_studies_are_quick(tmp_path):
    """A page of quick studies says so of itself; one of both kinds names the quick ones."""
    table = Table("t", "T", ["a"], [{"a": 1}])
    whole = dataclasses.replace(ORIGIN, quick=False)
    for name, origin in (("table1", ORIGIN), ("ablation", whole)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tables.json").write_text(json_text([table], origin), encoding="utf-8")
    page = tmp_path / "results.md"
    assert results_page(tmp_path, page) == ["table1", "ablation"]
    assert "**Quick studies here: SubT-MRS rows**" in page.read_text(encoding="utf-8")
    (tmp_path / "ablation" / "tables.json").unlink()
    results_page(tmp_path, page)
    assert "**This is a quick study**" in page.read_text(encoding="utf-8")
    (tmp_path / "table1" / "tables.json").write_text(json_text([table], whole), encoding="utf-8")
    results_page(tmp_path, page)
    assert "uick" not in page.read_text(encoding="utf-8")
