"""Ask for memory before it is needed: rows of a large graph lie anywhere in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LINE_BYTES = 64
_LINES = 2  # a row of 32 neighbours


@intrinsic
def prefetch(_context: Any, array: Any, _place: Any) -> tuple[Any, Callable[..., Any]]:
    """Ask for array[_place] and what follows in 128 bytes; a place out of bounds does no harm."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        flag, offset, byte = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        start = builder.bitcast(builder.gep(data, [args[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, keep, is_data = (ir.Constant(flag, value) for value in (0, 3, 1))
        for line in range(_LINES):
            address = builder.gep(start, [ir.Constant(offset, line * _LINE_BYTES)])
            builder.call(function, [address, read, keep, is_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen
