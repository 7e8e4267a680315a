# SPDX-License-Identifier: MIT
"""The one decorator for compiled code, so that flags are chosen in one place.

``fastmath=True`` would let the compiler assume that NaN and infinity do not exist, and
``np.isnan`` would then always be false. The flags below allow re-association and fused
multiply-add, and keep NaN and infinity honest. A division by zero gives infinity or NaN, as in
NumPy: checking every division for an exception makes the code longer and slower to compile. What
only compiled code calls, the names with an underscore, gets no wrapper for Python; calling it from
Python crashes.

What keeps compilation short: loops instead of array expressions, and above all instead of
assignments of arrays to slices, which bring the formatting of their error messages along; and no
parallel loops of Numba's, each of which takes seconds: see ``kernels.threads``.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

# OpenMP's threads (PyTorch's) that spin at a barrier lose whole time slices when another process
# wants the core; waiting passively costs microseconds on an idle machine and saves tens of
# milliseconds on a busy one.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Numba colours the message of every error while it tries which version of a function fits, most of
# which nobody sees: a tenth of the time to compile.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

import numba

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

P = ParamSpec("P")
R = TypeVar("R")

SAFE_FAST_MATH = {"contract", "reassoc", "nsz", "arcp", "afn"}


def njit(
    *, inlined: bool = False, borrows: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function on first use and cache the machine code; keeps the signature typed.

    ``inlined`` makes it a part of its callers: handing over the map's many arrays takes longer than
    a short function does. ``borrows`` is for functions that make no array of their own: they do not
    count references to the rows of arrays that they are given. Numba counts by an atomic
    instruction for every view, which takes longer than most of what is done with a row, and threads
    that count the same array wait for each other.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        options: dict[str, Any] = {
            "cache": True, "fastmath": SAFE_FAST_MATH, "nogil": True, "error_model": "numpy",
            "no_cpython_wrapper": function.__name__.startswith("_"), "no_cfunc_wrapper": True,
            "forceinline": inlined, "_nrt": not borrows,
        }  # fmt: skip
        compiled = numba.njit(**options)(function)
        save_alone(compiled)
        return cast("Callable[P, R]", compiled)

    return decorate


def save_alone(compiled: Any) -> None:
    """Let only one process at a time write into a function's cache.

    Numba reads an index, adds to it and writes it back: of two processes that compile at the same
    time one loses what it saved, or its machine code gets the other's name.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is None or fcntl is None:
        return
    save, path = file.save, Path(file._index_path).with_name("svnicp.lock")
    take, alone = fcntl.flock, fcntl.LOCK_EX

    def locked(key: object, data: object) -> None:
        with path.open("w") as lock:
            take(lock, alone)  # until the file is closed
            save(key, data)

    file.save = locked
