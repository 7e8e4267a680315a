# SPDX-License-Identifier: MIT
"""Run a part of a test with a given number of threads."""

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import pytest

needs_two_threads = pytest.mark.skipif(numba.get_num_threads() < 2, reason="needs two threads")


@contextmanager
def num_threads(count: int) -> Iterator[None]:
    """Compiled code uses this many threads inside the block."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
