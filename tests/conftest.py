# SPDX-License-Identifier: MIT
"""Shared set-up: a compilation cache that notices edits, repeatable examples, seeded randomness.

Numba's cache looks only at the file of the function that it compiles. An edit in a function that
is called from another file leaves the caller's old machine code in use, so the cache folder is
keyed by everything in ``kernels/``. This has to happen before anything imports numba.
"""

import hashlib
import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from cli_cases import ROOM, svnicp
from precompile import precompile

ROOT = Path(__file__).resolve().parents[1]


def kernels_digest() -> str:
    """Return a short hash of the names and contents of all compiled sources."""
    digest = hashlib.sha256()
    for source in sorted((ROOT / "src" / "svnicp" / "kernels").glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


CACHE = ROOT / ".numba_cache" / kernels_digest()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)
if "PYTEST_XDIST_WORKER" in os.environ:
    # Processes share the cores; two threads are what tests of threads need.
    os.environ["NUMBA_NUM_THREADS"] = str(min(2, os.cpu_count() or 1))
    os.environ.pop("COLUMNS", None)  # set for the workers: no terminal, no lines to wrap

# Compilation makes first calls slow, so no deadline; CI draws the same examples every time.
hypothesis.settings.register_profile(
    "svnicp", deadline=None, derandomize="CI" in os.environ, print_blob=True
)
hypothesis.settings.load_profile("svnicp")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile before several processes start, so that they need not do it all at once."""
    if session.config.getoption("numprocesses", None):
        precompile(CACHE)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator with a fixed seed, new for every test."""
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Return the folder of a run that was not interrupted, and what it printed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run = svnicp(*ROOM, "--out", str(folder), "--json", str(folder.with_name("run.json")))
    assert run.returncode == 0, run.stderr
    return folder, run.stdout, run.stderr
