"""The compiled steps of the PageRank iteration. Imported when first used: numba is slow to load.

All arrays `[n, 16]` have one row per node and one lane per set. Steps are done in float32, whose
rows are one cache line; what a solution leaves over is found in float64. A walk's matrix is
G = diag(scale) M, with the entries of M in `entries`, or all 1 where `entries` is None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Rows = NDArray[np.float32] | NDArray[np.float64]

LANES = 16
_AHEAD = 12  # entries between asking for a row and adding it
_FUSED = ("contract",)
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_SINGLES = ir.VectorType(ir.FloatType(), LANES)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


def _element(kind: Any) -> Any:
    return kind.element if isinstance(kind, ir.VectorType) else kind


class RowCode:
    """Emits vector instructions on rows of contiguous arrays `[n, 16]`."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder, self.types, self.args = context, builder, signature.args, args

    def data(self, place: int) -> Any:
        """Where the array begins that is argument number `place`."""
        kind, value = self.types[place], self.args[place]
        return self.context.make_array(kind)(self.context, self.builder, value).data

    def item(self, place: int, index: Any) -> Any:
        """A number of an array."""
        return self.builder.load(self.builder.gep(self.data(place), [index]))

    def pointer(self, start: Any, row: Any, vector: Any) -> Any:
        """Where a row begins."""
        first = self.builder.gep(start, [self.builder.mul(row, ir.Constant(_I64, LANES))])
        return self.builder.bitcast(first, vector.as_pointer())

    def vector(self, place: int) -> Any:
        """Type of a row of an array."""
        return _SINGLES if self.types[place].dtype == types.float32 else _DOUBLES

    def load(self, place: int, row: Any) -> Any:
        """A row of an array."""
        return self.load_from(self.data(place), row, self.vector(place))

    def load_from(self, start: Any, row: Any, vector: Any) -> Any:
        """A row of the array that begins at `start`."""
        value = self.builder.load(self.pointer(start, row, vector))
        value.align = 4
        return value

    def cast(self, value: Any, target: Any) -> Any:
        """A number or row in another precision, or as it is."""
        if value.type == target:
            return value
        widen = _element(target) == ir.DoubleType()
        return (self.builder.fpext if widen else self.builder.fptrunc)(value, target)

    def store(self, place: int, row: Any, value: Any) -> None:
        """Write a row of an array."""
        pointer = self.pointer(self.data(place), row, value.type)
        self.builder.store(value, pointer).align = 4

    def splat(self, number: Any, vector: Any) -> Any:
        """A row with the same number in all lanes."""
        number = self.cast(number, vector.element)
        nothing = ir.Constant(vector, ir.Undefined)
        single = self.builder.insert_element(nothing, number, ir.Constant(_I32, 0))
        same_lane = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
        return self.builder.shuffle_vector(single, nothing, same_lane)

    def add_product(self, total: Any, a: Any, b: Any) -> Any:
        """A total and a product, rounded once where the processor can."""
        return self.builder.fadd(total, self.builder.fmul(a, b, flags=_FUSED), flags=_FUSED)

    def larger_size(self, size: Any, value: Any) -> Any:
        """max(size, |value|), lane by lane."""
        for signed in (value, self.builder.fneg(value)):
            is_larger = self.builder.fcmp_ordered(">", signed, size)
            size = self.builder.select(is_larger, signed, size)
        return size

    def prefetch(self, pointer: Any) -> None:
        """Ask for a cache line before it is needed."""
        byte = _I8.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        read, keep, data = (ir.Constant(_I32, flag) for flag in (0, 3, 1))
        self.builder.call(function, [self.builder.bitcast(pointer, byte), read, keep, data])

    def sum_neighbours(self, vector: Any) -> Any:
        """Sum of M[v, u] x[u] over the entries of row v, in the precision of `vector`.

        Arguments 0 to 4 are indptr, indices, entries (or None), x (float32) and v.
        """
        builder = self.builder
        v = self.args[4]
        first = self.item(0, v)
        last = self.item(0, builder.add(v, ir.Constant(_I64, 1)))
        neighbours, x = self.data(1), self.data(3)
        end = self.context.make_array(self.types[1])(self.context, builder, self.args[1]).nitems
        is_weighted = not isinstance(self.types[2], types.NoneType)
        zeros = ir.Constant(vector, [0.0] * LANES)
        before = builder.block
        loop = builder.append_basic_block("pull")
        after = builder.append_basic_block("pulled")
        builder.cbranch(builder.icmp_signed("<", first, last), loop, after)

        builder.position_at_end(loop)
        entry, total = builder.phi(_I64), builder.phi(vector)
        entry.add_incoming(first, before)
        total.add_incoming(zeros, before)
        later = builder.add(entry, ir.Constant(_I64, _AHEAD))
        later = builder.select(builder.icmp_signed("<", later, end), later, entry)
        soon = builder.sext(builder.load(builder.gep(neighbours, [later])), _I64)
        self.prefetch(self.pointer(x, soon, self.vector(3)))
        node = builder.sext(builder.load(builder.gep(neighbours, [entry])), _I64)
        values = self.cast(self.load_from(x, node, self.vector(3)), vector)
        if is_weighted:
            more = self.add_product(total, self.splat(self.item(2, entry), vector), values)
        else:
            more = builder.fadd(total, values)
        following = builder.add(entry, ir.Constant(_I64, 1))
        entry.add_incoming(following, loop)
        total.add_incoming(more, loop)
        builder.cbranch(builder.icmp_signed("<", following, last), loop, after)

        builder.position_at_end(after)
        result = builder.phi(vector)
        result.add_incoming(zeros, before)
        result.add_incoming(more, loop)
        return result


def code_of_rows(body: Callable[[RowCode, Any], None]) -> Callable[..., Any]:
    """Adapt `body(rows, args)` to numba's code generator signature."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        body(RowCode(context, builder, signature, args), args)
        return context.get_dummy_value()

    return codegen


@intrinsic
def _advance_row(
    _context: Any,
    indptr: Any,
    indices: Any,
    entries: Any,
    current: Any,
    _v: Any,
    scale: Any,
    source: Any,
    previous: Any,
    _omega: Any,
    largest: Any,
) -> Any:
    """Do one row of `advance`; `largest` is one row, the largest residual of each lane."""

    def body(rows: RowCode, args: Any) -> None:
        builder, v, zero, vector = rows.builder, args[4], ir.Constant(_I64, 0), rows.vector(3)
        total = rows.sum_neighbours(vector)
        landed = rows.add_product(rows.load(6, v), rows.splat(rows.item(5, v), vector), total)
        moved = builder.fsub(landed, rows.load(3, v))
        rows.store(9, zero, rows.larger_size(rows.load(9, zero), moved))
        old = rows.load(7, v)
        change = builder.fsub(landed, old)
        rows.store(7, v, rows.add_product(old, rows.splat(args[8], vector), change))

    arrays = (indptr, indices, entries, current, types.int64, scale, source, previous)
    return types.void(*arrays, types.float64, largest), code_of_rows(body)


@intrinsic
def _settle_row(
    _context: Any,
    indptr: Any,
    indices: Any,
    entries: Any,
    correction: Any,
    _v: Any,
    scale: Any,
    left_over: Any,
    solution: Any,
    largest: Any,
) -> Any:
    """Do one row of `settle`; `largest` is one row, the largest of what is left in each lane."""

    def body(rows: RowCode, args: Any) -> None:
        builder, v, zero = rows.builder, args[4], ir.Constant(_I64, 0)
        total = rows.sum_neighbours(_DOUBLES)
        own = rows.cast(rows.load(3, v), _DOUBLES)
        left = builder.fsub(rows.load(6, v), own)
        left = rows.add_product(left, rows.splat(rows.item(5, v), _DOUBLES), total)
        rows.store(6, v, left)
        rows.store(7, v, builder.fadd(rows.load(7, v), own))
        rows.store(8, zero, rows.larger_size(rows.load(8, zero), left))

    arrays = (indptr, indices, entries, correction, types.int64, scale, left_over, solution)
    return types.void(*arrays, largest), code_of_rows(body)


@njit(nogil=True, cache=True)
def advance(
    matrix: Any,
    nodes: tuple[int, int],
    source: Rows,
    current: Rows,
    previous: Rows,
    omega: float,
) -> float:
    """Overwrite x_(t-1) with x_(t+1) and return how far x_t was from solving x = G x + c.

    With c = `source`, x_t = `current` and x_(t-1) = `previous`, the three-term step is

        x_(t+1) = x_(t-1) + omega * (G x_t + c - x_(t-1)),

    and max |G x_t + c - x_t| is returned. Row v of x_(t+1) needs only row v of x_(t-1), so two
    buffers suffice. With one buffer in both places and omega = 1 this is a sweep of Gauss and
    Seidel, and the largest change is returned.

    Args:
        matrix: `(indptr, indices, entries or None, scale)` of G.
        nodes: First row and end of the rows to do.
        source, current, previous: `[n, 16]`, all float32 or all float64.
        omega: Factor of the step.
    """
    indptr, indices, entries, scale = matrix
    largest = np.zeros(LANES, dtype=current.dtype)
    for v in range(nodes[0], nodes[1]):
        _advance_row(indptr, indices, entries, current, v, scale, source, previous, omega, largest)
    return float(largest.max())


@njit(nogil=True, cache=True)
def settle(
    matrix: Any,
    nodes: tuple[int, int],
    correction: Rows,
    left_over: NDArray[np.float64],
    solution: NDArray[np.float64],
) -> float:
    """Add e = `correction` to the solution, take (I - G) e from what is left over; all in float64.

    Returns the largest number, without its sign, that is now left over in the rows.
    """
    indptr, indices, entries, scale = matrix
    largest = np.zeros(LANES)
    for v in range(nodes[0], nodes[1]):
        _settle_row(indptr, indices, entries, correction, v, scale, left_over, solution, largest)
    return float(largest.max())


@njit(nogil=True, cache=True)
def write_block(
    solution: NDArray[np.float64],
    left_over: NDArray[np.float64],
    survival: NDArray[np.float64],
    scale: NDArray[np.float64],
    first: int,
    result: NDArray[np.float32],
) -> None:
    """Write (x + r) / Y, at least 0, times the scale of each set, to columns from `first` on."""
    for v in range(solution.shape[0]):
        for lane in range(scale.shape[0]):
            share = (solution[v, lane] + left_over[v, lane]) / survival[v]
            result[v, first + lane] = max(share, 0.0) * scale[lane]
