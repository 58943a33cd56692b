"""Slow and obvious twins of the kernels: the oracles of the tests."""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from pgnn.anchors import AnchorSets
from pgnn.graph import Graph


def distances_from(graph: Graph, source: int) -> list[float]:
    """Length of the shortest path from one node to every node (edges have length 1 or weight)."""
    best = [math.inf] * graph.num_nodes
    best[source] = 0.0
    waiting = [(0.0, source)]
    while waiting:
        distance, u = heapq.heappop(waiting)
        if distance > best[u]:
            continue
        for position in range(graph.indptr[u], graph.indptr[u + 1]):
            v = int(graph.indices[position])
            length = 1.0 if graph.weights is None else float(graph.weights[position])
            if distance + length < best[v]:
                best[v] = distance + length
                heapq.heappush(waiting, (best[v], v))
    return best


def reference_distances(
    graph: Graph, sets: AnchorSets, cutoff: float = math.inf
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distance to the nearest member of each set (inf if none within cutoff) and that member.

    For every node v and set S: the smallest d(v, u) over u in S, and the lowest such u.
    """
    distance = np.full((graph.num_nodes, len(sets)), np.inf)
    nearest = np.full((graph.num_nodes, len(sets)), -1)
    for v in range(graph.num_nodes):
        from_v = distances_from(graph, v)
        for i, anchors in enumerate(sets):
            d, u = min((from_v[u], u) for u in anchors.tolist())
            if d <= cutoff and d < math.inf:
                distance[v, i], nearest[v, i] = d, u
    return distance, nearest
