# SPDX-License-Identifier: MIT
"""The README keeps its promises: its Python runs, and the commands it names exist."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import svnicp
from svnicp.cli.__main__ import COMMANDS, main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_python_block_runs(tmp_path, monkeypatch, capsys):
    """The example prints a pose, its covariance and a message for every scan of a recording."""
    monkeypatch.chdir(tmp_path)
    svnicp.write_dataset(svnicp.simulate("room", 1, 0.8), "drive.mcap")
    (code,) = blocks("python")
    assert len(code.splitlines()) <= 8
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert str(names["estimate"].T_world_body) in printed
    assert str(names["estimate"].covariance) in printed
    assert "\nmatched\n" in printed


def known_options(command: str) -> set[str]:
    """Return the options of a command, from the help that it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    return set(re.findall(r"--[a-z][a-z-]+", printed.getvalue()))


def test_commands_exist():
    """Every ``make`` target and ``svnicp`` command in a shell block can be run."""
    lines = "\n".join(blocks("sh")).splitlines()
    targets = re.findall(
        r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    words = [line.split("#")[0].split() for line in lines if line.strip()]
    assert {line[0] for line in words} == {"make", "pip", "svnicp"}
    assert {line[1] for line in words if line[0] == "make"} <= set(targets)
    assert {line[1] for line in words if line[0] == "svnicp"} == set(COMMANDS)
    for line in words:
        if line[0] == "svnicp":
            options = {word for word in line if word[:2] == "--"}
            assert options <= known_options(line[1])


def test_names_exist():
    """Every ``svnicp.name`` that the README mentions is public."""
    named = set(re.findall(r"\bsvnicp\.([A-Za-z_]+)", README))
    assert named <= set(svnicp.__all__)
    assert {"register", "VoxelMap", "register_in_map", "Config"} <= named


@pytest.mark.parametrize("name", svnicp.__all__)
def test_public_names_can_be_imported(name):
    """Lazy or not, what is listed is there; and ``dir`` shows it."""
    assert getattr(svnicp, name) is not None
    assert name in dir(svnicp)


def test_unknown_names_are_attribute_errors():
    """A name that is not public fails like in any other module."""
    with pytest.raises(AttributeError, match="no attribute 'regsiter'"):
        _ = svnicp.regsiter  # pyright: ignore[reportAttributeAccessIssue]


def test_readme_is_short_and_its_picture_small():
    """One screen of text is read; the picture loads."""
    assert len(README.splitlines()) <= 120
    assert (ROOT / "docs" / "images" / "demo.svg").stat().st_size < 300_000
