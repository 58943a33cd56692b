"""Weighted distances: one search per set, by buckets, or by Dijkstra's method where those fail."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.positions.kernels import buckets as kernels
from pgnn.positions.kernels.dijkstra import dijkstra
from pgnn.threads import Progress, columns_of, leave_if_stopped, run_blocks

# Columns of the result are written this many at a time: whole cache lines of lengths.
BLOCK_SETS = 8
# Buckets are as wide as this many edges per node are long at most.
LIGHT_EDGES = 2
# Weights that are looked at for that.
SAMPLED_WEIGHTS = 1 << 16
# Weights with at most this many bits behind the point may have sums that are exact.
_FRACTION_BITS = 16
# A search gives up when every node has made its offers this many times on average.
MAX_OFFERS = 16
# Below this many (node, set) pairs starting threads costs more than it saves.
SERIAL_PAIRS = 1 << 13


class _Scratch(NamedTuple):
    """What one thread needs, 108 bytes per node: a block's results, and see `search_buckets`."""

    lengths: NDArray[np.float64]
    nearest: NDArray[np.int32]
    waiting: tuple[
        NDArray[np.uint64],
        NDArray[np.uint64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.float64],
    ]


def length_distances(
    graph: Graph,
    sets: AnchorSets,
    cutoff: float | None,
    num_threads: int,
    progress: Progress | None,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Search from all sets; returns (lengths, nearest), `[n, k]`, inf and -1 if unreachable."""
    n, k = graph.num_nodes, len(sets)
    lengths = np.empty((n, k), dtype=np.float64)
    nearest = np.empty((n, k), dtype=np.int32)
    turned = graph.reversed()  # d(v, u) follows edges from v to u, the search goes from u to v
    out_rows = graph.indptr, graph.indices, graph.weights
    in_rows = turned.indptr, turned.indices, turned.weights
    limit = np.inf if cutoff is None else float(cutoff)
    width, exact = bucket_width(graph), sums_are_exact(graph)
    size = max(1, min(BLOCK_SETS, k // 8))  # few sets are shared by threads, too
    most_neighbours = int(np.diff(turned.indptr).max(initial=0))

    def search(i: int, length: NDArray[np.float64], near: NDArray[np.int32], w: _Scratch) -> None:
        ended = kernels.search_buckets(
            in_rows, sets[i], limit, width, MAX_OFFERS * n, length, near, w.waiting
        )
        if ended == kernels.GAVE_UP:
            for bitmap in w.waiting[:2]:
                bitmap[:] = 0
        elif ended == kernels.SETTLED or exact or kernels.is_settled(out_rows, limit, length, near):
            return
        heap, place = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
        dijkstra(*in_rows, sets[i], limit, (length, near, heap, place))

    def work(block: range, scratch: _Scratch) -> None:
        for column, i in enumerate(block):
            leave_if_stopped()
            search(i, scratch.lengths[column], scratch.nearest[column], scratch)
        kernels.write_columns(scratch.lengths, block.start, len(block), lengths)
        kernels.write_columns(scratch.nearest, block.start, len(block), nearest)

    def make_scratch() -> _Scratch:
        num_words = n // 64 + 1
        waiting = (
            np.zeros((kernels.BUCKETS, num_words), dtype=np.uint64),
            np.zeros((kernels.BUCKETS, num_words // 64 + 1), dtype=np.uint64),
            np.empty(n, dtype=np.int32),
            np.empty(most_neighbours + 1, dtype=np.int32),
            np.empty(most_neighbours + 1, dtype=np.float64),
        )
        shape = min(size, k), n
        return _Scratch(np.empty(shape), np.empty(shape, dtype=np.int32), waiting)

    is_small = n * k < SERIAL_PAIRS
    threads = 1 if is_small else num_threads
    # The last sets are the smallest, which reach farthest and cost most: they go first.
    blocks = [range(max(0, stop - size), stop) for stop in range(k, 0, -size)]
    run_blocks(
        *(work, blocks, make_scratch, threads, progress),
        apart=not is_small,
        fills=columns_of(lengths, nearest),
    )
    return lengths, nearest


def sums_are_exact(graph: Graph) -> bool:
    """Return whether lengths of paths are not rounded, as with whole numbers that are not huge.

    Then a longer way to a neighbour is never an equally long way to a node, so an anchor that was
    withdrawn at the one is not named at the other.
    """
    assert graph.weights is not None
    longest = float(graph.weights.max(initial=0)) * graph.num_nodes
    if longest >= 1 << (53 - _FRACTION_BITS):
        return False
    for weights in (graph.weights[:64], graph.weights):  # most others are told by a few
        units = weights * (1 << _FRACTION_BITS)
        if not np.array_equal(units, np.rint(units)):
            return False
    return True


def bucket_width(graph: Graph) -> float:
    """Return a length that `LIGHT_EDGES` edges per node, on average, do not exceed."""
    assert graph.weights is not None
    if len(graph.weights) == 0:
        return 1.0
    some = graph.weights[:: -(-len(graph.weights) // SAMPLED_WEIGHTS)]
    share = min(0.9, LIGHT_EDGES * graph.num_nodes / len(graph.weights))
    place = int(share * (len(some) - 1))
    return max(float(np.partition(some, place)[place]), 1e-300)
