# SPDX-License-Identifier: MIT
"""What the command line says about its flags, in help, errors and warnings."""

import numpy as np
import pytest

from recording_inputs import SmallDataset
from svnicp.cli import __main__ as cli
from svnicp.cli.arguments import UsageError, parse
from svnicp.cli.info import InfoCommand
from svnicp.recording import FORMATS, write_dataset


def test_the_choices_of_a_flag_are_listed_in_order_without_none():
    """A wrong choice is answered with those there are, always in the same order."""
    with pytest.raises(UsageError, match="Expected one of ms, ns, s, us; see"):
        parse(InfoCommand, "svnicp info", "", ["x", "--point-time-unit", "y"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "room", "--particles", "many"], "--particles must be a whole number, not 'many'"),
        (["run", "room", "--max-scans", "1.5"], "--max-scans must be a whole number, not '1.5'"),
        (["run", "room", "--seed", "it's"], '--seed must be a whole number, not "it\'s"'),
        (["run", "room", "--duration", "long"], "--duration must be a number, not 'long'"),
        (["register", "a.ply", "b.ply", "--guess", *"1234a6"], "--guess must be a number, not 'a'"),
        (["register"], "give SOURCE and TARGET"),
        (["register", "a.ply"], "give TARGET"),
        (["simulate", "room"], "give --out FILE"),
        (["evaluate"], "give RUN"),
        (["run", "room", "--out"], "--out needs a value"),
        (["register", "a.ply", "b.ply", "--guess", "1", "2"], "--guess needs 6 values"),
    ],
)
def test_what_an_option_takes_is_one_plain_sentence(words, said, capsys):
    """A value that is no number, or one that is missing, is answered by the names of options."""
    assert cli.main(words) == 2
    told = capsys.readouterr().err
    assert told == f"svnicp: error: {said}; see svnicp {words[0]} --help.\n"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("--versio", "there is no option '--versio'; did you mean --version?"),
        ("--quiet", "there is no option '--quiet' before a command; "),
        ("rum", "there is no command 'rum'; did you mean run?"),
    ],
)
def test_a_first_word_that_is_misspelt_is_answered_with_the_nearest(word, said, capsys):
    """Options of the program itself are looked at like commands."""
    assert cli.main([word]) == 2
    assert capsys.readouterr().err.startswith(f"svnicp: error: {said}")


def test_advice_about_columns_names_the_flag(tmp_path, capsys):
    """A scrambled .bin file is warned of with the flag that mends it."""
    rng = np.random.default_rng(1)
    points = np.cumsum(rng.normal(0.0, 0.01, (600, 3)), axis=0) + np.array([5.0, -20.0, 1.0])
    points.astype("<f4").tofile(tmp_path / "a.bin")
    cli.main(["register", str(tmp_path / "a.bin"), str(tmp_path / "a.bin"), "--quiet"])
    said = capsys.readouterr().err
    assert "pass --bin-columns 3" in said
    assert "bin_columns" not in said


def test_columns_of_bin_files_need_a_bin_file(capsys):
    """--bin-columns without a .bin file is refused instead of being ignored."""
    assert cli.main(["register", "a.npy", "b.npy", "--bin-columns", "0"]) == 2
    assert "neither cloud is one" in capsys.readouterr().err


def test_simulate_says_how_to_overwrite_and_which_formats_there_are(tmp_path, capsys):
    """The flag for overwriting is in the error, and all formats are in the help."""
    write_dataset(SmallDataset(2), tmp_path / "a.mcap")
    assert cli.main(["simulate", "room", "--out", str(tmp_path / "a.mcap")]) == 2
    assert "--overwrite" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["simulate", "--help"])
    described = capsys.readouterr().out
    for name in FORMATS:
        assert name in described


def test_what_is_missing_is_said_even_beside_a_misspelt_option(capsys):
    """One sentence names the argument and the option that was meant."""
    assert cli.main(["register", "a.ply", "--quite"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("svnicp: error: give TARGET; perhaps you meant: --quiet; see ")


def test_scenarios_do_not_need_a_name(capsys):
    """The usage shows that names may be left out."""
    with pytest.raises(SystemExit):
        cli.main(["scenarios", "--help"])
    assert "[NAME ...]" in capsys.readouterr().out.splitlines()[0]
