# SPDX-License-Identifier: MIT
"""The command line as a user meets it: what is printed and written, and the exit codes.

Starting a process costs a second, so only what needs one gets one; the errors, of which there are
many, call the same entry point in this process.
"""

import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba.core import event
from numpy.testing import assert_allclose

from sim_cases import map_points
from svnicp import __version__
from svnicp.cli import __main__ as cli
from svnicp.cli import progress, show
from svnicp.cli.euler import rotation_from_rpy
from svnicp.cli.exit_codes import CLOSED_PIPE
from svnicp.config import Config
from svnicp.lie import make_transform, se3_inverse, se3_log
from svnicp.pose_gaussian import PoseGaussian
from svnicp.simulation import SCENES, LidarPattern, scan

GUESS = ["--guess", "0.65", "0.1", "1.5", "0", "0", "-4"]
TRUTH = make_transform(rotation_from_rpy(np.radians([1.0, 0.0, -5.0])), np.array([0.7, 0.1, 1.52]))
RUN = [sys.executable, "-m", "svnicp.cli"]


def svnicp(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*RUN, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def clouds(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return the files of a simulated scan and of a map of the same room."""
    folder = tmp_path_factory.mktemp("clouds")
    rng = np.random.default_rng(5)
    scene, pattern = SCENES["room"](), LidarPattern.rings(24, 256)
    np.save(folder / "source.npy", scan(scene, TRUTH, pattern, rng))
    np.save(folder / "target.npy", map_points(scene, pattern, rng))
    return str(folder / "source.npy"), str(folder / "target.npy")


@pytest.fixture(scope="module")
def registered(
    clouds: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], dict]:
    """Return a finished process that wrote its JSON to a file, and the JSON."""
    path = tmp_path_factory.mktemp("json") / "pose.json"
    options = ["--prior-std", "0.1", "0.1", "0.1", "1", "1", "1", "--seed", "3"]
    settings = ["--set", "stein.num_particles=40", "noise.range_noise_m=2e-2"]
    run = svnicp("register", *clouds, *GUESS, *options, *settings, "--json", str(path))
    return run, json.loads(path.read_text(encoding="utf-8"))


def test_register_prints_status_pose_and_sigmas(registered):
    """The text has the status, a row per axis with estimate and sigma, and the counts."""
    run, document = registered
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "CONVERGED"
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    for axis, expected in zip(("x", "y", "z"), document["translation_m"], strict=True):
        assert abs(float(rows[axis][0]) - expected) < 1e-4
        assert rows[axis][1] == "m"
        assert rows[axis][3] in {"m", "mm"}
    for axis, expected in zip(
        ("roll", "pitch", "yaw"), document["roll_pitch_yaw_deg"], strict=True
    ):
        assert abs(float(rows[axis][0]) - expected) < 1e-4
        assert rows[axis][3] in {"deg", "mdeg"}
    assert f"{document['num_matches']} matches, 40 particles" in run.stdout
    assert run.stdout.isascii()


def test_json_holds_the_registration(registered):
    """The file has the pose, consistent covariances, particles, and what is needed to repeat it."""
    _, document = registered
    estimate = np.array(document["T_target_source"])
    assert np.abs(se3_log(se3_inverse(estimate) @ TRUTH)).max() < 0.02
    assert np.array(document["particles"]).shape == (40, 4, 4)
    for name in ("covariance", "likelihood_covariance", "laplace_covariance"):
        matrix = np.array(document[name])
        assert_allclose(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix)[0] > 0.0
    _, covariance_ros = PoseGaussian(estimate, np.array(document["covariance"])).to_ros()
    assert_allclose(document["covariance_ros"], covariance_ros, rtol=1e-9, atol=1e-18)
    assert_allclose(document["sigmas"], np.sqrt(np.diag(document["covariance"])))
    config = Config.from_dict(document["config"])
    assert (config.stein.num_particles, config.noise.range_noise_m) == (40, 0.02)
    assert (document["status"], document["ok"]) == ("CONVERGED", True)
    assert document["svnicp"] == __version__
    assert document["weak_directions"] == []
    assert document["inputs"]["seed"] == 3
    assert_allclose(np.array(document["inputs"]["guess"])[:3, 3], [0.65, 0.1, 1.5])
    prior = np.diag(document["inputs"]["prior_covariance"])
    assert_allclose(prior, [0.01] * 3 + [np.radians(1.0) ** 2] * 3)


def test_json_on_stdout_is_nothing_but_json(clouds, registered):
    """``--json -`` leaves standard output to programs; the same seed gives the same pose."""
    _, before = registered
    guess_file = Path(clouds[0]).with_name("guess.txt")
    np.savetxt(guess_file, before["inputs"]["guess"], fmt="%.17g", delimiter=", ")
    options = ["--prior-std", "0.1", "0.1", "0.1", "1", "1", "1", "--seed", "3"]
    settings = ["--set", "stein.num_particles=40"]
    files = ["--guess-file", str(guess_file)]
    run = svnicp("register", *settings, *clouds, *files, *options, "--json", "-")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    assert_allclose(document["T_target_source"], before["T_target_source"], atol=1e-9)
    assert "CONVERGED" in run.stderr


def test_no_overlap_exits_with_three(clouds):
    """A registration that is not to be used says so, prints what it has, and exits with 3."""
    run = svnicp("register", *clouds, "--guess", "500", "0", "0", "0", "0", "0", "--json", "-")
    assert run.returncode == 3
    document = json.loads(run.stdout)
    assert (document["status"], document["ok"]) == ("TOO_FEW_MATCHES", False)
    assert document["residual_scale"] is None
    assert "TOO_FEW_MATCHES" in run.stderr
    assert "Traceback" not in run.stderr


def test_corridor_is_reported_weak_in_words(tmp_path, capsys):
    """In a corridor with nothing to see along it, the text names the direction."""
    rng = np.random.default_rng(5)
    scene, pattern = SCENES["bare_corridor"](), LidarPattern.rings(24, 256)
    np.save(tmp_path / "s.npy", scan(scene, TRUTH, pattern, rng))
    np.save(tmp_path / "t.npy", map_points(scene, pattern, rng))
    prior = ["--prior-std", "0.1", "0.1", "0.1", "1", "1", "1"]
    code = cli.main(["register", str(tmp_path / "s.npy"), str(tmp_path / "t.npy"), *GUESS, *prior])
    assert code == 0
    out = capsys.readouterr().out
    assert out.startswith("WEAK: ")
    weak = re.search(r"weak: translation along the source's x axis: sigma (\d+)", out)
    assert weak is not None
    assert 80 <= int(weak[1]) <= 110


def test_quiet_prints_nothing(clouds, capsys):
    """With --quiet the exit code is the answer."""
    assert cli.main(["register", *clouds, *GUESS, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_help_and_version():
    """Help names every command and shows examples, without loading the library; so does version."""
    check = "import sys; from svnicp.cli.__main__ import main; code = main(['--help']); "
    check += "assert not {'numba', 'numpy', 'tyro'} & set(sys.modules); sys.exit(code)"
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert all(f"  {name}" in run.stdout for name in cli.COMMANDS)
    assert "svnicp register scan.ply map.ply" in run.stdout
    run = svnicp("--version")
    assert (run.returncode, run.stdout) == (0, f"svnicp {__version__}\n")


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_of_a_command_lists_its_options(command, capsys):
    """``svnicp COMMAND --help`` exits with 0 and describes the options."""
    with pytest.raises(SystemExit) as exit_:
        cli.main([command, "--help"])
    assert exit_.value.code == 0
    assert "--debug" in capsys.readouterr().out


ERRORS = {
    "missing file": (["nowhere.ply", "TARGET"], "nowhere.ply: there is no such file"),
    "wrong extension": (["cloud.las", "TARGET"], "'.las' files are not supported"),
    "no target": (["SOURCE"], "TARGET"),
    "one file too many": (["SOURCE", "TARGET", "third.ply"], "third.ply"),
    "unknown option": (["SOURCE", "TARGET", "--gues", "1"], "perhaps you meant: --guess"),
    "short guess": (["SOURCE", "TARGET", "--guess", "1", "2"], "--guess"),
    "guess of words": (["SOURCE", "TARGET", "--guess", *"12345x"], "--guess"),
    "NaN guess": (["SOURCE", "TARGET", "--guess", *"12345", "nan"], "six finite numbers"),
    "no guess file": (["SOURCE", "TARGET", "--guess-file", "none.txt"], "cannot be read"),
    "guess file of words": (["SOURCE", "TARGET", "--guess-file", "WORDS"], "not a text file"),
    "short guess file": (["SOURCE", "TARGET", "--guess-file", "NINE"], "16 numbers"),
    "skewed guess file": (["SOURCE", "TARGET", "--guess-file", "SKEW"], "not a rigid transform"),
    "two guesses": (
        ["SOURCE", "TARGET", "--guess", *"000000", "--guess-file", "NINE"],
        "either --guess or --guess-file",
    ),
    "zero prior": (["SOURCE", "TARGET", "--prior-std", *"000000"], "positive"),
    "unknown preset": (["SOURCE", "TARGET", "--preset", "fast"], "there is no preset 'fast'"),
    "unknown key": (
        ["SOURCE", "TARGET", "--set", "stein.num_particels=5"],
        "did you mean 'stein.num_particles'?",
    ),
    "not a key": (["SOURCE", "TARGET", "--set", "fast"], "KEY=VALUE"),
    "value as group": (["SOURCE", "TARGET", "--set", "stein.damping.x=1"], "not a group"),
    "wrong value": (["SOURCE", "TARGET", "--set", "stein.num_particles=many"], "a whole number"),
    "bad YAML": (["SOURCE", "TARGET", "--config", "BROKEN"], "is not valid YAML"),
    "preset and file": (
        ["SOURCE", "TARGET", "--config", "BROKEN", "--preset", "paper"],
        "either --preset or --config",
    ),
    "no output folder": (["SOURCE", "TARGET", "--json", "none/x.json"], "there is no folder none"),
    "output is a folder": (["SOURCE", "TARGET", "--json", "."], "this is a folder"),
    "negative seed": (["SOURCE", "TARGET", "--seed", "-1"], "--seed must not be negative"),
    "columns of a bin": (["CUT", "TARGET"], "scan.bin"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_one_sentence_and_exit_with_two(name, clouds, tmp_path, monkeypatch, capsys):
    """What is wrong comes as one line on stderr that names it; nothing is printed or written."""
    monkeypatch.chdir(tmp_path)
    files = {
        "WORDS": ("words.txt", "one two"),
        "NINE": ("nine.txt", "1 0 0 0 1 0 0 0 1"),
        "SKEW": ("skew.txt", "2 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"),
        "BROKEN": ("broken.yaml", "stein: [1, 2"),
        "CUT": ("scan.bin", "seven b"),
    }
    for file, text in files.values():
        Path(file).write_text(text, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    places = {key: file for key, (file, _) in files.items()}
    places |= {"SOURCE": clouds[0], "TARGET": clouds[1]}
    words, expected = ERRORS[name]
    code = cli.main(["register", *(places.get(word, word) for word in words)])
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.startswith("svnicp: error: ")
    assert captured.err.count("\n") == 1
    assert expected in captured.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_unknown_command_is_an_error(capsys):
    """A command that does not exist is answered with the nearest that does."""
    assert cli.main(["regsiter"]) == 2
    assert "did you mean register?" in capsys.readouterr().err


def test_debug_shows_the_traceback():
    """``--debug`` adds the traceback to the sentence, for a report."""
    run = svnicp("register", "a.ply", "b.ply", "--debug")
    assert run.returncode == 2
    assert "Traceback" in run.stderr
    assert run.stderr.splitlines()[-1].startswith("svnicp: error: a.ply: ")


def test_a_failed_write_keeps_the_old_file(clouds, tmp_path, monkeypatch, capsys):
    """When the disk fails at the last step, the old JSON is still there and nothing beside it."""
    path = tmp_path / "pose.json"
    path.write_text("old", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert cli.main(["register", *clouds, *GUESS, "--json", str(path)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_warnings_of_the_library_reach_the_user(clouds, tmp_path, capsys):
    """Points that are left out are mentioned on stderr, and the registration goes on."""
    points = np.load(clouds[0])
    points[:7] = np.nan
    np.save(tmp_path / "holes.npy", points)
    assert cli.main(["register", str(tmp_path / "holes.npy"), clouds[1], *GUESS]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("svnicp: warning: ")
    assert "dropped 7 of" in captured.err


def test_the_package_runs_as_a_module():
    """``python -m svnicp`` is ``svnicp``, arguments and exit codes included."""
    words = [sys.executable, "-m", "svnicp"]
    fine = subprocess.run([*words, "--version"], capture_output=True, text=True, check=False)
    assert (fine.returncode, fine.stdout) == (0, f"svnicp {__version__}\n"), fine.stderr
    wrong = subprocess.run([*words, "rum"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "did you mean run?" in wrong.stderr


def test_interrupt_exits_with_130(monkeypatch, capsys):
    """Ctrl-C ends the program with the shell's code and no traceback."""

    def interrupt(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupt)
    assert cli.main(["demo"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_interrupt_stops_even_inside_a_foreign_callback():
    """Ctrl-C inside a callback, where Python swallows exceptions, ends the program all the same."""
    script = """
import ctypes, os, signal, sys
from svnicp.cli import show
from svnicp.cli.progress import patience
callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT))
with patience(show.console(sys.stderr), "waiting"):
    callback()
print("survived")
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (130, "")
    assert run.stderr == "svnicp: interrupted\n"


def test_long_compilation_is_announced(monkeypatch):
    """While Numba compiles, a log file gets one line that says so; the time is counted once."""
    monkeypatch.setattr(progress, "PATIENCE_S", 0.01)
    told = io.StringIO()
    with progress.patience(show.console(told), "working") as watch:
        with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
            time.sleep(0.5)
        seconds = watch.seconds
    assert told.getvalue() == f"{progress.COMPILING} ...\n"
    assert 0.5 <= seconds < 1.0


def test_closed_pipe_is_no_traceback(clouds):
    """When the reader goes away, as in ``svnicp ... | head -0``, the program ends in silence."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        run = subprocess.run(
            [*RUN, "register", *clouds, *GUESS],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert run.returncode == CLOSED_PIPE
    assert "Error" not in run.stderr
