# SPDX-License-Identifier: MIT
"""What ``svnicp register`` prints where there is little to say, and which file it names."""

import dataclasses
import io

import numpy as np
import pytest

from svnicp.cli import __main__ as cli
from svnicp.cli import show
from svnicp.registration import RegistrationResult, Status, register
from test_register import COARSE, scans


def printed(result: RegistrationResult) -> str:
    """Return what is printed about a result."""
    stream = io.StringIO()
    show.registration(show.console(stream), result, 0.1, 0.0)
    return stream.getvalue()


@pytest.mark.parametrize(("count", "words"), [(1, "1 point;"), (3, "3 points;")])
@pytest.mark.parametrize("role", ["source", "target"])
def test_a_small_cloud_is_named_by_its_file(tmp_path, capsys, role, count, words):
    """The sentence has the file's name and what the file was to be."""
    files = {"source": tmp_path / "a.npy", "target": tmp_path / "b.npy"}
    for name, path in files.items():
        np.save(path, np.zeros((count if name == role else 100, 3)))
    assert cli.main(["register", str(files["source"]), str(files["target"])]) == 2
    assert (
        f"{files[role]}: the {role} has {words} at least 30 are needed" in capsys.readouterr().err
    )


def test_nothing_matched_has_no_weak_lines():
    """When the guess comes back, six lines about its directions would say nothing."""
    source, target = scans("room", 0, COARSE)
    result = register(source, target + np.array([300.0, 0.0, 0.0]))
    assert result.status is Status.TOO_FEW_MATCHES
    text = printed(result)
    assert "weak:" not in text
    assert "-0.0000" not in text


def test_a_pose_of_nothing_has_no_signs():
    """Tiny negative numbers are printed as zero, and no line ends in blanks."""
    result = register(*scans("room", 0, COARSE))
    pose = np.eye(4)
    pose[:3, 3] = -1e-9
    text = printed(dataclasses.replace(result, T_target_source=pose))
    assert "-0.0000" not in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_tables_do_not_end_in_blanks():
    """Short cells of a last column are not filled up, and what is before them stays in place."""
    table = show.plain_table()
    table.add_column("a")
    table.add_column("long head")
    table.add_row("left", "x")
    table.add_row("y", "")
    stream = io.StringIO()
    show.console(stream).print(table)
    assert stream.getvalue() == "a      long head\n----------------\nleft   x\ny\n"


def test_the_limit_of_iterations_is_printed():
    """The first line has the result's own sentence and not only the status."""
    result = dataclasses.replace(register(*scans("room", 0, COARSE)), hit_limit=True)
    assert printed(result).splitlines()[0] == f"CONVERGED: {result.message}"
    assert "limit of" in result.message
