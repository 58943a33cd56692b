"""Means over the members of sets of numbers between all nodes. Imported when first used.

What is kept of a graph is cut into tiles of 16 nodes v: a tile `[size, 16]` has one row per node u,
which is one cache line. A set's sum over u stays in a register, and a tile stays in the
second-level cache while all sets read it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from pgnn.positions.kernels.ppr import LANES, RowCode, code_of_rows


def tiles_of(size: int) -> int:
    """Return how many numbers are kept of a graph with so many nodes."""
    return -(-size // LANES) * LANES * size


def fill_tiles(proximity: NDArray[np.float32], kept: NDArray[np.float32]) -> None:
    """Write numbers `[v, u]` of a graph to `kept`, flat, as `mean_over_members` reads them."""
    size = len(proximity)
    tiles = kept.reshape(-1, size, LANES)
    whole, rest = divmod(size, LANES)
    cut = whole * LANES
    tiles[:whole] = proximity[:cut].reshape(whole, LANES, size).transpose(0, 2, 1)
    if rest:
        tiles[whole, :, :rest] = proximity[cut:].T
        tiles[whole, :, rest:] = 0


@intrinsic
def _sum_members(
    _context: Any, bounds: Any, members: Any, nothing: Any, tile: Any, _i: Any, total: Any
) -> Any:
    """Write the sum of a tile's rows over the members of set i to `total`."""

    def body(rows: RowCode, _args: Any) -> None:
        rows.store(5, ir.Constant(ir.IntType(64), 0), rows.sum_neighbours(rows.vector(3)))

    return types.void(bounds, members, nothing, tile, types.int64, total), code_of_rows(body)


@njit(nogil=True, cache=True)
def mean_over_members(kept: Any, starts: Any, indptr: Any, nodes: Any, result: Any) -> None:
    """Write result[v, i], the mean over members u of set i in the graph of v of kept (u, v).

    Graph g has the nodes starts[g] to starts[g + 1]. Set i is nodes[indptr[i] : indptr[i + 1]],
    ascending. A set without a member in a graph has the mean 0 there.

    Args:
        kept: What `fill_tiles` writes, graph after graph.
        starts: First node of each graph, and the end.
        indptr, nodes: The sets.
        result: `[n, k]`.
    """
    num_sets = len(indptr) - 1
    place = indptr[:-1].copy()
    bounds = np.zeros(num_sets + 1, dtype=np.int64)
    members = np.zeros(len(nodes), dtype=np.int32)  # those in one graph, counted from its start
    total = np.empty(LANES, dtype=np.float32)
    base = 0
    for g in range(len(starts) - 1):
        start, size = starts[g], starts[g + 1] - starts[g]
        for i in range(num_sets):
            bounds[i + 1] = bounds[i]
            while place[i] < indptr[i + 1] and nodes[place[i]] < start + size:
                members[bounds[i + 1]] = nodes[place[i]] - start
                bounds[i + 1] += 1
                place[i] += 1
        for low in range(0, size, LANES):
            tile = kept[base : base + size * LANES].reshape((size, LANES))
            base += size * LANES
            for i in range(num_sets):
                _sum_members(bounds, members, None, tile, i, total)
                scale = np.float32(1 / max(bounds[i + 1] - bounds[i], 1))
                for lane in range(min(LANES, size - low)):
                    result[start + low + lane, i] = total[lane] * scale
