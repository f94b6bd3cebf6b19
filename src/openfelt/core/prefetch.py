"""Prefetch instructions for kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

READ, KEEP, DATA = 0, 3, 1  # arguments of LLVM's prefetch


@intrinsic  # type: ignore[untyped-decorator]
def fetch(typing: Any, table: Any, index: Any) -> tuple[Any, Callable[..., Any]]:
    """Prefetch table[index] into the processor's cache; the index is a tuple. For kernels only."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(table)(context, builder, arguments[0])
        numbers = cgutils.unpack_tuple(builder, arguments[1])
        at = [context.cast(builder, *each, types.intp) for each in zip(numbers, index.types, strict=True)]
        pointer, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(cgutils.get_item_pointer(context, builder, table, array, at), pointer)
        kind = ir.FunctionType(ir.VoidType(), [pointer, whole, whole, whole])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(prefetch, [place, whole(READ), whole(KEEP), whole(DATA)])
        return context.get_dummy_value()

    return types.void(table, index), build
