"""Weighted search: Dijkstra's method from a whole set at once, with a heap of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

ABSENT = -1  # place of a node that is not in the heap


@njit(nogil=True, cache=True)
def dijkstra(
    ptr: Any,
    idx: Any,
    weights: Any,
    anchors: Any,
    limit: float,
    scratch: Any,
) -> None:
    """Fill `length` and `nearest` with the distance to, and the lowest of the nearest, anchors.

    (length, anchor) pairs are compared in that order. A node whose anchor improves after it left
    the heap (possible only where adding a tiny weight rounds to nothing) enters it again, so the
    result is the least fixed point in every case.

    Args:
        ptr, idx, weights: Rows of the reversed graph.
        anchors: The set.
        limit: Look no farther.
        scratch: (length, nearest, heap, place), with one entry per node. The first two are the
            results; `heap` holds nodes by length, each with four children, and `place` says where
            in the heap each node is.
    """
    length, nearest, heap, place = scratch
    length[:] = np.inf
    nearest[:] = -1
    place[:] = ABSENT
    size = 0
    for anchor in anchors:
        length[anchor] = 0.0
        nearest[anchor] = anchor
        size = rise(heap, place, length, anchor, size)
    while size > 0:
        u = heap[0]
        size = take_first(heap, place, length, size)
        anchor = nearest[u]
        for position in range(ptr[u], ptr[u + 1]):
            v = idx[position]
            offered = length[u] + weights[position]
            if offered > limit or offered > length[v]:
                continue
            if offered < length[v] or anchor < nearest[v]:
                length[v] = offered
                nearest[v] = anchor
                size = rise(heap, place, length, v, size)


@njit(nogil=True, cache=True)
def rise(heap: Any, place: Any, length: Any, node: int, size: int) -> int:
    """Put a node in, or move it up after its length shrank; returns the heap's size."""
    spot = place[node]
    if spot == ABSENT:
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
def take_first(heap: Any, place: Any, length: Any, size: int) -> int:
    """Remove the first node; returns the heap's size."""
    place[heap[0]] = ABSENT
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
