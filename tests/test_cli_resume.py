# SPDX-License-Identifier: MIT
"""A run that is interrupted, killed or ended early goes on to the same bits."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from cli_cases import ROOM, SAME
from svnicp.cli import __main__ as cli
from svnicp.evaluation import read_run


def interrupted(folder: Path, how: signal.Signals) -> tuple[int, str]:
    """Start the same run, end it by a signal after some poses; its exit code and what it said."""
    command = [sys.executable, "-m", "svnicp.cli", *ROOM, "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    trajectory = folder / "trajectory.tum"
    while process.poll() is None:
        if trajectory.is_file() and trajectory.read_bytes().count(b"\n") >= 4:
            process.send_signal(how)
            break
        time.sleep(0.005)
    _, said = process.communicate(timeout=60)
    return process.returncode, said.decode()


def resumed(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main([*ROOM, "--out", str(folder), "--resume"]) == 0
    return capsys.readouterr().out


def assert_same(folder: Path, other: Path) -> None:
    for name in SAME:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name
    assert (folder / "map.ply").read_bytes() == (other / "map.ply").read_bytes()


@pytest.mark.parametrize(("how", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_cleanly_and_resume_gives_the_same_bits(
    whole, tmp_path, capsys, how, expected
):
    """Ended by Ctrl-C or SIGTERM it says so and how to go on; the result is the same."""
    code, said = interrupted(tmp_path / "run", how)
    assert code == expected
    assert f"--out {tmp_path / 'run'} --resume" in said
    assert "Traceback" not in said
    assert yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())["state"] == "interrupted"
    part = len(read_run(tmp_path / "run"))
    assert 4 <= part < 11
    assert "11 of 16 have a pose, all used" in resumed(tmp_path / "run", capsys)
    assert_same(tmp_path / "run", whole[0])


def test_a_killed_run_is_resumed_to_the_same_bits(whole, tmp_path, capsys):
    """SIGKILL loses at most what came after the last saved state, and nothing in the end."""
    code, _ = interrupted(tmp_path / "run", signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())["state"] == "running"
    resumed(tmp_path / "run", capsys)
    assert_same(tmp_path / "run", whole[0])


def test_a_run_goes_on_beyond_its_first_end(whole, tmp_path, capsys):
    """--max-scans ends a run early; resumed without it, it is the whole run."""
    out = ["--out", str(tmp_path / "run")]
    assert cli.main([*ROOM, *out, "--max-scans", "8"]) == 0
    assert "3 of 8 have a pose, all used" in capsys.readouterr().out
    resumed(tmp_path / "run", capsys)
    assert_same(tmp_path / "run", whole[0])


@pytest.mark.parametrize("ends", [["3"], ["7", "14"]])
def test_the_map_of_a_run_does_not_tell_where_it_was_interrupted(ends, tmp_path):
    """Each end adds the last scans to map.ply; what goes on looks only where a whole run looks."""
    words = ["run", "bridge", "--no-imu", "--duration", "2", "--map", "--quiet", "--max-scans"]
    assert cli.main([*words, "18", "--out", str(tmp_path / "whole")]) == 0
    for end in (*ends, "18"):
        assert cli.main([*words, end, "--out", str(tmp_path / "run"), "--resume"]) == 0
    run, whole = (tmp_path / name / "map.ply" for name in ("run", "whole"))
    assert run.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("flag", ["--map", "--keep-particles", "--imu-rate"])
def test_resume_asks_for_the_same_files(flag, tmp_path, capsys):
    """A file that is written all along cannot begin, nor end, in the middle of a run."""
    words = ["run", "room", "--duration", "1.3", "--quiet", "--out", str(tmp_path / "run")]
    assert cli.main([*words, "--max-scans", "8"]) == 0
    assert cli.main([*words, "--resume", flag]) == 2
    assert f"({flag} was not given, now given)" in capsys.readouterr().err
    assert cli.main([*words, "--max-scans", "8", "--overwrite", flag]) == 0
    assert cli.main([*words, "--resume"]) == 2
    assert f"({flag} was given, now not given)" in capsys.readouterr().err


def test_a_finished_run_is_summed_up_again(whole, tmp_path, capsys):
    """Resuming what is finished changes nothing and prints the same figures."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    printed = resumed(folder, capsys)
    assert printed.split("time")[0].split() == whole[1].split("time")[0].split()
    assert_same(folder, whole[0])


def test_resume_refuses_another_run(whole, tmp_path, capsys):
    """Other options than those of the run in the folder are named, with the command to use."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    assert cli.main([*ROOM, "--out", str(folder), "--resume", "--particles", "12"]) == 2
    said = capsys.readouterr().err
    assert "stein.num_particles was 30, now 12" in said
    assert "go on with: svnicp run room" in said
    assert cli.main([*ROOM, "--out", str(folder), "--resume", "--no-imu"]) == 2
    assert "(imu was given, now none)" in capsys.readouterr().err
    (folder / "state.npz").unlink()
    assert cli.main([*ROOM, "--out", str(folder), "--resume"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert (folder / "trajectory.tum").read_bytes() == (whole[0] / "trajectory.tum").read_bytes()


def test_resume_starts_where_nothing_was_done(tmp_path, capsys):
    """Without a run, or with one killed before its first pose, it starts from the beginning."""
    words = ["run", "room", "--duration", "0.5", "--no-imu", "--max-scans", "2"]
    assert cli.main([*words, "--out", str(tmp_path), "--resume"]) == 0
    assert "starting from the beginning" in capsys.readouterr().err
    assert len(read_run(tmp_path)) == 2


def test_resume_begins_again_what_ended_before_its_first_state(whole, tmp_path, capsys):
    """A run that was killed with poses but no saved state comes to the same poses once more."""
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "state.npz").unlink()
    described = (folder / "run.yaml").read_text()
    assert "state: finished" in described
    (folder / "run.yaml").write_text(described.replace("state: finished", "state: running"))
    assert cli.main([*ROOM, "--out", str(folder), "--resume"]) == 0
    assert "starting from the beginning" in capsys.readouterr().err
    assert_same(folder, whole[0])
