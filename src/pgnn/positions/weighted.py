"""Weighted distances: Dijkstra's search from a whole set at once, one set after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets
from pgnn.threads import Progress, run_blocks

_ABSENT = -1  # position of a node that is not in the heap


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

    def make_scratch() -> tuple[NDArray[Any], ...]:
        integers = [np.empty(n, dtype=np.int32) for _ in range(3)]
        return (np.empty(n, dtype=np.float64), *integers)

    def work(block: range, scratch: tuple[NDArray[Any], ...]) -> None:
        for i in block:
            dijkstra(turned.indptr, turned.indices, turned.weights, sets[i], limit, *scratch)
            lengths[:, i], nearest[:, i] = scratch[0], scratch[1]

    run_blocks(work, [range(i, i + 1) for i in range(k)], make_scratch, num_threads, progress)
    return lengths, nearest


@njit(nogil=True, cache=True)
def dijkstra(
    ptr: Any,
    idx: Any,
    weights: Any,
    anchors: Any,
    limit: float,
    length: Any,
    nearest: Any,
    heap: Any,
    place: Any,
) -> None:
    """Fill `length` and `nearest` with the distance to, and the lowest of the nearest, anchors.

    (length, anchor) pairs are compared in that order. A node whose anchor improves after it left
    the heap (possible only where adding a tiny weight rounds to nothing) enters it again, so the
    result is the least fixed point in every case.

    Args:
        ptr, idx, weights: Rows of the reversed graph.
        anchors: The set.
        limit: Look no farther.
        length, nearest: Results, a number a node.
        heap, place: Scratch: nodes by length, four children a node, and where each node is.
    """
    length[:] = np.inf
    nearest[:] = -1
    place[:] = _ABSENT
    size = 0
    for anchor in anchors:
        length[anchor] = 0.0
        nearest[anchor] = anchor
        size = _rise(heap, place, length, anchor, size)
    while size > 0:
        u = heap[0]
        size = _take_first(heap, place, length, size)
        anchor = nearest[u]
        for position in range(ptr[u], ptr[u + 1]):
            v = idx[position]
            offered = length[u] + weights[position]
            if offered > limit or offered > length[v]:
                continue
            if offered < length[v] or anchor < nearest[v]:
                length[v] = offered
                nearest[v] = anchor
                size = _rise(heap, place, length, v, size)


@njit(nogil=True, cache=True)
def _rise(heap: Any, place: Any, length: Any, node: int, size: int) -> int:
    """Put a node in, or move it up after its length shrank; returns the heap's size."""
    spot = place[node]
    if spot == _ABSENT:
        spot = size
        size += 1
    while spot > 0:
        parent = (spot - 1) >> 2
        above = heap[parent]
        if length[above] <= length[node]:
            break
        heap[spot] = above
        place[above] = spot
        spot = parent
    heap[spot] = node
    place[node] = spot
    return size


@njit(nogil=True, cache=True)
def _take_first(heap: Any, place: Any, length: Any, size: int) -> int:
    """Remove the first node; returns the heap's size."""
    place[heap[0]] = _ABSENT
    size -= 1
    if size == 0:
        return size
    node = heap[size]
    spot = 0
    while True:
        child = 4 * spot + 1
        if child >= size:
            break
        for other in range(child + 1, min(child + 4, size)):
            if length[heap[other]] < length[heap[child]]:
                child = other
        if length[node] <= length[heap[child]]:
            break
        heap[spot] = heap[child]
        place[heap[spot]] = spot
        spot = child
    heap[spot] = node
    place[node] = spot
    return size
