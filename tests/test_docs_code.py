# SPDX-License-Identifier: MIT
"""The Python in the documentation runs."""

import re
from pathlib import Path

import pytest

import svnicp

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
