# SPDX-License-Identifier: MIT
"""``svnicp evaluate``: what it prints about runs and bare trajectories, and what it refuses."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from evaluation_cases import noisy_run, positions_of, truth
from recording_inputs import make_estimate
from svnicp.cli import __main__ as cli
from svnicp.data.trajectory_files import write_tum
from svnicp.estimate import Estimate
from svnicp.evaluation import Evaluation, RunRecord, evaluate, read_run
from svnicp.evaluation.truth_file import Truth, about_truth, read_truth, write_truth
from svnicp.lie import se3_exp
from svnicp.recording import RunDescription, RunFolder


def estimates(record: RunRecord) -> list[Estimate]:
    """Estimates that say what a record says."""
    assert record.absolute is not None
    assert record.relative is not None
    assert record.T_previous_body is not None
    template = vars(make_estimate(0))
    rows = zip(
        record.trajectory.stamps_ns.tolist(), record.trajectory.T_world_body, record.absolute,
        record.T_previous_body, record.relative, strict=True,
    )  # fmt: skip
    names = ("stamp_ns", "T_world_body", "covariance", "T_previous_body", "relative_covariance")
    return [Estimate(**{**template, **dict(zip(names, row, strict=True))}) for row in rows]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return the folder of a run along a curve, with the ground truth beside it."""
    path = tmp_path / "run"
    known = Truth(truth(), np.eye(4))
    with RunFolder.open(path, RunDescription(data="test", more=about_truth(known))) as run:
        for estimate in estimates(noisy_run(np.random.default_rng(5), 60)):
            run.on_estimate(estimate)
    write_truth(path, known)
    return path


def expected(folder: Path) -> Evaluation:
    known = read_truth(folder)
    assert known is not None
    return evaluate(read_run(folder), known.trajectory)


def test_a_run_is_compared_with_the_truth_in_its_folder(folder, capsys):
    """The figures of the evaluation are printed: evo's with six digits, and the consistency."""
    assert cli.main(["evaluate", str(folder)]) == 0
    printed = capsys.readouterr().out
    found = expected(folder)
    assert found.ape is not None
    assert found.rpe is not None
    assert found.relative is not None
    assert found.relative.pose is not None
    for command, errors in (("evo_ape -a", found.ape), ("evo_rpe", found.rpe)):
        (line,) = re.findall(rf"^{command} \[m\](.*)$", printed, re.MULTILINE)
        values = (getattr(errors.translation, name) for name in ("rmse", "mean", "median", "max"))
        assert line.split() == [f"{value:.6f}" for value in values]
    (line,) = re.findall(r"^step, 6-D(.*)$", printed, re.MULTILINE)
    assert float(line.split()[0]) == pytest.approx(found.relative.pose.anees, abs=0.006)
    assert "60 of 60 poses against true poses" in printed
    assert "NIS 5.50 on average" in printed
    assert printed.isascii()


def test_an_evaluation_fits_into_80_columns(folder, capsys, monkeypatch):
    """No line is wider than a terminal of 80 columns, so that none is broken within a word."""
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["evaluate", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "the first pose aligned; NEES" in " ".join(" ".join(lines).split())


def test_json_on_stdout_is_nothing_but_json(folder, capsys):
    """``--json -`` leaves standard output to programs, with every figure."""
    assert cli.main(["evaluate", str(folder), "--json", "-"]) == 0
    printed, said = capsys.readouterr()
    content = json.loads(printed)
    for name, value in json.loads(json.dumps(asdict(expected(folder)))).items():
        assert content[name] == value, name
    assert "evo_ape" in said


def test_a_bare_trajectory_has_errors_but_no_sigmas(folder, tmp_path, capsys):
    """A TUM file needs the truth told, and nothing is said about covariances."""
    write_tum(tmp_path / "truth.tum", truth())
    trajectory = str(folder / "trajectory.tum")
    assert cli.main(["evaluate", trajectory]) == 2
    assert "give --ground-truth" in capsys.readouterr().err
    assert cli.main(["evaluate", trajectory, "--ground-truth", str(tmp_path / "truth.tum")]) == 0
    printed = capsys.readouterr().out
    assert "evo_ape -a [m]" in printed
    assert "ANEES" not in printed
    assert "NEES" not in printed


def test_positions_alone_print_no_rotations(folder, tmp_path, capsys):
    """Against positions no line is in degrees, and steps are compared by length."""
    write_tum(tmp_path / "positions.tum", positions_of(truth()))
    words = ["evaluate", str(folder), "--ground-truth", str(tmp_path / "positions.tum")]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert "true positions (no rotations)" in printed
    assert "evo_rpe -r point_distance [m]" in printed
    assert "[deg]" not in printed
    assert "rotation" not in printed.replace("no rotations", "")


def test_truth_comes_back_with_what_tum_cannot_say(tmp_path):
    """Whether rotations are known, and which point the truth is about, is in run.yaml."""
    lever = se3_exp(np.array([0.1, 0.2, 0.3, 0.0, 0.0, 1.0]))
    for known in (Truth(positions_of(truth(1.0)), lever), Truth(truth(1.0), np.eye(4)), None):
        description = RunDescription(data="test", more=about_truth(known))
        RunFolder.open(tmp_path, description, overwrite=True).close()
        write_truth(tmp_path, known)
        found = read_truth(tmp_path)
        if known is None:
            assert found is None
            continue
        assert found is not None
        assert found.trajectory.position_only == known.trajectory.position_only
        np.testing.assert_array_equal(found.T_body_truth, known.T_body_truth)
        np.testing.assert_allclose(
            found.trajectory.T_world_body, known.trajectory.T_world_body, atol=1e-12
        )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "RUN"),
        (["gone"], "there is no such file"),
        (["."], "not the folder of a run"),
    ],
)
def test_wrong_input_is_one_sentence(words, complaint, tmp_path, monkeypatch, capsys):
    """What cannot be evaluated exits with 2 and one line that says why."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["evaluate", *words]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert len(said.splitlines()) == 1


def test_another_clock_is_said_so(folder, tmp_path, capsys):
    """Truth that does not overlap in time is refused with both spans."""
    known = truth(1.0)
    write_tum(tmp_path / "late.tum", type(known)(known.stamps_ns + 10**12, known.T_world_body))
    assert cli.main(["evaluate", str(folder), "--ground-truth", str(tmp_path / "late.tum")]) == 2
    assert "check that both use the same clock" in capsys.readouterr().err
