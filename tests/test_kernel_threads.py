# SPDX-License-Identifier: MIT
"""Sharing a loop among threads: every part once, whatever the numbers; errors come through."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svnicp.kernels.threads import share
from threads import needs_two_threads, num_threads


@needs_two_threads
@given(count=st.integers(0, 200), stretch=st.integers(1, 60), threads=st.integers(1, 2))
def test_every_part_is_done_once(count: int, stretch: int, threads: int):
    """Each index of the loop is visited exactly once, by one thread or two."""
    visits = np.zeros(count, dtype=np.int64)

    def visit(begin: int, end: int, out: np.ndarray) -> None:
        out[begin:end] += 1

    with num_threads(threads):
        share(visit, count, stretch, visits)
    assert np.all(visits == 1)


@needs_two_threads
def test_two_threads_work_side_by_side():
    """While one thread is busy with a stretch, another takes the next."""
    meeting = threading.Barrier(2, timeout=20.0)
    with num_threads(2):
        share(lambda _begin, _end: meeting.wait(), 2, 1)
    assert not meeting.broken


def test_one_thread_is_asked_once():
    """Without helpers, or with little to do, the whole loop is one call in the same thread."""
    calls: list[tuple[int, int, int]] = []

    def note(begin: int, end: int) -> None:
        calls.append((begin, end, threading.get_ident()))

    with num_threads(1):
        share(note, 100, 10)
    share(note, 7, 10)
    me = threading.get_ident()
    assert calls == [(0, 100, me), (0, 7, me)]


@needs_two_threads
def test_an_error_in_any_thread_is_raised():
    """What goes wrong in another thread is not lost."""
    me, failing = threading.get_ident(), threading.Event()

    def fail_elsewhere(_begin: int, _end: int) -> None:
        if threading.get_ident() != me:
            failing.set()
            raise ValueError("elsewhere")
        assert failing.wait(20.0)

    with num_threads(2), pytest.raises(ValueError, match="elsewhere"):
        share(fail_elsewhere, 4, 1)


@needs_two_threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_starts_its_own_threads():
    """Threads do not survive a fork; the child shares its loops all the same."""
    done = np.zeros(100, dtype=np.int64)

    def visit(begin: int, end: int) -> None:
        done[begin:end] += 1

    with num_threads(2):
        share(visit, 100, 1)
        child = os.fork()
        if child == 0:
            share(visit, 100, 1)
            os._exit(0 if np.all(done == 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
