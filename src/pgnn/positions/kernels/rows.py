"""Vector operations on one cache line of search keys: what numba's compiler will not vectorise.

A key array has one row per node and one lane per set: `[n, 32]` of uint16, `[n, 16]` of uint32 or
`[n, 8]` of uint64. A row is 64 bytes, aligned to 64. Each function below becomes a handful of
vector instructions. Bit l of a mask belongs to lane l; masks are uint32 for 32 lanes, else uint16.

`fetch_early` and `lowest_bit` are single instructions for kernels that have no such rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

ROW_BYTES = 64
_ROWS_AHEAD = 16
_I1, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)


def empty_rows(num_rows: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Allocate a key array whose rows start at cache lines."""
    return empty_aligned((num_rows, ROW_BYTES // np.dtype(dtype).itemsize), dtype)


def empty_aligned(shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
    """Allocate an array that starts at a cache line; it is a view of one of bytes."""
    num_bytes = shape[0] * shape[1] * np.dtype(dtype).itemsize
    memory = np.empty(num_bytes + ROW_BYTES, dtype=np.uint8)
    start = -memory.ctypes.data % ROW_BYTES
    return memory[start : start + num_bytes].view(dtype).reshape(shape)


class _Lanes:
    """Emits the vector instructions of one key array."""

    def __init__(self, context: Any, builder: Any, key_type: Any, key: Any) -> None:
        self.context, self.builder = context, builder
        self.width = key_type.dtype.bitwidth
        self.count = ROW_BYTES * 8 // self.width
        self.element = ir.IntType(self.width)
        self.vector = ir.VectorType(self.element, self.count)
        self.data = self.array(key_type, key).data

    def array(self, array_type: Any, value: Any) -> Any:
        return self.context.make_array(array_type)(self.context, self.builder, value)

    def pointer(self, row: Any) -> Any:
        offset = self.builder.mul(row, ir.Constant(_I64, self.count))
        start = self.builder.gep(self.data, [offset])
        return self.builder.bitcast(start, self.vector.as_pointer())

    def load(self, row: Any) -> Any:
        value = self.builder.load(self.pointer(row))
        value.align = ROW_BYTES
        return value

    def store(self, row: Any, value: Any) -> None:
        self.builder.store(value, self.pointer(row)).align = ROW_BYTES

    def splat(self, scalar: Any) -> Any:
        """Copy a number to all lanes."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        single = self.builder.insert_element(nothing, scalar, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, self.count), [0] * self.count)
        return self.builder.shuffle_vector(single, nothing, zeros)

    def resized(self, number: Any) -> Any:
        """An unsigned number in the width of a lane."""
        if number.type.width > self.width:
            return self.builder.trunc(number, self.element)
        return self.builder.zext(number, self.element)

    def constant(self, values: list[int]) -> Any:
        return ir.Constant(self.vector, values)

    def where_bits(self, mask: Any) -> Any:
        """Lanes whose bit is set in a mask."""
        bits = ir.IntType(self.count)
        if mask.type.width > self.count:
            mask = self.builder.trunc(mask, bits)
        return self.builder.bitcast(mask, ir.VectorType(_I1, self.count))

    def as_mask(self, lanes: Any) -> Any:
        """Mask of lanes that are true."""
        bits = self.builder.bitcast(lanes, ir.IntType(self.count))
        return bits if self.count >= 16 else self.builder.zext(bits, ir.IntType(16))

    def smaller(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.icmp_unsigned("<", a, b), a, b)

    def item(self, array_type: Any, value: Any, index: Any) -> Any:
        """Load one number of another array."""
        return self.builder.load(self.builder.gep(self.array(array_type, value).data, [index]))

    def prefetch(self, pointer: Any, *, write: bool = False) -> None:
        _prefetch(self.builder, pointer, write=write)


def _prefetch(builder: Any, pointer: Any, *, write: bool = False) -> None:
    """Ask for a cache line before it is needed; an address out of bounds does no harm."""
    byte_pointer = ir.IntType(8).as_pointer()
    signature = ir.FunctionType(ir.VoidType(), [byte_pointer, _I32, _I32, _I32])
    function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
    access, keep, data = (ir.Constant(_I32, flag) for flag in (int(write), 3, 1))
    builder.call(function, [builder.bitcast(pointer, byte_pointer), access, keep, data])


@intrinsic
def fetch_early(typing: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of array[index], of any one-dimensional array, before it is needed."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        _prefetch(builder, builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@intrinsic
def lowest_bit(typing: Any, word: Any) -> Any:
    """Place of the lowest bit that is set in a number that is not 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(_I1, 1))

    return types.int64(types.uint64), codegen


def _mask_type(key: Any) -> Any:
    """Numba's type of the masks that belong to a key array."""
    return types.uint32 if key.dtype.bitwidth == 16 else types.uint16


def _code(body: Callable[..., Any]) -> Callable[..., Any]:
    """Adapt `body(lanes, types, args)` to numba's code generator signature."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _Lanes(context, builder, signature.args[0], args[0])
        result = body(lanes, signature.args, args)
        return context.get_dummy_value() if result is None else result

    return codegen


@intrinsic
def fill_row(typing: Any, key: Any, row: Any, mask: Any, value: Any, rest: Any) -> Any:
    """key[row, l] = value where the mask has bit l, else rest."""

    def body(lanes: _Lanes, types_: Any, args: Any) -> None:
        _, row, mask, value, rest = args
        chosen = lanes.builder.select(lanes.where_bits(mask), lanes.splat(value), lanes.splat(rest))
        lanes.store(row, chosen)

    return types.void(key, types.int64, _mask_type(key), key.dtype, key.dtype), _code(body)


@intrinsic
def fetch_row(typing: Any, key: Any, row: Any) -> Any:
    """Ask for key[row] before it is needed, to write to it."""

    def body(lanes: _Lanes, types_: Any, args: Any) -> None:
        lanes.prefetch(lanes.pointer(args[1]), write=True)

    return types.void(key, types.int64), _code(body)


@intrinsic
def relax_row(typing: Any, key: Any, row: Any, source: Any, step: Any) -> Any:
    """key[row] = min(key[row], key[source] + step), lane by lane."""

    def body(lanes: _Lanes, types_: Any, args: Any) -> None:
        _, row, source, step = args
        offered = lanes.builder.add(lanes.load(source), lanes.splat(step))
        lanes.store(row, lanes.smaller(offered, lanes.load(row)))

    return types.void(key, types.int64, types.int64, key.dtype), _code(body)


@intrinsic
def pull_row(
    typing: Any,
    key: Any,
    row: Any,
    step: Any,
    indices: Any,
    start: Any,
    stop: Any,
    ahead: Any,
) -> Any:
    """key[row] = min(key[row], key[u] + step for u in indices[start:stop]); mask of what improved.

    Rows `ahead` positions further in `indices` are fetched early (0: none; the processor overlaps
    loads that hit its last cache by itself).
    """

    def body(lanes: _Lanes, types_: Any, args: Any) -> Any:
        _, row, step, indices, start, stop, ahead = args
        b = lanes.builder
        step = lanes.splat(step)
        largest = b.sub(lanes.constant([-1] * lanes.count), step)
        best = cgutils.alloca_once_value(b, largest)
        last = b.sub(
            b.extract_value(lanes.array(types_[3], indices).shape, 0), ir.Constant(_I64, 1)
        )
        early = b.icmp_signed(">", ahead, ir.Constant(_I64, 0))
        with cgutils.for_range_slice(b, start, stop, ir.Constant(_I64, 1)) as (position, _):
            with b.if_then(early):
                further = b.add(position, ahead)
                further = b.select(b.icmp_signed("<", further, last), further, last)
                lanes.prefetch(lanes.pointer(b.zext(lanes.item(types_[3], indices, further), _I64)))
            neighbour = b.zext(lanes.item(types_[3], indices, position), _I64)
            b.store(lanes.smaller(lanes.load(neighbour), b.load(best)), best)
        old, offered = lanes.load(row), b.add(b.load(best), step)
        improved = b.icmp_unsigned("<", offered, old)
        lanes.store(row, b.select(improved, offered, old))
        return lanes.as_mask(improved)

    mask = _mask_type(key)
    signature = mask(key, types.int64, key.dtype, indices, types.int64, types.int64, types.int64)
    return signature, _code(body)


@intrinsic
def exchange_row(
    typing: Any, key: Any, row: Any, step: Any, indices: Any, start: Any, stop: Any
) -> Any:
    """Lower key[row], and key[u] for u in indices[start:stop], each to what the other + step is.

    Those u are not `row`. They are offered what key[row] was before.
    """

    def body(lanes: _Lanes, types_: Any, args: Any) -> None:
        _, row, step, indices, start, stop = args
        b = lanes.builder
        step = lanes.splat(step)
        own = lanes.load(row)
        offered = b.add(own, step)
        largest = b.sub(lanes.constant([-1] * lanes.count), step)
        best = cgutils.alloca_once_value(b, largest)
        with cgutils.for_range_slice(b, start, stop, ir.Constant(_I64, 1)) as (position, _):
            neighbour = b.zext(lanes.item(types_[3], indices, position), _I64)
            theirs = lanes.load(neighbour)
            b.store(lanes.smaller(theirs, b.load(best)), best)
            lanes.store(neighbour, lanes.smaller(theirs, offered))
        lanes.store(row, lanes.smaller(own, b.add(b.load(best), step)))

    signature = types.void(key, types.int64, key.dtype, indices, types.int64, types.int64)
    return signature, _code(body)


@intrinsic
def first_row(
    typing: Any,
    key: Any,
    row: Any,
    level: Any,
    indices: Any,
    start: Any,
    stop: Any,
    front: Any,
    need: Any,
) -> Any:
    """Give each needed lane level | u for the first neighbour u in front; mask of lanes so served.

    At the first level the nearest anchor is the neighbour itself: no row is read, only its bits.
    """

    def body(lanes: _Lanes, types_: Any, args: Any) -> Any:
        _, row, level, indices, start, stop, front, need = args
        b = lanes.builder
        best = cgutils.alloca_once_value(b, lanes.load(row))
        open_lanes = cgutils.alloca_once_value(b, need)
        with cgutils.for_range_slice(b, start, stop, ir.Constant(_I64, 1)) as (position, _):
            neighbour = lanes.item(types_[3], indices, position)
            bits = lanes.item(types_[6], front, b.zext(neighbour, _I64))
            reached = b.and_(bits, b.load(open_lanes))
            b.store(b.xor(b.load(open_lanes), reached), open_lanes)
            offered = lanes.splat(b.or_(lanes.resized(neighbour), level))
            b.store(b.select(lanes.where_bits(reached), offered, b.load(best)), best)
        lanes.store(row, b.load(best))
        return b.xor(need, b.load(open_lanes))

    mask = _mask_type(key)
    signature = mask(key, types.int64, key.dtype, indices, types.int64, types.int64, front, mask)
    return signature, _code(body)


@intrinsic
def lanes_below(typing: Any, key: Any, row: Any, bound: Any) -> Any:
    """Mask of lanes with key[row] < bound."""

    def body(lanes: _Lanes, types_: Any, args: Any) -> Any:
        _, row, bound = args
        return lanes.as_mask(lanes.builder.icmp_unsigned("<", lanes.load(row), lanes.splat(bound)))

    return _mask_type(key)(key, types.int64, key.dtype), _code(body)


def _store_to(lanes: _Lanes, out_type: Any, out: Any, row: Any, column: Any, value: Any) -> None:
    """Store one number per lane in a row of an output array, from `column` on.

    Rows of the output are far apart, so the line that a row some way on will need is fetched now.
    """
    b = lanes.builder
    array = lanes.array(out_type, out)
    columns = b.extract_value(array.shape, 1)
    offset = b.add(b.mul(row, columns), column)
    later = b.add(offset, b.mul(columns, ir.Constant(_I64, _ROWS_AHEAD)))
    for line in range(0, lanes.count * out_type.dtype.bitwidth // 8, ROW_BYTES):
        step = ir.Constant(_I64, line * 8 // out_type.dtype.bitwidth)
        lanes.prefetch(b.gep(array.data, [b.add(later, step)]), write=True)
    element = ir.IntType(out_type.dtype.bitwidth)
    vector = ir.VectorType(element, lanes.count)
    if element.width < value.type.element.width:
        value = b.trunc(value, vector)
    target = b.bitcast(b.gep(array.data, [offset]), vector.as_pointer())
    b.store(value, target).align = element.width // 8


def _split(lanes: _Lanes, row: Any, shift: Any, bound: Any) -> tuple[Any, Any, Any]:
    """Lanes with key < bound, low parts of the keys, and high parts (-1 where not below)."""
    b = lanes.builder
    keys, bits = lanes.load(row), lanes.splat(shift)
    reached = b.icmp_unsigned("<", keys, lanes.splat(bound))
    high = b.lshr(keys, bits)
    low = b.xor(keys, b.shl(high, bits))
    return reached, low, b.select(reached, high, lanes.constant([-1] * lanes.count))


@intrinsic
def emit_row(
    typing: Any,
    key: Any,
    row: Any,
    shift: Any,
    bound: Any,
    hops: Any,
    nearest: Any,
    out_row: Any,
    column: Any,
) -> Any:
    """Split keys into hops and nearest, -1 where key >= bound, from `column` on of both outputs."""

    def body(lanes: _Lanes, types_: Any, args: Any) -> None:
        _, row, shift, bound, hops, nearest, out_row, column = args
        b = lanes.builder
        reached, anchor, level = _split(lanes, row, shift, bound)
        nothing = lanes.constant([-1] * lanes.count)
        _store_to(lanes, types_[4], hops, out_row, column, level)
        _store_to(lanes, types_[5], nearest, out_row, column, b.select(reached, anchor, nothing))

    signature = types.void(
        key, types.int64, key.dtype, key.dtype, hops, nearest, types.int64, types.int64
    )
    return signature, _code(body)


@intrinsic
def emit_ranked_row(
    typing: Any,
    key: Any,
    row: Any,
    shift: Any,
    bound: Any,
    hops: Any,
    nearest: Any,
    out_row: Any,
    column: Any,
    nodes: Any,
    start: Any,
    offsets: Any,
) -> Any:
    """Do as `emit_row` does; the anchor of rank r in lane l is nodes[start + offsets[l] + r].

    Written out lane by lane: 32 independent loads, which the processor overlaps.
    """

    def body(lanes: _Lanes, types_: Any, args: Any) -> None:
        _, row, shift, bound, hops, nearest, out_row, column, nodes, start, offsets = args
        b = lanes.builder
        reached, rank, level = _split(lanes, row, shift, bound)
        rank = b.select(reached, rank, lanes.constant([0] * lanes.count))
        wide = ir.VectorType(_I32, lanes.count)
        table = lanes.array(types_[10], offsets).data
        shifts = b.load(b.bitcast(table, wide.as_pointer()))
        shifts.align = 4
        index = b.add(b.zext(rank, wide), shifts)
        base = b.gep(lanes.array(types_[8], nodes).data, [start])
        anchor = ir.Constant(wide, ir.Undefined)
        for lane in range(lanes.count):
            here = ir.Constant(_I32, lane)
            node = b.load(b.gep(base, [b.zext(b.extract_element(index, here), _I64)]))
            anchor = b.insert_element(anchor, node, here)
        anchor = b.select(reached, anchor, ir.Constant(wide, [-1] * lanes.count))
        _store_to(lanes, types_[4], hops, out_row, column, level)
        _store_to(lanes, types_[5], nearest, out_row, column, anchor)

    signature = types.void(
        key, types.int64, key.dtype, key.dtype, hops, nearest, types.int64, types.int64,
        nodes, types.int64, offsets,
    )  # fmt: skip
    return signature, _code(body)
