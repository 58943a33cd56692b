"""Walks of any length from 16 sources side by side: one row of 16 numbers per node.

With x_0 the unit vectors of 16 sources, `[n, 16]`, and x_(k+1) = S x_k, entry (v, lane) of x_k is
S^k[v, source]. Every edge is one multiply-add of a whole row, which is two vector instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LANES = 16
_I32, _I64 = ir.IntType(32), ir.IntType(64)
_ROW = ir.VectorType(ir.DoubleType(), LANES)


@intrinsic
def _pull_row(
    _context: Any, indices: Any, entries: Any, first: Any, last: Any, x: Any, y: Any, v: Any
) -> Any:
    """Set y[v] to the sum of entries[e] * x[indices[e]] over e in first .. last - 1.

    The sum stays in registers, which the compiler does not see by itself for a loop over lanes. It
    is the loop `while e < last`, entered only if there is an entry; `x` and `y` are contiguous.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def data(place: int) -> Any:
            return context.make_array(signature.args[place])(context, builder, args[place]).data

        def row(array: Any, node: Any) -> Any:
            start = builder.gep(array, [builder.mul(node, ir.Constant(_I64, LANES))])
            return builder.bitcast(start, _ROW.as_pointer())

        neighbours, factors, source, target = data(0), data(1), data(4), data(5)
        zeros = ir.Constant(_ROW, [0.0] * LANES)
        before = builder.block
        loop = builder.append_basic_block("pull")
        after = builder.append_basic_block("pulled")
        builder.cbranch(builder.icmp_signed("<", args[2], args[3]), loop, after)

        builder.position_at_end(loop)
        entry, total = builder.phi(_I64), builder.phi(_ROW)
        entry.add_incoming(args[2], before)
        total.add_incoming(zeros, before)
        node = builder.sext(builder.load(builder.gep(neighbours, [entry])), _I64)
        values = builder.load(row(source, node))
        values.align = 8
        factor = builder.load(builder.gep(factors, [entry]))
        nothing = ir.Constant(_ROW, ir.Undefined)
        first_lane = builder.insert_element(nothing, factor, ir.Constant(_I32, 0))
        same_lane = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
        spread = builder.shuffle_vector(first_lane, nothing, same_lane)
        fused = ("contract",)
        more = builder.fadd(total, builder.fmul(spread, values, flags=fused), flags=fused)
        following = builder.add(entry, ir.Constant(_I64, 1))
        entry.add_incoming(following, loop)
        total.add_incoming(more, loop)
        builder.cbranch(builder.icmp_signed("<", following, args[3]), loop, after)

        builder.position_at_end(after)
        result = builder.phi(_ROW)
        result.add_incoming(zeros, before)
        result.add_incoming(more, loop)
        builder.store(result, row(target, args[6])).align = 8
        return context.get_dummy_value()

    signature = types.void(indices, entries, types.int64, types.int64, x, y, types.int64)
    return signature, codegen


@njit(nogil=True, cache=True)
def walk_block(
    matrix: Any, sources: Any, reads: Any, factors: Any, summary: Any, scratch: Any
) -> None:
    """Walk from a block of sources and note S^k[node, source] of each read.

    Args:
        matrix: `(indptr, indices, entries)` of S.
        sources: At most 16 nodes.
        reads: `(nodes, lanes)`: which entry of x_k to note.
        factors: `[num_steps + 1, num_sums]`: what S^k counts in each sum.
        summary: Result, `[num_reads, num_kept + num_sums]`: S^k for k < num_kept, then the sums.
        scratch: Two arrays `[n, 16]`.
    """
    indptr, indices, entries = matrix
    nodes, lanes = reads
    x, y = scratch
    num_nodes = indptr.shape[0] - 1
    num_reads, num_sums = nodes.shape[0], factors.shape[1]
    num_kept = summary.shape[1] - num_sums
    summary[:] = 0.0
    x[:] = 0.0
    for lane in range(sources.shape[0]):
        x[sources[lane], lane] = 1.0
    for step in range(factors.shape[0]):
        for r in range(num_reads):
            value = x[nodes[r], lanes[r]]
            if step < num_kept:
                summary[r, step] = value
            for i in range(num_sums):
                summary[r, num_kept + i] += factors[step, i] * value
        if step % 8 == 7 and not np.any(x):
            return
        if step + 1 < factors.shape[0]:
            for v in range(num_nodes):
                _pull_row(indices, entries, indptr[v], indptr[v + 1], x, y, v)
            x, y = y, x


@njit(nogil=True, cache=True)
def multiply_rows(matrix: Any, start: int, stop: int, x: Any, y: Any) -> None:
    """Set y[v] to row v of S x for the nodes start..stop; x and y are `[n, 16]`."""
    indptr, indices, entries = matrix
    for v in range(start, stop):
        _pull_row(indices, entries, indptr[v], indptr[v + 1], x, y, v)
