# SPDX-License-Identifier: MIT
"""Share a loop of compiled code among threads.

Compiled functions leave Python's lock alone, so ordinary threads run them side by side, each a
stretch of the loop at a time. Numba's own parallel loops do the same, but take seconds to compile,
each of them. ``numba.set_num_threads`` and NUMBA_NUM_THREADS hold here as well.
"""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple

import numba
from numba.core import config

MOST_HELPERS = max(1, config.NUMBA_NUM_THREADS - 1)  # pyright: ignore[reportAttributeAccessIssue]


class _Loop(NamedTuple):
    """A loop that threads share."""

    function: Callable[..., object]
    arguments: tuple[Any, ...]
    stretches: list[tuple[int, int]]
    """Those that nobody has begun; the last one is next."""
    ended: SimpleQueue[BaseException | None]
    """What became of each stretch that a helper began."""

    def help_out(self) -> None:
        """Take stretches until none is left."""
        while True:
            try:
                begin, end = self.stretches.pop()
            except IndexError:  # another thread took the last one
                return
            error = None
            try:
                self.function(begin, end, *self.arguments)
            except BaseException as raised:
                error = raised
            self.ended.put(error)


class _Helpers:
    """The threads beside the one that asks, started when they are first needed.

    A queue without futures: waking a thread through an executor takes longer than many a loop.
    """

    def __init__(self) -> None:
        self.forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Start anew: threads do not survive a fork."""
        self._asked, self._started = SimpleQueue[_Loop](), False

    def ask(self, loop: _Loop, count: int) -> None:
        """Let so many helpers take part in a loop as soon as they can."""
        if not self._started:
            self._started = True
            for _ in range(MOST_HELPERS):
                threading.Thread(
                    target=_serve, args=(self._asked,), name="svnicp", daemon=True
                ).start()
        for _ in range(count):
            self._asked.put(loop)


def _serve(asked: SimpleQueue[_Loop]) -> None:
    """Help with one loop after the other, for ever."""
    while True:
        asked.get().help_out()


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
    elsewhere = len(stretches)
    loop = _Loop(function, arguments, stretches, SimpleQueue())
    _HELPERS.ask(loop, threads - 1)
    try:
        while stretches:
            try:
                begin, end = stretches.pop()
            except IndexError:  # another thread took the last one
                break
            elsewhere -= 1
            function(begin, end, *arguments)
    finally:
        elsewhere -= len(stretches)
        stretches.clear()
        errors = [loop.ended.get() for _ in range(elsewhere)]
    for error in errors:
        if error is not None:
            raise error
