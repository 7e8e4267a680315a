# SPDX-License-Identifier: MIT
"""The one decorator for compiled code, so that flags are chosen in one place.

``fastmath=True`` would let the compiler assume that NaN and infinity do not exist, and
``np.isnan`` would then always be false. The flags below allow re-association and fused
multiply-add, and keep NaN and infinity honest.
"""

import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

# Threads that spin at a barrier lose whole time slices when another process wants the core; waiting
# passively costs microseconds on an idle machine and saves tens of milliseconds on a busy one.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numba

P = ParamSpec("P")
R = TypeVar("R")

SAFE_FAST_MATH = {"contract", "reassoc", "nsz", "arcp", "afn"}

ONLY_PRANGE = {
    "comprehension": False, "reduction": False, "inplace_binop": False, "setitem": False,
    "numpy": False, "stencil": False, "fusion": False, "prange": True,
}  # fmt: skip
"""Explicit loops run in parallel and nothing else does: it compiles several times faster."""


def njit(*, parallel: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function on first use and cache the machine code; keeps the signature typed."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        options: dict[str, Any] = {"parallel": ONLY_PRANGE} if parallel else {}
        compiled = numba.njit(cache=True, fastmath=SAFE_FAST_MATH, nogil=True, **options)(function)
        return cast("Callable[P, R]", compiled)

    return decorate
