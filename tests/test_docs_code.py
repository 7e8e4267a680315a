# SPDX-License-Identifier: MIT
"""The Python in the documentation runs."""

import re
from pathlib import Path

import pytest

import svnicp
from svnicp.config import VARIANTS
from svnicp.odometry.outcome import Fate
from svnicp.recording.run_files import ALL_NAMES

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(page: str) -> list[str]:
    """Return the fenced Python of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(python_blocks("data.md"))))
def test_data_page_runs(number: int, tmp_path: Path, monkeypatch, capsys):
    """Every block of the page on recordings runs and prints something about each scan."""
    monkeypatch.chdir(tmp_path)
    svnicp.write_dataset(svnicp.simulate("room", duration_s=0.5), tmp_path / "drive.mcap")
    exec(compile(python_blocks("data.md")[number], "data.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 5


@pytest.mark.parametrize("number", range(len(python_blocks("odometry.md"))))
def test_odometry_page_runs(number: int, tmp_path: Path, monkeypatch, capsys):
    """Every block of the page on odometry runs and prints poses."""
    monkeypatch.chdir(tmp_path)
    exec(compile(python_blocks("odometry.md")[number], "odometry.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "ok" in printed if number == 0 else "ImuPose(stamp_ns=" in printed


def test_odometry_page_knows_all_files_statuses_and_variants():
    """What a run writes, what becomes of a scan, and every variant are on the page."""
    page = (ROOT / "docs" / "odometry.md").read_text(encoding="utf-8")
    hidden = {"map.part", "particles.part", "report.html"}
    names = {*ALL_NAMES, *(fate.name.lower() for fate in Fate), *VARIANTS} - hidden
    assert sorted(name for name in names if f"`{name}`" not in page) == []
