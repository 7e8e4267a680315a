# SPDX-License-Identifier: MIT
"""Trajectory errors are evo's own numbers, whatever the ground truth looks like."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from evaluation_cases import START_NS, noisy_run, positions_of, truth
from svnicp.data.trajectory import Trajectory
from svnicp.data.trajectory_files import read_trajectory, write_tum
from svnicp.errors import MissingExtraError
from svnicp.evaluation import RunRecord, evaluate
from svnicp.lie import se3_exp

COMMANDS = {
    ("ape", "translation"): ("ape", "-a"),
    ("ape_origin", "rotation"): ("ape", "-r", "angle_deg", "--align_origin"),
    ("ape_unaligned", "translation"): ("ape",),
    ("rpe", "translation"): ("rpe",),
    ("rpe", "rotation"): ("rpe", "-r", "angle_deg"),
}
"""Figures, and evo's commands that print them."""

ENTRY = """
import sys
from evo.cli import entry_points
for words in sys.argv[1:]:
    command, *options = words.split("|")
    sys.argv = ["evo_" + command, "tum", *options]
    getattr(entry_points, command)()
    print("END")
"""
"""The commands one after the other: each would take seconds to import the same."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the files of ground truth and estimate; stamps do not coincide."""
    folder = tmp_path_factory.mktemp("evo")
    write_tum(folder / "truth.tum", truth())
    write_tum(folder / "run.tum", noisy_run(np.random.default_rng(3)).trajectory)
    return folder / "truth.tum", folder / "run.tum"


@pytest.fixture(scope="module")
def printed(files, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float]]:
    """Return the statistics that each of evo's commands prints for the files."""
    home = tmp_path_factory.mktemp("home")  # evo leaves its settings there
    words = ["|".join((name, *map(str, files), *options)) for name, *options in COMMANDS.values()]
    run = subprocess.run(
        [sys.executable, "-c", ENTRY, *words],
        capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(home)},
    )  # fmt: skip
    pattern = re.compile(r"^\s*(rmse|mean|median|std|min|max)\s+([-\d.e]+)$", re.MULTILINE)
    parts = run.stdout.split("END\n")[:-1]
    return [{name: float(value) for name, value in pattern.findall(part)} for part in parts]


@pytest.mark.parametrize(("number", "figure"), list(enumerate(COMMANDS)))
def test_numbers_are_those_of_the_commands(files, printed, number, figure):
    """Every statistic equals what evo prints for the same two files, to evo's last digit."""
    evaluation = evaluate(RunRecord(read_trajectory(files[1])), read_trajectory(files[0]))
    field, part = figure
    errors = getattr(getattr(evaluation, field), part)
    assert len(printed[number]) == 6
    for name, value in printed[number].items():
        assert_allclose(getattr(errors, name), value, atol=6e-7, err_msg=name)
    assert not evaluation.interpolated


def test_positions_alone_give_no_rotation_figures(rng):
    """With a prism as truth no figure needs a true rotation, and step lengths are compared."""
    record, known = noisy_run(rng), truth()
    evaluation = evaluate(record, positions_of(known))
    whole = evaluate(record, known)
    assert evaluation.position_only
    assert evaluation.ape is not None
    assert whole.ape is not None
    assert evaluation.ape.rotation is None
    assert_allclose(evaluation.ape.translation.rmse, whole.ape.translation.rmse, rtol=1e-9)
    assert evaluation.ape_origin is None
    assert evaluation.rpe is not None
    assert evaluation.rpe.rotation is None
    assert evaluation.end.rotation_deg is None
    assert evaluation.relative is None
    assert evaluation.absolute is not None
    assert evaluation.absolute.rotation is None
    # A length does not change when the body's axes are chosen otherwise.
    turned = record.of_another_point(se3_exp(np.array([0.0, 0.0, 0.0, 0.3, 1.0, -2.0])))
    other = evaluate(turned, positions_of(known)).rpe
    assert other is not None
    assert_allclose(other.translation.rmse, evaluation.rpe.translation.rmse, rtol=1e-9)


def test_sparse_truth_is_interpolated_and_said_so(rng):
    """Where evo finds no true pose within 10 ms, it is given interpolated ones."""
    run, dense = noisy_run(rng).trajectory, truth()
    few = Trajectory(run.stamps_ns[1::20], run.T_world_body[1::20])
    nearest = np.abs(dense.stamps_ns[:, None] - few.stamps_ns).min(axis=1)
    away = nearest > 20_000_000
    sparse = Trajectory(dense.stamps_ns[away], dense.T_world_body[away])
    found, whole = evaluate(RunRecord(few), sparse), evaluate(RunRecord(few), dense)
    assert (found.interpolated, whole.interpolated) == (True, False)
    assert found.num_paired == len(few)
    assert found.rpe is not None
    assert whole.rpe is not None
    # The nearest true pose is up to 5 ms away, at a speed of one metre per second.
    assert_allclose(found.rpe.translation.rmse, whole.rpe.translation.rmse, atol=0.01)


def test_a_straight_path_leaves_the_alignment_open():
    """On a line evo cannot align, and the other figures are there all the same."""
    stamps_ns = START_NS + 10_000_000 * np.arange(50)
    line = se3_exp(np.arange(50.0)[:, None] * np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0]))
    evaluation = evaluate(
        RunRecord(Trajectory(stamps_ns, line)), Trajectory(stamps_ns, line.copy())
    )
    assert evaluation.ape is None
    assert evaluation.ape_unaligned is not None
    assert evaluation.ape_unaligned.translation.max == 0.0
    assert_allclose(evaluation.path_m, 4.9)


def test_without_evo_the_command_to_install_it_is_named(monkeypatch, rng):
    """The extra is missing: one line says which."""
    for name in [name for name in sys.modules if name.split(".")[0] == "evo"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "evo", None)
    with pytest.raises(MissingExtraError, match=r'pip install "svnicp\[evaluation\]"'):
        evaluate(noisy_run(rng), truth())
