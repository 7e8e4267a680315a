# SPDX-License-Identifier: MIT
"""The page on scores: its code runs, and its names and numbers are those of the package."""

import re
from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

import svnicp.baselines
import svnicp.scores
from svnicp.scores import Cut, calibrated_kl, calibrated_nne, nominal_coverage

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scores.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the table whose first line starts with this heading."""
    table = TEXT[TEXT.index(heading) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_names_exist():
    """Every function in the first column of a table is exported by its package."""
    for heading, package in (
        ("| score |", svnicp.scores),
        ("| baseline |", svnicp.baselines),
        ("| truth |", svnicp.baselines),
    ):
        names = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(heading)))
        assert len(names) >= 2
        assert [name for name in names if name not in package.__all__] == []


def test_every_name_has_a_known_answer():
    """Scores and baselines of the tables above have a row, and the tests that it names exist."""
    files = Path(__file__).parent.glob("test_*.py")
    defined = {n for f in files for n in re.findall(r"^def (test_\w+)", f.read_text(), re.M)}
    answered = rows("| what |")
    named = re.findall(r"`(test_\w+)`", " ".join(row[2] for row in answered))
    assert [name for name in named if name not in defined] == []
    covered = set(re.findall(r"`(\w+)`", " ".join(row[0] for row in answered)))
    for heading in ("| score |", "| baseline |", "| truth |"):
        names = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(heading)))
        assert [name for name in names if name not in covered] == []


def test_numbers_of_the_tables():
    """Coverage by dimension and the values after the cut are what the functions return."""
    for row in rows("| d | 1 σ"):
        shares = [float(cell.strip(" %")) / 100 for cell in row[1:]]
        assert_allclose(shares, nominal_coverage(int(row[0])), atol=5e-4)
    cuts: dict[str, Cut] = {"`upper`": "upper", "`two_sided`": "two_sided"}
    for name, *cells in rows("| cut | NNE"):
        cut = cuts[name]
        long_axis = np.diag([1.0, 1e-9, 1e-9, 1.0, 1.0, 1.0])
        found = (
            calibrated_nne(np.eye(6), "translation", cut),
            calibrated_nne(long_axis, "translation", cut),
            calibrated_kl(np.eye(6), "translation", cut),
        )
        assert_allclose([float(cell) for cell in cells], found, atol=6e-4)


def test_code_runs(capsys):
    """The example prints a score with its band and one with its interval."""
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "scores.md", "exec"), {})
    assert [line.split("(")[0] for line in capsys.readouterr().out.splitlines()] == [
        "Anees",
        "Interval",
    ]
