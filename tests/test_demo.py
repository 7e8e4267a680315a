# SPDX-License-Identifier: MIT
"""``svnicp demo`` as a new user meets it: a run, a table beside a peer, a report, a picture."""

import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from svnicp.cli import __main__ as cli
from svnicp.cli import show
from svnicp.cli.demo_peer import NAME
from svnicp.cli.demo_table import demo_table
from svnicp.peers.peer import DEFAULT
from svnicp.peers.registry import PEERS
from svnicp.peers.row import empty_row
from svnicp.recording import read_description
from svnicp.report.run_series import read_series


class Told(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def svnicp(*words: str) -> Told:
    """Run a command in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.main(words)
    return Told(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Told]:
    """Return the folder of a short demo and what it said."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "demo"
    words = ("demo", "--out", str(folder), "--duration", "4.5")
    return folder, svnicp(*words, "--json", str(folder.parents[1] / "demo.json"))


def row(out: str, name: str) -> str:
    """Return a row of the printed table."""
    return next(line for line in out.splitlines() if line.startswith(f"{name} "))


def test_the_demo_prints_what_the_run_gave(demo):
    """The table has the numbers of the run's own evaluation, and the last line opens the report."""
    folder, told = demo
    assert told.code == 0, told.err
    found = read_series(folder).evaluation
    assert found is not None
    assert found.ape is not None
    assert found.relative is not None
    assert found.relative.pose is not None
    assert float(row(told.out, "APE").split()[1]) == pytest.approx(
        1e3 * found.ape.translation.rmse, rel=0.01
    )
    assert f"{found.relative.pose.anees:.2f}" in row(told.out, "ANEES, steps")
    for name in ("path", "sigma along", "sigma across", "ANEES, since start", "time per scan"):
        assert re.search(r"\d", row(told.out, name))
    assert told.out.splitlines()[-1].endswith(f" {folder / 'report.html'}")
    assert max(map(len, told.out.splitlines()[:11])) <= 80


def test_the_demo_is_a_run_that_can_be_made_again(demo):
    """Its folder says the line of the same run without the demo, with a seed of the test set."""
    folder, told = demo
    line = f"svnicp run long_corridor --seed 200 --duration 4.5 --map --out {folder}"
    assert read_description(folder).command == line
    assert line in told.err
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert f"<pre><code>{' '.join(f'<span>{word}</span>' for word in line.split())}" in report
    assert "LiDAR-inertial odometry" in report


def test_the_demo_has_its_numbers_for_programs(demo):
    """--json is that of the run: the same folder, number of scans and errors."""
    folder, _ = demo
    content = json.loads((folder.parents[1] / "demo.json").read_text())
    found = read_series(folder).evaluation
    assert found is not None
    assert found.ape is not None
    assert content["evaluation"]["ape"]["translation"]["rmse"] == found.ape.translation.rmse
    assert (content["folder"], content["state"]) == (str(folder), "finished")


def test_kiss_icp_is_beside_it_or_it_is_said_why_not(demo):
    """Where kiss-icp is installed the table has its errors, else the line that installs it."""
    _, told = demo
    if PEERS[NAME].installed:
        assert "kiss-icp: LiDAR" in told.out
        assert len(re.findall(r"[\d.]+ m", row(told.out, "error at the end"))) == 2
    else:
        assert "pip install kiss-icp" in told.out


def test_a_peer_that_is_not_installed_has_no_column(demo):
    """The table of a fresh environment has ours alone."""
    folder, _ = demo
    beside = empty_row("long_corridor", PEERS[NAME], DEFAULT, "not installed", "pip install it")
    stream = StringIO()
    show.console(stream).print(demo_table(read_series(folder), beside, 0.05))
    assert "kiss" not in stream.getvalue()
    assert "50 ms" in row(stream.getvalue(), "time per scan")


def test_a_folder_with_a_run_is_not_overwritten(demo):
    """Like ``svnicp run``, the demo replaces a run only if told to."""
    folder, _ = demo
    told = svnicp("demo", "--out", str(folder))
    assert told.code == 2
    assert "there is a run in this folder already" in told.err
    assert (folder / "report.html").is_file()
    both = svnicp("demo", "--resume", "--overwrite")
    assert "either --resume or --overwrite" in both.err
