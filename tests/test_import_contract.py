# SPDX-License-Identifier: MIT
"""Data flows one way: no module imports one above it. The contract is in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_imports_point_one_way():
    """The layers of pyproject.toml hold, and every module has its place in them."""
    pytest.importorskip("importlinter", reason="import-linter comes with `make check`")
    # In its own process: the linter reconfigures logging for the one it runs in.
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, "--no-cache", "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
