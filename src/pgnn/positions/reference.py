"""Slow and obvious twins of the kernels: the oracles of the tests."""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.positions.anchors import AnchorSets


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


def reference_lengths(
    graph: Graph, sets: AnchorSets, cutoff: float = math.inf
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Compute lengths and nearest anchors as they are defined, roundings of float64 included.

    The length of a path is summed from the anchor on. A node's nearest anchor is the lowest from
    which it is reached by edges each of which adds up to exactly the length of its end.
    """
    n = graph.num_nodes
    weights = [] if graph.weights is None else graph.weights.tolist()
    steps = [
        (int(graph.indices[position]), v, weights[position])
        for v in range(n)
        for position in range(graph.indptr[v], graph.indptr[v + 1])
    ]
    lengths, nearest = np.full((n, len(sets)), np.inf), np.full((n, len(sets)), -1)
    for i, anchors in enumerate(sets):
        length = [math.inf] * n
        for anchor in anchors.tolist():
            length[anchor] = 0.0
        changed = True
        while changed:
            changed = False
            for u, v, weight in steps:
                offered = length[u] + weight
                if offered < length[v] and offered <= cutoff:
                    length[v], changed = offered, True
        lengths[:, i] = length
        shortest = [(u, v) for u, v, w in steps if length[u] + w == length[v] < math.inf]
        for anchor in sorted(anchors.tolist()):
            reached = {anchor}
            grown = True
            while grown:
                further = {v for u, v in shortest if u in reached and nearest[v, i] < 0} - reached
                reached |= further
                grown = bool(further)
            nearest[list(reached), i] = anchor
    return lengths, nearest


def reference_ppr(
    graph: Graph, sets: AnchorSets, alpha: float = 0.15, *, per_degree: bool = False
) -> NDArray[np.float64]:
    """Compute `anchor_ppr` in float64 by one dense solve per node.

    The walk from v has the stationary vector p = alpha e_v + (1 - alpha) p W_v, where W_v is the
    row-normalised adjacency matrix with e_v in the rows of nodes without outgoing edges.

    Example:
        >>> graph = Graph.from_edges([(0, 1)], directed=True)
        >>> reference_ppr(graph, AnchorSets.from_sets([[0], [1]], 2), alpha=0.5).round(3)
        array([[0.667, 0.333],
               [0.   , 1.   ]])
    """
    n = graph.num_nodes
    adjacency = np.asarray(graph.to_scipy().todense(), dtype=np.float64)
    degrees = adjacency.sum(axis=1)
    dead_end = degrees == 0
    degrees[dead_end] = 1.0
    ppr = np.empty((n, n))
    for v in range(n):
        walk = adjacency / degrees[:, None]
        walk[dead_end, v] = 1.0
        restart = np.zeros(n)
        restart[v] = alpha
        ppr[v] = np.linalg.solve(np.eye(n) - (1 - alpha) * walk.T, restart)
    if per_degree:
        ppr /= degrees
    return np.stack([ppr[:, nodes].mean(axis=1) for nodes in sets], axis=1)
