# SPDX-License-Identifier: MIT
"""The decorator of compiled code: what it keeps on the disk."""

import os
import subprocess
import sys
from pathlib import Path

PREPARED = """
import pathlib, sys, time
from numbers_module import same
same._cache._impl.locator.ensure_cache_path()
pathlib.Path(f"ready{sys.argv[1]}").touch()
while not (pathlib.Path("ready0").exists() and pathlib.Path("ready1").exists()):
    time.sleep(0.001)
for number in range(int(sys.argv[1]), 300, 2):
    same._cache._cache_file.save(number, number)
"""
MODULE = """
from svnicp.kernels.njit import njit

@njit()
def same(x):
    return x
"""
COUNT = "from numbers_module import same; print(same._cache._cache_file._load_index())"


def test_two_processes_save_into_one_cache(tmp_path: Path) -> None:
    """What two processes save at the same time is all there, each under a name of its own."""
    (tmp_path / "numbers_module.py").write_text(MODULE, encoding="utf-8")
    paths = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    options = {
        "env": {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path)},
        "cwd": tmp_path,
    }
    writers = [
        subprocess.Popen([sys.executable, "-c", PREPARED, str(n)], **options) for n in (0, 1)
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    told = subprocess.run(
        [sys.executable, "-c", COUNT], capture_output=True, text=True, check=True, **options
    )
    index = eval(told.stdout)  # a dictionary of numbers and names, printed by our own program
    assert set(index) == set(range(300))
    assert len(set(index.values())) == 300
