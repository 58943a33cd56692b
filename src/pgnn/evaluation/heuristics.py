"""Scores of node pairs that need no learning: what a model has to beat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgnn.errors import PGNNError
from pgnn.graph import Graph
from pgnn.pairs.codes import Pairs, as_pairs
from pgnn.positions import anchor_distances, anchor_ppr

_BLOCK_NUMBERS = 1 << 24  # numbers of a block of columns: about 100 MB
_BLOCK_NEIGHBOURS = 1 << 22  # neighbours of a block of pairs: about 100 MB
_LANES = 16  # sources that a search or a walk takes together


def heuristic_scores(graph: Graph, pairs: ArrayLike, name: str) -> NDArray[np.float64]:
    """Score node pairs by the structure of the graph; a higher score is a likelier link.

    With N(u) the neighbours of u, the score of (u, v) is, by name:

    - "shortest path": minus the number of hops; minus `num_nodes` where there is no path.
    - "common neighbours": how many nodes w are in N(u) and N(v).
    - "resource allocation": the sum over these w of 1 / |N(w)|.
    - "preferential attachment": |N(u)| * |N(v)|.
    - "ppr": personalised PageRank by degree, ppr_u(v) / |N(v)| = ppr_v(u) / |N(u)|, restart 0.15.

    All are the same for (u, v) and (v, u). Weights and directions of edges are not read. Score with
    the graph of a split, not with the whole graph, or held-out edges leak.

    "shortest path" and "ppr" search once for each distinct node on one side of the pairs; memory
    is in blocks, never n x n.

    Args:
        graph: The graph.
        pairs: Node indices, `[m, 2]`.
        name: One of `HEURISTICS`.

    Returns:
        Finite float64 `[m]`.

    Raises:
        PGNNError: If the name is unknown or a pair is not one of nodes.

    Example:
        >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> heuristic_scores(square, [(0, 2), (0, 1)], "common neighbours").tolist()
        [2.0, 0.0]
    """
    if name not in _SCORES:
        raise PGNNError(f"there is no heuristic {name!r}; choose one of {', '.join(HEURISTICS)}")
    checked = np.sort(as_pairs(pairs, graph.num_nodes), axis=1)
    if graph.directed or graph.weights is not None:
        graph = Graph.from_edges(graph.edges(), graph.num_nodes)
    if not len(checked):
        return np.empty(0)
    return _SCORES[name](graph, checked)


def _shortest_path(graph: Graph, pairs: Pairs) -> NDArray[np.float64]:
    def columns(sources: list[list[int]]) -> NDArray[Any]:
        return np.asarray(anchor_distances(graph, sources).hops)

    hops = _by_source(graph, pairs, columns)
    return np.where(hops < 0, -float(graph.num_nodes), -hops)


def _ppr(graph: Graph, pairs: Pairs) -> NDArray[np.float64]:
    def columns(sources: list[list[int]]) -> NDArray[Any]:
        return anchor_ppr(graph, sources, per_degree=True, tol=1e-7)

    return _by_source(graph, pairs, columns)


def _by_source(
    graph: Graph, pairs: Pairs, columns: Callable[[list[list[int]]], NDArray[Any]]
) -> NDArray[np.float64]:
    """Look up pairs in columns of n numbers, one for each distinct node of one side, in blocks.

    Pairs are (small, large), so that a pair turned round is looked up at the same place.
    """
    sides = [np.unique(side, return_inverse=True) for side in pairs.T]
    chosen = 0 if len(sides[0][0]) <= len(sides[1][0]) else 1
    sources, column = sides[chosen]
    order = np.argsort(column, kind="stable")
    others, column = pairs[order, 1 - chosen], column[order]
    width = max(_LANES, _BLOCK_NUMBERS // graph.num_nodes // _LANES * _LANES)
    result = np.empty(len(pairs))
    for first in range(0, len(sources), width):
        block = columns(sources[first : first + width, None].tolist())
        span = slice(*np.searchsorted(column, [first, first + width]))
        result[order[span]] = block[others[span], column[span] - first]
    return result


def _common_neighbours(graph: Graph, pairs: Pairs) -> NDArray[np.float64]:
    return _shared(graph, pairs, np.ones(graph.num_nodes))


def _resource_allocation(graph: Graph, pairs: Pairs) -> NDArray[np.float64]:
    return _shared(graph, pairs, 1 / np.maximum(graph.degrees, 1))


def _shared(graph: Graph, pairs: Pairs, worth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the worth of the common neighbours of each pair."""
    adjacency = graph.to_scipy().astype(np.float64)
    valued = adjacency.copy()
    valued.data = worth[valued.indices]
    result = np.empty(len(pairs))
    for span in _blocks(graph.degrees[pairs].sum(axis=1)):
        low, high = pairs[span].T
        result[span] = adjacency[low].multiply(valued[high]).sum(axis=1)
    return result


def _blocks(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Cut pairs into consecutive blocks that together have no more neighbours than a block may."""
    block = np.cumsum(sizes) // _BLOCK_NEIGHBOURS
    starts = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
    for first, last in zip(starts, [*starts[1:], len(sizes)], strict=True):
        yield slice(first, last)


def _preferential_attachment(graph: Graph, pairs: Pairs) -> NDArray[np.float64]:
    low, high = graph.degrees[pairs].T.astype(np.float64)
    return np.asarray(low * high)


_SCORES: dict[str, Callable[[Graph, Pairs], NDArray[np.float64]]] = {
    "shortest path": _shortest_path,
    "common neighbours": _common_neighbours,
    "resource allocation": _resource_allocation,
    "preferential attachment": _preferential_attachment,
    "ppr": _ppr,
}

HEURISTICS = tuple(_SCORES)
