# SPDX-License-Identifier: MIT
"""The help of every command fits a narrow terminal, and completion works in a real bash."""

import dataclasses
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
import tyro

from svnicp.cli import __main__ as cli
from svnicp.cli.arguments import UsageError, option, parse
from svnicp.cli.help_text import help_text, wrapped
from svnicp.cli.interface import interface
from svnicp.config.field_docs import field_docs


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Options of many commands."""

    kind: Annotated[str | None, option("KIND")] = None
    """Which kind."""


@dataclass(frozen=True, kw_only=True)
class Small(Shared):
    """A command for these tests."""

    files: Annotated[tuple[Path, ...], tyro.conf.Positional, option("FILE")] = ()
    """What to read,
    one or many."""
    to: Annotated[Path, option("FILE")]
    """What to write."""
    shape: Annotated[Literal["round", "square"] | None, option("NAME")] = None
    """Round or square."""
    count: Annotated[int, option("N")] = 0
    """How many."""
    fast: Annotated[bool, option()] = False
    """Hurry."""


def help_of(command: list[str], capsys) -> str:
    """Return what ``svnicp COMMAND --help`` prints."""
    if not command:
        assert cli.main(["--help"]) == 0
        return capsys.readouterr().out
    with pytest.raises(SystemExit) as exit_:
        cli.main([*command, "--help"])
    assert exit_.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *cli.COMMANDS])
def test_no_line_is_wider_than_80_columns(command: str, monkeypatch, capsys):
    """Help is plain text of at most 80 columns, with an example that names the command."""
    monkeypatch.setenv("COLUMNS", "80")
    text = help_of([command] if command else [], capsys)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert f"  svnicp {command}".rstrip() in text.split("examples:")[1]
    assert "\033" not in text


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_examples_are_understood(command: str, capsys):
    """Every option in an example of the help is one of that command."""
    lines = help_of([command], capsys).split("examples:\n")[1].split("\n\n")[0].splitlines()
    for line in lines:
        name, *words = line.split(" svnicp ")[1].split("|")[0].split()
        known = set(re.findall(r"--[a-z][a-z-]*", help_of([name], capsys)))
        assert {word for word in words if word.startswith("--")} <= known, line


def test_help_shows_arguments_defaults_and_what_is_required():
    """Every field is there with its whole sentence, and those of a base class are apart."""
    assert help_text(Small, "svnicp small", "Does little.").split("\n\n") == [
        "usage: svnicp small [FILE ...] --to FILE [options]",
        "Does little.",
        "arguments:\n  [FILE ...]            What to read, one or many.",
        "options:\n"
        "  --to FILE             What to write. Required.\n"
        "  --shape NAME          Round or square.\n"
        "  --count N             How many. Default: 0.\n"
        "  --fast                Hurry.\n"
        "  -h, --help            Show this help.",
        "options of many commands:\n  --kind KIND           Which kind.",
    ]


def test_what_a_command_takes():
    """Choices come from the type, and every field of every class has a sentence."""
    taken = {one.flag or one.metavar: one for one in interface(Small)}
    assert taken["--shape"].choices == ("round", "square")
    assert (taken["FILE"].many, taken["FILE"].required) == (True, False)
    assert (taken["--fast"].metavar, taken["--fast"].default) == ("", False)
    assert set(field_docs(Small)) == {field.name for field in dataclasses.fields(Small)}


def test_help_without_sources_still_lists_the_options(monkeypatch):
    """Where only compiled files are installed, options are shown without their sentences."""

    def gone(_: object) -> str:
        raise OSError("could not get source code")

    monkeypatch.setattr("inspect.getsource", gone)
    assert "  --shape NAME\n" in help_text(Small, "svnicp small", "Does little.")


def test_the_list_of_scenarios_fits_80_columns(monkeypatch, capsys):
    """In a narrow terminal nothing is cut off: what degrades is there, word by word."""
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["scenarios", "sewerage"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    for words in ("smooth pipe", "noisy IMU", "drone", "vlp16, realsense", "140 m", "426 m, 131 s"):
        assert words in shown


def test_paragraphs_are_wrapped_and_lists_are_not():
    """A list keeps its lines; a paragraph is broken at spaces only."""
    text = "word " * 30 + "--a-flag\n\nexamples:\n  " + "x" * 90 + "\n"
    paragraph, listed = wrapped(text, 40).split("\n\n")
    assert max(map(len, paragraph.splitlines())) <= 40
    assert paragraph.endswith("--a-flag")
    assert listed == "examples:\n  " + "x" * 90


def test_unknown_options_are_answered_with_the_nearest():
    """Of an option that tyro does not recognise at all, we tell the nearest."""
    with pytest.raises(UsageError, match="perhaps you meant: --shape; see"):
        parse(Small, "svnicp small", "", ["--to", "x", "--shap", "round"])
    with pytest.raises(UsageError, match="--zzz; see"):
        parse(Small, "svnicp small", "", ["--to", "x", "--zzz"])


COMPLETED = {
    "svnicp re": "report register",
    "svnicp run --noi": "--noise",
    "svnicp run room --noise ": "adaptive fixed smoothed none",
    "svnicp run room --variant svn+": "svn+fixed svn+adaptive",
    "svnicp run room --variant in": "inertial",
    "svnicp run long": "long_corridor",
    "svnicp study kl": "kl-nne",
    "svnicp live ": "foxglove ros1 ros2",
    "svnicp run room ": "",
    "svnicp run room --out r": "",
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes(capsys):
    """Commands, options, choices and scenarios are completed; elsewhere files are bash's own."""
    assert cli.main(["--completion", "bash"]) == 0
    script = capsys.readouterr().out
    for line in COMPLETED:
        words = " ".join(f'"{word}"' for word in line.split(" "))
        script += f"\nCOMP_WORDS=({words}); COMP_CWORD={line.count(' ')}; _svnicp; "
        script += 'echo "${COMPREPLY[*]}"'
    run = subprocess.run(["bash", "-u"], input=script, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert run.stdout.split("\n")[:-1] == list(COMPLETED.values())


def test_fish_script_knows_commands_options_and_choices(capsys):
    """Fish gets a line for every command and every option, quotes in sentences escaped."""
    assert cli.main(["--completion", "fish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(any(f" -a {name} -d" in line for line in lines) for name in cli.COMMANDS)
    (noise,) = [line for line in lines if "from run'" in line and " -l noise " in line]
    assert "-x -a 'adaptive fixed smoothed none'" in noise
    assert any("paper\\'s" in line for line in lines)


def test_completion_names_the_shells(capsys):
    """Without a shell that is known, one sentence says which there are."""
    for words in (["--completion"], ["--completion", "ksh"]):
        assert cli.main(words) == 2
        assert "bash, zsh, fish" in capsys.readouterr().err
