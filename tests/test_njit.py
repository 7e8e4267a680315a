# SPDX-License-Identifier: MIT
"""The decorator of compiled code: what it keeps on the disk, and what it forbids."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

from svnicp.arrays import Floats
from svnicp.kernels.njit import njit

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


@njit(borrows=True)
def sum_of_rows(array: Floats, out: Floats) -> None:
    """Add the rows of an array (n, m) to ``out`` (m,), by views of them."""
    for n in range(len(array)):
        row = array[n]
        for i in range(len(row)):
            out[i] += row[i]


@njit(borrows=True)
def makes_an_array(count: int) -> float:
    """Sum of an array of its own."""
    return np.ones(count).sum()


def test_a_function_that_borrows_leaves_the_counts_of_references_alone() -> None:
    """Views of rows give the right numbers, and nothing holds the array afterwards."""
    array, out = np.arange(12.0).reshape(4, 3), np.zeros(3)
    before = sys.getrefcount(array)
    for _ in range(5):
        sum_of_rows(array, out)
    np.testing.assert_array_equal(out, 5.0 * array.sum(axis=0))
    assert sys.getrefcount(array) == before


def test_a_function_that_borrows_cannot_make_arrays() -> None:
    """What would never be given back is refused when it is compiled."""
    with pytest.raises((NumbaError, NotImplementedError)):
        makes_an_array(3)
