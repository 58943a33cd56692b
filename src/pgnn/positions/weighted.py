"""Weighted distances: Dijkstra's search from a whole set at once, one set after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.positions.kernels.dijkstra import dijkstra
from pgnn.threads import Progress, run_blocks

Scratch = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]


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
    limit = np.inf if cutoff is None else float(cutoff)

    def make_scratch() -> Scratch:
        nearest_one, heap, place = (np.empty(n, dtype=np.int32) for _ in range(3))
        return np.empty(n, dtype=np.float64), nearest_one, heap, place

    def work(block: range, scratch: Scratch) -> None:
        for i in block:
            dijkstra(turned.indptr, turned.indices, turned.weights, sets[i], limit, scratch)
            lengths[:, i], nearest[:, i] = scratch[0], scratch[1]

    run_blocks(work, [range(i, i + 1) for i in range(k)], make_scratch, num_threads, progress)
    return lengths, nearest
