# SPDX-License-Identifier: MIT
"""Share a loop of compiled code among threads.

Compiled functions leave Python's lock alone, so ordinary threads run them side by side, each a
stretch of the loop at a time. Numba's own parallel loops do the same, but take seconds to compile,
each of them. ``numba.set_num_threads`` and NUMBA_NUM_THREADS hold here as well.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
from numba.core import config

MOST_HELPERS = max(1, config.NUMBA_NUM_THREADS - 1)  # pyright: ignore[reportAttributeAccessIssue]


class _Helpers:
    """The threads beside the one that asks, started when they are first needed."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Start anew: threads do not survive a fork."""
        self._pool = None

    def pool(self) -> ThreadPoolExecutor:
        """The pool of threads."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(MOST_HELPERS, thread_name_prefix="svnicp")
        return self._pool


_HELPERS = _Helpers()


def share(function: Callable[..., object], count: int, stretch: int, *arguments: Any) -> None:
    """Call ``function(begin, end, *arguments)`` for stretches that make up ``range(count)``.

    What a call writes must not depend on the other calls: the result is then the same for any
    number of threads. Stretches get shorter down to ``stretch``: a few calls, and all threads end
    together.
    """
    threads = min(numba.get_num_threads(), -(-count // stretch))
    if threads < 2:
        function(0, count, *arguments)
        return
    stretches, begin = list[tuple[int, int]](), 0
    while begin < count:
        end = min(count, begin + max(stretch, (count - begin) // (2 * threads)))
        stretches.append((begin, end))
        begin = end
    stretches.reverse()

    def work() -> None:
        while True:
            try:
                begin, end = stretches.pop()
            except IndexError:  # another thread took the last one
                return
            function(begin, end, *arguments)

    started = [_HELPERS.pool().submit(work) for _ in range(threads - 1)]
    work()
    for one in started:
        if not one.cancel():  # a thread that never got to run would only be waited for
            one.result()
