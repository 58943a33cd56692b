"""Ways from a node to another that leave out their own edge, and edges that cut them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pgnn.graph import Graph
from pgnn.pairs.codes import Pairs, is_among, sorted_distinct, unordered_codes

Nodes = NDArray[np.int64]


def common_neighbours(graph: Graph, u: int, v: int) -> Nodes:
    """Return the nodes that an undirected graph joins to both, those of fewest neighbours first.

    A common neighbour of few others says more, as in resource allocation.

    Example:
        >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])
        >>> common_neighbours(square, 0, 2).tolist()
        [1, 3]
    """
    shared = np.intersect1d(graph.neighbors(u), graph.neighbors(v), assume_unique=True)
    return _strongest_first(graph, shared.astype(np.int64)[:, None])[:, 0]


def three_step_paths(graph: Graph, u: int, v: int) -> Pairs:
    """Return the (a, b) of all paths u - a - b - v of an undirected graph, strongest first.

    A path through nodes of few neighbours is strong, as in `pair_proximities`.

    Example:
        >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> three_step_paths(ring, 0, 1).tolist()
        [[3, 2]]
    """
    last = graph.neighbors(v)
    last = last[last != u]
    parts = [np.empty((0, 2), dtype=np.int64)]
    for a in graph.neighbors(u).tolist():
        if a != v:
            b = np.intersect1d(graph.neighbors(a), last, assume_unique=True).astype(np.int64)
            parts.append(np.stack([np.full(len(b), a), b], axis=1))
    return _strongest_first(graph, np.concatenate(parts))


def shortest_paths(graph: Graph, u: int, v: int, *, most: int = 5) -> list[list[int]]:
    """Return shortest paths of an undirected graph without the edge of u and v, from u to v.

    Args:
        graph: An undirected graph.
        u: Where paths begin.
        v: Where they end.
        most: How many paths at most. Those through nodes of few neighbours come first.

    Example:
        >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> shortest_paths(ring, 0, 1), shortest_paths(ring, 0, 2)
        ([[0, 3, 2, 1]], [[0, 1, 2], [0, 3, 2]])
    """
    steps = _steps_from(graph, u, v)
    if steps[v] < 0:
        return []
    paths: list[list[int]] = []
    ends = [[v]]  # paths from some node to v, the next to be extended last
    while ends and len(paths) < most:
        end = ends.pop()
        first = end[0]
        if first == u:
            paths.append(end)
            continue
        before = graph.neighbors(first).astype(np.int64)
        before = before[steps[before] == steps[first] - 1]
        before = before[(before != u) | (first != v)]
        order = _strongest_first(graph, before[:, None])[:, 0]
        ends += [[node, *end] for node in order[::-1].tolist()]
    return paths


def cut_of_paths(graph: Graph, u: int, v: int, *, lengths: tuple[int, ...]) -> Pairs:
    """Return edges whose removal ends all paths of these lengths between two nodes.

    Neither the nodes nor those between them lose their last edge if that can be: of a path of two
    steps one edge is cut, at the end that has more edges to spare, and of a longer one an edge in
    its middle.

    Args:
        graph: An undirected graph.
        u: One end.
        v: The other end.
        lengths: 2 for common neighbours, 3 for `three_step_paths`, and 0 for all shortest paths
            where they are longer than that.

    Returns:
        Edges (smaller node, larger node), each once, `[m, 2]`.

    Example:
        >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> cut_of_paths(ring, 0, 2, lengths=(2,)).tolist()
        [[0, 1], [2, 3]]
    """
    cut = [np.empty((0, 2), dtype=np.int64)]
    if 2 in lengths:
        cut.append(_cut_of_common(graph, u, v))
    if 3 in lengths:
        cut.append(three_step_paths(graph, u, v))
    if 0 in lengths:
        cut.append(_cut_of_shortest(graph, u, v))
    return _each_once(np.concatenate(cut))


def without_edges(graph: Graph, edges: Pairs) -> Graph:
    """Return the graph without some edges, in whichever direction they go."""
    if not len(edges):
        return graph
    hidden = sorted_distinct(unordered_codes(edges))
    return graph.with_edges(~is_among(unordered_codes(graph.edges().astype(np.int64)), hidden))


def _cut_of_common(graph: Graph, u: int, v: int) -> Pairs:
    """Return one edge per common neighbour, at the end that has more edges to spare."""
    spare = {end: len(graph.neighbors(end)) for end in (u, v)}
    cut = []
    for node in common_neighbours(graph, u, v).tolist():
        end = u if spare[u] >= spare[v] else v
        spare[end] -= 1
        cut.append((end, node))
    return np.array(cut, dtype=np.int64).reshape(-1, 2)


def _cut_of_shortest(graph: Graph, u: int, v: int) -> Pairs:
    """Return the edges in the middle of all shortest paths, if these are of four steps or more."""
    from_u, from_v = _steps_from(graph, u, v), _steps_from(graph, v, u)
    length = int(from_u[v])
    parts = [np.empty((0, 2), dtype=np.int64)]
    if length > 3:
        half = length // 2
        before = np.flatnonzero((from_u == half - 1) & (from_v == length - half + 1))
        for a in before.tolist():
            b = graph.neighbors(a).astype(np.int64)
            b = b[(from_u[b] == half) & (from_v[b] == length - half)]
            parts.append(np.stack([np.full(len(b), a), b], axis=1))
    return np.concatenate(parts)


def _each_once(edges: Pairs) -> Pairs:
    return np.unique(np.sort(edges, axis=1), axis=0) if len(edges) else edges


def _strongest_first(graph: Graph, nodes: Pairs) -> Pairs:
    """Sort rows of nodes by the product of their degrees, then by the nodes."""
    weakness = np.log(np.maximum(graph.degrees[nodes], 1)).sum(axis=1).round(9)
    return nodes[np.lexsort((*nodes.T[::-1], weakness))]


def _steps_from(graph: Graph, u: int, v: int) -> NDArray[np.int32]:
    """Return the steps from u to each node, up to the level of v; -1 for others, `[n]`."""
    steps = np.full(graph.num_nodes, -1, dtype=np.int32)
    steps[u] = 0
    frontier = np.array([u], dtype=np.int64)
    while len(frontier) and steps[v] < 0:
        level = steps[frontier[0]] + 1
        reached = np.concatenate([graph.neighbors(node) for node in frontier.tolist()])
        if level == 1:
            reached = reached[reached != v]
        frontier = np.unique(reached[steps[reached] < 0]).astype(np.int64)
        steps[frontier] = level
    return steps
