# SPDX-License-Identifier: MIT
"""The first run on a machine compiles in other processes, so that it equals all later ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from svnicp.cli import first_use
from svnicp.cli.first_use import compile_first, is_compiled

ASKED = "from svnicp.cli.first_use import is_compiled; print(is_compiled())"


def test_what_is_kept_is_found(tmp_path: Path):
    """In the folder of these tests there is machine code, in an empty one there is none."""
    assert is_compiled()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    asked = subprocess.run(
        [sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=True
    )
    assert asked.stdout.strip() == "False"


@pytest.mark.parametrize(("kept", "said"), [(True, ""), (False, "compiling for this machine")])
def test_others_compile_only_where_nothing_is_kept(
    kept: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """With the parameters of the run, and a line that says why it takes a while."""
    ran: list[list[str]] = []
    monkeypatch.setattr(first_use, "is_compiled", lambda: kept)
    monkeypatch.setattr(subprocess, "run", lambda words, check: ran.append(words))  # noqa: ARG005
    compile_first(Console(), "paper")
    assert [words[-1] for words in ran] == ([] if kept else ["paper"])
    printed = capsys.readouterr().out
    assert said in printed
    assert bool(printed) is bool(said)
