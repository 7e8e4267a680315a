# SPDX-License-Identifier: MIT
"""Ask for memory before it is needed.

Points of a scan lie all over the map, whose arrays do not fit into the processor's caches. A loop
that asks for the rows of many points, and then another that uses them, waits once instead of once
per point.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

READ, KEEP, DATA = 0, 3, 1
"""Arguments of LLVM's instruction: for reading, in all caches, and not code."""


def _prefetch(typing: Any, array: Any, row: Any) -> Any:  # noqa: ARG001
    """Type and code of ``prefetch``, in the form that Numba asks for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, _ = signature.args
        made = context.make_array(array_type)(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, made.strides)[0]
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.gep(builder.bitcast(made.data, byte), [builder.mul(arguments[1], stride)])
        instruction = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        builder.call(instruction, [place, *(number(value) for value in (READ, KEEP, DATA))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch = cast("Callable[[Any, Any], None]", intrinsic(_prefetch))
"""``prefetch(array, row)`` in compiled code: begin to bring a row of an array into the cache."""
